//! What command buffers bind and copy, as far as pointers need it: descriptor sets with their buffers, pipelines,
//! pointers among push constants, copies between buffers.
//!
//! Only on devices with buffer addresses, and of pipelines only those whose buffers hold pointers. Not followed:
//! descriptors pushed, written by templates or from descriptor buffers.

use super::Pipeline;
use crate::error::Result;
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::{Vulkan, descriptors, pools};
use gfxr_parse::ahead::Call;
use gfxr_parse::image::Image;
use pointers::Module;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use world::Outcome;

/// A buffer in a descriptor.
#[derive(Clone, Copy)]
pub(crate) struct InBuffer {
    pub buffer: u64,
    pub offset: u64,
    /// To its end if all bits are set.
    pub range: u64,
    pub dynamic: bool,
}

/// A descriptor set.
#[derive(Default)]
pub(crate) struct Set {
    /// Captured id of its layout.
    pub layout: u64,
    /// Captured id of its pool.
    pool: u64,
    /// By binding and array element.
    pub buffers: BTreeMap<(u32, u32), InBuffer>,
}

/// A set bound at an index, with its dynamic offsets.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct InSet {
    pub index: u32,
    pub set: u64,
    pub offsets: Vec<u32>,
}

/// Something a command buffer does.
pub(crate) enum Item {
    Copy {
        from: u64,
        to: u64,
        region: (u64, u64, u64),
    },
    Use {
        pipeline: Rc<Pipeline>,
        sets: Vec<InSet>,
    },
    /// A pointer among push constants, and what is behind it.
    Pushed {
        module: Rc<Module>,
        layout: usize,
        captured: u64,
    },
    Execute(u64),
    /// Records of a shader binding table: where they were at capture, how far apart, and the bytes of a handle.
    Records {
        pipeline: Rc<Pipeline>,
        at: u64,
        size: u64,
        stride: u64,
        handle: u64,
    },
}

/// What a command buffer has recorded.
#[derive(Default)]
pub(crate) struct Commands {
    pipelines: HashMap<u32, Rc<Pipeline>>,
    sets: HashMap<u32, Vec<InSet>>,
    pub items: Vec<Item>,
}

impl Commands {
    fn used(&mut self, point: u32) {
        let Some(pipeline) = self.pipelines.get(&point).filter(|p| p.reads_pointers) else { return };
        let sets = self.sets.get(&point).cloned().unwrap_or_default();
        if let Some(Item::Use { pipeline: p, sets: s }) = self.items.last_mut()
            && Rc::ptr_eq(p, pipeline)
        {
            if *s == sets {
                return;
            }
            // Sets bound one by one before anything is drawn are one use; those that were replaced are another.
            if s.iter().all(|old| sets.contains(old)) {
                *s = sets;
                return;
            }
        }
        self.items.push(Item::Use { pipeline: pipeline.clone(), sets });
    }
}

fn commands<'v>(vk: &'v mut Vulkan, call: &Call) -> &'v mut Commands {
    vk.known.commands.entry(call.image.u64(0)).or_default()
}

/// vkBeginCommandBuffer, vkFreeCommandBuffers: what was recorded is gone.
pub(crate) fn forget(vk: &mut Vulkan, id: u64) {
    if vk.known.on {
        vk.known.commands.remove(&id);
    }
}

/// vkCmdBindPipeline.
pub(crate) fn bind_pipeline(vk: &mut Vulkan, call: &Call) {
    if !vk.known.on {
        return;
    }
    let pipeline = vk.known.pipelines.get(&call.image.u64(16)).cloned();
    let point = call.image.u32(8);
    let c = commands(vk, call);
    match pipeline {
        Some(p) => drop(c.pipelines.insert(point, p)),
        None => drop(c.pipelines.remove(&point)),
    }
    c.used(point);
}

/// A pointer among push constants.
pub(crate) fn pushed(vk: &mut Vulkan, call: &Call, module: Rc<Module>, layout: usize, captured: u64) {
    commands(vk, call).items.push(Item::Pushed { module, layout, captured });
}

/// vkCmdTraceRaysKHR, vkCmdTraceRaysIndirectKHR: as captured, with handles of so many bytes.
pub(crate) fn traced(vk: &mut Vulkan, call: &Call, handle: u64) {
    if !vk.known.on {
        return;
    }
    let c = commands(vk, call);
    let point = ash::vk::PipelineBindPoint::RAY_TRACING_KHR.as_raw() as u32;
    let Some(pipeline) = c.pipelines.get(&point).cloned() else { return };
    for slot in 1..=4 {
        // VkStridedDeviceAddressRegionKHR: deviceAddress, stride, size.
        let Some(r) = call.image.target(slot * 8) else { continue };
        let (at, stride, size) = (call.image.u64(r), call.image.u64(r + 8), call.image.u64(r + 16));
        if at != 0 && size != 0 {
            let stride = if stride == 0 { size } else { stride };
            c.items.push(Item::Records { pipeline: pipeline.clone(), at, size, stride, handle });
        }
    }
}

/// The elements of an array parameter or member, each of as many bytes: where they lie.
fn array(image: &Image, at: u32, bytes: u32) -> Vec<u32> {
    let p = image.ptr(at).filter(|p| p.has_data());
    p.map_or(Vec::new(), |p| (0..p.len as u32).map(|i| p.to + i * bytes).collect())
}

/// vkCreatePipelineLayout. VkPipelineLayoutCreateInfo: sType, pNext, flags, setLayoutCount, pSetLayouts.
pub fn create_layout(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let image = &call.image;
    if vk.known.on
        && let Some(info) = image.target(8)
        && let Ok((id, _)) = crate::vulkan::resources::new_object(call)
    {
        let sets = array(image, info + 24, 8).into_iter().map(|at| image.u64(at)).collect();
        vk.known.set_layouts.insert(id, sets);
    }
    vk.raw(call, linked, report)
}

