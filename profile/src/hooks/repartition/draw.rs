//! What a draw, dispatch or trace finds bound: sets and push descriptors of ours for pipelines of repartitioned layouts, the
//! application's own for all others.
//!
//! Guarantees: nothing is bound or pushed again that the driver still has. Refuses a descriptor that was written and is not known.

use super::bind::{Ours, POINTS, Recording};
use super::contents::{Change, Content, Writes};
use super::partition::Moved;
use super::{CallClock, RepartitionHook, internal, push_of};
use replay::ash::vk::{self, Handle};
use replay::error::Result;
use replay::exec::Executor;
use replay::objects::Objects;
use std::time::Instant;
use world::World;
use world::commands::BoundSet;
use world::layouts::{Binding, PipelineLayout};
use world::sets::Contents;

impl RepartitionHook {
    /// Something is drawn, dispatched or traced: what its pipeline wants is bound first.
    pub(super) fn before(&mut self, cx: &mut Executor, buffer: u64, at: usize) -> Result<()> {
        let world = cx.objects.world();
        let pipeline = world.program(buffer, POINTS[at].0).first().copied().unwrap_or(0);
        let Some(point) = self.buffers.point(Recording::of(world, buffer), at) else { return Ok(()) };
        let Some(&id) = self.pipelines.get(&pipeline) else { return self.tell(cx, buffer, at) };
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
        let whole = self.then.get(&id).ok_or_else(|| internal("a layout is not known"))?;
        let bound = world.bound(buffer, POINTS[at].0);
        let mut out = self.out.borrow_mut();
        for s in (0..whole.sets.len()).filter_map(|n| source(world, whole, bound, n as u32)) {
            if self.seen.insert(s.contents.version) {
                let descriptors =
                    s.contents.layout.bindings.iter().map(|b| u64::from(s.contents.count(b).min(b.slots())));
                out.before.0 += 1;
                out.before.1 += descriptors.sum::<u64>();
            }
        }
        let push = push_of(&mut self.push, cx.backend.vulkan(), layout.device);
        let mut changed = false;
        for (n, new) in sets.iter().enumerate().filter(|s| !s.1.bindings.is_empty()) {
            let (mut states, mut offsets) = (Vec::with_capacity(new.bindings.len()), Vec::new());
            for m in &new.bindings {
                let Some(s) = source(world, whole, bound, m.from.0) else {
                    states.push(0);
                    offsets.resize(
                        offsets.len() + if m.binding.is_dynamic() { m.binding.count as usize } else { 0 },
                        0,
                    );
                    continue;
                };
                let index = s
                    .contents
                    .layout
                    .index_of(m.from.1)
                    .ok_or_else(|| internal("a set of another layout is bound"))?;
                let was = &s.contents.layout.bindings[index];
                if was.is_dynamic() {
                    let from = was.dynamic_start as usize;
                    offsets.extend(
                        (from..from + was.count as usize).map(|o| s.offsets.get(o).copied().unwrap_or(0)),
                    );
                }
                states.push(if m.late() { s.born } else { s.contents.versions[index] });
            }
            let content = |m: &Moved| -> (Content, Option<(u64, u32)>) {
                let s = source(world, whole, bound, m.from.0);
                let was = s.as_ref().and_then(|s| s.contents.layout.binding(m.from.1));
                match s.as_ref().zip(was) {
                    Some((s, was)) => (Content::of(s.contents, was), m.late().then_some((s.born, m.from.1))),
                    None => (Content::nothing(&m.binding), None),
                }
            };
            let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
            if new.is_push() {
                let had = match &point.ours[n] {
                    Some(Ours::Pushed(had)) => &had[..],
                    _ => &[],
                };
                let now: Vec<_> = new.bindings.iter().map(|m| (content(m).0, &m.binding)).collect();
                let others = (0..).zip(&now).filter(|(b, _)| had.get(*b) != Some(&states[*b])).map(|b| b.1);
                let target = (commands, POINTS[at].1, layout.live, n as u32);
                if pushed(push, &cx.objects, &self.clock, target, others)? {
                    out.pushed += 1;
                    changed = true;
                }
                point.ours[n] = Some(Ours::Pushed(states));
                continue;
            }
            let which = layout.sets[n];
            let set = match made.known(which, &states) {
                Some(set) => set,
                None => {
                    let sources = new.bindings.iter().map(content).collect();
                    made.set(&d, &cx.objects, &self.clock, which, states, sources)?
                }
            };
            let want = Some(Ours::Set(set, offsets));
            if point.ours[n] != want {
                let Some(Ours::Set(_, offsets)) = &want else { continue };
                let since = Instant::now();
                // SAFETY: a live command buffer that is being recorded, our set of our layout.
                unsafe {
                    d.cmd_bind_descriptor_sets(
                        commands,
                        POINTS[at].1,
                        layout.live,
                        n as u32,
                        &[set],
                        offsets,
                    );
                }
                self.clock.add("vkCmdBindDescriptorSets", since);
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
        let world = cx.objects.world();
        let Some(point) = self.buffers.point(Recording::of(world, buffer), at) else { return Ok(()) };
        let (bound, kind) = (world.bound(buffer, POINTS[at].0), POINTS[at].1);
        let device = cx.objects.any(buffer).map_or(0, |e| e.owner);
        let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
        for (n, told) in point.told.iter_mut().enumerate().filter(|t| !*t.1) {
            let Some(b) = bound.get(n) else { continue };
            let Some(layout) = b.layout() else { continue };
            let live = vk::PipelineLayout::from_raw(cx.objects.live(layout.id));
            if live.is_null() {
                // (it is gone: nothing that comes can want what was bound with it)
                continue;
            }
            let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
            match b {
                BoundSet::Set { set, offsets, .. } => {
                    let set = cx.objects.live(*set);
                    if set == 0 {
                        // Only layouts of ours have such sets.
                        continue;
                    }
                    let sets = [vk::DescriptorSet::from_raw(set)];
                    let since = Instant::now();
                    // SAFETY: a live command buffer that is being recorded; the application bound this set with this layout.
                    unsafe {
                        let d = &vk.device(device)?.ash;
                        d.cmd_bind_descriptor_sets(commands, kind, live, n as u32, &sets, offsets);
                    }
                    self.clock.add("vkCmdBindDescriptorSets", since);
                }
                BoundSet::Push { contents, .. } => {
                    let all: Vec<(Content, &Binding)> =
                        contents.layout.bindings.iter().map(|b| (Content::of(contents, b), b)).collect();
                    let push = push_of(&mut self.push, Some(vk), device);
                    pushed(push, &cx.objects, &self.clock, (commands, kind, live, n as u32), all.iter())?;
                }
                _ => continue,
            }
            *told = true;
            point.ours.clear();
        }
        Ok(())
    }
}

/// What the application has bound as a set.
struct Source<'s> {
    contents: &'s Contents,
    offsets: &'s [u32],
    born: u64,
}

/// That of a layout's set, if anything is bound there that fits the layout.
fn source<'s>(
    world: &'s World,
    layout: &PipelineLayout,
    bound: &'s [BoundSet],
    set: u32,
) -> Option<Source<'s>> {
    let b = bound.get(set as usize)?;
    if !b.layout()?.compatible(layout, set as usize) {
        return None;
    }
    match b {
        BoundSet::Set { set, offsets, .. } => {
            let s = world.sets.get(set)?;
            Some(Source { contents: &s.contents, offsets, born: s.born })
        }
        BoundSet::Push { contents, .. } => Some(Source { contents, offsets: &[], born: 0 }),
        _ => None,
    }
}

