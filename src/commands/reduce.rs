//! `reduce`: the smallest part of a capture that still shows a fault.
//!
//! The search is `experiment::reduce`'s; here it is said what came of it.

use crate::cli::ReduceArgs;
use crate::exit::{Exit, Failure, note};
use crate::output;
use analyses::report::counted;
use experiment::reduce::{Settings, reduce};

/// Runs the sub-command.
pub fn run(args: &ReduceArgs) -> Result<Exit, Failure> {
    let settings = Settings {
        file: args.file.clone(),
        still: args.still.clone(),
        budget: args.budget,
        run: args.run.how(),
    };
    let found = reduce(&settings, &args.output)?;
    if args.json {
        output::print(output::json(&found)?.as_bytes())?;
    } else {
        let share = |[before, after]: [u64; 2]| 100.0 * after as f64 / before.max(1) as f64;
        let [elements, functions, data] = [found.elements, found.functions, found.data];
        let parts = [
            (elements, "descriptors, barriers and regions", "are left"),
            (functions, "functions of its shaders", "do something"),
            (data, "pieces of its data", "are not zero"),
        ];
        let parts = parts.iter().filter(|p| p.0[0] > 0);
        let contents: String =
            parts.map(|([before, after], what, are)| format!("Of {before} {what} {after} {are}. ")).collect();
        let processes = counted(found.tried, "process");
        let tried = |n: u64| if n == 1 { "1 try".to_owned() } else { format!("{n} tries") };
        let fault = match found.shown {
            [_, 0] => "the fault was there when this was found".to_owned(),
            [0, tries] => format!("the fault is not there any more, in none of {}", tried(tries)),
            [all, tries] if all == tries => format!("the fault is still there, in {all} of {}", tried(tries)),
            [some, tries] => format!("the fault comes and goes, it was there in {some} of {}", tried(tries)),
        };
        let zeros = if found.zero_memory { ", replayed with --zero-memory" } else { "" };
        let text = format!(
            "{}: {} of {} calls ({:.1} %), {} of {} bytes ({:.1} %); {fault}: {}\n\
             {contents}{processes} in {:.0} s{zeros}.\n",
            args.output.display(),
            found.calls[1],
            found.calls[0],
            share(found.calls),
            found.bytes[1],
            found.bytes[0],
            share(found.bytes),
            found.still,
            found.seconds,
        );
        output::print(text.as_bytes())?;
    }
    let lost = found.shown[1] > 0 && found.shown[0] == 0;
    if lost {
        note(
            "the fault comes and goes: it was there when this was found, and is not there now, so that nothing is final; the same command line tries again",
        );
    } else if !found.minimal {
        note(match found.interrupted {
            true => {
                "it was interrupted before nothing more could go: the same command line goes on from here"
            }
            false => "the budget ended before nothing more could go: the same command line goes on from here",
        });
    }
    Ok(if lost || found.interrupted && !found.minimal { Exit::Failed } else { Exit::Done })
}
