//! Pipeline layouts whose descriptors are spread over sets in another way, while the capture replays.
//!
//! A partition says where each slot of a layout goes ([`Partition`]). Its pipelines, and the libraries that they are made of
//! (`libraries`), are made with a layout of ours and with shaders that look for their descriptors there (`shaders`). Sets come
//! into being when something is drawn, dispatched or traced: what the application has bound then is followed
//! ([`world`]), and each new set is the one of these contents (`made`), bound only if another is; descriptors that are
//! updated after they are bound follow what the application writes, and push descriptors are pushed, as far as they are others.
//! The application's own sets are neither allocated nor written where only such layouts use them. Guarantees: everything else
//! goes to the driver as it came; what the application bound is bound again where a pipeline of another layout comes next; in
//! a looped frame each iteration begins with the contents that sets had before the first. A layout that cannot be rewritten
//! stays as it is, with the reason ([`Plan::refused`]): what `partition` refuses, descriptor buffers, generated commands, and
//! shaders that only the driver knows. A set that is not bound counts as never written: no shader of a correct program uses it.

mod bind;
mod contents;
mod draw;
mod libraries;
mod made;
mod partition;
mod pipelines;
mod scan;
pub(crate) mod shaders;

pub use partition::Partition;
pub use scan::{Plan, scan};
pub use shaders::Places;

use super::call_costs::CallClock;
use bind::{BINDS, Binds, Buffers};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::handle_named;
use gfxr_parse::shaders::shaders as modules_of;
use gfxr_parse::view::View;
use made::{Layout, Made};
use replay::ash::vk;
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use replay::link::Linked;
use replay::vulkan::Vulkan;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use world::Follow;
use world::Frame;
use world::Outcome;
use world::sets::Contents;

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    /// Pipelines made with a layout of ours.
    pub pipelines: u64,
    /// Sets as the application bound them for these, and the descriptors in them: each state of a set once.
    pub before: (u64, u64),
    /// Ours, and the descriptors in them.
    pub after: (u64, u64),
    /// Pushes of ours.
    pub pushed: u64,
}

/// See the module's header.
pub struct RepartitionHook {
    plan: Arc<Plan>,
    out: Rc<RefCell<Outcomes>>,
    /// The clock of what sets of ours take.
    clock: CallClock,
    follow: Follow,
    buffers: Buffers,
    /// By captured id of the module: its words.
    modules: HashMap<u64, Arc<[u32]>>,
    /// Of ours, by captured pipeline layout.
    layouts: HashMap<u64, Rc<Layout>>,
    /// By captured pipeline: its layout, where that is ours.
    pipelines: HashMap<u64, u64>,
    /// By captured device.
    made: HashMap<u64, Made>,
    /// Modules and words of the call that is being made.
    kept: (u64, Vec<vk::ShaderModule>, Vec<Vec<u32>>),
    /// Of captured command buffers.
    devices: HashMap<u64, u64>,
    /// By captured device: how to push descriptors.
    push: HashMap<u64, vk::PFN_vkCmdPushDescriptorSetKHR>,
    /// States of the application's sets that were bound for pipelines of ours.
    seen: HashSet<u64>,
    /// What sets contained before a looped frame, and their devices' captured ids.
    looped: Option<HashMap<u64, Contents>>,
    /// The device that sets were made on last.
    device: u64,
}

fn internal(why: impl Into<String>) -> Error {
    Error::new(Kind::Internal, why)
}

impl RepartitionHook {
    /// The hook, whose own calls are put on this clock, and what will have come of it.
    pub fn new(plan: Arc<Plan>, clock: CallClock) -> (Self, Rc<RefCell<Outcomes>>) {
        let out = Rc::new(RefCell::new(Outcomes::default()));
        let hook = RepartitionHook {
            plan,
            out: out.clone(),
            clock,
            follow: Follow::new(),
            buffers: Buffers::default(),
            modules: HashMap::new(),
            layouts: HashMap::new(),
            pipelines: HashMap::new(),
            made: HashMap::new(),
            kept: Default::default(),
            devices: HashMap::new(),
            push: HashMap::new(),
            seen: HashSet::new(),
            looped: None,
            device: 0,
        };
        (hook, out)
    }

    /// Whether sets of a layout exist only in this program.
    fn own(&self, layout: u64) -> bool {
        let class = self.follow.world().set_layouts.get(&layout).map(|l| l.class);
        class.is_some_and(|c| self.plan.own.contains(&c))
    }

    fn own_set(&self, set: u64) -> bool {
        self.follow.world().sets.get(&set).is_some_and(|s| self.plan.own.contains(&s.layout.class))
    }

