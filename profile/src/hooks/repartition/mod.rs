//! Pipeline layouts whose descriptors are spread over sets in another way, while the capture replays.
//!
//! A partition says where each slot of a layout goes ([`Partition`]). Its pipelines, and the libraries that they are made of
//! (`libraries`), are made with a layout of ours and with shaders that look for their descriptors there (`shaders`). Sets come
//! into being when something is drawn, dispatched or traced: what the application has bound then the executor knows
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
use bind::{BINDS, Binds, Buffers, Recording};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::handle_named;
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
use world::layouts::{PipelineLayout, PushRange};
use world::sets::Contents;
use world::{Depth, Frame, Outcome, World};

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
    buffers: Buffers,
    /// Of ours, by captured pipeline layout.
    layouts: HashMap<u64, Rc<Layout>>,
    /// What the application's are that pipelines were made with.
    then: HashMap<u64, Rc<PipelineLayout>>,
    /// By captured pipeline: its layout, where that is ours.
    pipelines: HashMap<u64, u64>,
    /// By captured device.
    made: HashMap<u64, Made>,
    /// Modules and words of the call that is being made.
    kept: (u64, Vec<vk::ShaderModule>, Vec<Vec<u32>>),
    /// Sets of captured devices that the last call wrote to.
    written: Vec<(u64, u64)>,
    push: Push,
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
            buffers: Buffers::default(),
            layouts: HashMap::new(),
            then: HashMap::new(),
            pipelines: HashMap::new(),
            made: HashMap::new(),
            kept: Default::default(),
            written: Vec::new(),
            push: HashMap::new(),
            seen: HashSet::new(),
            looped: None,
            device: 0,
        };
        (hook, out)
    }

    /// Whether sets of a layout exist only in this program.
    fn own(&self, world: &World, layout: u64) -> bool {
        world.set_layouts.get(&layout).is_some_and(|l| self.plan.own.contains(&l.class))
    }

    fn own_set(&self, world: &World, set: u64) -> bool {
        world.sets.get(&set).is_some_and(|s| self.plan.own.contains(&s.layout.class))
    }

    /// Whether the driver has nothing to do with a call about sets.
    fn ours_alone(&self, world: &World, call: &Call) -> bool {
        let v = View::call(&call.image);
        match call.command.name {
            "vkAllocateDescriptorSets" => {
                let layouts = v.one("pAllocateInfo").map_or(vec![], |i| i.u64s("pSetLayouts"));
                layouts.first().is_some_and(|l| self.own(world, *l))
            }
            "vkFreeDescriptorSets" => v.u64s("pDescriptorSets").iter().any(|s| self.own_set(world, *s)),
            "vkUpdateDescriptorSets" => {
                let first = v.structs("pDescriptorWrites").next().and_then(|w| w.u64("dstSet"));
                let first = first.or_else(|| v.structs("pDescriptorCopies").next()?.u64("dstSet"));
                first.is_some_and(|s| self.own_set(world, s))
            }
            name if name.starts_with("vkUpdateDescriptorSetWithTemplate") => {
                v.u64("descriptorSet").is_some_and(|s| self.own_set(world, s))
            }
            _ => false,
        }
    }

    /// A call about sets and their layouts.
    fn sets(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let alone = self.ours_alone(cx.objects.world(), call);
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
        match call.command.canonical {
            "vkCreatePipelineLayout" if outcome.result() >= 0 => self.layout(cx, call)?,
            "vkUpdateDescriptorSets" | "vkUpdateDescriptorSetWithTemplate" => {
                let v = View::call(&call.image);
                let writes = v.structs("pDescriptorWrites").chain(v.structs("pDescriptorCopies"));
                let sets = writes.filter_map(|w| w.u64("dstSet")).chain(v.u64("descriptorSet"));
                self.written.extend(sets.map(|s| (call.image.u64(0), s)));
            }
            _ => {}
        }
        Ok(outcome)
    }

    /// Sets of ours that follow those which the application wrote to are written to.
    fn follow(&mut self, cx: &mut Executor) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for (device, set) in self.written.drain(..) {
            if let (Some(made), Some(s)) = (self.made.get_mut(&device), cx.objects.world().sets.get(&set)) {
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
        let push = View::call(&call.image).one("pCreateInfo").map_or(vec![], PushRange::all);
        let made = self.made.entry(device).or_default();
        let layout = made.layout(&vk.device(device)?.ash, device, &cx.objects, sets, &push)?;
        self.layouts.insert(id, Rc::new(layout));
        Ok(())
    }

    /// The application binds sets, or pushes descriptors. What is for layouts of ours waits until something is drawn.
    fn bind(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let binds = Binds::of(View::call(&call.image), cx.objects.world());
        let told = !self.layouts.contains_key(&binds.layout);
        let recording = Recording::of(cx.objects.world(), call.image.u64(0));
        for point in binds.points {
            if let Some(p) = self.buffers.point(recording, point) {
                p.bind(binds.sets.clone(), told);
            }
        }
        if told { next.run(cx, call) } else { Ok(Outcome::captured(call)) }
    }
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect()
}

