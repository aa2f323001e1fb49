//! Sentences of the specification that drivers rely on and the registry's attributes do not say: pointers whose validity is
//! left open (`noautovalidity`), counts and sizes that must agree, indices into arrays beside them.
//!
//! One function a struct or command; they run on what makes objects and updates sets, not on what draws. Guarantees: what
//! they accept leaves no null and no index past an end, as far as the call alone can tell. Refuses, with the member's path,
//! what the specification rules out whatever the device.

use super::checker::{Checker, absent, counted, each, elements_of, leads, number};
use crate::decode::special::descriptor;
use crate::error::{Error, Result};
use crate::schema::generated::STRUCTS;
use crate::schema::{CommandDef, StructId, struct_named};
use crate::view::View;
use std::sync::LazyLock;

/// Looks at a struct, or at a command's parameters.
pub type Rule = fn(&Checker<'_>, &View<'_>) -> Result<()>;

/// Structs with rules.
pub const STRUCTS_WITH_RULES: &[(&str, Rule)] = &[
    ("VkAccelerationStructureBuildGeometryInfoKHR", |_, v| build_geometry(v)),
    ("VkBufferCreateInfo", |_, v| queue_families(v, "sharingMode")),
    ("VkDescriptorSetAllocateInfo", |_, v| descriptor_set_allocation(v)),
    ("VkDescriptorSetLayoutCreateInfo", |_, v| descriptor_set_layout(v)),
    ("VkFramebufferCreateInfo", |_, v| framebuffer(v)),
    ("VkGraphicsPipelineCreateInfo", super::pipeline::graphics),
    ("VkImageCreateInfo", |_, v| image(v)),
    ("VkPipelineBinaryKeyKHR", |_, v| at_most(v, "keySize", 32)),
    ("VkPipelineLayoutCreateInfo", |_, v| push_constant_ranges(v)),
    ("VkPipelineRenderingCreateInfo", |_, v| counted(v, "colorAttachmentCount", "pColorAttachmentFormats")),
    ("VkPipelineVertexInputStateCreateInfo", |_, v| super::pipeline::vertex_input(v)),
    ("VkRayTracingPipelineCreateInfoKHR", |_, v| super::pipeline::ray_tracing(v)),
    ("VkRenderPassBeginInfo", |_, v| counted(v, "clearValueCount", "pClearValues")),
    ("VkRenderPassCreateInfo", |_, v| super::render_pass::create(v)),
    ("VkRenderPassCreateInfo2", |_, v| super::render_pass::create(v)),
    ("VkSpecializationInfo", |_, v| specialization(v)),
    ("VkSubmitInfo", |_, v| submission(v)),
    ("VkSwapchainCreateInfoKHR", |_, v| queue_families(v, "imageSharingMode")),
    ("VkWriteDescriptorSet", |_, v| write_descriptor_set(v)),
];

/// Commands with rules, by their canonical names.
pub const COMMANDS_WITH_RULES: &[(&str, Rule)] = &[
    ("vkCmdClearColorImage", |_, v| match v.array("pColor") {
        None => Err(absent("a color").within("pColor")),
        Some(_) => Ok(()),
    }),
    // A build may have no geometries, and then no counts.
    ("vkGetAccelerationStructureBuildSizesKHR", |_, v| match v.one("pBuildInfo") {
        Some(info) if number(&info, "geometryCount") > 0 && !leads(v, "pMaxPrimitiveCounts") => {
            Err(absent(&elements_of(number(&info, "geometryCount").into(), true))
                .within("pMaxPrimitiveCounts"))
        }
        _ => Ok(()),
    }),
    ("vkFreeCommandBuffers", |_, v| counted(v, "commandBufferCount", "pCommandBuffers")),
    ("vkFreeDescriptorSets", |_, v| counted(v, "descriptorSetCount", "pDescriptorSets")),
    // Writes that are pushed leave dstSet open.
    ("vkUpdateDescriptorSets", |_, v| {
        each(v, "pDescriptorWrites", |w| match w.u64("dstSet") {
            Some(0) => {
                Err(Error::malformed("expected a VkDescriptorSet, found VK_NULL_HANDLE").within("dstSet"))
            }
            _ => Ok(()),
        })
    }),
];

