//! Layouts and sets of ours.
//!
//! Guarantees: sets with equal contents are one set, made when first bound and never written again, but for bindings that may
//! be updated after they are bound: those follow what is written to the application's set ([`Made::follow`]), and a set of ours
//! with such bindings belongs to that one set of the application's. All of it goes with the device. Refuses what the driver
//! refuses, and contents that were written but are not known.

use super::super::call_costs::CallClock;
use super::contents::{Change, Content, Writes};
use super::partition::{NewSet, SET_LAYOUT_LATE, Sets};
use replay::ash::{self, vk, vk::Handle};
use replay::error::{Error, Result};
use replay::objects::Objects;
use std::collections::HashMap;
use std::time::Instant;
use world::layouts::{PushRange, ty};
use world::sets::Contents;

/// Sets of a pool, at most, and descriptors of its sets, if they are more than one.
const POOL_SETS: u32 = 64;
const POOL_DESCRIPTORS: u32 = 1 << 16;

/// A set layout of ours; equal ones are one.
#[derive(Debug)]
struct SetLayout {
    set: NewSet,
    live: vk::DescriptorSetLayout,
    pools: Vec<vk::DescriptorPool>,
    /// Sets that the last pool can still give.
    room: u32,
    by_contents: HashMap<Vec<Content>, vk::DescriptorSet>,
    by_states: HashMap<Vec<u64>, vk::DescriptorSet>,
}

/// A pipeline layout of ours.
#[derive(Clone, Debug)]
pub struct Layout {
    /// It.
    pub live: vk::PipelineLayout,
    /// The captured device.
    pub device: u64,
    /// Which of the device's set layouts each set has; sets in between that are empty, too.
    pub sets: Vec<usize>,
    /// Its push-constant ranges.
    pub push: Vec<PushRange>,
}

/// A binding of a set of ours that follows one of the application's.
#[derive(Debug)]
struct Late {
    layout: usize,
    set: vk::DescriptorSet,
    /// Which binding of the layout's.
    binding: usize,
    /// The number of the application's.
    from: u32,
    written: Content,
}

/// What a device has of ours.
#[derive(Debug, Default)]
pub struct Made {
    layouts: Vec<SetLayout>,
    pipeline_layouts: Vec<vk::PipelineLayout>,
    /// By the application's set ([`world::objects::Set::born`]).
    late: HashMap<u64, Vec<Late>>,
    /// Sets that were made, and the descriptors in them.
    pub sets: u64,
    /// See `sets`.
    pub descriptors: u64,
}

/// What a set of ours is made from: by binding what it contains, and the application's set and binding that it follows, if it
/// does.
pub type Sources = Vec<(Content, Option<(u64, u32)>)>;

fn driver(command: &'static str) -> impl Fn(vk::Result) -> Error {
    move |e| Error::driver(command, e)
}

