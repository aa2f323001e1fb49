//! Flags that hooks add to pipelines and shader objects as these are created.
//!
//! A flag beyond the first 32 lies in VkPipelineCreateFlags2CreateInfo, which then replaces the older flags; where the
//! application chained none, one of ours is. Guarantees: the application's own flags stay, but for those that make a
//! driver refuse to compile; structs of ours lie in the call's memory. Two hooks may add to one pipeline.

use gfxr_parse::ahead::Call;
use gfxr_parse::schema::Ty;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::{argument, member};
use replay::ash::vk;
use replay::link::Linked;

/// The commands that take flags in this way.
pub const CREATE: [&str; 3] =
    ["vkCreateGraphicsPipelines", "vkCreateComputePipelines", "vkCreateRayTracingPipelinesKHR"];

/// Those that would have a pipeline only where it need not be compiled.
const REFUSING: u64 = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED.as_raw() as u64
    | vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE.as_raw() as u64;

/// Adds flags to every pipeline that a linked call of [`CREATE`] makes.
pub fn add(call: &Call, linked: &mut Linked, bits: u64) {
    let Some(param) = call.command.params.iter().find(|p| p.name == "pCreateInfos") else { return };
    let (Ty::Struct(id), Some(infos)) = (param.ty, call.image.ptr(param.at).filter(|p| p.has_data())) else {
        return;
    };
    for i in 0..infos.len as u32 {
        add_to(linked, infos.to + i * STRUCTS[id as usize].size, bits);
    }
}

/// Where the chain and the flags of the three create infos lie.
const NEXT_AT: u32 = member!("VkGraphicsPipelineCreateInfo", "pNext");
const FLAGS_AT: u32 = member!("VkGraphicsPipelineCreateInfo", "flags");

/// The same for the create info at an image offset.
fn add_to(linked: &mut Linked, info: u32, bits: u64) {
    let chain = linked.word_at(info + NEXT_AT) as *const std::ffi::c_void;
    if let Some(two) = linked.in_chain::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(chain) {
        two.flags |= vk::PipelineCreateFlags2KHR::from_raw(bits);
        return;
    }
    let flags = linked.u32_at(info + FLAGS_AT);
    if bits >> 32 == 0 {
        linked.set_u32_at(info + FLAGS_AT, flags | bits as u32);
        return;
    }
    let all = (u64::from(flags) & !REFUSING) | bits;
    let two = vk::PipelineCreateFlags2CreateInfoKHR {
        flags: vk::PipelineCreateFlags2KHR::from_raw(all),
        p_next: chain,
        ..Default::default()
    };
    let at = linked.keep(&[two]);
    linked.set_word_at(info + NEXT_AT, at as u64);
}

/// Adds a flag to every shader object that a linked vkCreateShadersEXT makes.
pub fn add_to_objects(linked: &mut Linked, bits: u32) {
    const INFOS: usize = argument!("vkCreateShadersEXT", "pCreateInfos");
    const COUNT: usize = argument!("vkCreateShadersEXT", "createInfoCount");
    for info in linked.params_mut::<vk::ShaderCreateInfoEXT<'_>>(INFOS, COUNT).unwrap_or_default() {
        info.flags = vk::ShaderCreateFlagsEXT::from_raw(info.flags.as_raw() | bits);
    }
}

/// The pipelines of a call of [`CREATE`], as (captured id, live handle).
pub fn made(call: &Call, linked: &Linked) -> Vec<(u64, vk::Pipeline)> {
    use vk::Handle;
    let out = call.image.handles.iter().filter(|h| h.out);
    let of = |h: &gfxr_parse::image::HandleAt| {
        (call.image.u64(h.at), vk::Pipeline::from_raw(linked.word_at(h.at)))
    };
    out.map(of).filter(|(id, live)| *id != 0 && *live != vk::Pipeline::null()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::struct_named;

    #[test]
    fn all_create_infos_have_their_flags_at_one_place() {
        for name in [
            "VkGraphicsPipelineCreateInfo",
            "VkComputePipelineCreateInfo",
            "VkRayTracingPipelineCreateInfoKHR",
        ] {
            let def = &STRUCTS[struct_named(name).expect("core") as usize];
            let at = def.members.iter().find(|m| m.name == "flags").map(|m| m.at);
            assert_eq!(at, Some(16), "{name}");
        }
    }

    #[test]
    fn flags_go_where_they_count() {
        let mut image = gfxr_parse::image::Image::default();
        let info = image.alloc(size_of::<vk::ComputePipelineCreateInfo<'_>>());
        let flags =
            vk::PipelineCreateFlags::DERIVATIVE | vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
        image.edit_u32(info + FLAGS_AT, flags.as_raw());
        let mut linked = Linked::default();
        linked.link(&image, &Default::default(), Default::default(), |a| a).expect("no symbols");
        add_to(&mut linked, info, 0x40);
        assert_eq!((linked.word_at(info + 8), linked.u32_at(info + FLAGS_AT) & 0x44), (0, 0x44));
        add_to(&mut linked, info, 1 << 39);
        add_to(&mut linked, info, 0x80);
        let chain = linked.word_at(info + 8) as *const std::ffi::c_void;
        assert_eq!(linked.chain(chain).count(), 1);
        let two = linked.in_chain::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(chain).expect("chained");
        assert_eq!(two.flags.as_raw(), 1 << 39 | 0x80 | 0x44);
    }
}
