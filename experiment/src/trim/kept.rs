//! Draws, dispatches and traces of one frame that alone are kept, as a change that leaves out its others.
//!
//! Guarantees: what frames before it recorded stays, but for a command buffer that they and the frame execute; nothing else is left out than draws,
//! dispatches and traces, and pipelines bound for them alone. Of what is executed several times, all stays if one is chosen. Refuses several frames, and choices that nothing of
//! the frame meets.

use crate::failure::Failure;
use crate::frames::work;
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
    if first != last {
        return Err(wrong("draws are chosen among those of one frame: name it by --frames".into()));
    }
    let actions = work(capture, how, first, None)?.actions;
    if let Some(why) = choice.beyond(first, actions.len()) {
        return Err(wrong(why));
    }
    let chosen = (1..).zip(&actions).filter(|(n, a)| choice.is(*n, a));
    let kept: BTreeSet<u64> = chosen.map(|(_, a)| a.block).collect();
    if kept.is_empty() {
        return Err(wrong(choice.nothing(first, actions.len())));
    }
    let others: BTreeSet<u64> = actions.iter().map(|a| a.block).filter(|b| !kept.contains(b)).collect();
    let blocks: Vec<String> = others.iter().map(u64::to_string).collect();
    let at = || Use::new("skip", [format!("at={}", blocks.join(","))]);
    Ok((!others.is_empty()).then(at))
}
