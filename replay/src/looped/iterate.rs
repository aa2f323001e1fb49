//! Runs a frame's calls as often as asked, and puts back between them what they change.

use super::contents::{Snapshot, Tracker, Tracking};
use super::plan::{Plan, plan};
use super::policy::{When, when};
use super::preinitialized;
use super::state::{State, idle};
use super::summary::{Compared, Iteration, Looped};
use crate::error::{Error, Kind, Result};
use crate::exec::Executor;
use crate::hook::Hook;
use crate::options::Loop;
use crate::progress::Progress;
use crate::vulkan::presented;
use gfxr_parse::ahead::{Call, Item, What};
use gfxr_parse::container::Budget;
use gfxr_parse::meta::{Meta, MetaBlock as Parsed};
use gfxr_parse::view::View;
use std::time::Instant;
use world::{Frame, MetaBlock};

/// What the session does before each call that is made for the first time.
pub type Before<'f> = dyn FnMut(&mut Executor) -> Result<()> + 'f;

/// What surrounds the iterations.
struct Around {
    plan: Plan,
    state: State,
    snapshot: Snapshot,
}

/// One block of the frame, kept.
enum Kept<'a> {
    Call(Box<Call>),
    /// Its data are our own: the file's pages may have been given back.
    Meta(Box<Parsed<'a>>, Vec<u8>, u64),
    Bad(gfxr_parse::error::Error),
}

/// A loop, from the start of the capture on.
pub struct Looping<'a> {
    spec: Loop,
    tracking: Tracking,
    kept: Vec<Kept<'a>>,
    /// What they take, and may.
    kept_bytes: u64,
    budget: Budget,
    /// Images that the frame presents.
    shown: Vec<u64>,
    /// It has run once.
    ran: bool,
}

/// Makes a call fit to be repeated: recordings may run more than once, and be recorded again one by one.
pub fn prepare(call: &mut Call) {
    const ONE_TIME_SUBMIT: u32 = 1;
    const RESET_COMMAND_BUFFER: u32 = 2;
    let (info, without, with) = match call.command.name {
        "vkBeginCommandBuffer" => ("pBeginInfo", ONE_TIME_SUBMIT, 0),
        "vkCreateCommandPool" => ("pCreateInfo", 0, RESET_COMMAND_BUFFER),
        _ => return,
    };
    if let Some((_, at)) = View::call(&call.image).one(info).and_then(|i| i.definition("flags")) {
        call.image.edit_u32(at, call.image.u32(at) & !without | with);
    }
}

impl<'a> Looping<'a> {
    /// Nothing has happened yet. With the hook that follows what snapshots have to know.
    pub fn new(spec: Loop, budget: Budget) -> (Self, Box<dyn Hook>) {
        let (hook, tracking) = Tracker::new();
        let (kept, shown) = (Vec::new(), Vec::new());
        let looping = Looping { spec, tracking, kept, kept_bytes: 0, budget, shown, ran: false };
        (looping, Box::new(hook))
    }

    /// The frame that is looped.
    pub fn frame(&self) -> u64 {
        self.spec.frame
    }

    /// Whether a frame that cannot run again is to run once.
    pub fn or_once(&self) -> bool {
        self.spec.or_once
    }

