//! Pipelines and their caches.

use super::{Vulkan, portability};
use crate::error::{Error, Result};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::{Ty, generated::STRUCTS};
use gfxr_parse::view::View;
use world::Outcome;

/// vkCreate{Graphics,Compute,RayTracing}Pipelines: a pipeline may take as long to compile here as it likes.
pub fn create_pipelines(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    compile_all(call, linked)?;
    vk.raw(call, linked, report)
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
            portability::take_binaries(call, linked, view, p.to + i * STRUCTS[id as usize].size)?;
            // All create infos: sType, pNext, flags.
            let at = p.to + i * STRUCTS[id as usize].size + 16;
            linked.set_u32_at(at, linked.u32_at(at) & !drop.as_raw());
            let flags_2 = vk::StructureType::PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR.as_raw() as u32;
            if let Some(to) = call.image.chain_find(at - 8, flags_2) {
                // The low bits are those of the older flags.
                let at = to + 16;
                let drop = drop.as_raw() | portability::CAPTURE_DATA;
                linked.set_u32_at(at, linked.u32_at(at) & !drop);
            }
        }
    }
    Ok(())
}

/// vkCreatePipelineCache: the captured driver's data mean nothing here, or would hide compile time.
pub fn create_cache(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let Some(info) = linked.param_mut::<vk::PipelineCacheCreateInfo<'_>>(1) else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    info.initial_data_size = 0;
    info.p_initial_data = std::ptr::null();
    vk.raw(call, linked, report)
}
