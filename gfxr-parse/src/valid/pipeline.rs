//! Pipelines: the state that a complete one is made of is there, and what is named by number exists.
//!
//! Guarantees: no state that a driver reads is null, whatever is dynamic. Refuses the others, with the member's path. Parts
//! of pipelines (libraries) say what they have by themselves; of them only what has a count is looked at.

use super::checker::{Checker, absent};
use super::checker::{counted, each, leads, number};
use crate::error::{Error, Result};
use crate::view::View;

/// Values of VkDynamicState whose presence lets a state's struct be null where it would be read otherwise.
mod dynamic {
    /// Topology, primitive restart.
    pub const INPUT_ASSEMBLY: &[u32] = &[1_000_267_002, 1_000_377_004];
    pub const VERTEX_INPUT: &[u32] = &[1_000_352_000];
    pub const PATCH_CONTROL_POINTS: &[u32] = &[1_000_377_000];
    /// Viewports and scissors with their counts.
    pub const VIEWPORT: &[u32] = &[1_000_267_003, 1_000_267_004];
    /// Depth clamp, discard, polygon mode, cull mode, front face, depth bias and whether there is any, line width.
    pub const RASTERIZATION: &[u32] =
        &[1_000_455_003, DISCARD, 1_000_455_004, 1_000_267_000, 1_000_267_001, 1_000_377_002, 3, 2];
    /// Samples, mask, alpha to coverage.
    pub const MULTISAMPLE: &[u32] = &[1_000_455_005, 1_000_455_006, 1_000_455_007];
    /// Whether attachments blend, how, and what is written.
    pub const BLEND: &[u32] = &[1_000_455_010, 1_000_455_011, 1_000_455_012];
    pub const DISCARD: u32 = 1_000_377_001;
}

/// VkGraphicsPipelineCreateInfo.
pub(super) fn graphics(c: &Checker<'_>, v: &View<'_>) -> Result<()> {
    const LIBRARY: u32 = 0x800;
    const MESH: u32 = 0x40 | 0x80; // task, mesh
    const TESSELLATION: u32 = 2 | 4; // control, evaluation
    counted(v, "stageCount", "pStages")?;
    let partial = ["VkPipelineLibraryCreateInfoKHR", "VkGraphicsPipelineLibraryCreateInfoEXT"];
    // Flags of 64 bits may say that it is a library, too.
    if number(v, "flags") & LIBRARY != 0
        || partial.iter().any(|name| v.next(name).is_some())
        || v.next("VkPipelineCreateFlags2CreateInfo").is_some()
    {
        return Ok(());
    }
    c.used(v, "pStages")?;
    let stages = v.structs("pStages").fold(0, |all, s| all | number(&s, "stage"));
    let states = v.one("pDynamicState").map_or(Vec::new(), |d| d.u64s("pDynamicStates"));
    let dynamic = |wanted: &[u32]| wanted.iter().all(|s| states.contains(&u64::from(*s)));
    let present = |member: &str, unless: &[u32]| match leads(v, member) {
        true => c.used(v, member),
        false if dynamic(unless) => Ok(()),
        false => Err(absent("the state of a complete pipeline").within(member)),
    };
    if stages & MESH == 0 {
        present("pVertexInputState", dynamic::VERTEX_INPUT)?;
        present("pInputAssemblyState", dynamic::INPUT_ASSEMBLY)?;
        if stages & TESSELLATION != 0 {
            present("pTessellationState", dynamic::PATCH_CONTROL_POINTS)?;
        }
    }
    present("pRasterizationState", dynamic::RASTERIZATION)?;
    let discards = v.one("pRasterizationState").is_some_and(|r| number(&r, "rasterizerDiscardEnable") != 0);
    if discards && !dynamic(&[dynamic::DISCARD]) {
        return Ok(());
    }
    present("pViewportState", dynamic::VIEWPORT)?;
    present("pMultisampleState", dynamic::MULTISAMPLE)?;
    if let Some(viewport) = v.one("pViewportState") {
        // Set later: by themselves (0, 1), or with their counts.
        for (set, count, array) in [(0, "viewportCount", "pViewports"), (1, "scissorCount", "pScissors")] {
            if !dynamic(&[set]) && !dynamic(&[dynamic::VIEWPORT[set as usize]]) {
                counted(&viewport, count, array).map_err(|e| e.within("pViewportState"))?;
            }
        }
    }
    match v.one("pColorBlendState") {
        Some(blend) if !dynamic(dynamic::BLEND) => {
            counted(&blend, "attachmentCount", "pAttachments").map_err(|e| e.within("pColorBlendState"))
        }
        _ => Ok(()),
    }
}

/// VkPipelineVertexInputStateCreateInfo: attributes are read from bindings that there are.
pub fn vertex_input(v: &View<'_>) -> Result<()> {
    let bindings: Vec<u32> = v.structs("pVertexBindingDescriptions").map(|b| number(&b, "binding")).collect();
    each(v, "pVertexAttributeDescriptions", |a| match number(a, "binding") {
        b if bindings.contains(&b) => Ok(()),
        b => {
            Err(Error::malformed(format!("expected a binding that is described, found {b}"))
                .within("binding"))
        }
    })
}

/// VkRayTracingPipelineCreateInfoKHR: groups are made of stages that there are.
pub fn ray_tracing(v: &View<'_>) -> Result<()> {
    const UNUSED: u32 = u32::MAX;
    let stages = number(v, "stageCount");
    each(v, "pGroups", |g| {
        let general = number(g, "type") == 0;
        for shader in ["generalShader", "closestHitShader", "anyHitShader", "intersectionShader"] {
            match number(g, shader) {
                UNUSED if !(general && shader == "generalShader") => {}
                i if i < stages => {}
                i => {
                    let text = format!("expected one of {stages} stages, found number {i}");
                    return Err(Error::malformed(text).within(shader));
                }
            }
        }
        Ok(())
    })
}
