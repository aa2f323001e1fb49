//! Hooks and the executor: one call at a time through the hooks, the linker and the backend, into the object table.
//!
//! Guarantees: calls happen in the order they are given; the table knows a new object before the next call and forgets
//! a destroyed one after its destroy. Refuses (by default) to go on after a divergence; with `keep_going` it is counted.

use crate::backend::Backend;
use crate::error::{Error, Kind, Result};
use crate::hook::{Commands, Needs};
use crate::lifetimes::Lifetimes;
use crate::link::{Linked, invalid};
use crate::objects::Objects;
use crate::options::Options;
use crate::report::{InFlight, Report};
use crate::under_way::{self, UnderWay};
use crate::usage::Usage;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::{Ty, enum_named};
use gfxr_parse::valid::{self, Level};
use std::time::Instant;
use world::{Depth, Frame, MetaBlock, Nobody, Outcome};

/// The rest of the chain.
#[derive(Clone, Copy)]
pub struct Next(usize);

impl Next {
    /// Runs the call through the stages further in.
    pub fn run(self, cx: &mut Executor, call: &mut Call) -> Result<Outcome> {
        cx.run_from(self.0, call)
    }
}

/// What may stand between the capture's calls and the driver.
///
/// An onion: a hook's [`Hook::call`] runs `next` zero, one or several times, so that a call it injects passes only the
/// stages further in. [`Hook::linked`] and [`Hook::invoked`] stand directly around the driver, where arguments are live
/// addresses: timestamps go there, so that nobody times another hook's work. A hook's own objects go straight to `ash`
/// and never enter the object table.
pub trait Hook {
    /// Its name, for messages.
    fn name(&self) -> &'static str;
    /// What it asks of the device.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// How deep it looks into [`crate::objects::Objects::world`].
    fn follows(&self) -> Depth {
        Depth::default()
    }
    /// Which commands go through [`Hook::call`].
    fn wants(&self) -> Commands {
        Commands::none()
    }
    /// Which commands go through [`Hook::linked`] and [`Hook::invoked`].
    fn wants_linked(&self) -> Commands {
        Commands::none()
    }
    /// Sees a call before it is linked; must run `next` for it to happen.
    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        next.run(cx, call)
    }
    /// Sees a metadata block before the backend does: what a mapping was filled with, what a snapshot's resources hold.
    fn meta(&mut self, _cx: &mut Executor, _block: &MetaBlock<'_>) -> Result<()> {
        Ok(())
    }
    /// Directly before the driver is called; may change arguments.
    fn linked(&mut self, _cx: &mut Executor, _call: &Call, _linked: &mut Linked) -> Result<()> {
        Ok(())
    }
    /// Directly after.
    fn invoked(&mut self, _cx: &mut Executor, _call: &Call, _linked: &mut Linked, _ret: u64) -> Result<()> {
        Ok(())
    }
    /// An iteration of a looped frame begins: the devices are idle, nothing is timed yet.
    fn frame_begins(&mut self, _cx: &mut Executor) -> Result<()> {
        Ok(())
    }
    /// A frame has ended.
    fn frame(&mut self, _cx: &mut Executor, _frame: Frame) -> Result<()> {
        Ok(())
    }
    /// The replay stops early. What of the device's work is not done, if the hook knows: with a hang or a lost device
    /// nothing may wait for it any more.
    fn stopped(&mut self, _cx: &mut Executor, _e: &Error) -> Vec<InFlight> {
        Vec::new()
    }
    /// The replay has ended; nothing more is called. Devices may already be gone.
    fn finish(&mut self, _cx: &mut Executor) -> Result<()> {
        Ok(())
    }
}

