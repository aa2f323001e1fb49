//! Calls of the samples with one member changed: each is refused, with that member's path; unchanged, none is.

use super::*;
use gfxr_parse::ahead::{self, What};
use gfxr_parse::container::Capture;
use gfxr_parse::schema::Shape;
use std::ops::ControlFlow;
use world::{Follow, Outcome};

/// What every device has at least, but for what samples need.
fn limits() -> vk::PhysicalDeviceLimits {
    vk::PhysicalDeviceLimits {
        max_image_dimension1_d: 4096,
        max_image_dimension2_d: 4096,
        max_image_dimension3_d: 256,
        max_image_dimension_cube: 4096,
        max_image_array_layers: 256,
        max_bound_descriptor_sets: 8,
        max_push_constants_size: 256,
        max_vertex_input_attributes: 16,
        max_vertex_input_bindings: 16,
        max_viewports: 16,
        max_color_attachments: 8,
        max_tessellation_patch_size: 32,
        max_framebuffer_width: 4096,
        max_framebuffer_height: 4096,
        max_framebuffer_layers: 256,
        max_compute_work_group_count: [65535; 3],
        max_draw_indirect_count: 65536,
        ..Default::default()
    }
}

/// Changes what a path leads to (`pCreateInfo.pBindings[1].binding`): false where this call has no such member.
fn change(call: &mut Call, path: &str, value: u64) -> bool {
    let found = {
        let (mut v, mut path) = (View::call(&call.image), path);
        loop {
            let (name, rest) = path.split_once('.').unwrap_or((path, ""));
            let (name, i) = match name.split_once('[') {
                Some((name, i)) => (name, i.trim_end_matches(']').parse().expect("an index")),
                None => (name, 0),
            };
            if rest.is_empty() {
                let Some((m, at)) = v.definition(name) else { return false };
                let of_value = m.shape == Shape::Value;
                let at = if of_value { Some(at) } else { call.image.target(at) };
                break at.map(|at| (at + i as u32 * m.ty.c_layout().0 as u32, m.ty.c_layout().0));
            }
            let Some(next) = v.structs(name).nth(i) else { return false };
            (v, path) = (next, rest);
        }
    };
    match found {
        Some((at, 8)) => call.image.edit_u64(at, value),
        Some((at, _)) => call.image.edit_u32(at, value as u32),
        None => return false,
    }
    true
}

