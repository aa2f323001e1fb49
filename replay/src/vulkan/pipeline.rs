//! Pipelines and their caches.

use super::portability::binaries;
use crate::error::{Error, Result};
use crate::link::Linked;
use crate::vulkan::linked_call::{LinkedCall, Subscription::Before, Subscriptions};
use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::{Ty, generated::STRUCTS};
use gfxr_parse::view::View;
use gfxr_parse::{argument, member};

/// What is compiled is compiled here.
pub(super) const SUBSCRIPTIONS: Subscriptions = &[
    (
        &["vkCreateGraphicsPipelines", "vkCreateComputePipelines", "vkCreateRayTracingPipelinesNV"],
        Before(create_pipelines),
    ),
    (&["vkCreatePipelineCache"], Before(create_cache)),
];

/// vkCreate{Graphics,Compute,RayTracing}Pipelines: a pipeline may take as long to compile here as it likes.
pub fn create_pipelines(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { call, linked, .. } = c;
    compile_all(call, linked)?;
    Ok(())
}

/// Takes away what would have pipelines only where they need not be compiled, or compiled already.
pub(super) fn compile_all(call: &Call, linked: &mut Linked) -> Result<()> {
    let infos = call.command.params.iter().find(|p| p.name == "pCreateInfos");
    if let Some(infos) = infos
        && let (Ty::Struct(id), Some(p)) = (infos.ty, call.image.ptr(infos.at))
        && p.has_data()
    {
        let drop = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED
            | vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE;
        let views = View::call(&call.image).structs("pCreateInfos");
        for (i, view) in (0..p.len as u32).zip(views) {
            let info = p.to + i * STRUCTS[id as usize].size;
            binaries::take(call, linked, view, info)?;
            // (all create infos have them there)
            let at = info + member!("VkGraphicsPipelineCreateInfo", "flags");
            linked.set_u32_at(at, linked.u32_at(at) & !drop.as_raw());
            let flags_2 = vk::StructureType::PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR.as_raw() as u32;
            let next = info + member!("VkGraphicsPipelineCreateInfo", "pNext");
            if let Some(to) = call.image.chain_find(next, flags_2) {
                // The low bits are those of the older flags.
                let at = to + member!("VkPipelineCreateFlags2CreateInfo", "flags");
                let drop = drop.as_raw() | binaries::CAPTURE_DATA;
                linked.set_u32_at(at, linked.u32_at(at) & !drop);
            }
        }
    }
    Ok(())
}

/// vkCreatePipelineCache: the captured driver's data mean nothing here, or would hide compile time.
pub fn create_cache(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk: _, linked, .. } = c;
    const INFO: usize = argument!("vkCreatePipelineCache", "pCreateInfo");
    let Some(info) = linked.param_mut::<vk::PipelineCacheCreateInfo<'_>>(INFO) else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    info.initial_data_size = 0;
    info.p_initial_data = std::ptr::null();
    Ok(())
}