/// See the module's header.
pub struct Executor {
    /// The capture's ids -> live handles.
    pub objects: Objects,
    /// Who is called.
    pub backend: Box<dyn Backend>,
    /// What has happened so far.
    pub report: Report,
    /// The frame that runs is one the user wants measured.
    pub measuring: bool,
    /// It warms up a measured one: it is measured, too, and its results are dropped.
    pub warming: bool,
    /// It has run before, and everything that it changed was put back.
    pub again: bool,
    /// When the first call of the running frame began.
    pub frame_started: Option<Instant>,
    hooks: Vec<Option<Box<dyn Hook>>>,
    /// Per command, the hooks that see it: bit i = hook i; then the same for the linked stage.
    wants: Vec<(u32, u32)>,
    lifetimes: Lifetimes,
    /// Memory for the call that runs; absent while one does.
    linked: Option<Box<Linked>>,
    keep_going: bool,
    /// What calls have to keep to; none where the capture is trusted with it.
    usage: Option<Usage>,
    under_way: &'static UnderWay,
}

impl Executor {
    /// An executor with its hooks, outermost first.
    pub fn new(backend: Box<dyn Backend>, hooks: Vec<Box<dyn Hook>>, options: &Options) -> Self {
        assert!(hooks.len() <= 32, "one bit per hook");
        let mut wants = vec![(0, 0); COMMANDS.len()];
        for (h, hook) in hooks.iter().enumerate() {
            let (calls, linked) = (hook.wants(), hook.wants_linked());
            for (i, w) in wants.iter_mut().enumerate() {
                w.0 |= u32::from(calls.has(i)) << h;
                w.1 |= u32::from(linked.has(i)) << h;
            }
        }
        let mut objects = Objects::default();
        hooks.iter().for_each(|h| objects.follow_to(h.follows()));
        Executor {
            objects,
            backend,
            report: Report::default(),
            measuring: true,
            warming: false,
            again: false,
            frame_started: None,
            hooks: hooks.into_iter().map(Some).collect(),
            wants,
            lifetimes: Lifetimes::default(),
            linked: None,
            keep_going: options.keep_going,
            usage: (!options.trust_capture).then(Usage::default),
            under_way: under_way::here(),
        }
    }

    /// Runs one call through everything.
    pub fn run(&mut self, call: &mut Call) -> Result<()> {
        self.under_way.call(call.block, call.index);
        self.report.calls += 1;
        if self.frame_started.is_none() {
            self.frame_started = Some(Instant::now());
        }
        let r = match self.check(call) {
            Ok(()) => self.run_from(0, call).and_then(|outcome| {
                self.objects.follow().call(call, outcome, &mut Nobody);
                self.judge(call, outcome)
            }),
            Err(e) => self.refused(call, e),
        };
        if r.is_err() && self.went_with_its_device(call) {
            self.report.note("objects that went with their device: not freed again");
            return Ok(());
        }
        let r = r.map_err(|e| e.at(|| format!("block {}, {}", call.block, call.command.name)));
        // What is only missing here says nothing against what follows.
        if r.as_ref().is_err_and(|e| matches!(e.kind(), Kind::Divergence | Kind::Capture)) {
            self.backend.left_out(&mut self.objects, call);
        }
        self.pass_over(r)
    }

    /// Whether a call may be made: by itself, and with the objects that it uses.
    #[inline]
    fn check(&self, call: &mut Call) -> gfxr_parse::error::Result<()> {
        match &self.usage {
            None => valid::check(&mut call.image, Level::Memory),
            Some(usage) => {
                valid::check(&mut call.image, Level::Usage)?;
                usage.check(call, self.objects.world(), self.backend.limits())
            }
        }
    }

    /// Whether a call that cannot be made frees something of a device that is no more: programs do that, and nothing is left to
    /// be freed.
    #[cold]
    fn went_with_its_device(&self, call: &Call) -> bool {
        let name = call.command.canonical;
        let frees = name.starts_with("vkDestroy") || name.starts_with("vkFree");
        let of_device = call.command.params.first().is_some_and(|p| p.name == "device");
        frees && name != "vkDestroyDevice" && of_device && self.objects.any(call.image.u64(0)).is_none()
    }

