//! `what-if`: what a frame would gain without each of its parts, and what binds them, by experiment (`analyses::verdict::what_if`).
//!
//! Pictures of the frame and of its passes, and four runs of `bench`: `own`, the frame as it is, command by command; `costs`, each part left out; `causes`, the dearest parts changed
//! in other ways; and, while there is time, `optimisations`. Guarantees: the folder is there whole or not at all; an experiment that the
//! device or the capture refuses is told with why, and the others go on; what fails in `optimisations`, which record what they have to
//! know and come last, loses nothing else. Refuses frames that are not there, and frames without draws, dispatches and traces.

use crate::bench::{Settings, measure_and_keep};
use crate::failure::Failure;
use crate::files::folder::{self, refuse_full};
use crate::files::input;
use crate::files::output::write_file;
use crate::follow;
use crate::frames::work;
use crate::how::How;
use crate::interrupt::Interrupt;
use crate::own_times::{on_the_processor, own_times};
use crate::pictures;
use crate::progress;
use analyses::bindings::sync::unneeded;
use analyses::report::{Report, json, text};
use analyses::verdict::Ask;
use analyses::verdict::what_if::experiments::{Asked, Frame};
use analyses::verdict::what_if::parts::{By, ends, parts};
use analyses::verdict::what_if::{answers, report};
use gfxr_parse::container::Capture;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use trace::actions::Action;
use trace::dir::Dir;
use trace::plan::Plan;
use trace::run::Run;
use trace::what_if::{WHAT_IF_FILE, WHAT_IF_VERSION, WhatIf};

/// The level of intervals, less 1.
const ALPHA: f64 = 0.01;
/// How much of the time is for what parts cost; and, of the rest, for what binds them.
const FOR_COSTS: f64 = 0.45;
/// See `FOR_COSTS`.
const FOR_CAUSES: f64 = 0.75;
/// What recording for optimisations takes at least, in processes that time the frame once: several replays with passes, which nothing ends early.
const RECORDINGS: u32 = 8;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The capture.
    pub file: PathBuf,
    /// The frame, which is looped.
    pub frame: u64,
    /// What its parts are, if it was said.
    pub by: Option<By>,
    /// Most parts.
    pub parts: u16,
    /// The dearest parts, so many, are asked what binds them.
    pub causes: u16,
    /// The replay that is experimented on.
    pub on: Plan,
    /// Processes of each experiment at most.
    pub processes: u32,
    /// Timed turns of each process.
    pub iterations: u32,
    /// Turns at most before times have settled.
    pub warmup: u32,
    /// When to stop.
    pub budget: Duration,
    /// The least share of the frame that counts as a gain.
    pub min_effect: f64,
    /// Experiments whose processes are alive at once.
    pub together: u16,
    /// Where random numbers begin.
    pub seed: u64,
    /// Subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// How to replay.
    pub run: How,
}

/// Asks everything, into a new folder.
/// Whether it was asked to end before everything was asked comes with the report.
pub fn what_if(args: &Question, output: &Path) -> Result<(Report, bool), Failure> {
    refuse_full(output)?;
    folder::whole(output, |part| asked(args, part))
}