    /// Whether the driver has nothing to do with a call about sets.
    fn ours_alone(&self, call: &Call) -> bool {
        let v = View::call(&call.image);
        match call.command.name {
            "vkAllocateDescriptorSets" => {
                let layouts = v.one("pAllocateInfo").map_or(vec![], |i| i.u64s("pSetLayouts"));
                layouts.first().is_some_and(|l| self.own(*l))
            }
            "vkFreeDescriptorSets" => v.u64s("pDescriptorSets").iter().any(|s| self.own_set(*s)),
            "vkUpdateDescriptorSets" => {
                let first = v.structs("pDescriptorWrites").next().and_then(|w| w.u64("dstSet"));
                let first = first.or_else(|| v.structs("pDescriptorCopies").next()?.u64("dstSet"));
                first.is_some_and(|s| self.own_set(s))
            }
            name if name.starts_with("vkUpdateDescriptorSetWithTemplate") => {
                v.u64("descriptorSet").is_some_and(|s| self.own_set(s))
            }
            _ => false,
        }
    }

    /// A call about sets and their layouts.
    fn sets(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let alone = self.ours_alone(call);
        let outcome = if alone { Outcome::captured(call) } else { next.run(cx, call)? };
        if alone {
            let v = View::call(&call.image);
            let set = handle_named("VkDescriptorSet").expect("a core handle");
            match call.command.name {
                "vkAllocateDescriptorSets" => {
                    v.u64s("pDescriptorSets").into_iter().for_each(|s| cx.objects.insert_virtual(s, set));
                }
                "vkFreeDescriptorSets" => {
                    v.u64s("pDescriptorSets").into_iter().for_each(|s| cx.objects.remove(s))
                }
                _ => {}
            }
        }
        self.follow.call(call, outcome, &mut ());
        match call.command.canonical {
            "vkCreatePipelineLayout" if outcome.result() >= 0 => self.layout(cx, call)?,
            "vkUpdateDescriptorSets" | "vkUpdateDescriptorSetWithTemplate" => {
                let v = View::call(&call.image);
                let writes = v.structs("pDescriptorWrites").chain(v.structs("pDescriptorCopies"));
                let sets: Vec<u64> =
                    writes.filter_map(|w| w.u64("dstSet")).chain(v.u64("descriptorSet")).collect();
                self.written(cx, call.image.u64(0), &sets)?;
            }
            _ => {}
        }
        Ok(outcome)
    }

    /// The application wrote to sets: those of ours that follow them are written to.
    fn written(&mut self, cx: &mut Executor, device: u64, sets: &[u64]) -> Result<()> {
        let (Some(vk), Some(made)) = (cx.backend.vulkan(), self.made.get_mut(&device)) else { return Ok(()) };
        for set in sets {
            if let Some(s) = self.follow.world().sets.get(set) {
                made.follow(&vk.device(device)?.ash, &cx.objects, &self.clock, (s.born, &s.contents))?;
            }
        }
        Ok(())
    }

    /// A layout was made: ours goes with it.
    fn layout(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let Some(id) = scan::created(&call.image) else { return Ok(()) };
        let Some(sets) = self.plan.layouts.get(&id) else { return Ok(()) };
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let device = call.image.u64(0);
        self.device = device;
        let most = vk.device(device)?.gpu.properties.limits.max_bound_descriptor_sets as usize;
        if sets.len() > most {
            let text = format!("pipeline layout {id} would have {} sets: this device has {most}", sets.len());
            return Err(Error::new(Kind::Unsupported, text));
        }
        let push = self.follow.world().pipeline_layouts.get(&id).map_or(vec![], |l| l.push.clone());
        let made = self.made.entry(device).or_default();
        let layout = made.layout(&vk.device(device)?.ash, device, &cx.objects, sets, &push)?;
        self.layouts.insert(id, Rc::new(layout));
        Ok(())
    }

    /// The application binds sets, or pushes descriptors. What is for layouts of ours waits until something is drawn.
    fn bind(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let binds = Binds::of(View::call(&call.image), self.follow.world());
        let told = !self.layouts.contains_key(&binds.layout);
        for point in binds.points {
            if let Some(p) = self.buffers.point(call.image.u64(0), point) {
                p.bind(binds.sets.clone(), told);
            }
        }
        let outcome = if told { next.run(cx, call)? } else { Outcome::captured(call) };
        self.follow.call(call, outcome, &mut ());
        Ok(outcome)
    }
}

fn words_of(bytes: &[u8]) -> Arc<[u32]> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect()
}

/// A device's function that pushes descriptors, by whichever name it has.
fn push_function(vk: &Vulkan, device: u64) -> Option<vk::PFN_vkCmdPushDescriptorSetKHR> {
    let (instance, d) = (vk.instance_of(device)?, vk.device(device).ok()?);
    [c"vkCmdPushDescriptorSetKHR", c"vkCmdPushDescriptorSet"].iter().find_map(|name| {
        // SAFETY: the device's own function, of the type that the registry gives to both names.
        unsafe {
            let found = instance.get_device_proc_addr(d.ash.handle(), name.as_ptr())?;
            Some(std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCmdPushDescriptorSetKHR>(found))
        }
    })
}