    /// A call that is not valid: no hook sees it, and no driver.
    #[cold]
    fn refused(&mut self, call: &mut Call, e: gfxr_parse::error::Error) -> Result<()> {
        if call.image.ret().is_some_and(|r| r < 0) {
            self.report.note("calls that are not valid and failed at capture, too: not made");
            return Ok(());
        }
        let e = invalid(e);
        Err(match valid::check(&mut call.image, Level::Memory) {
            Ok(()) => e.with("--trust-capture makes such calls; drivers may crash"),
            Err(_) => e,
        })
    }

    /// Runs the call from hook `from` on.
    pub(crate) fn run_from(&mut self, from: usize, call: &mut Call) -> Result<Outcome> {
        let waiting = self.wants[call.index].0 >> from;
        if waiting == 0 {
            return self.execute(call);
        }
        let h = from + waiting.trailing_zeros() as usize;
        let mut hook = self.hooks[h].take().expect("hooks do not re-enter themselves");
        let r = hook.call(self, call, Next(h + 1));
        self.hooks[h] = Some(hook);
        r
    }

    /// Links, invokes, tracks.
    fn execute(&mut self, call: &mut Call) -> Result<Outcome> {
        let mut linked = self.linked.take().unwrap_or_default();
        let r = self.execute_with(call, &mut linked);
        self.linked = Some(linked);
        r
    }

    fn execute_with(&mut self, call: &Call, linked: &mut Linked) -> Result<Outcome> {
        if let Some(outcome) = self.backend.answer(&mut self.objects, call, &mut self.report)? {
            self.lifetimes.forget(&mut self.objects, call);
            return Ok(outcome);
        }
        self.backend.link(&self.objects, call, linked)?;
        let stage = self.wants[call.index].1;
        if stage != 0 {
            self.around(stage, |hook, cx| hook.linked(cx, call, linked))?;
        }
        let outcome = self.backend.invoke(&mut self.objects, call, linked, &mut self.report)?;
        if stage != 0 {
            self.around(stage, |hook, cx| hook.invoked(cx, call, linked, outcome.ret))?;
        }
        if outcome.called {
            self.lifetimes.remember(&mut self.objects, call, linked, outcome);
        }
        self.lifetimes.forget(&mut self.objects, call);
        Ok(outcome)
    }

    fn around(
        &mut self,
        mut stage: u32,
        mut f: impl FnMut(&mut dyn Hook, &mut Executor) -> Result<()>,
    ) -> Result<()> {
        while stage != 0 {
            let h = stage.trailing_zeros() as usize;
            stage &= stage - 1;
            let mut hook = self.hooks[h].take().expect("hooks do not re-enter themselves");
            let r = f(&mut *hook, self);
            self.hooks[h] = Some(hook);
            r?;
        }
        Ok(())
    }

    /// A call that succeeded at capture must not fail now.
    fn judge(&mut self, call: &Call, outcome: Outcome) -> Result<()> {
        if !outcome.called || !matches!(call.command.ret, Some(Ty::Enum(_))) {
            return Ok(());
        }
        let (then, now) = (call.image.ret().unwrap_or(0), outcome.result());
        if then >= 0 && now < 0 && call.command.name.starts_with("vkGetPhysicalDevice") {
            // The program asked what there is; what it then used is compared where it is used.
            self.report.note("questions about the device answered otherwise than at capture");
            return Ok(());
        }
        if then >= 0 && now < 0 {
            let text = format!(
                "the capture recorded {}, the driver now returned {}",
                result_name(then),
                result_name(now)
            );
            return Err(Error::failed(text, ash::vk::Result::from_raw(now)).unwrap_or_else(Error::divergence));
        }
        Ok(())
    }