/// Asks everything, into a folder.
fn asked(args: &Question, to: &Path) -> Result<(Report, bool), Failure> {
    let began = Instant::now();
    let capture = input::open(&args.file, args.run.reading)?;
    let actions = actions(args, &capture)?;
    let mut runs = BTreeMap::new();
    progress::step("timing the frame command by command");
    let before = Instant::now();
    let (own, _) = own_times(settings(args, vec![args.on.clone()]), &actions, &to.join("own"))?;
    let once = before.elapsed();
    let own: Vec<Option<u64>> = own.into_iter().map(|o| o.ns).collect();
    let by = args.by.unwrap_or_else(|| By::chosen(&actions));
    let parts = parts(&actions, by, &own, args.parts.into());
    let mut of = WhatIf {
        schema_version: WHAT_IF_VERSION,
        capture: Path::new(capture.name()).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        frame: args.frame,
        by: by.name().into(),
        base: args.on.name.clone(),
        actions,
        parts,
        experiments: vec![],
        notes: vec![],
    };
    progress::step("taking pictures of the frame and of its passes");
    for why in pictures::take(&args.file, &args.run, args.frame, &of.actions, to) {
        of.notes.push(format!("{}.", why.1.trim_end_matches('.')));
    }
    let ask = Ask { effect: args.min_effect, alpha: ALPHA };
    let interrupt = Interrupt::listen("it ends, and says what was decided until then");
    progress::step("leaving out one part after another");
    let left = || args.budget.saturating_sub(began.elapsed());
    let all = frame(args, &of).costs("costs");
    runs.insert(
        "costs".to_owned(),
        experiment(args, all, (left().mul_f64(FOR_COSTS), &interrupt), to, &mut of)?,
    );
    if !interrupt.asked() {
        let dearest = dearest(&of, &runs, &ask, args.causes.into())?;
        let unneeded = barriers(args, &capture, to).unwrap_or_else(|why| {
            of.notes.push(format!("Barriers that order nothing were not looked for: {}", why.1));
            vec![]
        });
        drop(capture);
        if !interrupt.asked() {
            progress::step("asking what binds the dearest parts");
            let all = frame(args, &of).causes("causes", &dearest, &unneeded);
            let time = (left().mul_f64(FOR_CAUSES), &interrupt);
            match experiment(args, all, time, to, &mut of) {
                Ok(run) => drop(runs.insert("causes".to_owned(), run)),
                // (what was decided before stays)
                Err(_) if interrupt.asked() => drop(std::fs::remove_dir_all(to.join("causes"))),
                Err(why) => return Err(why),
            }
        }
    }
    if !interrupt.asked() {
        optimisations(args, (left(), once * RECORDINGS, &interrupt), to, &mut of, &mut runs);
    }
    let interrupted = interrupt.asked();
    if interrupted {
        of.notes.push(
            "It was interrupted: what was decided until then is told, and the rest was not asked.".into(),
        );
    }
    for run in runs.values() {
        of.notes.extend(run.note.notes.iter().filter(|n| !of.notes.contains(n)).cloned().collect::<Vec<_>>());
    }
    if on_the_processor(runs.values()) {
        of.notes.push(
            "The device is the processor: it draws a render pass at its end, so that own times of what is within one say little; what is \
             left out, it gains."
                .into(),
        );
    }
    of.notes.push(format!("{} experiments in {:.0} s.", of.experiments.len(), began.elapsed().as_secs_f64()));
    let report = report(&of, &answers(&of, &runs, &ask).map_err(Failure::new)?);
    write_file(&to.join("report.txt"), text::render(&report).as_bytes())?;
    write_file(&to.join("report.json"), json::render(&report).as_bytes())?;
    write_file(&to.join(WHAT_IF_FILE), of.render().as_bytes())?;
    Ok((report, interrupted))
}

/// What is asked about.
fn frame<'f>(args: &'f Question, of: &'f WhatIf) -> Frame<'f> {
    Frame { base: &args.on, actions: &of.actions, parts: &of.parts }
}

/// The blocks of the frame's barriers that order nothing, by a walk over the whole capture.
fn barriers(args: &Question, capture: &Capture, to: &Path) -> Result<Vec<(u64, u64)>, Failure> {
    progress::step("looking for barriers that order nothing");
    let folder = to.join("followed");
    let found = follow::all(capture, args.run.clone(), &folder)
        .and_then(|()| Dir::open(&folder).map_err(Failure::new))
        .and_then(|trace| unneeded(&trace, args.frame).map_err(Failure::new));
    // (it is large, and `analyze sync` makes it again)
    let _ = std::fs::remove_dir_all(&folder);
    Ok(found?.into_iter().map(|block| (block, block)).collect())
}