impl Made {
    /// A pipeline layout with these sets.
    pub fn layout(
        &mut self,
        d: &ash::Device,
        device: u64,
        objects: &Objects,
        sets: &Sets,
        push: &[PushRange],
    ) -> Result<Layout> {
        let indices = sets.iter().map(|s| self.set_layout(d, objects, s)).collect::<Result<Vec<_>>>()?;
        let live: Vec<_> = indices.iter().map(|i| self.layouts[*i].live).collect();
        let ranges: Vec<_> = push
            .iter()
            .map(|r| vk::PushConstantRange {
                stage_flags: vk::ShaderStageFlags::from_raw(r.stages),
                offset: r.offset,
                size: r.size,
            })
            .collect();
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&live).push_constant_ranges(&ranges);
        // SAFETY: a plain creation of live parts.
        let made =
            unsafe { d.create_pipeline_layout(&info, None) }.map_err(driver("vkCreatePipelineLayout"))?;
        self.pipeline_layouts.push(made);
        Ok(Layout { live: made, device, sets: indices, push: push.to_vec() })
    }

    fn set_layout(&mut self, d: &ash::Device, objects: &Objects, set: &NewSet) -> Result<usize> {
        let bindings = || set.bindings.iter().map(|m| &m.binding);
        let alike = |l: &SetLayout| {
            l.set.flags == set.flags && l.set.bindings.iter().map(|m| &m.binding).eq(bindings())
        };
        if let Some(at) = self.layouts.iter().position(alike) {
            return Ok(at);
        }
        let live = |of: &Vec<u64>| of.iter().map(|s| vk::Sampler::from_raw(objects.live(*s))).collect();
        let samplers: Vec<Vec<vk::Sampler>> = bindings().map(|b| live(&b.immutable)).collect();
        let infos: Vec<_> = bindings()
            .zip(&samplers)
            .map(|(b, samplers)| {
                let info = vk::DescriptorSetLayoutBinding::default()
                    .binding(b.binding)
                    .descriptor_type(vk::DescriptorType::from_raw(b.ty as i32))
                    .descriptor_count(b.count)
                    .stage_flags(vk::ShaderStageFlags::from_raw(b.stages));
                if samplers.is_empty() { info } else { info.immutable_samplers(samplers) }
            })
            .collect();
        let flags: Vec<_> = bindings().map(|b| vk::DescriptorBindingFlags::from_raw(b.flags)).collect();
        let mut flagged = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let mut info = vk::DescriptorSetLayoutCreateInfo::default()
            .bindings(&infos)
            .flags(vk::DescriptorSetLayoutCreateFlags::from_raw(set.flags));
        if flags.iter().any(|f| !f.is_empty()) {
            info = info.push_next(&mut flagged);
        }
        // SAFETY: a plain creation; immutable samplers live.
        let live = unsafe { d.create_descriptor_set_layout(&info, None) }
            .map_err(driver("vkCreateDescriptorSetLayout"))?;
        self.layouts.push(SetLayout {
            set: set.clone(),
            live,
            pools: Vec::new(),
            room: 0,
            by_contents: HashMap::new(),
            by_states: HashMap::new(),
        });
        Ok(self.layouts.len() - 1)
    }

    /// A set whose sources are in these states, if there is one.
    pub fn known(&self, layout: usize, states: &[u64]) -> Option<vk::DescriptorSet> {
        self.layouts[layout].by_states.get(states).copied()
    }

    /// The set of these contents, binding by binding.
    pub fn set(
        &mut self,
        d: &ash::Device,
        objects: &Objects,
        clock: &CallClock,
        layout: usize,
        states: Vec<u64>,
        sources: Sources,
    ) -> Result<vk::DescriptorSet> {
        let l = &mut self.layouts[layout];
        let follows = sources.iter().any(|s| s.1.is_some());
        let (contents, follow): (Vec<Content>, Vec<Option<(u64, u32)>>) = sources.into_iter().unzip();
        if let Some(&set) = l.by_contents.get(&contents).filter(|_| !follows) {
            l.by_states.insert(states, set);
            return Ok(set);
        }
        let variable = l.set.variable().and(contents.last()).map(Content::count);
        let set = l.allocate(d, clock, variable)?;
        let changes: Vec<_> = (l.set.bindings.iter().zip(&contents))
            .map(|(m, new)| Change { binding: &m.binding, number: m.binding.binding, old: None, new })
            .collect();
        write(d, clock, set, &Writes::of(objects, &changes)?);
        self.sets += 1;
        self.descriptors += contents.iter().map(|c| u64::from(c.count())).sum::<u64>();
        l.by_states.insert(states, set);
        for (binding, (born, from)) in follow.iter().enumerate().filter_map(|(b, f)| Some((b, (*f)?))) {
            let written = contents[binding].clone();
            self.late.entry(born).or_default().push(Late { layout, set, binding, from, written });
        }
        if !follows {
            l.by_contents.insert(contents, set);
        }
        Ok(set)
    }

    /// One of the application's sets was written to: so are those of ours that follow it.
    pub fn follow(
        &mut self,
        d: &ash::Device,
        objects: &Objects,
        clock: &CallClock,
        (born, contents): (u64, &Contents),
    ) -> Result<()> {
        for late in self.late.get_mut(&born).into_iter().flatten() {
            let m = &self.layouts[late.layout].set.bindings[late.binding];
            let Some(was) = contents.layout.binding(late.from) else { continue };
            let new = Content::of(contents, was);
            if new == late.written {
                continue;
            }
            let (binding, old) = (&m.binding, Some(&late.written));
            let writes = Writes::of(objects, &[Change { binding, number: binding.binding, old, new: &new }])?;
            write(d, clock, late.set, &writes);
            late.written = new;
        }
        Ok(())
    }

    /// All of it goes; the device does nothing.
    pub fn destroy(self, d: &ash::Device) {
        // SAFETY: ours, and the caller's promise.
        unsafe {
            for l in &self.layouts {
                l.pools.iter().for_each(|p| d.destroy_descriptor_pool(*p, None));
                d.destroy_descriptor_set_layout(l.live, None);
            }
            self.pipeline_layouts.iter().for_each(|l| d.destroy_pipeline_layout(*l, None));
        }
    }
}

