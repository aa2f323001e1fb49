//! `report`: what captures, traces, runs and replays say, as one page for a browser; its headlines on stdout.
//!
//! Guarantees: the page is there whole or not at all, and holds what every question that an input can answer answered; a
//! question that fails does not keep others from the page, and makes the exit code 1; a check that fails in an answer makes it
//! 5. Refuses inputs of which nothing can be said.

use crate::cli::ReportArgs;
use crate::exit::{Exit, Failure, columns, complain};
use crate::output::{Output, print, write_file};
use analyses::report::html;
use analyses::report::text;
use experiment::files::input::is_capture;
use experiment::page::capture::{self, Asked};
use experiment::page::{inputs, plots, title};

/// Runs the sub-command.
pub fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let mut read = inputs::Read::default();
    if (args.frame.is_some() || args.assume_subgroups) && !args.inputs.iter().any(|p| is_capture(p)) {
        return Err(Failure::usage("--frame and --assume-subgroups are of captures, and no input is one"));
    }
    // (that it cannot be written is found before minutes of replays)
    drop(Output::create(Some(&args.output))?);
    for path in &args.inputs {
        if !is_capture(path) {
            inputs::read(path, &args.questions, &mut read)?;
            continue;
        }
        let (frame, assume_subgroups) = (args.frame, args.assume_subgroups);
        let run = &args.run.how();
        capture::read(
            &Asked { file: path, frame, questions: &args.questions, assume_subgroups, run },
            &mut read,
        )?;
    }
    let inputs::Read { inputs, failed, diverged } = read;
    if inputs.iter().all(|i| i.reports.is_empty()) {
        return Err(Failure::new("no input answers anything: there is nothing to report"));
    }
    let mut exit = match (diverged, failed) {
        (true, _) => Exit::Diverged,
        (_, true) => Exit::Failed,
        _ => Exit::Done,
    };
    for (report, _) in inputs.iter().flat_map(|i| &i.reports) {
        for failure in &report.failures {
            complain(format_args!("{}: check failed: {failure}", report.analysis));
            exit = Exit::Diverged;
        }
    }
    let title = args.title.clone().unwrap_or_else(|| title(&inputs));
    let page = html::render(&title, &inputs).map_err(Failure::new)?;
    write_file(&args.output, page.as_bytes())?;
    let plotted = match &args.plots {
        Some(folder) => plots::write(folder, &inputs)?,
        None => 0,
    };
    let analyses: usize = inputs.iter().map(|i| i.reports.len()).sum();
    // (what was asked for by its name is found on the page; what a whole capture says first is said here, too)
    let captures = inputs.iter().filter(|i| i.kind == "capture");
    let said = text::headlines(captures.flat_map(|i| &i.reports).map(|r| &r.0), columns());
    print(said.as_bytes())?;
    let mut line = format!(
        "{}: {analyses} {}, {:.2} MB\n",
        args.output.display(),
        if analyses == 1 { "analysis" } else { "analyses" },
        page.len() as f64 / 1e6
    );
    if let Some(folder) = &args.plots {
        line.push_str(&format!("{}: {plotted} figures\n", folder.display()));
    }
    print(line.as_bytes())?;
    Ok(exit)
}
