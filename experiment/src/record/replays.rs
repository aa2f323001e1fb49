//! The replays that `profile` makes: each with a bar that says what it is for.

use super::settings::Settings;
use crate::progress;
use crate::replaying::{Bar, breadcrumbs};
use gfxr_parse::container::Capture;
use profile::changes::hooks as hooks_of;
use profile::costs::{Times, again};
use profile::pictures::Pictures;
use replay::error::{Error, Kind, Result};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, Progress, Summary, replay};
use std::time::{Duration, Instant};

/// Time after which a frame has run again often enough.
const ENOUGH: Duration = Duration::from_secs(1);

/// What a capture is replayed with.
pub struct Replays<'r> {
    /// What is asked for.
    pub args: &'r Settings,
    /// The capture.
    pub capture: &'r Capture,
    /// How.
    pub options: &'r Options,
}

/// The bar, and how long a frame has been running again.
struct Told<'b> {
    bar: Bar<'b>,
    since: Option<Instant>,
}

impl Progress for Told<'_> {
    fn at(&mut self, bytes: u64, frame: u64) {
        self.bar.at(bytes, frame);
    }

    fn iteration(&mut self, _: u32, _: u32) {
        self.since.get_or_insert_with(Instant::now);
    }

    fn enough(&mut self) -> bool {
        self.since.is_some_and(|since| since.elapsed() > ENOUGH)
    }
}

impl Replays<'_> {
    /// One replay, of all frames asked for or of those from the first to the last given.
    pub fn once(
        &self,
        bounds: Option<(u64, u64)>,
        hooks: Vec<Box<dyn Hook>>,
        what: &'static str,
    ) -> Result<Summary> {
        let mut options = self.options.clone();
        options.frames = bounds.or(options.frames);
        self.with(&options, hooks, what)
    }

    /// One replay of all frames asked for, whose last one runs again to be timed, if there is one that can.
    pub fn timed(&self, last: Option<u64>, hooks: Vec<Box<dyn Hook>>, what: &'static str) -> Result<Summary> {
        let options = Options { looped: last.map(again), ..self.options.clone() };
        self.with(&options, hooks, what)
    }

    fn with(&self, options: &Options, mut hooks: Vec<Box<dyn Hook>>, what: &'static str) -> Result<Summary> {
        let changed = hooks_of(&self.args.changes).map_err(|why| Error::new(Kind::Internal, why))?;
        hooks.splice(0..0, changed);
        breadcrumbs(&self.args.run, &mut hooks);
        let bar = progress::bytes(self.capture.bytes().len() as u64, what);
        let mut told = Told { bar: Bar { bar: &bar, map: None, released: 0 }, since: None };
        let summary = replay(self.capture, options, On::Vulkan, hooks, 0, &mut told);
        bar.finish_and_clear();
        summary
    }
}

/// What is kept of a replay with the plan's shaders.
pub struct Taken {
    /// Which of those that places are spread over.
    pub replay: u32,
    /// What its frames show.
    pub pictures: Pictures,
    /// What it took.
    pub times: Times,
}