fn write(d: &ash::Device, clock: &CallClock, set: vk::DescriptorSet, writes: &Writes) {
    writes.make(set, |all| {
        let since = Instant::now();
        // SAFETY: a set of ours, of a layout with these bindings; what is written is alive or null. It is new, or the
        // application may write to the same descriptors of its own set now.
        unsafe { d.update_descriptor_sets(all, &[]) };
        clock.add("vkUpdateDescriptorSets", since);
    });
}

impl SetLayout {
    fn allocate(
        &mut self,
        d: &ash::Device,
        clock: &CallClock,
        variable: Option<u32>,
    ) -> Result<vk::DescriptorSet> {
        let last = self.set.bindings.len().wrapping_sub(1);
        let count = |n: usize, count: u32| variable.filter(|_| n == last).unwrap_or(count);
        let some =
            self.set.bindings.iter().enumerate().map(|(n, m)| (m.binding.ty, count(n, m.binding.count)));
        let some: Vec<(u32, u32)> = some.filter(|s| s.1 > 0).collect();
        if self.room == 0 || variable.is_some() {
            let all = some.iter().fold(0u32, |sum, s| sum.saturating_add(s.1)).max(1);
            // (a set of another count may not fit)
            let sets = if variable.is_some() { 1 } else { (POOL_DESCRIPTORS / all).clamp(1, POOL_SETS) };
            let size = |s: &(u32, u32)| vk::DescriptorPoolSize {
                ty: vk::DescriptorType::from_raw(s.0 as i32),
                descriptor_count: s.1.saturating_mul(sets),
            };
            let mut sizes: Vec<_> = some.iter().map(size).collect();
            if sizes.is_empty() {
                // A set without descriptors.
                sizes.push(vk::DescriptorPoolSize { ty: vk::DescriptorType::SAMPLER, descriptor_count: 1 });
            }
            let blocks = some.iter().filter(|s| s.0 == ty::INLINE_UNIFORM_BLOCK).count() as u32;
            let mut inline = vk::DescriptorPoolInlineUniformBlockCreateInfo::default()
                .max_inline_uniform_block_bindings(blocks * sets);
            let flags = match self.set.flags & SET_LAYOUT_LATE {
                0 => vk::DescriptorPoolCreateFlags::empty(),
                _ => vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND,
            };
            let mut info =
                vk::DescriptorPoolCreateInfo::default().max_sets(sets).pool_sizes(&sizes).flags(flags);
            if blocks > 0 {
                info = info.push_next(&mut inline);
            }
            let since = Instant::now();
            // SAFETY: a plain creation.
            let pool =
                unsafe { d.create_descriptor_pool(&info, None) }.map_err(driver("vkCreateDescriptorPool"))?;
            clock.add("vkCreateDescriptorPool", since);
            self.pools.push(pool);
            self.room = sets;
        }
        let (layouts, counts) = ([self.live], [variable.unwrap_or(0)]);
        let pool = *self.pools.last().expect("one was made");
        let mut of_variable =
            vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(&counts);
        let mut info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        if variable.is_some() {
            info = info.push_next(&mut of_variable);
        }
        let since = Instant::now();
        // SAFETY: the pool has room for it.
        let set =
            unsafe { d.allocate_descriptor_sets(&info) }.map_err(driver("vkAllocateDescriptorSets"))?[0];
        clock.add("vkAllocateDescriptorSets", since);
        self.room -= 1;
        Ok(set)
    }
}
