//! A capture's own tables: one walk over its blocks, in their order.
//!
//! Blocks are decoded ahead on other threads, and SQLite takes the rows on one of its own; here they are followed and turned
//! into rows. Guarantees: every call that can be decoded is a row; a block that cannot is told of and left out, and those behind it
//! are read all the same. Refuses nothing.

mod calls;
pub mod contents;
mod frames;
mod inputs;
mod labels;
mod objects;
mod passes;
mod runs;
mod writes;

pub use frames::Framed;

use crate::error::Error;
use crate::writer::Writer;
use calls::Calls;
use frames::Frames;
use gfxr_parse::ahead::{self, Call, Item, What};
use gfxr_parse::container::{Capture, Place};
use gfxr_parse::print::record_name;
use objects::Objects;
use runs::{Recordings, Runs};
use std::ops::ControlFlow;
use world::{Follow, Frame, MetaBlock, Outcome};
use writes::Writes;

/// Who is told on the way.
pub trait Told {
    /// Which frame a block belongs to, and whether one ends before or behind it.
    fn framed(&mut self, place: Place, call: Option<&Call>) -> Framed;
    /// A block could not be read.
    fn bad(&mut self, why: &gfxr_parse::error::Error);
    /// The file ends inside a block, and everything before it was read.
    fn cut_off(&mut self, why: &gfxr_parse::error::Error);
    /// How far into the file the walk has come, in bytes.
    fn at(&mut self, offset: u64);
}

/// How much there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Calls.
    pub calls: u64,
    /// Draws, dispatches and traces that the device ran.
    pub invocations: u64,
}

/// Blocks between two words on how far it is.
const STEP: u64 = 1024;

/// Writes them.
pub fn write(capture: &Capture, writer: &mut Writer, told: &mut dyn Told) -> Result<Written, Error> {
    writer.about("capture", capture.name().to_owned())?;
    let mut walk = Walk {
        calls: Calls::new(writer)?,
        objects: Objects::default(),
        frames: Frames::default(),
        recordings: Recordings::new(writer)?,
        follow: Follow::new(),
        runs: Runs::new(writer)?,
        writes: Writes::new(writer)?,
        written: Written::default(),
    };
    let failed = ahead::run(capture, |item| match walk.item(item, writer, told) {
        Ok(()) => ControlFlow::Continue(()),
        Err(e) => ControlFlow::Break(e),
    });
    if let Some(e) = failed {
        return Err(e);
    }
    walk.finish(writer)
}

struct Walk {
    calls: Calls,
    objects: Objects,
    frames: Frames,
    recordings: Recordings,
    follow: Follow,
    runs: Runs,
    writes: Writes,
    written: Written,
}

impl Walk {
    fn item(&mut self, item: &mut Item<'_>, writer: &mut Writer, told: &mut dyn Told) -> Result<(), Error> {
        let framed = told.framed(item.place, if let What::Call(c) = &item.what { Some(c) } else { None });
        if framed.before {
            self.end_frame();
        }
        self.frames.block(item.block, framed.frame);
        if item.block.is_multiple_of(STEP) {
            told.at(item.offset);
        }
        match &mut item.what {
            What::Call(call) => {
                call.frame = framed.frame;
                self.call(call, writer)?;
            }
            What::Meta(meta, data) => {
                let name = record_name(meta.meta.id());
                self.calls.meta(writer, item.block, framed.frame, name, &meta.meta, data.bytes().len())?;
                let at = (item.block, framed.frame);
                self.writes.meta(writer, self.follow.world(), at, &meta.meta, data.bytes())?;
                self.objects.meta(&meta.meta, item.block, framed.frame);
                self.follow.meta(&MetaBlock { meta: &meta.meta, data: data.bytes(), block: item.block });
            }
            What::StateEnds => {
                self.follow.frame(Frame { number: framed.frame, next: item.place.frame, repeat: 0 });
            }
            What::StateBegins | What::Nothing => {}
            What::Bad(e) => told.bad(e),
            What::CutOff(e) => told.cut_off(e),
        }
        if framed.after {
            self.end_frame();
        }
        Ok(())
    }

    fn call(&mut self, call: &mut Call, writer: &mut Writer) -> Result<(), Error> {
        self.written.calls += 1;
        self.calls.call(writer, call)?;
        self.frames.call(call);
        self.objects.call(call);
        self.recordings.before(writer, self.follow.world(), call)?;
        self.follow.call(call, Outcome::captured(call), &mut self.runs.told(writer));
        self.writes.call(call);
        self.recordings.after(writer, self.follow.world(), call)?;
        self.runs.call(writer, call)
    }

    fn end_frame(&mut self) {
        let number = self.frames.ended();
        self.follow.frame(Frame { number, next: number.saturating_add(1), repeat: 0 });
    }

    fn finish(mut self, writer: &mut Writer) -> Result<Written, Error> {
        self.follow.finish(&mut self.runs.told(writer));
        let ran = self.runs.finish(writer)?;
        self.objects.finish(writer)?;
        self.written.invocations = ran.invocations;
        self.frames.finish(writer, &ran)?;
        Ok(self.written)
    }
}
