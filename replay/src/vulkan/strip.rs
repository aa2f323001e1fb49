//! Modules without the capabilities that this device lacks and no shader uses (`unused.rs`).
//!
//! Only where there are such: a module is changed in the linked call, and the changed words live until the call was made.

use super::Vulkan;
use crate::exec::Call;
use crate::link::Linked;
use ash::vk;

/// Changes every module of a call. Called after linking.
pub(super) fn strip(vk: &mut Vulkan, call: &Call, linked: &mut Linked) {
    vk.stripped.clear();
    let unused = &vk.unused;
    let kept = &mut vk.stripped;
    let mut change = |size: &mut usize, code: &mut *const u32| {
        if code.is_null() || !size.is_multiple_of(4) {
            return;
        }
        // SAFETY: linked memory; the decoder read as many bytes as codeSize says, or refused.
        let words = unsafe { std::slice::from_raw_parts(*code, *size / 4) };
        if let Some(less) = pointers::without(words, &unused.capabilities, &unused.spirv_extensions) {
            *size = less.len() * 4;
            *code = less.as_ptr();
            kept.push(less);
        }
    };
    // SAFETY: linked memory holds what the command's parameters say; the linker checked arrays against their counts.
    unsafe {
        match call.command.name {
            "vkCreateShaderModule" => {
                if let Some(info) = linked.ptr::<vk::ShaderModuleCreateInfo<'_>>(1).as_mut() {
                    change(&mut info.code_size, &mut info.p_code);
                }
            }
            "vkCreateShadersEXT" => {
                for info in slice::<vk::ShaderCreateInfoEXT<'_>>(linked.arg(2), linked.arg(1)) {
                    if info.code_type == vk::ShaderCodeTypeEXT::SPIRV {
                        let mut code = info.p_code.cast();
                        change(&mut info.code_size, &mut code);
                        info.p_code = code.cast();
                    }
                }
            }
            "vkCreateGraphicsPipelines" => {
                for info in slice::<vk::GraphicsPipelineCreateInfo<'_>>(linked.arg(3), linked.arg(2)) {
                    stages(info.p_stages, info.stage_count, &mut change);
                }
            }
            "vkCreateComputePipelines" => {
                for info in slice::<vk::ComputePipelineCreateInfo<'_>>(linked.arg(3), linked.arg(2)) {
                    stages(&raw const info.stage, 1, &mut change);
                }
            }
            "vkCreateRayTracingPipelinesKHR" => {
                for info in slice::<vk::RayTracingPipelineCreateInfoKHR<'_>>(linked.arg(4), linked.arg(3)) {
                    stages(info.p_stages, info.stage_count, &mut change);
                }
            }
            _ => {}
        }
    }
}

/// # Safety
/// `at` is null or the address of `n` `T` that nothing else refers to; `n` is a 32-bit count.
unsafe fn slice<'s, T>(at: u64, n: u64) -> &'s mut [T] {
    if at == 0 {
        return &mut [];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts_mut(at as *mut T, n as u32 as usize) }
}

/// # Safety
/// `at` is null or points to `n` linked stages.
unsafe fn stages(
    at: *const vk::PipelineShaderStageCreateInfo<'_>,
    n: u32,
    change: &mut impl FnMut(&mut usize, &mut *const u32),
) {
    // SAFETY: the caller's; the chain is linked too.
    unsafe {
        for stage in slice::<vk::PipelineShaderStageCreateInfo<'_>>(at as u64, u64::from(n)) {
            let mut link = stage.p_next as *mut vk::BaseOutStructure<'_>;
            while let Some(s) = link.as_mut() {
                if s.s_type == vk::StructureType::SHADER_MODULE_CREATE_INFO {
                    let info = &mut *link.cast::<vk::ShaderModuleCreateInfo<'_>>();
                    change(&mut info.code_size, &mut info.p_code);
                }
                link = s.p_next;
            }
        }
    }
}
