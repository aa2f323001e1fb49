//! A capture with changes to its calls written into it.
//!
//! The capture is followed without a device, with the changes between two hooks that see what comes and what is passed on ([`written`]). Guarantees: blocks that
//! no change touches stay, byte for byte. Refuses changes that do
//! more than change calls, and those by which no call becomes another.

use crate::failure::Failure;
use crate::replaying::{changes, replay_with_bar};
use gfxr_parse::container::Capture;
use gfxr_parse::writer::Writer;
use profile::hooks::written::{self, Written};
use replay::options::Options;
use replay::session::On;
use trace::plan::Use;

/// Changes that make of calls other calls, and do nothing else; those that are not here make objects of their own, or depend on what a device can do.
const OF_CALLS: [&str; 8] =
    ["skip", "shaders", "half", "half-instances", "opaque", "structures", "wide-barriers", "no-barriers"];

/// The capture with these changes; and how many blocks are others.
pub fn baked(capture: &Capture, options: &Options, all: &[Use]) -> Result<(Capture, u64), Failure> {
    let of_calls = |c: &&Use| OF_CALLS.contains(&&*c.name) && !c.options.iter().any(|o| o == "compacted");
    if let Some(other) = all.iter().find(|c| !of_calls(c)) {
        return Err(Failure::usage(format_args!(
            "--change {other}: that is more than a change of calls, and cannot be written into a capture; what can be is {}",
            OF_CALLS.join(", ")
        )));
    }
    let (hooks, found) = written::around(changes(all)?);
    let options = Options { frames: None, ..options.clone() };
    replay_with_bar(capture, &options, On::Echo, hooks, 0, "changing")?;
    let Written { changed, .. } = found.take();
    if changed.is_empty() {
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        return Err(Failure::new(format_args!(
            "--change {}: no call becomes another by it, so there is nothing to write",
            names.join(", ")
        )));
    }
    let mut out = Writer::new(vec![], capture.header()).map_err(Failure::new)?;
    for block in capture.blocks_of_main_file() {
        match changed.get(&block.index) {
            None => out.raw(&block).map_err(Failure::new)?,
            Some(calls) => calls
                .iter()
                .try_for_each(|(id, thread, p)| out.call(*id, *thread, p))
                .map_err(Failure::new)?,
        }
    }
    let bytes = out.finish().map_err(Failure::new)?;
    let written = Capture::new(bytes).map_err(Failure::new)?.within(capture.budget());
    Ok((written, changed.len() as u64))
}
