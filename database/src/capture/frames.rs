//! Frames: where each begins and ends, and how much there is in it.
//!
//! Which block belongs to which is said from outside, as captures that never present have no frames of their own. What has no call
//! and no end is no frame, as the block before the state of a trimmed capture. Refuses nothing.

use super::runs::Ran;
use crate::error::Error;
use crate::schema;
use crate::writer::Writer;
use gfxr_parse::ahead::Call;
use std::collections::BTreeMap;
use world::batches;

/// Where a block is among frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framed {
    /// A frame ends before it.
    pub before: bool,
    /// Its frame's number; 0 in the state at the head of a trimmed capture.
    pub frame: u64,
    /// Its frame ends with it.
    pub after: bool,
}

#[derive(Default)]
struct Frame {
    blocks: Option<(u64, u64)>,
    calls: u64,
    submissions: u64,
    complete: bool,
}

/// All of them.
#[derive(Default)]
pub(super) struct Frames {
    frames: BTreeMap<u64, Frame>,
    now: u64,
}

impl Frames {
    /// A block of this frame.
    pub fn block(&mut self, block: u64, frame: u64) {
        self.now = frame;
        let f = self.frames.entry(frame).or_default();
        f.blocks = Some((f.blocks.map_or(block, |b| b.0), block));
    }

    /// A call of the frame that the last block was of.
    pub fn call(&mut self, call: &Call) {
        let f = self.frames.entry(self.now).or_default();
        f.calls += 1;
        if matches!(call.command.canonical, "vkQueueSubmit" | "vkQueueSubmit2") && call.image.ret() >= Some(0)
        {
            f.submissions += batches(call).len() as u64;
        }
    }

    /// The frame of the last block ends; its number.
    pub fn ended(&mut self) -> u64 {
        self.frames.entry(self.now).or_default().complete = true;
        self.now
    }

    /// Writes them down.
    pub fn finish(self, writer: &mut Writer, ran: &Ran) -> Result<(), Error> {
        let table = writer.table(schema::frames())?;
        for (number, f) in self.frames {
            let Some((first, last)) = f.blocks.filter(|_| f.calls > 0 || f.complete) else { continue };
            let [draws, dispatches, traces] = ran.by_frame.get(&number).copied().unwrap_or_default();
            writer.row(
                table,
                [
                    number.into(),
                    first.into(),
                    last.into(),
                    f.calls.into(),
                    f.submissions.into(),
                    draws.into(),
                    dispatches.into(),
                    traces.into(),
                    f.complete.into(),
                ],
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Database;

    #[test]
    fn what_has_no_call_and_no_end_is_no_frame() {
        let folder = std::env::temp_dir().join(format!("reray-frames-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut frames = Frames::default();
        // (a block before the state, a frame without calls that ends, and a block behind it)
        frames.block(0, 1);
        frames.block(1, 40);
        assert_eq!(frames.ended(), 40);
        frames.block(2, 41);
        let path = folder.join("a.sqlite");
        let mut writer = Writer::create(&path).expect("a place");
        frames.finish(&mut writer, &Ran::default()).expect("written");
        writer.finish().expect("a database");
        let db = Database::open(&path).expect("a database");
        let row = |sql: &str| db.connection().query_row(sql, [], |r| r.get::<_, String>(0)).expect("a row");
        assert_eq!(row("SELECT group_concat(frame || ':' || complete) FROM frames"), "40:1");
        std::fs::remove_dir_all(&folder).expect("all of it");
    }
}