/// How to push descriptors, by captured device.
type Push = HashMap<u64, vk::PFN_vkCmdPushDescriptorSetKHR>;

/// A device's function that pushes descriptors, by whichever name it has.
fn push_of(
    known: &mut Push,
    vk: Option<&mut Vulkan>,
    device: u64,
) -> Option<vk::PFN_vkCmdPushDescriptorSetKHR> {
    if let Some(push) = known.get(&device) {
        return Some(*push);
    }
    let vk = vk?;
    let (instance, d) = (vk.instance_of(device)?, vk.device(device).ok()?);
    let found = [c"vkCmdPushDescriptorSetKHR", c"vkCmdPushDescriptorSet"].iter().find_map(|name| {
        // SAFETY: the device's own function, of the type that the registry gives to both names.
        unsafe {
            let found = instance.get_device_proc_addr(d.ash.handle(), name.as_ptr())?;
            Some(std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCmdPushDescriptorSetKHR>(found))
        }
    })?;
    known.insert(device, found);
    Some(found)
}

/// What is seen beside them: what is bound is not defined any more behind secondary command buffers, and a submission may
/// read what was written.
const OTHERS: [&str; 5] =
    ["vkCmdExecuteCommands", "vkDestroyDevice", "vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"];

impl Hook for RepartitionHook {
    fn name(&self) -> &'static str {
        "repartition"
    }

    fn follows(&self) -> Depth {
        if self.plan.layouts.is_empty() { Depth::Objects } else { Depth::Commands }
    }

    fn wants(&self) -> Commands {
        if self.plan.layouts.is_empty() {
            return Commands::none();
        }
        let mut all = [&scan::FOLLOWED[..], &BINDS, &OTHERS].concat();
        all.extend(COMMANDS.iter().map(|c| c.name).filter(|n| bind::runs(n).is_some()));
        all.sort_unstable();
        all.dedup();
        Commands::named(&all)
    }

    fn wants_linked(&self) -> Commands {
        if self.plan.layouts.is_empty() { Commands::none() } else { Commands::named(&scan::PIPELINES) }
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        self.follow(cx)?;
        let name = call.command.name;
        let buffer = call.image.u64(0);
        match name {
            _ if BINDS.contains(&name) => return self.bind(cx, call, next),
            "vkCmdExecuteCommands" => self.buffers.forget(buffer),
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
        next.run(cx, call)
    }

    /// A looped frame begins: what sets contain now they contain in each iteration.
    fn frame_begins(&mut self, cx: &mut Executor) -> Result<()> {
        let sets = &cx.objects.world().sets;
        self.looped.get_or_insert_with(|| sets.iter().map(|(id, s)| (*id, s.contents.clone())).collect());
        Ok(())
    }

    /// An iteration has ended: sets are put back, before command buffers of earlier frames are recorded again.
    fn frame(&mut self, cx: &mut Executor, _: Frame) -> Result<()> {
        self.follow(cx)?;
        let Some(looped) = &self.looped else { return Ok(()) };
        let world = cx.objects.follow().world_mut();
        for (id, contents) in looped {
            if let Some(s) = world.sets.get_mut(id)
                && s.contents.version != contents.version
            {
                s.contents = contents.clone();
                self.written.push((self.device, *id));
            }
        }
        if let Some(vk) = cx.backend.vulkan()
            && let Ok(d) = vk.device(self.device)
            && !self.written.is_empty()
        {
            // Sets of ours may still be in use.
            d.wait_idle()?;
        }
        self.follow(cx)
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        match cx.backend.vulkan() {
            Some(vk) => self.pipelines(vk, cx.objects.world(), call, linked),
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
