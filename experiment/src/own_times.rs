//! What each draw, dispatch and trace of a frame takes by itself: the frame is looped in a process of its own, and timed command by command.
//!
//! Guarantees: of each the median of its timed turns. Refuses what `bench` refuses: frames that cannot be looped.

use crate::bench::{Settings, measure};
use crate::failure::Failure;
use analyses::stats::Sample;
use std::collections::BTreeMap;
use std::path::Path;
use trace::actions::Action;
use trace::run::Run;

/// Turns of the frame that are timed command by command.
const DETAILED: u32 = 7;

/// What an action takes by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// In nanoseconds; none where it was not timed.
    pub ns: Option<u64>,
    /// The shaders that it runs, by stage and hash.
    pub shaders: String,
}

/// One for each of these actions of the frame, and the run that timed them, which is written to a folder.
pub fn own_times(settings: Settings, actions: &[Action], to: &Path) -> Result<(Vec<Own>, Run), Failure> {
    let settings = Settings { processes: Some(1), detailed: DETAILED, ..settings };
    let run = measure(&settings, to)?.run;
    Ok((of_run(&run, actions), run))
}

fn of_run(run: &Run, actions: &[Action]) -> Vec<Own> {
    let mut by: BTreeMap<u64, (Vec<u64>, &str)> = BTreeMap::new();
    for s in &run.spans {
        let p = &run.places[s.place];
        if p.draw > 0 {
            let of = by.entry(p.draw).or_default();
            of.0.push(s.time.0);
            of.1 = &p.shaders;
        }
    }
    let of = |draw: u64| {
        let (times, shaders) = by.get(&draw)?;
        let ns = Sample::new(times.clone()).median().map(|m| m as u64);
        Some(Own { ns, shaders: (*shaders).to_owned() })
    };
    (1..).zip(actions).map(|(draw, _)| of(draw).unwrap_or_default()).collect()
}

/// Whether the device is the processor, which draws a render pass at its end.
pub fn on_the_processor<'r>(mut runs: impl Iterator<Item = &'r Run>) -> bool {
    runs.any(|run| run.note.workers.iter().any(|w| w.of_device("kind") == "CPU"))
}
