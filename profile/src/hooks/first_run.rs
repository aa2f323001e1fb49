//! Of a frame that runs again and again, the first run alone: what a hook sees of a replay that times such a frame behind what
//! the hook is there for.
//!
//! Guarantees: until the frame runs again the hook within sees all that it asks for; from then on nothing but the replay's end.
//! Refuses nothing.

use gfxr_parse::ahead::Call;
use replay::error::{Error, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::link::Linked;
use replay::report::InFlight;
use world::{Depth, Frame, MetaBlock, Outcome};

/// See the module's header.
pub struct FirstRun(pub Box<dyn Hook>);

impl Hook for FirstRun {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn follows(&self) -> Depth {
        self.0.follows()
    }

    fn wants(&self) -> Commands {
        self.0.wants()
    }

    fn wants_linked(&self) -> Commands {
        self.0.wants_linked()
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if cx.again { next.run(cx, call) } else { self.0.call(cx, call, next) }
    }

    fn meta(&mut self, cx: &mut Executor, block: &MetaBlock<'_>) -> Result<()> {
        if cx.again { Ok(()) } else { self.0.meta(cx, block) }
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        if cx.again { Ok(()) } else { self.0.linked(cx, call, linked) }
    }

    fn invoked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked, ret: u64) -> Result<()> {
        if cx.again { Ok(()) } else { self.0.invoked(cx, call, linked, ret) }
    }

    fn frame_begins(&mut self, cx: &mut Executor) -> Result<()> {
        if cx.again { Ok(()) } else { self.0.frame_begins(cx) }
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        if cx.again { Ok(()) } else { self.0.frame(cx, frame) }
    }

    fn stopped(&mut self, cx: &mut Executor, e: &Error) -> Vec<InFlight> {
        self.0.stopped(cx, e)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.0.finish(cx)
    }
}