/// vkAllocateDescriptorSets. VkDescriptorSetAllocateInfo: sType, pNext, descriptorPool, descriptorSetCount, pSetLayouts.
pub fn allocate_sets(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let image = &call.image;
    if vk.known.on
        && let Some(info) = image.target(8)
    {
        for (layout, id) in array(image, info + 32, 8).into_iter().zip(array(image, 16, 8)) {
            let (layout, pool) = (image.u64(layout), image.u64(info + 16));
            let set = Set { layout, pool, buffers: BTreeMap::new() };
            vk.known.sets.insert(image.u64(id), set);
        }
    }
    pools::allocate(vk, call, linked, report)
}

/// vkCreateDescriptorPool.
pub fn create_pool(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let outcome = vk.raw(call, linked, report)?;
    if outcome.result() >= 0 {
        pools::created(vk, call, linked);
    }
    Ok(outcome)
}

/// vkFreeDescriptorSets: device, descriptorPool, descriptorSetCount, pDescriptorSets.
pub fn free_sets(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    for at in array(&call.image, 24, 8) {
        vk.known.sets.remove(&call.image.u64(at));
    }
    pools::free(vk, call, linked, report)
}

/// vkResetDescriptorPool, vkDestroyDescriptorPool: its sets are gone.
pub fn empty_pool(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let pool = call.image.u64(8);
    vk.known.sets.retain(|_, s| s.pool != pool);
    pools::emptied(vk, call);
    vk.raw(call, linked, report)
}

/// vkUpdateDescriptorSets.
pub fn update_sets(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let image = &call.image;
    if vk.known.on {
        // sType, pNext, dstSet, dstBinding, dstArrayElement, descriptorCount, descriptorType, pImageInfo, pBufferInfo, …
        for w in array(image, 16, 64) {
            let kind = image.u32(w + 36);
            if !(6..=9).contains(&kind) {
                continue;
            }
            let (binding, first) = (image.u32(w + 24), image.u32(w + 28));
            let set = vk.known.sets.entry(image.u64(w + 16)).or_default();
            for (i, b) in (0..).zip(array(image, w + 48, 24)) {
                let (buffer, offset, range) = (image.u64(b), image.u64(b + 8), image.u64(b + 16));
                set.buffers.insert(
                    (binding, first.saturating_add(i)),
                    InBuffer { buffer, offset, range, dynamic: kind >= 8 },
                );
            }
        }
        // sType, pNext, srcSet, srcBinding, srcArrayElement, dstSet, dstBinding, dstArrayElement, descriptorCount.
        for c in array(image, 32, 56) {
            let (binding, first, n) = (image.u32(c + 24), image.u32(c + 28), image.u32(c + 48));
            let (to, at) = (image.u32(c + 40), image.u32(c + 44));
            let sets = &mut vk.known.sets;
            let Some(from) = sets.get(&image.u64(c + 16)) else { continue };
            // Those that are there: the number of descriptors may be any.
            let all = (binding, first)..(binding, first.saturating_add(n));
            let found: Vec<_> = from
                .buffers
                .range(all)
                .filter_map(|(k, b)| Some(((to, at.checked_add(k.1 - first)?), *b)))
                .collect();
            if let Some(set) = sets.get_mut(&image.u64(c + 32)) {
                set.buffers.extend(found);
            }
        }
    }
    vk.raw(call, linked, report)
}

/// vkCmdBindDescriptorSets: commandBuffer, pipelineBindPoint, layout, firstSet, count, pDescriptorSets, count, pDynamicOffsets.
pub fn bind_sets(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let image = &call.image;
    if vk.known.on {
        let (point, first) = (image.u32(8), image.u32(24));
        let mut offsets = array(image, 56, 4).into_iter().map(|at| image.u32(at));
        let mut bound = Vec::new();
        for (i, at) in (first..).zip(array(image, 40, 8)) {
            let set = image.u64(at);
            let n = vk.known.sets.get(&set).map_or(0, |s| s.buffers.values().filter(|b| b.dynamic).count());
            bound.push(InSet { index: i, set, offsets: offsets.by_ref().take(n).collect() });
        }
        let c = commands(vk, call);
        let sets = c.sets.entry(point).or_default();
        sets.retain(|s| !bound.iter().any(|b| b.index == s.index));
        sets.append(&mut bound);
        c.used(point);
    }
    vk.raw(call, linked, report)
}

/// vkCmdCopyBuffer, vkCmdCopyBuffer2.
pub fn copy_buffer(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let image = &call.image;
    if vk.known.on {
        // VkBufferCopy; or VkCopyBufferInfo2 and VkBufferCopy2, both with sType and pNext in front.
        let (from, to, regions, skip) = match call.command.params.len() {
            2 => match image.target(8) {
                Some(info) => (image.u64(info + 16), image.u64(info + 24), array(image, info + 40, 40), 16),
                None => (0, 0, Vec::new(), 0),
            },
            _ => (image.u64(8), image.u64(16), array(image, 32, 24), 0),
        };
        descriptors::copied(vk, to, report);
        let items = &mut commands(vk, call).items;
        for r in regions {
            let region = (image.u64(r + skip), image.u64(r + skip + 8), image.u64(r + skip + 16));
            items.push(Item::Copy { from, to, region });
        }
    }
    vk.raw(call, linked, report)
}

/// vkCmdExecuteCommands.
pub fn execute(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if vk.known.on {
        for at in array(&call.image, 16, 8) {
            let id = call.image.u64(at);
            commands(vk, call).items.push(Item::Execute(id));
        }
    }
    vk.raw(call, linked, report)
}
