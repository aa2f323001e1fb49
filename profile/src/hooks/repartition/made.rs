//! Layouts and sets of ours.
//!
//! Guarantees: sets with equal contents are one set, made when first bound and never written again. All of it goes with the
//! device. Refuses what the driver refuses, and contents that were written but are not known.

use super::clock::Clock;
use super::partition::{Moved, Sets};
use replay::ash::{self, vk, vk::Handle};
use replay::error::{Error, Kind, Result};
use replay::follow::layouts::PushRange;
use replay::follow::sets::Descriptor;
use replay::objects::Objects;
use std::collections::HashMap;
use std::time::Instant;

/// Sets of a pool.
const POOL_SETS: u32 = 64;

/// A set layout of ours; equal ones are one.
#[derive(Debug)]
struct SetLayout {
    bindings: Vec<Moved>,
    live: vk::DescriptorSetLayout,
    pools: Vec<vk::DescriptorPool>,
    /// Sets that the last pool can still give.
    room: u32,
    by_contents: HashMap<Vec<Descriptor>, vk::DescriptorSet>,
    by_versions: HashMap<Vec<u64>, vk::DescriptorSet>,
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

/// What a device has of ours.
#[derive(Debug, Default)]
pub struct Made {
    layouts: Vec<SetLayout>,
    pipeline_layouts: Vec<vk::PipelineLayout>,
    /// Sets that were made, and the descriptors in them.
    pub sets: u64,
    /// See `sets`.
    pub descriptors: u64,
}

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