/// A sample, one of its commands, what is changed in it and to what, and what is said: for each check one line at least.
const CASES: &[(&str, &str, &str, u64, &str)] = &[
    // (memory.rs)
    (
        "cubes",
        "vkGetDeviceQueue",
        "queueFamilyIndex",
        7,
        "queueFamilyIndex: expected a family that vkCreateDevice asked for",
    ),
    ("cubes", "vkGetDeviceQueue", "queueIndex", 9, "queueIndex: expected 1 from 9 on"),
    ("cubes", "vkBindBufferMemory", "memoryOffset", 1 << 40, "memoryOffset: expected"),
    // (buffers.rs)
    ("cubes", "vkCmdBindIndexBuffer", "offset", 1 << 40, "offset: expected 0 from"),
    ("cubes", "vkCmdBindVertexBuffers", "pOffsets[0]", 1 << 40, "pOffsets[0]: expected 0 from"),
    ("cubes", "vkCmdBindVertexBuffers", "firstBinding", 16, "bindingCount: expected at most 16"),
    ("cubes", "vkCmdCopyBuffer", "pRegions[0].srcOffset", 1 << 40, "pRegions[0].srcOffset: expected"),
    ("cubes", "vkCmdCopyBuffer", "pRegions[0].dstOffset", u64::MAX, "pRegions[0].dstOffset: expected"),
    ("cubes", "vkCmdCopyBuffer", "pRegions[0].size", u64::MAX, "pRegions[0].srcOffset: expected"),
    ("uniforms", "vkCmdDispatchIndirect", "offset", 1 << 40, "offset: expected 12 from"),
    (
        "uniforms",
        "vkCmdDrawIndexedIndirect",
        "drawCount",
        1 << 30,
        "expected at most 65536 (maxDrawIndirectCount)",
    ),
    ("uniforms", "vkCmdDrawIndexedIndirectCountKHR", "maxDrawCount", 1 << 30, "offset: expected"),
    ("uniforms", "vkCmdDrawIndirect", "offset", 1 << 40, "offset: expected 16 from"),
    (
        "uniforms",
        "vkCmdDrawIndirectCountKHR",
        "countBufferOffset",
        1 << 40,
        "countBufferOffset: expected 4 from",
    ),
    ("uniforms", "vkCmdFillBuffer", "dstOffset", 1 << 40, "dstOffset: expected"),
    ("uniforms", "vkCmdUpdateBuffer", "dstOffset", 1 << 40, "dstOffset: expected"),
    ("rays", "vkCreateAccelerationStructureKHR", "pCreateInfo.size", 1 << 40, "pCreateInfo.offset: expected"),
    // (images.rs)
    (
        "cubes",
        "vkCreateRenderPass",
        "pCreateInfo.pSubpasses[0].colorAttachmentCount",
        9,
        "colorAttachmentCount: expected at most 8",
    ),
    ("memory", "vkCmdClearColorImage", "pRanges[0].baseMipLevel", 99, "pRanges[0].baseMipLevel: expected"),
    (
        "memory",
        "vkCmdCopyBufferToImage",
        "pRegions[0].bufferOffset",
        1 << 40,
        "pRegions[0].bufferOffset: expected",
    ),
    ("memory", "vkCmdCopyBufferToImage", "pRegions[0].imageExtent.width", 1 << 20, "imageOffset.x: expected"),
    ("memory", "vkCmdCopyImage", "pRegions[0].dstOffset.x", 0x8000_0000, "dstOffset.x: expected 0 or more"),
    (
        "memory",
        "vkCmdPipelineBarrier",
        "pImageMemoryBarriers[0].subresourceRange.baseArrayLayer",
        99,
        "baseArrayLayer: expected",
    ),
    ("uniforms", "vkCmdCopyImageToBuffer", "pRegions[0].imageSubresource.mipLevel", 31, "mipLevel: expected"),
    ("uniforms", "vkCmdBlitImage", "pRegions[0].srcOffsets[1].x", 1 << 20, "srcOffsets"),
    (
        "cubes",
        "vkCreateImageView",
        "pCreateInfo.subresourceRange.levelCount",
        77,
        "subresourceRange.baseMipLevel: expected 77",
    ),
    ("cubes", "vkCreateImage", "pCreateInfo.extent.width", 1 << 20, "extent.width: expected at most 4096"),
    ("cubes", "vkCreateFramebuffer", "pCreateInfo.width", 4095, "pCreateInfo.width: expected at most"),
    (
        "cubes",
        "vkCreateFramebuffer",
        "pCreateInfo.attachmentCount",
        2,
        "pCreateInfo.attachmentCount: expected",
    ),
    (
        "cubes",
        "vkCmdBeginRenderPass",
        "pRenderPassBegin.clearValueCount",
        0,
        "clearValueCount: expected at least",
    ),
    (
        "cubes",
        "vkCmdBeginRenderPass",
        "pRenderPassBegin.renderArea.extent.height",
        1 << 20,
        "renderArea.height: expected",
    ),
    (
        "nested",
        "vkCmdBeginRenderingKHR",
        "pRenderingInfo.colorAttachmentCount",
        9,
        "colorAttachmentCount: expected at most 8",
    ),
    // (descriptors.rs)
    ("cubes", "vkCmdBindDescriptorSets", "firstSet", 5, "firstSet: expected"),
    ("cubes", "vkCmdBindDescriptorSets", "dynamicOffsetCount", 5, "dynamicOffsetCount: expected"),
    (
        "cubes",
        "vkUpdateDescriptorSets",
        "pDescriptorWrites[0].dstSet",
        12345,
        "dstSet: expected a VkDescriptorSet",
    ),
    (
        "cubes",
        "vkUpdateDescriptorSets",
        "pDescriptorWrites[0].dstBinding",
        55,
        "dstBinding: expected a binding",
    ),
    (
        "cubes",
        "vkUpdateDescriptorSets",
        "pDescriptorWrites[0].dstArrayElement",
        55,
        "descriptorCount: expected",
    ),
    (
        "cubes",
        "vkUpdateDescriptorSets",
        "pDescriptorWrites[0].descriptorType",
        10,
        "descriptorType: expected",
    ),
    ("cubes", "vkCmdPushConstants", "offset", 1 << 20, "offset: expected"),
    (
        "cubes",
        "vkCreatePipelineLayout",
        "pCreateInfo.setLayoutCount",
        99,
        "setLayoutCount: expected at most 8",
    ),
    (
        "cubes",
        "vkCreateDescriptorSetLayout",
        "pCreateInfo.pBindings[0].binding",
        1 << 31,
        "pBindings[0].binding: expected at most",
    ),
    (
        "cubes",
        "vkCreateDescriptorSetLayout",
        "pCreateInfo.pBindings[0].descriptorCount",
        1 << 31,
        "descriptorCount: expected at most",
    ),
    (
        "uniforms",
        "vkCmdPushDescriptorSetKHR",
        "pDescriptorWrites[0].dstBinding",
        55,
        "dstBinding: expected a binding",
    ),
    // (pipelines.rs)
    ("cubes", "vkCmdDispatch", "groupCountX", 1 << 20, "groupCountX: expected at most 65535"),
    ("cubes", "vkCmdSetViewport", "firstViewport", 16, "viewportCount: expected 1 from 16 on"),
    ("cubes", "vkCmdSetScissor", "firstScissor", 16, "scissorCount: expected 1 from 16 on"),
    ("cubes", "vkCreateGraphicsPipelines", "pCreateInfos[0].subpass", 9, "pCreateInfos[0].subpass: expected"),
    (
        "cubes",
        "vkCreateGraphicsPipelines",
        "pCreateInfos[0].pColorBlendState.attachmentCount",
        9,
        "attachmentCount: expected at most 8",
    ),
    // (queries.rs)
    (
        "feedback",
        "vkCreateQueryPool",
        "pCreateInfo.queryCount",
        1 << 30,
        "queryCount: expected at most 1048576",
    ),
    ("feedback", "vkCmdBeginQuery", "query", 9999, "query: expected 1 from 9999 on"),
    ("feedback", "vkCmdResetQueryPool", "queryCount", 9999, "firstQuery: expected 9999"),
    ("feedback", "vkCmdCopyQueryPoolResults", "dstOffset", 1 << 40, "dstOffset: expected"),
    // (shaders.rs)
    ("cubes", "vkCreateShaderModule", "pCreateInfo.codeSize", 3, "codeSize: expected a multiple of 4"),
    ("cubes", "vkCreateShaderModule", "pCreateInfo.pCode[0]", 0, "pCode: this is no SPIR-V"),
    (
        "cubes",
        "vkCreateGraphicsPipelines",
        "pCreateInfos[0].pStages[0].stage",
        0x20,
        "pName: expected an entry point",
    ),
    (
        "cubes",
        "vkCreateComputePipelines",
        "pCreateInfos[0].stage.stage",
        0x10,
        "pName: expected an entry point",
    ),
];