/// The rules by the struct's index in the schema.
static BY_STRUCT: LazyLock<Vec<Option<Rule>>> = LazyLock::new(|| {
    let mut rules = vec![None; STRUCTS.len()];
    for (name, rule) in STRUCTS_WITH_RULES {
        rules[usize::from(struct_named(name).expect("rules name structs of the schema"))] = Some(*rule);
    }
    rules
});

/// Applies the rule of a struct, if it has one.
#[inline]
pub(super) fn of_struct(c: &Checker<'_>, id: StructId, at: u32) -> Result<()> {
    match BY_STRUCT[usize::from(id)] {
        Some(rule) => rule(c, &View::of(c.image, id, at)),
        None => Ok(()),
    }
}

/// Applies the rule of a command, if it has one.
#[inline]
pub(super) fn of_command(c: &Checker<'_>, command: &CommandDef) -> Result<()> {
    match COMMANDS_WITH_RULES.iter().find(|r| r.0 == command.canonical) {
        Some((_, rule)) => rule(c, &View::call(c.image)),
        None => Ok(()),
    }
}

/// An upper bound that the specification states.
pub(super) fn at_most(v: &View<'_>, name: &str, most: u32) -> Result<()> {
    match number(v, name) {
        n if n > most => Err(Error::malformed(format!("expected at most {most}, found {n}")).within(name)),
        _ => Ok(()),
    }
}

/// A value that may not be 0.
pub(super) fn above_zero(v: &View<'_>, name: &str) -> Result<()> {
    match number(v, name) {
        0 => Err(Error::malformed("expected a number above 0").within(name)),
        _ => Ok(()),
    }
}

/// Two numbers that say the same; the second may be 0 where it then says nothing.
pub(super) fn agrees(v: &View<'_>, name: &str, wanted: u32, of: &str) -> Result<()> {
    match number(v, name) {
        n if n == wanted => Ok(()),
        n => Err(Error::malformed(format!("expected {wanted}, as {of} says, found {n}")).within(name)),
    }
}

/// The struct of the chain with this name, and errors within it.
pub(super) fn in_chain(v: &View<'_>, name: &str, look: impl FnOnce(&View<'_>) -> Result<()>) -> Result<()> {
    match v.next(name) {
        Some(s) => look(&s).map_err(|e| e.within(&format!("<{name}>")).within("pNext")),
        None => Ok(()),
    }
}

/// Families are read where sharing is concurrent.
fn queue_families(v: &View<'_>, sharing: &str) -> Result<()> {
    const CONCURRENT: u32 = 1;
    match number(v, sharing) {
        CONCURRENT => counted(v, "queueFamilyIndexCount", "pQueueFamilyIndices"),
        _ => Ok(()),
    }
}

/// An image has texels.
fn image(v: &View<'_>) -> Result<()> {
    queue_families(v, "sharingMode")?;
    above_zero(v, "mipLevels")?;
    above_zero(v, "arrayLayers")?;
    let Some(extent) = v.one("extent") else { return Ok(()) };
    let sides = ["width", "height", "depth"];
    sides.iter().try_for_each(|side| above_zero(&extent, side)).map_err(|e| e.within("extent"))?;
    let most = sides.iter().map(|side| number(&extent, side)).max().unwrap_or(1);
    match (number(v, "mipLevels"), most.ilog2() + 1) {
        (n, levels) if n > levels => {
            let text = format!("expected at most {levels}, as the extent has, found {n}");
            Err(Error::malformed(text).within("mipLevels"))
        }
        _ => Ok(()),
    }
}

/// Views are read unless the framebuffer has none of its own.
fn framebuffer(v: &View<'_>) -> Result<()> {
    const IMAGELESS: u32 = 1;
    ["width", "height", "layers"].iter().try_for_each(|side| above_zero(v, side))?;
    match number(v, "flags") & IMAGELESS {
        0 => counted(v, "attachmentCount", "pAttachments"),
        _ => Ok(()),
    }
}

