//! The hook: what is instrumented as it is made, what is read back and zeroed at a frame's end, and whom that is given to.
//!
//! Guarantees and refusals are those of the folder ([`super`]).

use super::code::{Code, Kept, Modules};
use super::collect::Raw;
use super::launches::{self, Launches};
use super::memory::{Memory, Place};
use super::per_action::{self, PerAction};
use super::plan::{Done, Entry, Kind, Plan, Session};
use super::specialize::Values;
use super::{demands, tables};
use crate::rewrite::{Key, Variant};
use gfxr_parse::ahead::Call;
use gfxr_parse::shaders::shaders;
use replay::error::{Error, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::link::Linked;
use replay::report::InFlight;
use replay::vulkan::{Vulkan, presented};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use world::{Depth, Frame, Outcome};

/// Who takes measured frames, with what the plan came to so far.
pub type Taker = Box<dyn FnMut(Raw, &Done) -> Result<()>>;

/// See the module's header.
pub struct InstrumentHook {
    pub(super) plan: Rc<Plan>,
    pub(super) session: Rc<Session>,
    pub(super) out: Rc<RefCell<Done>>,
    take: Taker,
    pub(super) modules: Modules,
    pub(super) kept: Kept,
    /// By captured device.
    memory: HashMap<u64, Memory>,
    /// Of each entry: its device and its counters.
    places: Vec<(u64, Place)>,
    next_probe: u32,
    /// Where a pass counts by action, or only some actions count.
    pub(super) per_action: Option<PerAction>,
    /// Where a pass asks for launches.
    pub(super) launches: Option<Launches>,
    /// What devices that are gone had left for the running frame.
    left: Raw,
    /// The frame that runs.
    frame: u64,
}

impl InstrumentHook {
    /// The hook that measures all of a plan at once, and what comes of it.
    pub fn new(plan: Rc<Plan>, take: Taker) -> (Self, Rc<RefCell<Done>>) {
        let session = Session { log_bytes: plan.log_bytes, ..Session::default() };
        Self::with_session(plan, Rc::new(session), take)
    }

    /// The hook that does what one replay of several does.
    pub fn with_session(plan: Rc<Plan>, session: Rc<Session>, take: Taker) -> (Self, Rc<RefCell<Done>>) {
        let out = Rc::new(RefCell::new(Done::default()));
        let per_action = plan.pushes().then(|| PerAction::new(&plan));
        let hook = InstrumentHook {
            per_action,
            launches: plan.wants_launches().then(Launches::default),
            plan,
            session,
            out: out.clone(),
            take,
            modules: Modules::default(),
            kept: Kept::default(),
            memory: HashMap::new(),
            places: Vec::new(),
            // 0 is what memory holds that nobody wrote.
            next_probe: 1,
            left: Raw::default(),
            frame: 0,
        };
        (hook, out)
    }

    /// Whether a frame is measured in this replay.
    fn wants_frame(&self, frame: u64) -> bool {
        match &self.session.windows {
            Some(windows) => windows.contains_key(&frame),
            None => self.plan.wants_frame(frame),
        }
    }

    /// What the first subgroup of a frame is numbered with.
    fn first_subgroup(&self, frame: u64) -> u32 {
        self.session.windows.as_ref().and_then(|w| w.get(&frame)).map_or(0, |w| w.first_subgroup)
    }

    /// The window of a frame: none where it is not measured.
    fn window(&self, frame: u64) -> (u32, u32) {
        if let Some(windows) = &self.session.windows {
            return windows.get(&frame).map_or((0, 0), |w| (w.from, w.to));
        }
        if self.plan.timing || self.plan.wants_frame(frame) { self.plan.window } else { (0, 0) }
    }

    /// The number of a rewritten module.
    pub(super) fn number(&mut self, key: &Key, code: &Code, variant: &Variant) -> Result<u32> {
        let mut out = self.out.borrow_mut();
        if let Some((n, _)) = out.variants.get(key) {
            return Ok(*n);
        }
        let n = out.variants.len() as u32;
        out.variants.insert(key.clone(), (n, code.words.clone()));
        if let Some(folder) = &self.plan.dump {
            tables::dump(folder, &code.words, variant, key.replay)
                .map_err(|e| Error::new(replay::error::Kind::Internal, e))?;
        }
        Ok(n)
    }

    /// Gives an entry point of a pipeline its memory and its numbers.
    pub(super) fn memory_for(
        &mut self,
        vk: &mut Vulkan,
        pipeline: u64,
        kind: Kind,
        index: u32,
        variant_number: u32,
        variant: &Arc<Variant>,
    ) -> Result<Values> {
        let device = self.kept.device;
        let (window, first_subgroup) = (self.window(self.frame), self.first_subgroup(self.frame));
        let (d, memory) = (vk.device_mut(device)?, self.memory.entry(device).or_default());
        // Where only some actions count, the others have counters of their own.
        let several = if self.plan.select.places.is_some() { 2 } else { 1 };
        let place = memory.counters(d, u64::from(variant.all_counters()) * several)?;
        let elsewhere = place.address + u64::from(variant.counters) * 8;
        memory.first_subgroup = first_subgroup;
        let log = memory.log(d, variant.probes > 0, self.session.log_bytes, window)?;
        let nothing = memory.log(d, false, 0, window)?;
        let probe_base = self.next_probe;
        self.next_probe = probe_base.checked_add(variant.probes).ok_or_else(|| {
            Error::new(replay::error::Kind::Internal, "more probes than there are 32-bit numbers")
        })?;
        let action_base = match &mut self.per_action {
            Some(p) => p.base(variant.action_counters)?,
            None => 0,
        };
        self.places.push((device, place));
        let mut out = self.out.borrow_mut();
        out.log_capacity = out.log_capacity.max(memory.log_capacity());
        let variant = variant.clone();
        out.entries.push(Entry { pipeline, kind, index, variant_number, variant, probe_base, action_base });
        Ok(Values { region: place.address, log, probe_base, action_base, elsewhere, nothing })
    }

    /// Reads a device's memory, to what the running frame has left.
    fn read(&mut self, vk: &mut Vulkan, device: u64) -> Result<()> {
        vk.device(device)?.wait_idle()?;
        if let Some(p) = &mut self.per_action {
            let (recordings, counted) = p.read(vk, device)?;
            self.left.recordings.extend(recordings);
            self.left.actions.extend(counted);
        }
        let Some(memory) = self.memory.get(&device) else { return Ok(()) };
        let d = vk.device_mut(device)?;
        let read = memory.read_counters(d)?;
        let log = memory.read_log(d)?;
        let out = self.out.borrow();
        self.left.counters.resize(out.entries.len(), None);
        for (n, ((of, place), e)) in self.places.iter().zip(&out.entries).enumerate() {
            if *of == device {
                self.left.counters[n] = Some(Memory::part(&read, *place, e.variant.all_counters()).to_vec());
            }
        }
        self.left.parts.push(self.left.words.len());
        self.left.words.extend(log.words);
        self.left.subgroups = self.left.subgroups.max(log.subgroups);
        self.left.wanted += log.wanted;
        self.left.lost += log.lost;
        Ok(())
    }
}

impl Hook for InstrumentHook {
    fn name(&self) -> &'static str {
        "instrument"
    }

    fn needs(&self) -> Needs {
        Needs {
            features: demands::features(&self.plan),
            optional_features: demands::welcome(&self.plan),
            api: demands::VERSION,
            ..Needs::default()
        }
    }

    fn follows(&self) -> Depth {
        match self.per_action.is_some() || self.launches.is_some() {
            true => Depth::Commands,
            false => Depth::Objects,
        }
    }

    fn wants(&self) -> Commands {
        let own = ["vkDestroyDevice", "vkQueuePresentKHR"];
        let mut all = own.to_vec();
        if self.per_action.is_some() {
            all.extend(per_action::wants(self.plan.select.places.is_some()));
        }
        if self.launches.is_some() {
            all.extend(launches::wants());
        }
        all.sort_unstable();
        all.dedup();
        Commands::named(&all)
    }

    fn wants_linked(&self) -> Commands {
        let own = [
            "vkCreateDevice",
            "vkCreateShaderModule",
            "vkDestroyShaderModule",
            "vkCreateGraphicsPipelines",
            "vkCreateComputePipelines",
            "vkCreateRayTracingPipelinesKHR",
            "vkCreateRayTracingPipelinesNV",
            "vkCreateShadersEXT",
        ];
        match self.per_action {
            Some(_) => Commands::named(&[&own[..], &per_action::LINKED].concat()),
            None => Commands::named(&own),
        }
    }

    /// What a device has left behind is read before it goes.
    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let Some(vk) = cx.backend.vulkan() else { return next.run(cx, call) };
        if call.command.name == "vkQueuePresentKHR" {
            if self.left.size == (0, 0)
                && let Some(extent) =
                    presented(vk, call).first().and_then(|i| vk.image(i.1)).map(|i| i.extent)
            {
                self.left.size = (extent.width, extent.height);
            }
            return next.run(cx, call);
        }
        if call.command.name != "vkDestroyDevice" {
            if let Some(p) = &mut self.per_action {
                p.see(cx, call)?;
            }
            let measured = self.wants_frame(call.frame) && !cx.again;
            if let Some(l) = &mut self.launches {
                l.see(cx, call, &self.memory, &self.out.borrow(), measured)?;
            }
            return next.run(cx, call);
        }
        let device = call.image.u64(0);
        if vk.device(device).is_ok() {
            if self.wants_frame(call.frame) {
                self.read(vk, device)?;
            }
            if let Some(p) = &mut self.per_action {
                vk.device(device)?.wait_idle()?;
                p.device_goes(vk, device)?;
            }
            if let Some(m) = self.memory.remove(&device) {
                let d = vk.device(device)?;
                d.wait_idle()?;
                m.destroy(&d.ash);
            }
        }
        next.run(cx, call)
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        self.frame = call.frame;
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        match call.command.name {
            "vkCreateDevice" => {
                let gpu = call.image.u64(0);
                demands::refuse(&self.plan, vk, gpu)?;
                self.plan.variants.on(demands::offers(&self.plan, vk, gpu));
                let here = vk.gpu(gpu).and_then(|g| demands::subgroups(vk, vk.instance(g.instance)?, g));
                self.out.borrow_mut().subgroup_size = here.map_or(0, |s| s.size);
                Ok(())
            }
            "vkCreateShaderModule" => {
                let plan = self.plan.clone();
                for s in shaders(&call.image) {
                    let code = Code::new(s.code);
                    let chosen = plan.select.shader(code.hash);
                    let wanted = |stage| chosen && plan.wants_stage(stage);
                    self.modules.made(s.handle, code, &plan.variants, self.session.replay, wanted);
                }
                Ok(())
            }
            "vkDestroyShaderModule" => {
                self.modules.gone(world::destroyed(call));
                Ok(())
            }
            "vkCreateShadersEXT" => self.objects(vk, call, linked),
            name if per_action::LINKED.contains(&name) => match &mut self.per_action {
                Some(p) => p.linked(vk, call, linked),
                None => Ok(()),
            },
            _ => self.pipelines(vk, call, linked),
        }
    }

    fn invoked(&mut self, cx: &mut Executor, _: &Call, _: &mut Linked, _: u64) -> Result<()> {
        if let Some(vk) = cx.backend.vulkan() {
            self.kept.give_back(vk);
        }
        Ok(())
    }

    /// Room for the log of one more iteration.
    fn frame_begins(&mut self, cx: &mut Executor) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for (&d, memory) in &mut self.memory {
            memory.restart(vk.device_mut(d)?, self.plan.window)?;
        }
        self.per_action.as_mut().map_or(Ok(()), |p| p.begins(vk))
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        // (what runs again was measured when it first ran, and is timed alone)
        if self.plan.timing || cx.again {
            if let (Some(p), Some(vk)) = (&mut self.per_action, cx.backend.vulkan()) {
                p.frame_ends(false);
                p.restart(vk, cx.objects.world(), false)?;
            }
            return self.frame_begins(cx);
        }
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let (this, next) = (self.wants_frame(frame.number), self.wants_frame(frame.next));
        let devices: Vec<u64> = self.memory.keys().copied().collect();
        if this {
            for &d in &devices {
                self.read(vk, d)?;
            }
            let mut raw = std::mem::take(&mut self.left);
            raw.frame = frame.number;
            raw.launches = self.launches.as_mut().map_or_else(Vec::new, Launches::take);
            (self.take)(raw, &self.out.borrow())?;
        }
        self.left = Raw::default();
        if let Some(p) = &mut self.per_action {
            p.frame_ends(this);
            p.restart(vk, cx.objects.world(), true)?;
        }
        if this || next {
            let window = self.window(frame.next);
            let first_subgroup = self.first_subgroup(frame.next);
            for d in devices {
                let state = vk.device_mut(d)?;
                state.wait_idle()?;
                let memory = self.memory.entry(d).or_default();
                memory.first_subgroup = first_subgroup;
                memory.restart(state, window)?;
            }
        }
        self.frame = frame.next;
        Ok(())
    }

    /// Nothing of ours may be waited for or given back any more.
    fn stopped(&mut self, _: &mut Executor, _: &Error) -> Vec<InFlight> {
        std::mem::forget(std::mem::take(&mut self.memory));
        std::mem::forget(self.per_action.take());
        Vec::new()
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        if let Some(p) = &mut self.per_action {
            p.finish(vk)?;
            let mut out = self.out.borrow_mut();
            out.notes.extend(p.notes());
            out.chosen = p.tally().cloned();
        }
        if let Some(l) = &self.launches {
            self.out.borrow_mut().notes.extend(l.notes());
        }
        for (device, memory) in self.memory.drain() {
            if let Ok(d) = vk.device(device) {
                memory.destroy(&d.ash);
            }
        }
        Ok(())
    }
}
