//! VK_KHR_pipeline_executable_properties: an executable for each stage, with statistics known beforehand.

use crate::chain::Function;
use crate::state::{complain, raw, state};
use crate::{SUBGROUP_SIZE, any, statistics};
use ash::vk;
use std::ffi::c_char;

/// Its functions.
pub const NAMES: [&str; 2] = ["vkGetPipelineExecutablePropertiesKHR", "vkGetPipelineExecutableStatisticsKHR"];

/// The function of this name.
pub fn of(name: &str) -> Function {
    match name {
        "vkGetPipelineExecutablePropertiesKHR" => {
            any!(executables, vk::PFN_vkGetPipelineExecutablePropertiesKHR)
        }
        "vkGetPipelineExecutableStatisticsKHR" => {
            any!(values, vk::PFN_vkGetPipelineExecutableStatisticsKHR)
        }
        _ => None,
    }
}

fn text(to: &mut [c_char; vk::MAX_DESCRIPTION_SIZE], from: &str) {
    *to = [0; vk::MAX_DESCRIPTION_SIZE];
    for (t, f) in to.iter_mut().zip(from.bytes()) {
        *t = f as c_char;
    }
}

unsafe extern "system" fn executables(
    _: vk::Device,
    info: *const vk::PipelineInfoKHR<'_>,
    count: *mut u32,
    out: *mut vk::PipelineExecutablePropertiesKHR<'_>,
) -> vk::Result {
    // SAFETY: the caller's arguments.
    unsafe {
        let stages = state().shaders.get(&raw((*info).pipeline)).map_or(vec![], |s| s.stages.clone());
        if out.is_null() {
            *count = stages.len() as u32;
            return vk::Result::SUCCESS;
        }
        let n = stages.len().min(*count as usize);
        for (i, stage) in stages[..n].iter().enumerate() {
            let to = &mut *out.add(i);
            to.stages = vk::ShaderStageFlags::from_raw(*stage);
            text(&mut to.name, &format!("stage {stage:#x}"));
            text(&mut to.description, "what a stage was compiled to");
            to.subgroup_size = SUBGROUP_SIZE;
        }
        *count = n as u32;
        if n < stages.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}

unsafe extern "system" fn values(
    _: vk::Device,
    info: *const vk::PipelineExecutableInfoKHR<'_>,
    count: *mut u32,
    out: *mut vk::PipelineExecutableStatisticKHR<'_>,
) -> vk::Result {
    // SAFETY: the caller's arguments.
    unsafe {
        let shaders = state().shaders.get(&raw((*info).pipeline)).cloned().unwrap_or_default();
        if !shaders.statistics {
            complain("statistics are asked of a pipeline that was made without them");
        }
        let Some(stage) = shaders.stages.get((*info).executable_index as usize) else {
            complain("there is no such executable");
            return vk::Result::ERROR_UNKNOWN;
        };
        let all = statistics(*stage);
        if out.is_null() {
            *count = all.len() as u32;
            return vk::Result::SUCCESS;
        }
        let n = all.len().min(*count as usize);
        for (i, (name, format, value)) in all[..n].iter().enumerate() {
            let to = &mut *out.add(i);
            text(&mut to.name, name);
            text(&mut to.description, &format!("{name} of the executable"));
            (to.format, to.value) = match *format {
                "u64" => (
                    vk::PipelineExecutableStatisticFormatKHR::UINT64,
                    vk::PipelineExecutableStatisticValueKHR { u64: *value as u64 },
                ),
                "i64" => (
                    vk::PipelineExecutableStatisticFormatKHR::INT64,
                    vk::PipelineExecutableStatisticValueKHR { i64: *value as i64 },
                ),
                "f64" => (
                    vk::PipelineExecutableStatisticFormatKHR::FLOAT64,
                    vk::PipelineExecutableStatisticValueKHR { f64: *value },
                ),
                _ => (
                    vk::PipelineExecutableStatisticFormatKHR::BOOL32,
                    vk::PipelineExecutableStatisticValueKHR { b32: u32::from(*value != 0.0) },
                ),
            };
        }
        *count = n as u32;
        if n < all.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}