/// What a write whose data are in its chain says twice has to agree.
fn write_descriptor_set(v: &View<'_>) -> Result<()> {
    let (name, what) = match number(v, "descriptorType") {
        descriptor::ACCELERATION_STRUCTURE => {
            ("VkWriteDescriptorSetAccelerationStructureKHR", "accelerationStructureCount")
        }
        descriptor::INLINE_UNIFORM_BLOCK => ("VkWriteDescriptorSetInlineUniformBlock", "dataSize"),
        _ => return Ok(()),
    };
    if v.next(name).is_none() {
        return Err(Error::malformed(format!("expected a {name} in the chain")).within("pNext"));
    }
    in_chain(v, name, |s| agrees(s, what, number(v, "descriptorCount"), "descriptorCount"))
}

/// No binding is there twice; samplers that never change are there; flags are for each binding or for none.
fn descriptor_set_layout(v: &View<'_>) -> Result<()> {
    let mut numbers: Vec<u32> = v.structs("pBindings").map(|b| number(&b, "binding")).collect();
    numbers.sort_unstable();
    if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        let text = format!("expected bindings of different numbers, found {} twice", twice[0]);
        return Err(Error::malformed(text).within("pBindings"));
    }
    each(v, "pBindings", |b| match number(b, "descriptorType") {
        descriptor::SAMPLER | descriptor::COMBINED_IMAGE_SAMPLER if leads(b, "pImmutableSamplers") => {
            match b.u64s("pImmutableSamplers").iter().position(|s| *s == 0) {
                Some(i) => Err(Error::malformed("expected a VkSampler, found VK_NULL_HANDLE")
                    .within(&format!("[{i}]"))
                    .within("pImmutableSamplers")),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    })?;
    in_chain(v, "VkDescriptorSetLayoutBindingFlagsCreateInfo", |s| match number(s, "bindingCount") {
        0 => Ok(()),
        _ => agrees(s, "bindingCount", number(v, "bindingCount"), "the layout's bindingCount"),
    })
}

/// Counts of variable bindings are for each set or for none.
fn descriptor_set_allocation(v: &View<'_>) -> Result<()> {
    in_chain(v, "VkDescriptorSetVariableDescriptorCountAllocateInfo", |s| {
        match number(s, "descriptorSetCount") {
            0 => Ok(()),
            _ => agrees(
                s,
                "descriptorSetCount",
                number(v, "descriptorSetCount"),
                "the allocation's descriptorSetCount",
            ),
        }
    })
}

/// Geometries are in one array or in the other.
fn build_geometry(v: &View<'_>) -> Result<()> {
    if leads(v, "ppGeometries") { Ok(()) } else { counted(v, "geometryCount", "pGeometries") }
}

/// No stage has two ranges of push constants.
fn push_constant_ranges(v: &View<'_>) -> Result<()> {
    let mut before = 0;
    each(v, "pPushConstantRanges", |r| {
        let stages = number(r, "stageFlags");
        match before & stages {
            0 => {
                before |= stages;
                Ok(())
            }
            twice => {
                let text = format!("expected stages that no range before has, found {twice:#x} again");
                Err(Error::malformed(text).within("stageFlags"))
            }
        }
    })
}

/// Constants lie within the data.
fn specialization(v: &View<'_>) -> Result<()> {
    let size = v.u64("dataSize").unwrap_or(0);
    each(v, "pMapEntries", |entry| {
        let (offset, bytes) = (u64::from(number(entry, "offset")), entry.u64("size").unwrap_or(0));
        match offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(()),
            _ => Err(Error::malformed(format!(
                "expected {bytes} bytes at {offset} to lie within the {size} of pData"
            ))),
        }
    })
}

/// Values of timeline semaphores are for each semaphore or for none.
fn submission(v: &View<'_>) -> Result<()> {
    in_chain(v, "VkTimelineSemaphoreSubmitInfo", |s| {
        for (values, semaphores) in [
            ("waitSemaphoreValueCount", "waitSemaphoreCount"),
            ("signalSemaphoreValueCount", "signalSemaphoreCount"),
        ] {
            let wanted = number(v, semaphores);
            if (1..wanted).contains(&number(s, values)) {
                agrees(s, values, wanted, semaphores)?;
            }
        }
        Ok(())
    })
}
