//! Where builds of acceleration structures have their scratch memory: how much room each has before the next one's begins.
//!
//! Programs place scratch as close as the captured driver's sizes allow, and builds without a barrier between them run side by
//! side. Which builds are ordered is not looked at: the room of an address ends where any build of the capture, before or after,
//! has its own. Refuses nothing.

use gfxr_parse::container::{BlockKind, Capture, Scratch as Memory};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::view::View;
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

/// Captured scratch addresses.
#[derive(Clone, Debug, Default)]
pub struct Scratch(BTreeSet<u64>);

/// Looks through a capture.
pub fn scan(capture: &Capture) -> Scratch {
    let (mut found, mut memory, mut image) = (Scratch::default(), Memory::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command) else { continue };
        let builds = ["vkCmdBuildAccelerationStructuresKHR", "vkCmdBuildAccelerationStructuresIndirectKHR"];
        if !builds.contains(&c.name) {
            continue;
        }
        if let Ok(BlockKind::Call(call)) = block.kind()
            && decode_found(c, &block, &call, &mut memory, &mut image).is_ok()
        {
            let infos = View::call(&image).structs("pInfos");
            found.0.extend(infos.filter_map(|i| i.one("scratchData")?.u64("deviceAddress")));
        }
    }
    found
}

impl Scratch {
    /// Bytes from a captured address to where the next scratch memory begins.
    pub fn room(&self, captured: u64) -> u64 {
        let next = self.0.range((Excluded(captured), Unbounded)).next();
        next.map_or(u64::MAX, |n| n - captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_a_capture_are_found() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../captures/samples/rays.gfxr");
        let bytes = std::fs::read(sample).expect("a sample");
        let found = scan(&Capture::new(bytes).expect("a capture"));
        assert!(found.0.len() > 1 && !found.0.contains(&0), "{found:?}");
    }

    #[test]
    fn room_ends_where_the_next_begins() {
        let s = Scratch([0x1000, 0x1040, 0x9000].into());
        assert_eq!([0x1000, 0x1040, 0x9000, 0x1020].map(|a| s.room(a)), [0x40, 0x7FC0, u64::MAX, 0x20]);
    }
}