/// What command buffers are made of, and what is recorded that has to be followed.
const RECORDED: [&str; 9] = [
    "vkCreateCommandPool",
    "vkDestroyCommandPool",
    "vkResetCommandPool",
    "vkAllocateCommandBuffers",
    "vkFreeCommandBuffers",
    "vkBeginCommandBuffer",
    "vkEndCommandBuffer",
    "vkResetCommandBuffer",
    "vkCmdExecuteCommands",
];

const OTHERS: [&str; 3] = ["vkCmdBindPipeline", "vkCreateShaderModule", "vkDestroyDevice"];

impl Hook for RepartitionHook {
    fn name(&self) -> &'static str {
        "repartition"
    }

    fn wants(&self) -> Commands {
        if self.plan.layouts.is_empty() {
            return Commands::none();
        }
        let mut all = [&scan::FOLLOWED[..], &RECORDED, &BINDS, &OTHERS].concat();
        all.extend(COMMANDS.iter().map(|c| c.name).filter(|n| bind::runs(n).is_some()));
        all.sort_unstable();
        all.dedup();
        Commands::named(&all)
    }

    fn wants_linked(&self) -> Commands {
        if self.plan.layouts.is_empty() { Commands::none() } else { Commands::named(&scan::PIPELINES) }
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let name = call.command.name;
        let buffer = call.image.u64(0);
        match name {
            _ if BINDS.contains(&name) => return self.bind(cx, call, next),
            // What is bound is not defined any more behind secondary command buffers.
            "vkBeginCommandBuffer" | "vkCmdExecuteCommands" => self.buffers.begin(buffer),
            "vkCmdBindPipeline" => {
                let v = View::call(&call.image);
                let point = bind::index(v.u32("pipelineBindPoint").unwrap_or(u32::MAX));
                if let Some(p) = self.buffers.point(buffer, point) {
                    p.pipeline = v.u64("pipeline").unwrap_or(0);
                }
            }
            "vkAllocateCommandBuffers" => {
                let made = View::call(&call.image).u64s("pCommandBuffers");
                self.devices.extend(made.into_iter().map(|b| (b, buffer)));
                if let Some(vk) = cx.backend.vulkan()
                    && let Some(push) = push_function(vk, buffer)
                {
                    self.push.insert(buffer, push);
                }
            }
            "vkCreateShaderModule" => {
                for s in modules_of(&call.image) {
                    self.modules.insert(s.handle, words_of(s.code));
                }
            }
            "vkDestroyDevice" => {
                if let Some(made) = self.made.remove(&buffer)
                    && let Some(vk) = cx.backend.vulkan()
                {
                    let d = vk.device(buffer)?;
                    d.wait_idle()?;
                    made.destroy(&d.ash);
                }
            }
            _ => {}
        }
        if let Some(point) = bind::runs(name) {
            self.before(cx, buffer, point)?;
        }
        if scan::FOLLOWED.contains(&name) && name != "vkDestroyDevice" {
            return self.sets(cx, call, next);
        }
        let outcome = next.run(cx, call)?;
        if RECORDED.contains(&name) {
            self.follow.call(call, outcome, &mut ());
        }
        Ok(outcome)
    }

    /// A looped frame begins: what sets contain now they contain in each iteration.
    fn frame_begins(&mut self, _: &mut Executor) -> Result<()> {
        let sets = &self.follow.world().sets;
        self.looped.get_or_insert_with(|| sets.iter().map(|(id, s)| (*id, s.contents.clone())).collect());
        Ok(())
    }

    /// An iteration has ended: sets are put back, before command buffers of earlier frames are recorded again.
    fn frame(&mut self, cx: &mut Executor, _: Frame) -> Result<()> {
        let Some(looped) = &self.looped else { return Ok(()) };
        let mut changed = Vec::new();
        for (id, contents) in looped {
            if let Some(s) = self.follow.world_mut().sets.get_mut(id)
                && s.contents.version != contents.version
            {
                s.contents = contents.clone();
                changed.push(*id);
            }
        }
        if let Some(vk) = cx.backend.vulkan()
            && let Ok(d) = vk.device(self.device)
            && !changed.is_empty()
        {
            // Sets of ours may still be in use.
            d.wait_idle()?;
        }
        self.written(cx, self.device, &changed)
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        match cx.backend.vulkan() {
            Some(vk) => self.pipelines(vk, call, linked),
            None => Ok(()),
        }
    }

    fn invoked(&mut self, cx: &mut Executor, _: &Call, _: &mut Linked, _: u64) -> Result<()> {
        let (device, modules, _) = std::mem::take(&mut self.kept);
        if let Some(vk) = cx.backend.vulkan()
            && !modules.is_empty()
        {
            let d = vk.device(device)?;
            // SAFETY: ours; a module may go once the pipeline is made.
            modules.into_iter().for_each(|m| unsafe { d.ash.destroy_shader_module(m, None) });
        }
        Ok(())
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for (device, made) in self.made.drain() {
            if let Ok(d) = vk.device(device) {
                d.wait_idle()?;
                made.destroy(&d.ash);
            }
        }
        Ok(())
    }
}