    /// A block of it has been kept.
    pub fn began(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Before a block of an earlier frame runs.
    pub fn before(&mut self, what: &mut What<'_>) {
        if let What::Call(call) = what {
            prepare(call);
        }
    }

    /// Keeps a block of the frame, as long as there is room.
    pub fn keep(&mut self, item: &mut Item<'a>) -> Result<()> {
        self.kept_bytes += match &item.what {
            What::Meta(_, data) => data.bytes().len() as u64,
            what => what.bytes(),
        };
        if self.kept_bytes > self.budget.bytes() {
            let text = format!(
                "frame {} up to block {} takes {} bytes once decoded, and {} may be kept (--max-memory)",
                self.spec.frame,
                item.block,
                self.kept_bytes,
                self.budget.bytes()
            );
            return Err(Error::new(Kind::Memory, text));
        }
        match std::mem::replace(&mut item.what, What::Nothing) {
            What::Call(mut call) => {
                prepare(&mut call);
                call.frame = self.spec.frame;
                self.kept.push(Kept::Call(call));
            }
            What::Meta(meta, data) => self.kept.push(Kept::Meta(meta, data.bytes().to_vec(), item.block)),
            What::Bad(e) | What::CutOff(e) => self.kept.push(Kept::Bad(e)),
            What::StateBegins | What::StateEnds | What::Nothing => {}
        }
        Ok(())
    }

    /// Runs what was kept of the frame once, as captured: it cannot run again.
    pub fn give_up(
        mut self,
        cx: &mut Executor,
        why: &Error,
        out: &mut Option<Looped>,
        before: &mut Before<'_>,
    ) -> Result<()> {
        cx.measuring = true;
        for kept in &mut self.kept {
            if let Kept::Call(_) = kept {
                before(cx)?;
            }
            one(cx, kept)?;
        }
        let refused = Some(why.to_string());
        *out = Some(Looped { refused, ..Looped::new(self.spec.frame, 0, Compared::Changed) });
        Ok(())
    }

    /// Runs the frame as often as asked. What an error leaves is in `out`, too.
    pub fn run(
        mut self,
        cx: &mut Executor,
        progress: &mut dyn Progress,
        out: &mut Option<Looped>,
        before: &mut Before<'_>,
    ) -> Result<()> {
        let (mut around, mut looped) = match self.prepare(cx) {
            Err(e) if self.spec.or_once && !e.is_gone() => {
                let number = self.spec.frame;
                self.give_up(cx, &e, out, before)?;
                return cx.frame(Frame { number, next: number.saturating_add(1), repeat: 0 });
            }
            prepared => prepared?,
        };
        let mut r = self.iterations(cx, &mut around, &mut looped, progress, before);
        if let Err(e) = &r
            && self.spec.or_once
            && self.ran
            && !e.is_gone()
        {
            looped.refused = Some(e.to_string());
            r = Ok(());
        }
        let snapshot = around.snapshot;
        looped.snapshot_bytes = snapshot.cost().bytes;
        for (what, n) in snapshot.not_restored() {
            *looped.not_restored.entry(what.clone()).or_default() += n;
        }
        *out = Some(looped);
        if r.as_ref().is_err_and(Error::is_gone) {
            std::mem::forget(snapshot);
        } else {
            snapshot.release(cx);
        }
        r
    }

    /// What is known before the frame runs, and what is to be put back.
    fn prepare(&mut self, cx: &mut Executor) -> Result<(Around, Looped)> {
        let calls = self.kept.iter().filter_map(|k| match k {
            Kept::Call(call) => Some(&**call),
            _ => None,
        });
        let plan = plan(cx.objects.follow(), calls)?;
        let vk = cx.backend.vulkan();
        idle(vk.ok_or_else(|| Error::new(Kind::Internal, "a loop needs a device"))?)?;
        let started = Instant::now();
        let state = State::take(cx, &plan)?;
        let snapshot = Snapshot::take(cx, &self.tracking)?;
        let snapshot_ns = nanos(started);
        let compared = if plan.presents { Compared::Presented } else { Compared::Changed };
        let looped = Looped {
            iterations: Vec::with_capacity(self.spec.iterations as usize),
            calls: plan.calls,
            snapshot_ns,
            not_restored: plan.notes.clone(),
            ..Looped::new(self.spec.frame, self.spec.warmup.max(1), compared)
        };
        Ok((Around { plan, state, snapshot }, looped))
    }

    fn iterations(
        &mut self,
        cx: &mut Executor,
        around: &mut Around,
        looped: &mut Looped,
        progress: &mut dyn Progress,
        before: &mut Before<'_>,
    ) -> Result<()> {
        let (warmup, all) = (looped.warmup, looped.warmup + self.spec.iterations);
        let mut first_changed = None;
        let mut made = 0;
        for run in 0..all {
            let timed = run >= warmup;
            let mut iteration = if run == 0 { Iteration::default() } else { self.restore(cx, around)? };
            (cx.measuring, cx.warming, cx.again) = (true, !timed, run > 0);
            cx.frame_begins()?;
            if run == warmup {
                made = buffers_made(cx);
            }
            let started = Instant::now();
            if run == 0 {
                self.first(cx, around, before)?;
            } else {
                self.again(cx)?;
            }
            let number = self.spec.frame;
            cx.frame(Frame { number, next: number, repeat: run.saturating_sub(warmup) })?;
            idle(cx.backend.vulkan().expect("there was one"))?;
            self.ran = true;
            iteration.wall_ns = nanos(started);
            if !timed {
                around.snapshot.learn(cx)?;
                // What was recorded is known; nothing more is followed inside of timed iterations.
                cx.objects.follow().keep_calls(false);
            }
            let hashes = self.hashes(cx, &mut around.snapshot, looped.compared)?;
            if run == 0 {
                looped.hashes = hashes;
            } else if hashes != looped.hashes {
                self.differs(run, looped)?;
            }
            if timed {
                looped.iterations.push(iteration);
            }
            // What counts as changed is known once the warm-up is over.
            let last = run + 1 == all;
            if run + 1 == warmup || last {
                let now = around.snapshot.hash_changed(cx)?;
                looped.changed_same = *first_changed.get_or_insert(now) == now;
            }
            // (whoever is told may wait, and the next iteration begins when it returns: nothing stands in between)
            progress.iteration(run + 1, all);
            if timed && !last && progress.enough() {
                let now = around.snapshot.hash_changed(cx)?;
                looped.changed_same = first_changed == Some(now);
                break;
            }
        }
        looped.made = buffers_made(cx) - made;
        Ok(())
    }

    fn differs(&self, run: u32, looped: &mut Looped) -> Result<()> {
        let warmup = looped.warmup;
        let which = if run < warmup {
            format!("warm-up iteration {}", run + 1)
        } else {
            format!("iteration {}", run + 1 - warmup)
        };
        if !self.spec.allow_drift && !self.spec.or_once {
            let what = match looped.compared {
                Compared::Presented => "the image that it presents is not the first iteration's",
                Compared::Changed => "what it leaves behind is not what the first iteration left behind",
            };
            let hints: Vec<&str> = looped.not_restored.keys().map(String::as_str).collect();
            let hint = if hints.is_empty() {
                String::new()
            } else {
                format!("; not restored: {}", hints.join("; "))
            };
            return Err(Error::divergence(format!(
                "{which} of frame {} differs: {what} (--allow-drift counts such iterations){hint}",
                self.spec.frame
            )));
        }
        if run >= warmup {
            looped.drifted += 1;
            looped.first_drift.get_or_insert(run + 1 - warmup);
        }
        Ok(())
    }

    fn hashes(&self, cx: &mut Executor, snapshot: &mut Snapshot, what: Compared) -> Result<Vec<[u8; 32]>> {
        match what {
            Compared::Presented => self.shown.iter().map(|i| snapshot.hash_image(cx, *i)).collect(),
            Compared::Changed => Ok(vec![snapshot.hash_changed(cx)?]),
        }
    }

    /// The first iteration: everything but what would destroy. Afterwards only what each iteration does is kept.
    fn first(&mut self, cx: &mut Executor, around: &mut Around, before: &mut Before<'_>) -> Result<()> {
        let Around { plan, state, .. } = around;
        for kept in &mut self.kept {
            if let Kept::Call(call) = kept {
                before(cx)?;
                if when(call.command) == When::Never {
                    continue;
                }
                if call.command.name == "vkAllocateDescriptorSets" {
                    state.before_allocation(cx, plan, call)?;
                }
                if call.command.name == "vkQueuePresentKHR"
                    && let Some(vk) = cx.backend.vulkan()
                {
                    for (_, image) in presented(vk, call) {
                        if !self.shown.contains(&image) {
                            self.shown.push(image);
                        }
                    }
                }
            }
            one(cx, kept)?;
        }
        self.kept.retain(|k| match k {
            Kept::Call(call) => when(call.command) == When::Each,
            Kept::Meta(meta, ..) => matches!(meta.meta, Meta::FillMemory(_)),
            Kept::Bad(_) => false,
        });
        for kept in &mut self.kept {
            if let Kept::Call(call) = kept {
                preinitialized::rewrite(call);
            }
        }
        Ok(())
    }

    fn again(&mut self, cx: &mut Executor) -> Result<()> {
        self.kept.iter_mut().try_for_each(|k| one(cx, k))
    }

    fn restore(&self, cx: &mut Executor, around: &mut Around) -> Result<Iteration> {
        let Around { plan, state, snapshot } = around;
        let started = Instant::now();
        (cx.measuring, cx.warming, cx.again) = (false, false, true);
        let mut objects = state.restore(cx, plan)?;
        State::reset_recordings(cx, plan)?;
        for r in &plan.recordings {
            for call in r.iter() {
                cx.run(&mut call.clone())?;
            }
        }
        objects += plan.recordings.len() as u64;
        let mut i = Iteration { objects, ..Iteration::default() };
        if !self.spec.leave_contents {
            let r = snapshot.restore(cx)?;
            (i.resources, i.bytes) = (r.buffers + r.images + r.structures, r.bytes);
        }
        i.restore_ns = nanos(started);
        Ok(i)
    }
}

fn one(cx: &mut Executor, kept: &mut Kept<'_>) -> Result<()> {
    match kept {
        Kept::Call(call) => cx.run(call),
        Kept::Meta(meta, data, block) => cx.meta(&mut MetaBlock { meta: &meta.meta, data, block: *block }),
        Kept::Bad(e) => cx.undecoded(e),
    }
}

/// Buffers of our own made so far.
fn buffers_made(cx: &mut Executor) -> u64 {
    cx.backend.vulkan().map_or(0, |vk| vk.devices.values().map(|d| d.spare.made).sum())
}

fn nanos(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}
