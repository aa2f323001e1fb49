//! Pipeline layouts whose descriptors are spread over sets in another way, while the capture replays.
//!
//! A partition says where each slot of a layout goes ([`Partition`]). Its pipelines are made with a layout of ours and with
//! shaders that look for their descriptors there (`shaders`). Sets come into being when something is drawn, dispatched or
//! traced: what the application has bound then is followed ([`replay::follow`]), and each new set is the one of these contents
//! (`made`), bound only if another is. The application's own sets are neither allocated nor written where only such layouts use
//! them. Guarantees: everything else goes to the driver as it came; what the application bound is bound again where a pipeline
//! of another layout comes next. A layout that cannot be rewritten stays as it is, with the reason ([`Plan::refused`]): with
//! push descriptors, inline uniform blocks, updates after binding, variable counts, descriptor buffers, pipeline libraries,
//! generated commands, vkCmdBindDescriptorSets2, and shaders that only the driver knows. Refuses to go on where one of its
//! draws has a set that is not known.
//!
//! With an empty partition it only keeps time ([`Clock`]): that is what to compare with.

mod bind;
mod clock;
mod made;
mod partition;
mod scan;
mod shaders;

pub use clock::Clock;
pub use partition::Partition;
pub use scan::{Plan, scan};

use super::instrument::stages::{in_chain, infos};
use bind::{Bound, Buffers, POINTS};
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::handle_named;
use gfxr_parse::shaders::shaders as modules_of;
use gfxr_parse::view::View;
use made::{Layout, Made};
use replay::ash::vk::{self, Handle};
use replay::error::{Error, Kind, Result};
use replay::exec::{Call, Executor, Outcome};
use replay::follow::Follow;
use replay::hook::{Commands, Hook, Next};
use replay::link::Linked;
use replay::vulkan::Vulkan;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    /// What calls about descriptors cost.
    pub clock: Clock,
    /// Pipelines made with a layout of ours.
    pub pipelines: u64,
    /// Sets as the application bound them for these, and the descriptors in them: each state of a set once.
    pub before: (u64, u64),
    /// Ours, and the descriptors in them.
    pub after: (u64, u64),
}

/// See the module's header.
pub struct RepartitionHook {
    plan: Rc<Plan>,
    out: Rc<RefCell<Outcomes>>,
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
    /// States of the application's sets that were bound for pipelines of ours.
    seen: HashSet<u64>,
}

fn internal(why: impl Into<String>) -> Error {
    Error::new(Kind::Internal, why)
}

impl RepartitionHook {
    /// The hook and the one that keeps time, in the order in which they go, and what will have come of them.
    pub fn hooks(plan: Rc<Plan>) -> ([Box<dyn Hook>; 2], Rc<RefCell<Outcomes>>) {
        let out = Rc::new(RefCell::new(Outcomes::default()));
        let hook = RepartitionHook {
            plan,
            out: out.clone(),
            follow: Follow::new(),
            buffers: Buffers::default(),
            modules: HashMap::new(),
            layouts: HashMap::new(),
            pipelines: HashMap::new(),
            made: HashMap::new(),
            kept: Default::default(),
            devices: HashMap::new(),
            seen: HashSet::new(),
        };
        ([Box::new(hook), Box::new(Timed(out.clone()))], out)
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
        self.follow.call(call, outcome, &mut ())?;
        if call.command.name == "vkCreatePipelineLayout" && outcome.result() >= 0 {
            self.layout(cx, call)?;
        }
        Ok(outcome)
    }

    /// A layout was made: ours goes with it.
    fn layout(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let Some(id) = View::call(&call.image).u64("pPipelineLayout").or_else(|| created(call)) else {
            return Ok(());
        };
        let Some(sets) = self.plan.layouts.get(&id) else { return Ok(()) };
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let device = call.image.u64(0);
        let push = self.follow.world().pipeline_layouts.get(&id).map_or(vec![], |l| l.push.clone());
        let made = self.made.entry(device).or_default();
        let layout = made.layout(&vk.device(device)?.ash, device, &cx.objects, sets, &push)?;
        self.layouts.insert(id, Rc::new(layout));
        Ok(())
    }

