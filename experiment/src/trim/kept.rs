//! Draws, dispatches and traces of frames that alone are kept, as a change that leaves out their others.
//!
//! Guarantees: what frames before it recorded stays, but for a command buffer that they and the frames execute; nothing else is left out than draws,
//! dispatches and traces, and pipelines bound for them alone. Of what is executed several times, all stays if one is chosen. Refuses choices that nothing of
//! the frames meets.

use crate::failure::Failure;
use crate::frames::works;
use crate::how::How;
use gfxr_parse::container::Capture;
use std::collections::BTreeSet;
use trace::actions::Choice;
use trace::plan::Use;

/// The change; none where everything is kept.
pub fn all_but(
    capture: &Capture,
    how: &How,
    commands: &[String],
    (first, last): (u64, u64),
) -> Result<Option<Use>, Failure> {
    if commands.is_empty() {
        return Ok(None);
    }
    let wrong = |e: String| Failure::usage(format_args!("--commands: {e}"));
    let choice = Choice::read(commands).map_err(wrong)?;
    let frames = works(capture, how, (first, last), None)?;
    let (mut kept, mut all) = (BTreeSet::new(), BTreeSet::new());
    for actions in frames.iter().map(|f| &f.1.actions) {
        let chosen = (1..).zip(actions).filter(|(n, a)| choice.is(*n, a));
        kept.extend(chosen.map(|(_, a)| a.block));
        all.extend(actions.iter().map(|a| a.block));
    }
    // (what one frame lacks another may have)
    if kept.is_empty() && first != last {
        return Err(wrong(choice.nothing_of_all((first, last))));
    }
    let of = frames.last().map_or(0, |f| f.1.actions.len());
    if let Some(why) = choice.beyond(first, of).filter(|_| first == last) {
        return Err(wrong(why));
    }
    if kept.is_empty() {
        return Err(wrong(choice.nothing(first, of)));
    }
    let others: BTreeSet<u64> = all.difference(&kept).copied().collect();
    let blocks: Vec<String> = others.iter().map(u64::to_string).collect();
    let at = || Use::new("skip", [format!("at={}", blocks.join(","))]);
    Ok((!others.is_empty()).then(at))
}
