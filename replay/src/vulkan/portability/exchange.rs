//! Values in linked calls that are others here: one walk over the calls that may hold any, each difference saying which.
//!
//! Guarantees: a device without such differences walks nothing.

use super::stand_ins::StandIns;
use super::{queues, samples};
use crate::link::Linked;
use crate::objects::Objects;
use crate::options::Bridge;
use crate::vulkan::Vulkan;
use gfxr_parse::ahead::Call;
use gfxr_parse::image::{Image, Ptr};
use gfxr_parse::schema::generated::{COMMANDS, ENUMS, STRUCTS};
use gfxr_parse::schema::{Member, StructDef, Ty};
use gfxr_parse::walk::{Pointee, Visitor, walk_call};
use std::sync::LazyLock;

/// By command: whether it leads to indices of queue families, to numbers of samples, and to formats.
static CONCERNED: LazyLock<Vec<(bool, bool, bool)>> = LazyLock::new(|| {
    let (families, counts) = (leading_to(queues::is_index), leading_to(samples::is_count));
    let formats = leading_to(is_format);
    families.into_iter().zip(counts).zip(formats).map(|((a, b), c)| (a, b, c)).collect()
});

/// Structs that say of buffers, or of tensors, which format they hold: what stands in for images' formats is nothing to them.
const OF_BUFFERS: [&str; 13] = [
    "VkBufferViewCreateInfo",
    "VkVertexInputAttributeDescription",
    "VkVertexInputAttributeDescription2EXT",
    "VkDescriptorAddressInfoEXT",
    "VkTexelBufferDescriptorInfoEXT",
    "VkGeometryTrianglesNV",
    "VkAccelerationStructureGeometryTrianglesDataKHR",
    "VkAccelerationStructureGeometryLinearSweptSpheresDataNV",
    "VkAccelerationStructureGeometrySpheresDataNV",
    "VkAccelerationStructureTrianglesDisplacementMicromapNV",
    "VkClusterAccelerationStructureTriangleClusterInputNV",
    "VkTensorDescriptionARM",
    "VkTensorViewCreateInfoARM",
];

/// Whether a member is a format.
fn is_format(m: &Member) -> bool {
    of_formats(m.ty)
}

fn of_formats(ty: Ty) -> bool {
    matches!(ty, Ty::Enum(id) if ENUMS[usize::from(id)].name == "VkFormat")
}

/// Commands that lead to a member of this kind; what may stand in chains aside.
fn leading_to(kind: fn(&Member) -> bool) -> Vec<bool> {
    let mut structs: Vec<bool> = STRUCTS.iter().map(|s| s.members.iter().any(kind)).collect();
    let leads =
        |m: &Member, structs: &[bool]| kind(m) || matches!(m.ty, Ty::Struct(id) if structs[usize::from(id)]);
    loop {
        let more: Vec<usize> = (0..STRUCTS.len())
            .filter(|&i| !structs[i] && STRUCTS[i].members.iter().any(|m| leads(m, &structs)))
            .collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|i| structs[i] = true);
    }
    COMMANDS.iter().map(|c| c.params.iter().any(|m| leads(m, &structs))).collect()
}

/// Exchanges what is another here in a linked call: by which bridge, if anything is.
pub(in crate::vulkan) fn exchange(
    vk: &Vulkan,
    objects: &Objects,
    call: &Call,
    linked: &mut Linked,
) -> Option<Bridge> {
    let (families, counts, formats) = CONCERNED[call.index];
    let first = call.image.u64(0);
    let device = objects.any(first).filter(|_| families).and_then(|e| vk.devices.get(&e.owner));
    let folding = device.map(|d| &d.folding).filter(|f| f.changed);
    let (samples, stand_ins) = (&vk.samples, &vk.stand_ins.formats);
    if folding.is_none() && (!counts || samples.is_empty()) && (!formats || stand_ins.is_empty()) {
        return None;
    }
    let world = objects.world();
    let pool = world.command_buffers.get(&first).and_then(|b| world.command_pools.get(&b.pool));
    let folding = folding.map(|f| (f, pool.map(|p| p.family)));
    let mut walk =
        Exchange { folding, samples, stand_ins, families: Vec::new(), all: Vec::new(), structs: Vec::new() };
    walk_call(&call.image, &mut walk);
    let families = walk.families.into_iter().map(|(at, v)| (at, v, Bridge::Queues));
    let mut bridge = None;
    for (at, v, by) in walk.all.into_iter().chain(families) {
        if linked.u32_at(at) != v {
            linked.set_u32_at(at, v);
            bridge = Some(by);
        }
    }
    bridge
}

struct Exchange<'v> {
    /// Where queues are, and the captured family of the command buffer that records.
    folding: Option<(&'v queues::Folding, Option<u32>)>,
    samples: &'v samples::Samples,
    stand_ins: &'v StandIns,
    /// What is written where: indices of families, and the rest.
    families: Vec<(u32, u32)>,
    all: Vec<(u32, u32, Bridge)>,
    /// Of each struct that has begun: whether its formats are those of images.
    structs: Vec<bool>,
}

impl Visitor for Exchange<'_> {
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        if let Some(here) = samples::here(self.samples, ty, image.u32(at)) {
            self.all.push((at, here, Bridge::Samples));
        }
        if !self.stand_ins.is_empty()
            && of_formats(ty)
            && self.structs.last().is_none_or(|images| *images)
            && let Some(here) = self.stand_ins.get(&image.u32(at))
        {
            self.all.push((at, *here, Bridge::Texels));
        }
    }
    fn pointer(&mut self, _: &Image, _: &Ptr, _: Pointee) {}
    fn text(&mut self, _: &Image, _: u32, _: u64, _: u32) {}
    fn begin_struct(&mut self, image: &Image, def: &'static StructDef, at: u32) {
        if let Some((folding, family)) = self.folding {
            folding.in_struct(family, image, (def, at), &mut self.families);
        }
        self.structs.push(!OF_BUFFERS.contains(&def.name));
    }
    fn end_struct(&mut self, _: &'static StructDef) {
        self.structs.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_lead_to_them_are_found() {
        let named = |kind| {
            let all = leading_to(kind);
            COMMANDS.iter().zip(all).filter(|c| c.1).map(|c| c.0.name).collect::<Vec<_>>()
        };
        let families = named(queues::is_index);
        for name in ["vkCreateCommandPool", "vkCmdPipelineBarrier2", "vkCmdWaitEvents", "vkCreateBuffer"] {
            assert!(families.contains(&name), "{name}: {families:?}");
        }
        let counts = named(samples::is_count);
        for name in [
            "vkCreateImage",
            "vkCreateRenderPass2",
            "vkCreateGraphicsPipelines",
            "vkCmdSetRasterizationSamplesEXT",
        ] {
            assert!(counts.contains(&name), "{name}: {counts:?}");
        }
        let formats = named(is_format);
        for name in ["vkCreateImage", "vkCreateImageView", "vkCreateBufferView", "vkCreateSwapchainKHR"] {
            assert!(formats.contains(&name), "{name}: {formats:?}");
        }
        assert!(!formats.contains(&"vkCmdCopyImage"));
        for name in OF_BUFFERS {
            let def = STRUCTS.iter().find(|s| s.name == name).expect(name);
            assert!(def.members.iter().any(is_format), "{name}");
        }
        assert!(!families.contains(&"vkCmdDraw") && !counts.contains(&"vkCmdDraw"));
    }
}