    /// The application binds sets. What is for layouts of ours waits until something is drawn.
    fn bind(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let v = View::call(&call.image);
        let (buffer, layout) = (call.image.u64(0), v.u64("layout").unwrap_or(0));
        let point = bind::index(v.u32("pipelineBindPoint").unwrap_or(u32::MAX));
        let first = v.u32("firstSet").unwrap_or(0) as usize;
        let (sets, offsets) = (v.u64s("pDescriptorSets"), v.u64s("pDynamicOffsets"));
        let told = !self.layouts.contains_key(&layout);
        let mut rest = offsets.iter().map(|o| *o as u32);
        for (at, &set) in (first..).zip(&sets) {
            let takes = self.follow.world().sets.get(&set).map_or(0, |s| s.layout.dynamic as usize);
            let offsets = rest.by_ref().take(takes).collect();
            if let Some(p) = self.buffers.point(buffer, point) {
                p.bind(at, Bound { layout, set, offsets, told });
            }
        }
        if told { next.run(cx, call) } else { Ok(Outcome::captured(call)) }
    }

    /// Something is drawn, dispatched or traced: what its pipeline wants is bound first.
    fn before(&mut self, cx: &mut Executor, buffer: u64, at: usize) -> Result<()> {
        let Some(point) = self.buffers.point(buffer, at) else { return Ok(()) };
        let Some(&id) = self.pipelines.get(&point.pipeline) else { return self.tell(cx, buffer, at) };
        let layout = self.layouts[&id].clone();
        let plan = self.plan.clone();
        let sets = &plan.layouts[&id];
        let made = self.made.get_mut(&layout.device).ok_or_else(|| internal("a device has no layouts"))?;
        let d = cx.backend.vulkan().ok_or_else(|| internal("no device"))?.device(layout.device)?.ash.clone();
        // Ours of another layout stay as far as both begin alike.
        if point.layout != id {
            let old = self.layouts.get(&point.layout);
            let alike = old
                .filter(|o| o.push == layout.push)
                .map_or(0, |o| o.sets.iter().zip(&layout.sets).take_while(|(a, b)| a == b).count());
            point.ours.truncate(alike);
            point.layout = id;
        }
        point.ours.resize(layout.sets.len(), None);
        let world = self.follow.world();
        let mut out = self.out.borrow_mut();
        let had = world.pipeline_layouts.get(&id).map_or(0, |l| l.sets.len());
        for b in point.bound.iter().take(had).flatten() {
            if let Some(s) = world.sets.get(&b.set)
                && self.seen.insert(s.contents.version)
            {
                out.before.0 += 1;
                out.before.1 += s.layout.bindings.iter().map(|b| u64::from(s.contents.count(b))).sum::<u64>();
            }
        }
        let mut changed = false;
        for (n, bindings) in sets.iter().enumerate() {
            if bindings.is_empty() {
                continue;
            }
            let (mut versions, mut offsets) = (Vec::with_capacity(bindings.len()), Vec::new());
            let some = || bindings.iter().filter(|m| m.binding.count > 0);
            for m in some() {
                let bound = point.bound.get(m.from.0 as usize).and_then(Option::as_ref);
                let set = bound.and_then(|b| world.sets.get(&b.set));
                let (Some(bound), Some(set)) = (bound, set) else {
                    return Err(Error::new(
                        Kind::Unsupported,
                        format!(
                            "a pipeline of layout {id} runs without its set {}: leave that layout out of the partition",
                            m.from.0
                        ),
                    ));
                };
                let Some(index) = set.layout.index_of(m.from.1) else {
                    return Err(internal("a set of another layout is bound"));
                };
                let was = &set.layout.bindings[index];
                if was.is_dynamic() {
                    let from = was.dynamic_start as usize;
                    offsets.extend_from_slice(&bound.offsets[from..from + was.count as usize]);
                }
                versions.push(set.contents.versions[index]);
            }
            let which = layout.sets[n];
            let set = match made.known(which, &versions) {
                Some(set) => set,
                None => {
                    let of = |m: &partition::Moved| {
                        let bound = point.bound[m.from.0 as usize].as_ref().expect("looked at above");
                        let contents = &world.sets[&bound.set].contents;
                        (0..m.binding.count).map(|e| contents.get(m.from.1, e)).collect::<Vec<_>>()
                    };
                    let contents = some().flat_map(of).collect();
                    made.set(&d, &cx.objects, &mut out.clock, which, versions, contents)?
                }
            };
            let want = Some((set, offsets));
            if point.ours[n] != want {
                let (_, offsets) = want.as_ref().expect("just made");
                let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
                let since = std::time::Instant::now();
                // SAFETY: a live command buffer that is being recorded, our set of our layout.
                unsafe {
                    d.cmd_bind_descriptor_sets(commands, POINTS[at], layout.live, n as u32, &[set], offsets);
                }
                out.clock.add("vkCmdBindDescriptorSets", since);
                point.ours[n] = want;
                changed = true;
            }
        }
        if changed {
            point.ours_bound();
        }
        out.after = (made.sets, made.descriptors);
        Ok(())
    }