    /// Runs a metadata block.
    pub fn meta(&mut self, block: &mut MetaBlock<'_>) -> Result<()> {
        self.under_way.block(block.block);
        self.around(self.all_hooks(), |hook, cx| hook.meta(cx, block))?;
        let r = self.backend.meta(&mut self.objects, block, &mut self.report);
        self.objects.follow().meta(block);
        self.pass_over(r)
    }

    /// The state snapshot begins or ends.
    pub fn state(&mut self, begins: bool) -> Result<()> {
        self.backend.state(&mut self.objects, begins, &mut self.report)
    }

    /// A block that could not be read: an error only where something after it would depend on it, that is, always, unless it is
    /// the cut-off end of the file, or in a file that is not there: what depends on that is left out and counted.
    pub fn undecoded(&mut self, e: &gfxr_parse::error::Error) -> Result<()> {
        if e.kind() == gfxr_parse::error::Kind::Missing {
            self.report.missing_file(e);
            return Ok(());
        }
        self.report.undecoded.add(|| e.to_string());
        match e.kind() {
            gfxr_parse::error::Kind::Truncated if e.path().is_empty() => Ok(()),
            _ if self.keep_going => Ok(()),
            _ => Err(Error::new(Kind::Capture, e.to_string())),
        }
    }

    fn pass_over(&mut self, r: Result<()>) -> Result<()> {
        r.or_else(|e| {
            let recoverable =
                matches!(e.kind(), Kind::Divergence | Kind::Unsupported | Kind::Capture | Kind::Memory);
            let follows = matches!(e.kind(), Kind::Divergence | Kind::Capture);
            if follows && !self.report.missing_files.is_empty() {
                self.report.need_missing_files.add(|| e.in_one_line());
                Ok(())
            } else if recoverable && self.keep_going {
                self.report.divergence(&e);
                Ok(())
            } else {
                Err(e)
            }
        })
    }

    /// Tells every hook that a looped frame begins, on idle devices.
    pub fn frame_begins(&mut self) -> Result<()> {
        self.frame_started = None;
        self.around(self.all_hooks(), |hook, cx| hook.frame_begins(cx))
    }

    /// Tells the backend and every hook that a frame has ended.
    pub fn frame(&mut self, frame: Frame) -> Result<()> {
        self.backend.frame(frame)?;
        self.objects.follow().frame(frame);
        self.around(self.all_hooks(), |hook, cx| hook.frame(cx, frame))?;
        self.frame_started = None;
        Ok(())
    }

    /// Ends the replay.
    pub fn finish(&mut self) -> Result<()> {
        self.under_way.nothing();
        let r = self.backend.finish(&mut self.report);
        if r.as_ref().is_err_and(Error::is_gone) {
            return r; // hooks would wait for what never ends
        }
        self.around(self.all_hooks(), |hook, cx| hook.finish(cx))?;
        r
    }

    /// Destroys what the capture has left behind. Nothing runs any more; hooks go first, as they may have objects there.
    pub fn give_back(&mut self) {
        self.hooks.clear();
        self.backend.give_back(&mut self.objects);
    }

    /// The replay stops early: asks the backend and the hooks what they know of the work that is not done.
    pub fn stopped(&mut self, e: &Error) -> Vec<InFlight> {
        let mut found = Vec::new();
        let asked = self.around(self.all_hooks(), |hook, cx| {
            found.extend(hook.stopped(cx, e));
            Ok(())
        });
        debug_assert!(asked.is_ok());
        if found.is_empty() { self.backend.in_flight() } else { found }
    }

    fn all_hooks(&self) -> u32 {
        ((1u64 << self.hooks.len()) - 1) as u32
    }
}

/// `VK_SUCCESS` and its kin by name.
pub fn result_name(v: i32) -> String {
    let named = enum_named("VkResult").and_then(|e| e.value(v.cast_unsigned()));
    named.map_or_else(|| format!("VkResult {v}"), str::to_owned)
}
