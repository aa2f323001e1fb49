//! The replays that `profile` makes: each with a bar that says what it is for.

use crate::cli::ProfileArgs;
use crate::commands::replaying::{Bar, breadcrumbs};
use crate::progress;
use gfxr_parse::container::Capture;
use replay::error::Result;
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, Summary, replay};

/// What a capture is replayed with.
pub struct Replays<'r> {
    /// The flags.
    pub args: &'r ProfileArgs,
    /// The capture.
    pub capture: &'r Capture,
    /// How.
    pub options: &'r Options,
}

impl Replays<'_> {
    /// One replay, of all frames asked for or of those from the first to the last given.
    pub fn once(
        &self,
        bounds: Option<(u64, u64)>,
        mut hooks: Vec<Box<dyn Hook>>,
        what: &'static str,
    ) -> Result<Summary> {
        breadcrumbs(&self.args.run, &mut hooks);
        let mut options = self.options.clone();
        options.frames = bounds.or(options.frames);
        let bar = progress::bytes(self.capture.bytes().len() as u64, what);
        let mut told = Bar { bar: &bar, map: None, released: 0 };
        let summary = replay(self.capture, &options, On::Vulkan, hooks, 0, &mut told);
        bar.finish_and_clear();
        summary
    }
}
