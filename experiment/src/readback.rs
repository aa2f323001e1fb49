//! Replays of a capture, up to a frame, that read back what resources hold at commands of it, each without some of the frame's draws.
//!
//! What a render pass draws cannot be read within it. So, behind a draw, the capture is replayed without the draws of the same pass that come later, and
//! what there is behind the pass is read. Guarantees: where a recording runs several times, its draws are left out of each run, which is said. Refuses nothing of its own.

use crate::failure::Failure;
use crate::how::How;
use crate::progress;
use crate::replaying::{breadcrumbs, changes, failure, options, tallies, validation};
use crate::say::complain;
use crate::shots::written_beside;
use gfxr_parse::container::Capture;
use profile::hooks::frame_actions::FrameWork;
use profile::readback::{Readback, ReadbackHook, Spot, Spots};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, replay};
use std::collections::HashSet;
use trace::plan::Use;

/// How it is replayed.
pub struct Asked<'a> {
    /// Up to this frame, which is looked at.
    pub frame: u64,
    /// Changes to calls.
    pub changes: &'a [Use],
    /// How to replay.
    pub run: &'a How,
}

/// One replay.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// What is read, and where.
    pub spots: Spots,
    /// Rows of the draws that are left out.
    pub left_out: Vec<usize>,
}

/// Rows of the draws of a draw's pass that come later.
pub fn later(of: &FrameWork, draw: usize) -> Vec<usize> {
    let pass = of.actions[draw].pass;
    (draw + 1..of.actions.len()).filter(|n| of.actions[*n].pass == pass).collect()
}

/// Where attachments of passes are read: of one (0 for all).
pub fn ends(of: &FrameWork, pass: u64) -> Spots {
    let spot = || Spot { attachments: true, ..Spot::default() };
    let meant = of.passes.iter().filter(|p| pass == 0 || p.number == pass);
    meant.map(|p| (p.end, spot())).collect()
}

/// Runs them, and hands over what is read, by the replay's number; whether all kept to the capture, and the device.
pub fn run(
    capture: &Capture,
    asked: &Asked<'_>,
    of: &FrameWork,
    all: &[Replay],
    mut read: impl FnMut(usize, Readback) -> Result<(), Failure> + Send,
) -> Result<(bool, String), Failure> {
    let watchdog_ns = options(asked.run)?.watchdog_ns();
    if all.iter().any(|r| repeats(of, r)) {
        complain(
            "some draws are recorded once and run several times in the frame: what is left out of one run is left out of all",
        );
    }
    if all.iter().any(|r| earlier(of, r)) {
        complain(
            "some draws were recorded before the frame, and may run in earlier ones, too: what is left out of it is left out of these",
        );
    }
    let (replayed, written) = written_beside(
        1,
        |(n, found): (usize, Readback)| read(n, found),
        |to| {
            let bar = progress::counted(all.len() as u64, "replaying", "replays");
            let replayed = all.iter().enumerate().try_fold((true, String::new()), |(kept, _), (n, one)| {
                let to = to.clone();
                let take = move |found| to.send((n, found));
                let blocks: Vec<u64> = one.left_out.iter().map(|row| of.actions[*row].block).collect();
                let hook = ReadbackHook::new(asked.frame, one.spots.clone(), watchdog_ns, Box::new(take));
                let (ok, device) = once(capture, asked, &blocks, Box::new(hook), n == 0)?;
                bar.inc(1);
                Ok((kept && ok, device))
            });
            bar.finish_and_clear();
            replayed
        },
    );
    written.and(replayed)
}

/// Whether what is left out runs elsewhere in the frame, too.
fn repeats(of: &FrameWork, replay: &Replay) -> bool {
    let rows: HashSet<usize> = replay.left_out.iter().copied().collect();
    let blocks: HashSet<u64> = rows.iter().map(|row| of.actions[*row].block).collect();
    let mut others = of.actions.iter().enumerate().filter(|(row, _)| !rows.contains(row));
    others.any(|(_, a)| blocks.contains(&a.block))
}

/// Whether what is left out may have run in earlier frames, too.
fn earlier(of: &FrameWork, replay: &Replay) -> bool {
    replay.left_out.iter().any(|row| of.actions[*row].block < of.before)
}

/// One replay, up to the frame, that a hook looks at, without draws of these blocks; whether it kept to the capture, and the device.
pub fn once(
    capture: &Capture,
    asked: &Asked<'_>,
    left_out: &[u64],
    hook: Box<dyn Hook>,
    first: bool,
) -> Result<(bool, String), Failure> {
    let at = left_out.iter().map(|block| format!("at={block}-{block}"));
    let without = (!left_out.is_empty()).then(|| Use::new("skip", at));
    let all: Vec<Use> = asked.changes.iter().cloned().chain(without).collect();
    let mut hooks = changes(&all)?;
    hooks.push(hook);
    breadcrumbs(asked.run, &mut hooks);
    let options = Options { frames: Some((asked.frame, asked.frame)), ..options(asked.run)? };
    let summary = replay(capture, &options, On::Vulkan, hooks, 0, &mut ()).map_err(failure)?;
    if first && left_out.is_empty() || summary.report.divergences.count > 0 {
        tallies(&summary);
    }
    if first || !summary.report.validation.is_empty() {
        validation(&summary, asked.run.validate);
    }
    Ok((summary.report.divergences.count == 0, summary.gpu.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::hooks::frame_actions::FramePass;
    use trace::actions::Action;

    fn of() -> FrameWork {
        let pass = |number, end| FramePass { number, end, ..FramePass::default() };
        let draw = |block, pass| Action { block, pass, ..Action::default() };
        let actions = vec![draw(10, 1), draw(11, 1), draw(12, 0), draw(20, 2), draw(11, 2)];
        FrameWork { actions, passes: vec![pass(1, 15), pass(2, 25)], before: 11, ..FrameWork::default() }
    }

    #[test]
    fn what_comes_later_in_the_same_pass_is_left_out() {
        let later = |draw| later(&of(), draw);
        assert_eq!((later(0), later(1), later(3)), (vec![1], vec![], vec![4]));
        let blocks = |pass| ends(&of(), pass).into_keys().collect::<Vec<u64>>();
        assert_eq!((blocks(2), blocks(0)), (vec![25], vec![15, 25]));
    }

    #[test]
    fn what_runs_elsewhere_and_what_was_recorded_before_the_frame_is_known() {
        let without = |rows: &[usize]| Replay { left_out: rows.to_vec(), ..Replay::default() };
        assert!(earlier(&of(), &without(&[3, 0])));
        assert!(!earlier(&of(), &without(&[1, 3])));
        assert!(repeats(&of(), &without(&[1])), "it runs in the second pass, too");
        assert!(!repeats(&of(), &without(&[0, 3])));
    }
}
