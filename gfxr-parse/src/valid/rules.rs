//! Pointers whose validity the registry leaves open (`noautovalidity`), and counts that must agree, by the sentences of the
//! specification that drivers rely on.
//!
//! One function a struct or command. Guarantees: what they accept leaves no null where a driver reads. Refuses, with the
//! member's path, what the specification rules out whatever the device.

use super::{Checker, absent};
use crate::decode::special::descriptor;
use crate::error::{Error, Result};
use crate::schema::generated::STRUCTS;
use crate::schema::{CommandDef, Shape, StructId, struct_named};
use std::sync::LazyLock;

/// Looks at the struct, or the parameters, that begin at an offset of the image.
pub type Rule = fn(&Checker<'_>, u32) -> Result<()>;

/// Structs with rules.
pub const STRUCTS_WITH_RULES: &[(&str, Rule)] = &[
    ("VkAccelerationStructureBuildGeometryInfoKHR", build_geometry),
    ("VkBufferCreateInfo", |c, at| queue_families(c, "VkBufferCreateInfo", at)),
    ("VkFramebufferCreateInfo", framebuffer),
    ("VkGraphicsPipelineCreateInfo", graphics_pipeline),
    ("VkImageCreateInfo", |c, at| queue_families(c, "VkImageCreateInfo", at)),
    ("VkPipelineBinaryKeyKHR", pipeline_binary_key),
    ("VkPipelineRenderingCreateInfo", |c, at| {
        counted(c, "VkPipelineRenderingCreateInfo", at, "colorAttachmentCount", "pColorAttachmentFormats")
    }),
    ("VkRenderPassBeginInfo", |c, at| {
        counted(c, "VkRenderPassBeginInfo", at, "clearValueCount", "pClearValues")
    }),
    ("VkSwapchainCreateInfoKHR", |c, at| queue_families(c, "VkSwapchainCreateInfoKHR", at)),
    ("VkWriteDescriptorSet", write_descriptor_set),
];

/// Commands with rules, by their canonical names.
pub const COMMANDS_WITH_RULES: &[(&str, Rule)] =
    &[("vkCmdClearColorImage", clear_color_image), ("vkUpdateDescriptorSets", update_descriptor_sets)];

/// The rules by the struct's index in the schema.
static BY_STRUCT: LazyLock<Vec<Option<Rule>>> = LazyLock::new(|| {
    let mut rules = vec![None; STRUCTS.len()];
    for (name, rule) in STRUCTS_WITH_RULES {
        rules[usize::from(struct_named(name).expect("rules name structs of the schema"))] = Some(*rule);
    }
    rules
});

/// The rule of a struct.
pub fn of_struct(id: StructId) -> Option<Rule> {
    BY_STRUCT[usize::from(id)]
}

/// The rule of a command.
pub fn of_command(command: &CommandDef) -> Option<Rule> {
    COMMANDS_WITH_RULES.iter().find(|r| r.0 == command.canonical).map(|r| r.1)
}

/// The color may be of any kind, but not null.
fn clear_color_image(c: &Checker<'_>, _: u32) -> Result<()> {
    match c.image.target(24) {
        None => Err(absent("a color").within("pColor")),
        Some(_) => Ok(()),
    }
}

/// Writes go to sets. (Those that are pushed leave dstSet open.)
fn update_descriptor_sets(c: &Checker<'_>, _: u32) -> Result<()> {
    let Some(to) = c.image.target(16) else { return Ok(()) };
    let size = STRUCTS[usize::from(struct_named(WRITE).expect("core"))].size;
    let one = |k: u32| match c.image.u64(at_of(WRITE, to + k * size, "dstSet")) {
        0 => Err(Error::malformed("expected a VkDescriptorSet, found VK_NULL_HANDLE").within("dstSet")),
        _ => Ok(()),
    };
    c.each(c.image.u32(8).into(), one).map_err(|e| e.within("pDescriptorWrites"))
}

const WRITE: &str = "VkWriteDescriptorSet";
/// The offset of a member. Rules run on calls that make objects, not on those that draw.
fn at_of(structure: &str, base: u32, member: &str) -> u32 {
    let def = &STRUCTS[usize::from(struct_named(structure).expect("rules name structs of the schema"))];
    let m = def.members.iter().find(|m| m.name == member).expect("rules name their members");
    debug_assert!(m.shape != Shape::Absent);
    base + m.at
}

/// A count above 0 wants elements.
fn counted(c: &Checker<'_>, structure: &str, at: u32, count: &str, array: &str) -> Result<()> {
    match (c.image.u32(at_of(structure, at, count)), c.image.target(at_of(structure, at, array))) {
        (n, None) if n > 0 => Err(absent(&super::elements_of(n.into(), true)).within(array)),
        _ => Ok(()),
    }
}

/// Families are read where sharing is concurrent.
fn queue_families(c: &Checker<'_>, structure: &str, at: u32) -> Result<()> {
    let sharing = if structure == "VkSwapchainCreateInfoKHR" { "imageSharingMode" } else { "sharingMode" };
    match c.image.u32(at_of(structure, at, sharing)) {
        1 => counted(c, structure, at, "queueFamilyIndexCount", "pQueueFamilyIndices"),
        _ => Ok(()),
    }
}

/// Views are read unless the framebuffer has none of its own.
fn framebuffer(c: &Checker<'_>, at: u32) -> Result<()> {
    const IMAGELESS: u32 = 1;
    match c.image.u32(at_of("VkFramebufferCreateInfo", at, "flags")) & IMAGELESS {
        0 => counted(c, "VkFramebufferCreateInfo", at, "attachmentCount", "pAttachments"),
        _ => Ok(()),
    }
}

/// What a write whose data are in its chain says twice has to agree.
fn write_descriptor_set(c: &Checker<'_>, at: u32) -> Result<()> {
    let count = c.image.u32(at_of("VkWriteDescriptorSet", at, "descriptorCount"));
    let ty = c.image.u32(at_of("VkWriteDescriptorSet", at, "descriptorType"));
    let (name, what) = match ty {
        descriptor::ACCELERATION_STRUCTURE => {
            ("VkWriteDescriptorSetAccelerationStructureKHR", "accelerationStructureCount")
        }
        descriptor::INLINE_UNIFORM_BLOCK => ("VkWriteDescriptorSetInlineUniformBlock", "dataSize"),
        _ => return Ok(()),
    };
    let def = &STRUCTS[usize::from(struct_named(name).expect("it is in the schema"))];
    let Some(to) = def.stype.and_then(|s| c.image.chain_find(at + 8, s)) else {
        return Err(Error::malformed(format!("expected a {name} in the chain")).within("pNext"));
    };
    match c.image.u32(at_of(name, to, what)) {
        n if n == count => Ok(()),
        n => Err(Error::malformed(format!("expected {count}, as descriptorCount says, found {n}"))
            .within(what)
            .within(&format!("<{name}>"))
            .within("pNext")),
    }
}

/// Geometries are in one array or in the other.
fn build_geometry(c: &Checker<'_>, at: u32) -> Result<()> {
    const NAME: &str = "VkAccelerationStructureBuildGeometryInfoKHR";
    let array = |name| c.image.target(at_of(NAME, at, name)).is_some();
    match (c.image.u32(at_of(NAME, at, "geometryCount")), array("pGeometries") || array("ppGeometries")) {
        (n, false) if n > 0 => Err(absent(&super::elements_of(n.into(), true)).within("pGeometries")),
        _ => Ok(()),
    }
}

/// A key lies in an array of 32 bytes.
fn pipeline_binary_key(c: &Checker<'_>, at: u32) -> Result<()> {
    match c.image.u32(at_of("VkPipelineBinaryKeyKHR", at, "keySize")) {
        0..=32 => Ok(()),
        n => Err(Error::malformed(format!("expected at most 32, found {n}")).within("keySize")),
    }
}

/// Values of VkDynamicState whose presence lets a state's struct be null, where it is read at all.
mod dynamic {
    pub const INPUT_ASSEMBLY: &[u32] = &[1_000_267_002, 1_000_377_004]; // topology, primitive restart
    pub const VERTEX_INPUT: &[u32] = &[1_000_352_000];
    pub const VIEWPORT: &[u32] = &[1_000_267_003, 1_000_267_004]; // with count: viewports, scissors
    // Depth clamp, discard, polygon mode, cull mode, front face, depth bias enable, depth bias, line width.
    pub const RASTERIZATION: &[u32] =
        &[1_000_455_003, 1_000_377_001, 1_000_455_004, 1_000_267_000, 1_000_267_001, 1_000_377_002, 3, 2];
    pub const MULTISAMPLE: &[u32] = &[1_000_455_005, 1_000_455_006, 1_000_455_007];
    pub const RASTERIZER_DISCARD: u32 = 1_000_377_001;
}

/// The state that a complete pipeline is made of; a part of one (a library) says what it has by itself.
fn graphics_pipeline(c: &Checker<'_>, at: u32) -> Result<()> {
    const NAME: &str = "VkGraphicsPipelineCreateInfo";
    const LIBRARY: u32 = 0x800;
    const MESH_STAGES: u32 = 0x40 | 0x80;
    let of = |member| at_of(NAME, at, member);
    counted(c, NAME, at, "stageCount", "pStages")?;
    let in_chain = |name| {
        let stype = STRUCTS[usize::from(struct_named(name).expect("it is in the schema"))].stype;
        stype.is_some_and(|s| c.image.chain_has(at + 8, s))
    };
    let partial = c.image.u32(of("flags")) & LIBRARY != 0
        || in_chain("VkPipelineLibraryCreateInfoKHR")
        || in_chain("VkGraphicsPipelineLibraryCreateInfoEXT")
        || in_chain("VkPipelineCreateFlags2CreateInfo");
    if partial {
        return Ok(());
    }
    let stage = &STRUCTS[usize::from(struct_named("VkPipelineShaderStageCreateInfo").expect("core"))];
    let stages = c.image.target(of("pStages")).map_or(0, |to| {
        let stage_at = at_of("VkPipelineShaderStageCreateInfo", 0, "stage");
        (0..c.image.u32(of("stageCount"))).fold(0, |all, k| all | c.image.u32(to + k * stage.size + stage_at))
    });
    let states: Vec<u32> = c.image.target(of("pDynamicState")).map_or(Vec::new(), |to| {
        let array = c.image.target(at_of("VkPipelineDynamicStateCreateInfo", to, "pDynamicStates"));
        let n = c.image.u32(at_of("VkPipelineDynamicStateCreateInfo", to, "dynamicStateCount"));
        array.map_or(Vec::new(), |array| (0..n).map(|k| c.image.u32(array + 4 * k)).collect())
    });
    let dynamic = |wanted: &[u32]| wanted.iter().all(|s| states.contains(s));
    let null = |member| c.image.target(of(member)).is_none();
    let refuse = |member: &str| Err(absent("the state of a complete pipeline").within(member));
    if stages & MESH_STAGES == 0 {
        if null("pVertexInputState") && !dynamic(dynamic::VERTEX_INPUT) {
            return refuse("pVertexInputState");
        }
        if null("pInputAssemblyState") && !dynamic(dynamic::INPUT_ASSEMBLY) {
            return refuse("pInputAssemblyState");
        }
        // Tessellation control and evaluation.
        if stages & (2 | 4) != 0 && null("pTessellationState") && !states.contains(&1_000_377_000) {
            return refuse("pTessellationState");
        }
    }
    let rasterization = c.image.target(of("pRasterizationState"));
    if rasterization.is_none() && !dynamic(dynamic::RASTERIZATION) {
        return refuse("pRasterizationState");
    }
    let discards = !states.contains(&dynamic::RASTERIZER_DISCARD)
        && rasterization.is_some_and(|to| {
            c.image.u32(at_of("VkPipelineRasterizationStateCreateInfo", to, "rasterizerDiscardEnable")) != 0
        });
    if discards {
        return Ok(());
    }
    match c.image.target(of("pViewportState")) {
        None if !dynamic(dynamic::VIEWPORT) => return refuse("pViewportState"),
        None => {}
        Some(to) => {
            const NAME: &str = "VkPipelineViewportStateCreateInfo";
            // 0 and 1: viewports and scissors that are set later.
            for (state, count, array) in
                [(0, "viewportCount", "pViewports"), (1, "scissorCount", "pScissors")]
            {
                if !states.contains(&state) && !states.contains(&(1_000_267_003 + state)) {
                    counted(c, NAME, to, count, array).map_err(|e| e.within("pViewportState"))?;
                }
            }
        }
    }
    if null("pMultisampleState") && !dynamic(dynamic::MULTISAMPLE) {
        return refuse("pMultisampleState");
    }
    Ok(())
}