    fn set_layout(&mut self, d: &ash::Device, objects: &Objects, bindings: &[Moved]) -> Result<usize> {
        let alike =
            |l: &SetLayout| l.bindings.iter().map(|m| &m.binding).eq(bindings.iter().map(|m| &m.binding));
        if let Some(at) = self.layouts.iter().position(alike) {
            return Ok(at);
        }
        let samplers: Vec<Vec<vk::Sampler>> = bindings
            .iter()
            .map(|m| m.binding.immutable.iter().map(|s| vk::Sampler::from_raw(objects.live(*s))).collect())
            .collect();
        let infos: Vec<_> = bindings
            .iter()
            .zip(&samplers)
            .map(|(m, samplers)| {
                let b = &m.binding;
                let info = vk::DescriptorSetLayoutBinding::default()
                    .binding(b.binding)
                    .descriptor_type(vk::DescriptorType::from_raw(b.ty as i32))
                    .descriptor_count(b.count)
                    .stage_flags(vk::ShaderStageFlags::from_raw(b.stages));
                if samplers.is_empty() { info } else { info.immutable_samplers(samplers) }
            })
            .collect();
        let flags: Vec<_> =
            bindings.iter().map(|m| vk::DescriptorBindingFlags::from_raw(m.binding.flags)).collect();
        let mut flagged = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&infos);
        if flags.iter().any(|f| !f.is_empty()) {
            info = info.push_next(&mut flagged);
        }
        // SAFETY: a plain creation; immutable samplers live.
        let live = unsafe { d.create_descriptor_set_layout(&info, None) }
            .map_err(driver("vkCreateDescriptorSetLayout"))?;
        self.layouts.push(SetLayout {
            bindings: bindings.to_vec(),
            live,
            pools: Vec::new(),
            room: 0,
            by_contents: HashMap::new(),
            by_versions: HashMap::new(),
        });
        Ok(self.layouts.len() - 1)
    }

    /// A set whose sources are in these states, if there is one.
    pub fn known(&self, layout: usize, versions: &[u64]) -> Option<vk::DescriptorSet> {
        self.layouts[layout].by_versions.get(versions).copied()
    }

    /// The set of these contents: all descriptors, binding by binding.
    pub fn set(
        &mut self,
        d: &ash::Device,
        objects: &Objects,
        clock: &mut Clock,
        layout: usize,
        versions: Vec<u64>,
        contents: Vec<Descriptor>,
    ) -> Result<vk::DescriptorSet> {
        let l = &mut self.layouts[layout];
        if let Some(&set) = l.by_contents.get(&contents) {
            l.by_versions.insert(versions, set);
            return Ok(set);
        }
        let set = l.allocate(d, clock)?;
        l.write(d, objects, clock, set, &contents)?;
        self.sets += 1;
        self.descriptors += contents.len() as u64;
        l.by_versions.insert(versions, set);
        l.by_contents.insert(contents, set);
        Ok(set)
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

impl SetLayout {
    fn allocate(&mut self, d: &ash::Device, clock: &mut Clock) -> Result<vk::DescriptorSet> {
        if self.room == 0 {
            let size = |m: &Moved| vk::DescriptorPoolSize {
                ty: vk::DescriptorType::from_raw(m.binding.ty as i32),
                descriptor_count: m.binding.count * POOL_SETS,
            };
            let some = self.bindings.iter().filter(|m| m.binding.count > 0);
            let mut sizes: Vec<_> = some.map(size).collect();
            if sizes.is_empty() {
                // A set without descriptors.
                sizes.push(vk::DescriptorPoolSize { ty: vk::DescriptorType::SAMPLER, descriptor_count: 1 });
            }
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(POOL_SETS).pool_sizes(&sizes);
            let since = Instant::now();
            // SAFETY: a plain creation.
            let pool =
                unsafe { d.create_descriptor_pool(&info, None) }.map_err(driver("vkCreateDescriptorPool"))?;
            clock.add("vkCreateDescriptorPool", since);
            self.pools.push(pool);
            self.room = POOL_SETS;
        }
        let layouts = [self.live];
        let pool = *self.pools.last().expect("one was made");
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let since = Instant::now();
        // SAFETY: the pool has room for it.
        let set =
            unsafe { d.allocate_descriptor_sets(&info) }.map_err(driver("vkAllocateDescriptorSets"))?[0];
        clock.add("vkAllocateDescriptorSets", since);
        self.room -= 1;
        Ok(set)
    }

    /// Writes what was written, in runs.
    fn write(
        &self,
        d: &ash::Device,
        objects: &Objects,
        clock: &mut Clock,
        set: vk::DescriptorSet,
        contents: &[Descriptor],
    ) -> Result<()> {
        let (mut writes, mut infos) = (Vec::new(), Vec::with_capacity(contents.len()));
        let mut at = 0;
        for m in &self.bindings {
            let ty = vk::DescriptorType::from_raw(m.binding.ty as i32);
            // A sampler that the layout has cannot be written.
            let fixed = ty == vk::DescriptorType::SAMPLER && !m.binding.immutable.is_empty();
            for (element, descriptor) in (0..m.binding.count).zip(&contents[at..]) {
                if let Some(info) = Info::of(descriptor, objects)?.filter(|_| !fixed) {
                    infos.push(info);
                    writes.push((m.binding.binding, element, ty));
                }
            }
            at += m.binding.count as usize;
        }
        let mut structures: Vec<_> = infos.iter().map(|i| i.structures()).collect();
        let written: Vec<_> = writes
            .iter()
            .zip(&infos)
            .zip(&mut structures)
            .map(|((&(binding, element, ty), info), structures)| {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .dst_array_element(element)
                    .descriptor_type(ty);
                match info {
                    Info::Image(i) => write.image_info(i),
                    Info::Buffer(b) => write.buffer_info(b),
                    Info::Texel(t) => write.texel_buffer_view(t),
                    Info::Structure(_) => write.descriptor_count(1).push_next(structures),
                }
            })
            .collect();
        if written.is_empty() {
            return Ok(());
        }
        let since = Instant::now();
        // SAFETY: the set is new, its layout has these bindings, and what is written is alive or null.
        unsafe { d.update_descriptor_sets(&written, &[]) };
        clock.add("vkUpdateDescriptorSets", since);
        Ok(())
    }
}

/// What a descriptor is written with.
enum Info {
    Image([vk::DescriptorImageInfo; 1]),
    Buffer([vk::DescriptorBufferInfo; 1]),
    Texel([vk::BufferView; 1]),
    Structure([vk::AccelerationStructureKHR; 1]),
}

impl Info {
    /// None where nothing was written, or what was written is gone: no shader may use it then.
    fn of(descriptor: &Descriptor, objects: &Objects) -> Result<Option<Info>> {
        let gone = |id: u64| id != 0 && objects.live(id) == 0;
        let any_gone = match *descriptor {
            Descriptor::Sampler { sampler: id }
            | Descriptor::Texel { view: id, .. }
            | Descriptor::Buffer { buffer: id, .. }
            | Descriptor::Structure { structure: id } => gone(id),
            Descriptor::Image { view, sampler, .. } => gone(view) || gone(sampler),
            _ => false,
        };
        if any_gone {
            return Ok(None);
        }
        Ok(Some(match *descriptor {
            Descriptor::Unwritten => return Ok(None),
            Descriptor::Sampler { sampler } => {
                let sampler = vk::Sampler::from_raw(objects.live(sampler));
                Info::Image([vk::DescriptorImageInfo::default().sampler(sampler)])
            }
            Descriptor::Image { view, sampler, layout, .. } => Info::Image([vk::DescriptorImageInfo {
                sampler: vk::Sampler::from_raw(objects.live(sampler)),
                image_view: vk::ImageView::from_raw(objects.live(view)),
                image_layout: vk::ImageLayout::from_raw(layout as i32),
            }]),
            Descriptor::Texel { view, .. } => Info::Texel([vk::BufferView::from_raw(objects.live(view))]),
            Descriptor::Buffer { buffer, offset, range, .. } => Info::Buffer([vk::DescriptorBufferInfo {
                buffer: vk::Buffer::from_raw(objects.live(buffer)),
                offset,
                range,
            }]),
            Descriptor::Structure { structure } => {
                Info::Structure([vk::AccelerationStructureKHR::from_raw(objects.live(structure))])
            }
            Descriptor::Inline | Descriptor::Address { .. } | Descriptor::Unknown { .. } => {
                return Err(Error::new(Kind::Unsupported, "a descriptor to move is not known"));
            }
        }))
    }

    fn structures(&self) -> vk::WriteDescriptorSetAccelerationStructureKHR<'_> {
        let write = vk::WriteDescriptorSetAccelerationStructureKHR::default();
        match self {
            Info::Structure(s) => write.acceleration_structures(s),
            _ => write,
        }
    }
}