/// Tries what makes the same picture another way, if there is time for it: as much is left as recording may take.
fn optimisations(
    args: &Question,
    (left, recording, interrupt): (Duration, Duration, &Interrupt),
    to: &Path,
    of: &mut WhatIf,
    runs: &mut BTreeMap<String, Run>,
) {
    const NAME: &str = "optimisations";
    let all = frame(args, of).optimisations(NAME);
    if all.is_empty() {
        return;
    }
    if left < recording.max(args.budget.mul_f64(1.0 - FOR_CAUSES) / 4) {
        let names: Vec<String> = all.into_iter().map(|a| a.1.change).collect();
        of.notes.push(format!(
            "There was no time left for optimisations ({}): a larger --budget asks them, too.",
            names.join(", ")
        ));
        return;
    }
    progress::step("trying optimisations");
    match experiment(args, all, (left, interrupt), to, of) {
        Ok(run) => drop(runs.insert(NAME.into(), run)),
        Err(why) => {
            let _ = std::fs::remove_dir_all(to.join(NAME));
            of.notes.push(format!("Optimisations were not timed: {}", why.1));
        }
    }
}

/// What the frame does, by a walk over the capture.
fn actions(args: &Question, capture: &Capture) -> Result<Vec<Action>, Failure> {
    let found = work(capture, &args.run, args.frame, None)?.actions;
    match found.is_empty() {
        true => Err(Failure::new(format_args!(
            "frame {} has no draws, dispatches or traces to ask about",
            args.frame
        ))),
        false => Ok(found),
    }
}

/// A run of these plans.
fn settings(args: &Question, plans: Vec<Plan>) -> Settings {
    Settings {
        processes: Some(args.processes),
        iterations: Some(args.iterations),
        warmup: Some(args.warmup),
        tight: args.min_effect / 4.0,
        seed: args.seed,
        assume_subgroups: args.assume_subgroups,
        together: Some(args.together.into()),
        experiments: true,
        ..Settings::of_frame(&args.file, args.frame, plans, &args.run)
    }
}

/// Times these plans in turn with the base, and takes down what was asked.
fn experiment(
    args: &Question,
    asked: Vec<Asked>,
    (budget, interrupt): (Duration, &Interrupt),
    to: &Path,
    of: &mut WhatIf,
) -> Result<Run, Failure> {
    let name = asked.first().map_or_else(String::new, |a| a.1.run.clone());
    let (plans, mut questions): (Vec<Plan>, Vec<_>) = asked.into_iter().unzip();
    let plans = [vec![args.on.clone()], plans].concat();
    let settings = Settings { budget: Some(budget), ..settings(args, plans) };
    let run = measure_and_keep(&settings, &to.join(name), || interrupt.clone())?.run;
    for refused in &run.note.refused {
        let of = questions.iter_mut().find(|e| e.plan == refused.plan);
        if let Some((of, instead)) = of.zip(refused.instead.clone()) {
            (of.plan, of.change) = (instead, format!("{}, computed as it stands", of.change));
        }
    }
    of.experiments.extend(questions);
    Ok(run)
}

/// The frame, and the parts that surely cost most.
fn dearest(of: &WhatIf, runs: &BTreeMap<String, Run>, ask: &Ask, most: usize) -> Result<Vec<usize>, Failure> {
    let found = answers(of, runs, ask).map_err(Failure::new)?;
    let mut sure: Vec<_> = ends(&of.parts)
        .into_iter()
        .filter(|n| of.parts[*n].level != "rest")
        .filter_map(|n| found.cost(n).filter(|a| a.gains()).map(|a| (n, a.gain)))
        .collect();
    sure.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok([0].into_iter().chain(sure.into_iter().take(most).map(|s| s.0)).collect())
}

#[cfg(test)]
mod tests {
    use analyses::verdict::what_if::experiments::names;

    #[test]
    fn every_experiment_is_a_change_a_pass_or_a_method_that_there_is() {
        let [changes, passes, methods] = names();
        for name in changes {
            assert!(profile::changes::LIST.iter().any(|c| c.name == name), "{name}");
        }
        for name in passes {
            assert!(profile::passes::PASSES.iter().any(|p| p.name == name), "{name}");
        }
        for name in methods {
            assert!(
                analyses::rays::repack::asked(&trace::plan::Use::new(name, [""; 0]), 0).is_ok(),
                "{name}"
            );
        }
    }
}