    /// A pipeline of another layout: the driver is told what the application had bound.
    fn tell(&mut self, cx: &mut Executor, buffer: u64, at: usize) -> Result<()> {
        let Some(point) = self.buffers.point(buffer, at) else { return Ok(()) };
        let world = self.follow.world();
        for (n, b) in point.bound.iter_mut().enumerate() {
            let Some(b) = b.as_mut().filter(|b| !b.told) else { continue };
            let live = cx.objects.live(b.set);
            if live == 0 || !world.sets.contains_key(&b.set) {
                // Only layouts of ours have such sets.
                continue;
            }
            let (commands, layout) = (cx.objects.live(buffer), cx.objects.live(b.layout));
            let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
            let Some(device) = self.devices.get(&buffer) else { return Ok(()) };
            // SAFETY: a live command buffer that is being recorded; the application bound this set with this layout.
            unsafe {
                vk.device(*device)?.ash.cmd_bind_descriptor_sets(
                    vk::CommandBuffer::from_raw(commands),
                    POINTS[at],
                    vk::PipelineLayout::from_raw(layout),
                    n as u32,
                    &[vk::DescriptorSet::from_raw(live)],
                    &b.offsets,
                );
            }
            b.told = true;
            point.ours.clear();
        }
        Ok(())
    }

    /// Pipelines of layouts of ours get these, and shaders that fit.
    fn pipelines(&mut self, vk: &Vulkan, call: &Call, linked: &mut Linked) -> Result<()> {
        let v = View::call(&call.image);
        let ids = v.u64s("pPipelines");
        let device = call.image.u64(0);
        self.kept.0 = device;
        // SAFETY: the call's own arguments, before the driver is called.
        let Some((_, all)) = (unsafe { infos(call, linked) }) else { return Ok(()) };
        for (n, (info, captured)) in all.into_iter().zip(v.structs("pCreateInfos")).enumerate() {
            let id = captured.u64("layout").unwrap_or(0);
            let Some(layout) = self.layouts.get(&id).cloned() else { continue };
            *info.layout = layout.live;
            let stages = captured.structs("pStages").chain(captured.structs("stage"));
            for (stage, then) in info.stages.iter_mut().zip(stages) {
                self.stage(vk, stage, then, id)?;
            }
            if let Some(&pipeline) = ids.get(n) {
                self.pipelines.insert(pipeline, id);
                self.out.borrow_mut().pipelines += 1;
            }
        }
        Ok(())
    }

