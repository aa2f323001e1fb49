//! Pipelines and dynamic state: numbers stay within the device's limits, subpasses and entry points exist.
//!
//! Guarantees: no vertex binding, viewport, attachment or workgroup beyond what the device has. Refuses the others.

use super::check::{Check, Cx, at_most, each, n32, n64, within};
use gfxr_parse::error::Result;
use gfxr_parse::view::View;

/// By canonical name.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("vkCmdDispatch", |c, v| groups(c, v, ["groupCountX", "groupCountY", "groupCountZ"])),
    ("vkCmdDispatchBase", |c, v| groups(c, v, ["groupCountX", "groupCountY", "groupCountZ"])),
    ("vkCmdSetScissor", |c, v| viewports(c, v, "firstScissor", "scissorCount")),
    ("vkCmdSetScissorWithCount", |c, v| viewports(c, v, "", "scissorCount")),
    ("vkCmdSetViewport", |c, v| viewports(c, v, "firstViewport", "viewportCount")),
    ("vkCmdSetViewportWithCount", |c, v| viewports(c, v, "", "viewportCount")),
    ("vkCreateGraphicsPipelines", |c, v| each(v, "pCreateInfos", |i| graphics(c, i))),
];

fn groups(c: &Cx<'_>, v: View<'_>, sides: [&str; 3]) -> Result<()> {
    let Some(limits) = c.limits else { return Ok(()) };
    sides.into_iter().zip(limits.max_compute_work_group_count).try_for_each(|(side, most)| {
        at_most(n32(v, side).into(), most.into(), "maxComputeWorkGroupCount").map_err(|e| e.within(side))
    })
}

fn viewports(c: &Cx<'_>, v: View<'_>, first: &str, count: &str) -> Result<()> {
    let Some(limits) = c.limits else { return Ok(()) };
    within(n32(v, first).into(), n32(v, count).into(), limits.max_viewports.into(), "device's viewports")
        .map_err(|e| e.within(count))
}

/// VK_SHADER_STAGE_VERTEX_BIT.
const VERTEX: u32 = 1;
/// VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, and EVALUATION.
const TESSELLATION: u32 = 2 | 4;

fn graphics(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    super::shaders::stages(c, v)?;
    if let Some(pass) = c.world.render_passes.get(&n64(v, "renderPass")) {
        within(n32(v, "subpass").into(), 1, pass.subpasses.len() as u64, "render pass's subpasses")
            .map_err(|e| e.within("subpass"))?;
    }
    let Some(limits) = c.limits else { return Ok(()) };
    // What no stage of this pipeline reads may hold anything.
    let stages = v.structs("pStages").fold(0, |all, s| all | n32(s, "stage"));
    let in_state = |state: &str, look: &dyn Fn(View<'_>) -> Result<()>| {
        v.one(state).map_or(Ok(()), look).map_err(|e| e.within(state))
    };
    in_state("pVertexInputState", &|s| {
        if stages & VERTEX == 0 {
            return Ok(());
        }
        each(s, "pVertexBindingDescriptions", |b| {
            within(
                n32(b, "binding").into(),
                1,
                limits.max_vertex_input_bindings.into(),
                "device's vertex bindings",
            )
            .map_err(|e| e.within("binding"))
        })?;
        each(s, "pVertexAttributeDescriptions", |a| {
            let most = limits.max_vertex_input_attributes.into();
            within(n32(a, "location").into(), 1, most, "device's vertex attributes")
                .map_err(|e| e.within("location"))
        })
    })?;
    in_state("pViewportState", &|s| {
        ["viewportCount", "scissorCount"].iter().try_for_each(|count| {
            at_most(n32(s, count).into(), limits.max_viewports.into(), "maxViewports")
                .map_err(|e| e.within(count))
        })
    })?;
    in_state("pColorBlendState", &|s| {
        at_most(n32(s, "attachmentCount").into(), limits.max_color_attachments.into(), "maxColorAttachments")
            .map_err(|e| e.within("attachmentCount"))
    })?;
    in_state("pTessellationState", &|s| {
        if stages & TESSELLATION == 0 {
            return Ok(());
        }
        at_most(
            n32(s, "patchControlPoints").into(),
            limits.max_tessellation_patch_size.into(),
            "maxTessellationPatchSize",
        )
        .map_err(|e| e.within("patchControlPoints"))
    })
}