/// Where descriptors are pushed: command buffer, bind point, pipeline layout, set.
type Target = (vk::CommandBuffer, vk::PipelineBindPoint, vk::PipelineLayout, u32);

/// Pushes what these bindings contain; whether there was anything.
fn pushed<'c>(
    push: Option<vk::PFN_vkCmdPushDescriptorSetKHR>,
    objects: &Objects,
    clock: &CallClock,
    (commands, point, layout, set): Target,
    bindings: impl Iterator<Item = &'c (Content, &'c Binding)>,
) -> Result<bool> {
    let change = |(new, binding): &'c (Content, &'c Binding)| Change {
        binding,
        number: binding.binding,
        old: None,
        new,
    };
    let writes = Writes::of(objects, &bindings.map(change).collect::<Vec<_>>())?;
    let push = push.ok_or_else(|| internal("the device has no function that pushes descriptors"))?;
    let mut any = false;
    writes.make(vk::DescriptorSet::null(), |all| {
        let since = Instant::now();
        // SAFETY: the device's own function; a live command buffer that is being recorded; a layout with these bindings in
        // this set, which is for pushing; what is written is alive or null.
        unsafe { push(commands, point, layout, set, all.len() as u32, all.as_ptr()) };
        clock.add("vkCmdPushDescriptorSet", since);
        any = true;
    });
    Ok(any)
}