fn sample(name: &str) -> Capture {
    let path = format!("{}/../captures/samples/{name}.gfxr", env!("CARGO_MANIFEST_DIR"));
    Capture::new(std::fs::read(path).expect("a sample")).expect("a capture")
}

#[test]
fn what_goes_beyond_an_object_or_the_device_is_refused() {
    let limits = limits();
    let mut wrong = vec![];
    let mut samples: Vec<&str> = CASES.iter().map(|c| c.0).collect();
    samples.dedup();
    samples.sort_unstable();
    samples.dedup();
    for name in samples {
        let capture = sample(name);
        let (usage, mut follow) = (Usage::default(), Follow::default());
        let mut left: Vec<_> = CASES.iter().filter(|c| c.0 == name).collect();
        let stopped = ahead::run(&capture, |item| {
            if let What::Call(call) = &mut item.what {
                usage
                    .check(call, follow.world(), Some(&limits))
                    .unwrap_or_else(|e| panic!("{name}, block {}: {e}", call.block));
                left.retain(|(_, command, path, value, said)| {
                    let mut changed = Call { image: call.image.clone(), ..**call };
                    if changed.command.name != *command || !change(&mut changed, path, *value) {
                        return true;
                    }
                    match usage.check(&changed, follow.world(), Some(&limits)) {
                        Err(e) if e.to_string().contains(said) => {}
                        Err(e) => wrong.push(format!("{command} {path}: expected {said:?}, found {e}")),
                        Ok(()) => wrong.push(format!("{command} {path}: {value} is taken")),
                    }
                    false
                });
                follow.call(call, Outcome::captured(call), &mut ());
            }
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(stopped, None);
        wrong.extend(left.iter().map(|c| format!("{name} has no {} with {}", c.1, c.2)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A buffer that lost its memory, and an image.
#[test]
fn what_lies_in_no_memory_is_not_used() {
    for (bind, user, said) in [
        ("vkBindBufferMemory", "vkCmdCopyBuffer", "expected a VkBuffer that is bound to memory"),
        ("vkBindImageMemory", "vkCreateImageView", "expected a VkImage that is bound to memory"),
    ] {
        let capture = sample("cubes");
        let (usage, mut follow) = (Usage::default(), Follow::default());
        let refused = ahead::run(&capture, |item| {
            let What::Call(call) = &item.what else { return ControlFlow::Continue(()) };
            match usage.check(call, follow.world(), None) {
                Err(e) if call.command.name == user => return ControlFlow::Break(e.to_string()),
                Err(e) => panic!("{}: {e}", call.command.name),
                // As if the capture had not bound it.
                Ok(()) if call.command.name == bind => {}
                Ok(()) => follow.call(call, Outcome::captured(call), &mut ()),
            }
            ControlFlow::Continue(())
        });
        assert!(refused.as_ref().is_some_and(|e| e.contains(said)), "{bind}: {refused:?}");
    }
}
