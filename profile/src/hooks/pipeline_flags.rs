//! Flags that hooks add to pipelines and shader objects as these are created.
//!
//! A flag beyond the first 32 lies in VkPipelineCreateFlags2CreateInfo, which then replaces the older flags; where the
//! application chained none, one of ours is. Guarantees: the application's own flags stay, but for those that make a
//! driver refuse to compile; structs of ours live until the call was made. Two hooks may add to one pipeline.

use gfxr_parse::schema::Ty;
use gfxr_parse::schema::generated::STRUCTS;
use replay::ash::vk;
use replay::exec::Call;
use replay::link::Linked;

/// The commands that take flags in this way.
pub const CREATE: [&str; 3] =
    ["vkCreateGraphicsPipelines", "vkCreateComputePipelines", "vkCreateRayTracingPipelinesKHR"];

/// Structs of ours that a linked call points to.
#[derive(Default)]
#[allow(clippy::vec_box, reason = "the driver is given their addresses")]
pub struct Kept(Vec<Box<vk::PipelineCreateFlags2CreateInfoKHR<'static>>>);

impl Kept {
    /// The call was made.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Those that would have a pipeline only where it need not be compiled.
const REFUSING: u64 = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED.as_raw() as u64
    | vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE.as_raw() as u64;

/// Adds flags to every pipeline that a linked call of [`CREATE`] makes.
pub fn add(call: &Call, linked: &mut Linked, bits: u64, kept: &mut Kept) {
    let Some(param) = call.command.params.iter().position(|p| p.name == "pCreateInfos") else { return };
    let Ty::Struct(id) = call.command.params[param].ty else { return };
    let count = call.image.ptr(call.command.params[param].at).filter(|p| p.has_data()).map_or(0, |p| p.len);
    let first: *mut u8 = linked.ptr(param);
    if first.is_null() {
        return;
    }
    for i in 0..count as usize {
        // SAFETY: as many structs as the linker checked; all three begin with sType, pNext, flags.
        unsafe { add_to(first.add(i * STRUCTS[id as usize].size as usize), bits, kept) };
    }
}

/// # Safety
/// `info` is a linked create info of a pipeline.
unsafe fn add_to(info: *mut u8, bits: u64, kept: &mut Kept) {
    // SAFETY: the caller's promise; structs of a chain begin with sType and pNext.
    unsafe {
        let chain = info.add(8).cast::<*const vk::BaseInStructure<'static>>();
        let flags = info.add(16).cast::<u32>();
        let mut at = *chain;
        while let Some(s) = at.as_ref() {
            if s.s_type == vk::StructureType::PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR {
                let two = at.cast_mut().cast::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>();
                (*two).flags |= vk::PipelineCreateFlags2KHR::from_raw(bits);
                return;
            }
            at = s.p_next;
        }
        if bits >> 32 == 0 {
            *flags |= bits as u32;
            return;
        }
        let all = (u64::from(*flags) & !REFUSING) | bits;
        let mut two = Box::new(vk::PipelineCreateFlags2CreateInfoKHR::default());
        two.flags = vk::PipelineCreateFlags2KHR::from_raw(all);
        two.p_next = (*chain).cast();
        *chain = (&raw const *two).cast();
        kept.0.push(two);
    }
}

/// Adds a flag to every shader object that a linked vkCreateShadersEXT makes.
pub fn add_to_objects(linked: &mut Linked, bits: u32) {
    let n = linked.arg(1) as u32 as usize;
    let first: *mut vk::ShaderCreateInfoEXT<'_> = linked.ptr(2);
    for i in 0..if first.is_null() { 0 } else { n } {
        // SAFETY: as many structs as the linker checked.
        let info = unsafe { &mut *first.add(i) };
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
        let mut kept = Kept::default();
        let mut info = vk::ComputePipelineCreateInfo::default().flags(
            vk::PipelineCreateFlags::DERIVATIVE | vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED,
        );
        let at: *mut u8 = (&raw mut info).cast();
        // SAFETY: a live create info.
        unsafe { add_to(at, 0x40, &mut kept) };
        assert!(kept.0.is_empty() && info.p_next.is_null());
        assert_eq!(info.flags.as_raw() & 0x44, 0x44);
        // SAFETY: as above.
        unsafe { add_to(at, 1 << 39, &mut kept) };
        // SAFETY: as above; its chain is in `kept`.
        unsafe { add_to(at, 0x80, &mut kept) };
        // SAFETY: what was chained.
        let two = unsafe { &*info.p_next.cast::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>() };
        assert_eq!(kept.0.len(), 1);
        assert_eq!(two.flags.as_raw(), 1 << 39 | 0x80 | 0x44);
        assert!(two.p_next.is_null());
    }
}