    fn stage(
        &mut self,
        vk: &Vulkan,
        stage: &mut vk::PipelineShaderStageCreateInfo<'_>,
        then: View<'_>,
        layout: u64,
    ) -> Result<()> {
        let sets = &self.plan.layouts[&layout];
        let module = then.u64("module").filter(|m| *m != 0);
        let words = match (module, then.next("VkShaderModuleCreateInfo")) {
            (Some(m), _) => self.modules.get(&m).cloned(),
            (None, Some(info)) => info.bytes("pCode").map(words_of),
            (None, None) => None,
        };
        let words = words.ok_or_else(|| internal("a shader is not known"))?;
        let moved = shaders::moved(&words, sets).map_err(|e| internal(format!("a shader: {e}")))?;
        let Some(moved) = moved else { return Ok(()) };
        let moved = vk.without_unused(&moved).unwrap_or(moved);
        if module.is_some() {
            let info = vk::ShaderModuleCreateInfo::default().code(&moved);
            // SAFETY: a plain creation; the words are the application's but for numbers of sets and bindings.
            let made = unsafe { vk.device(self.kept.0)?.ash.create_shader_module(&info, None) };
            let made = made.map_err(|e| Error::driver("vkCreateShaderModule", e))?;
            self.kept.1.push(made);
            stage.module = made;
            return Ok(());
        }
        // SAFETY: a linked chain; the words live until the call was made.
        unsafe {
            if let Some(info) = in_chain(stage.p_next.cast(), vk::StructureType::SHADER_MODULE_CREATE_INFO) {
                let info = &mut *info.cast_mut().cast::<vk::ShaderModuleCreateInfo<'_>>();
                (info.code_size, info.p_code) = (size_of_val(&moved[..]), moved.as_ptr());
            }
        }
        self.kept.2.push(moved);
        Ok(())
    }
}

fn words_of(bytes: &[u8]) -> Arc<[u32]> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect()
}

/// The id that the capture gave to what a call made.
fn created(call: &Call) -> Option<u64> {
    call.image.handles.iter().find(|h| h.out).map(|h| call.image.u64(h.at))
}

const OTHERS: [&str; 7] = [
    "vkAllocateCommandBuffers",
    "vkBeginCommandBuffer",
    "vkCmdExecuteCommands",
    "vkCmdBindPipeline",
    "vkCmdBindDescriptorSets",
    "vkCreateShaderModule",
    "vkDestroyDevice",
];

const PIPELINES: [&str; 3] =
    ["vkCreateGraphicsPipelines", "vkCreateComputePipelines", "vkCreateRayTracingPipelinesKHR"];

impl Hook for RepartitionHook {
    fn name(&self) -> &'static str {
        "repartition"
    }

    fn wants(&self) -> Commands {
        if self.plan.layouts.is_empty() {
            return Commands::none();
        }
        let mut all = [&scan::FOLLOWED[..], &OTHERS].concat();
        all.extend(COMMANDS.iter().map(|c| c.name).filter(|n| bind::runs(n).is_some()));
        all.sort_unstable();
        all.dedup();
        Commands::named(&all)
    }

    fn wants_linked(&self) -> Commands {
        if self.plan.layouts.is_empty() { Commands::none() } else { Commands::named(&PIPELINES) }
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let name = call.command.name;
        let buffer = call.image.u64(0);
        match name {
            "vkCmdBindDescriptorSets" => return self.bind(cx, call, next),
            "vkBeginCommandBuffer" => self.buffers.begin(buffer),
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
            _ => match bind::runs(name) {
                Some(point) => self.before(cx, buffer, point)?,
                None if name != "vkCmdExecuteCommands" => return self.sets(cx, call, next),
                None => {}
            },
        }
        let outcome = next.run(cx, call)?;
        if name == "vkCmdExecuteCommands" {
            // What is bound is not defined any more.
            self.buffers.begin(buffer);
        }
        Ok(outcome)
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

/// Keeps time of the calls about descriptors that the driver gets. (A hook's own calls do not come past it twice: this one is
/// another.)
struct Timed(Rc<RefCell<Outcomes>>);

impl Hook for Timed {
    fn name(&self) -> &'static str {
        "descriptor times"
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(&Clock::commands())
    }

    fn linked(&mut self, _: &mut Executor, _: &Call, _: &mut Linked) -> Result<()> {
        self.0.borrow_mut().clock.start();
        Ok(())
    }

    fn invoked(&mut self, _: &mut Executor, call: &Call, _: &mut Linked, _: u64) -> Result<()> {
        self.0.borrow_mut().clock.stop(call.command.name);
        Ok(())
    }
}
