//! Extensions: those that only watch or belong to windows are done without, and so is what nothing uses.
//!
//! Refused by name: what is used and is not here, unless the user has it removed.

use super::unused::{Unused, extension as entry};
use super::versions::version;
use crate::options::{Bridge, Options};
use crate::preflight::asked::{Asked, AskedDevice};
use crate::vulkan::Gpu;
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use std::ffi::CString;

/// Device extensions a replay can do without: they only observe, or belong to the window system, which is virtual.
pub(super) const DROPPABLE: &[&str] = &[
    "VK_KHR_swapchain",
    "VK_KHR_swapchain_mutable_format",
    "VK_EXT_swapchain_maintenance1",
    "VK_KHR_swapchain_maintenance1",
    "VK_KHR_display_swapchain",
    "VK_KHR_incremental_present",
    "VK_KHR_present_id",
    "VK_KHR_present_id2",
    "VK_KHR_present_wait",
    "VK_KHR_present_wait2",
    "VK_EXT_present_timing",
    "VK_EXT_present_mode_fifo_latest_ready",
    "VK_KHR_present_mode_fifo_latest_ready",
    "VK_NV_present_barrier",
    "VK_NV_present_metering",
    "VK_NV_acquire_winrt_display",
    "VK_HUAWEI_hdr_vivid",
    "VK_KHR_shared_presentable_image",
    "VK_EXT_display_control",
    "VK_EXT_full_screen_exclusive",
    "VK_EXT_hdr_metadata",
    "VK_AMD_display_native_hdr",
    "VK_GOOGLE_display_timing",
    "VK_EXT_debug_marker",
    "VK_EXT_tooling_info",
    "VK_EXT_device_memory_report",
    "VK_EXT_frame_boundary",
    "VK_EXT_validation_cache",
    "VK_EXT_private_data",
    "VK_EXT_calibrated_timestamps",
    "VK_KHR_calibrated_timestamps",
    "VK_KHR_external_memory_fd",
    "VK_KHR_external_memory_win32",
    "VK_KHR_external_semaphore_fd",
    "VK_KHR_external_semaphore_win32",
    "VK_KHR_external_fence_fd",
    "VK_KHR_external_fence_win32",
    "VK_EXT_external_memory_dma_buf",
    "VK_EXT_external_memory_host",
    "VK_ANDROID_external_memory_android_hardware_buffer",
    "VK_EXT_external_memory_metal",
    "VK_EXT_external_memory_acquire_unmodified",
    "VK_EXT_metal_objects",
    "VK_FUCHSIA_external_memory",
    "VK_FUCHSIA_external_semaphore",
    "VK_NV_external_memory",
    "VK_NV_external_memory_rdma",
    "VK_NV_external_memory_win32",
    "VK_NV_win32_keyed_mutex",
    "VK_OHOS_external_memory",
    "VK_QNX_external_memory_screen_buffer",
    "VK_EXT_queue_family_foreign",
    "VK_KHR_win32_keyed_mutex",
    "VK_KHR_portability_subset",
    "VK_KHR_pipeline_binary",
    "VK_EXT_pipeline_creation_feedback",
    // What offsets need is compared by itself (`alignment.rs`).
    "VK_EXT_texel_buffer_alignment",
    "VK_EXT_memory_budget",
    "VK_EXT_global_priority",
    "VK_KHR_global_priority",
    "VK_EXT_global_priority_query",
    "VK_ANDROID_frame_boundary",
    "VK_EXT_memory_priority",
    "VK_EXT_pageable_device_local_memory",
    "VK_NV_low_latency",
    "VK_NV_low_latency2",
    "VK_AMD_anti_lag",
];

/// Instance extensions that bring nothing to a replay without a window, or only watch.
pub(in crate::vulkan) fn droppable(name: &str) -> bool {
    name.contains("_surface")
        || name.contains("display")
        || name.contains("debug")
        || name.contains("validation")
        || name == "VK_KHR_portability_enumeration"
        || name == "VK_EXT_swapchain_colorspace"
        || name == "VK_EXT_layer_settings"
}

/// The instance's part.
pub(super) fn of_instance(asked: &Asked, here: &[String], options: &Options) -> Vec<Line> {
    let one = |name: &String| {
        let has = here.contains(name);
        let surface = name.ends_with("_surface") && name != "VK_KHR_surface";
        let done = match () {
            () if surface => Done::Dropped,
            () if has => Done::Kept,
            () if droppable(name) => Done::Dropped,
            () if options.remove_unsupported => Done::Removed,
            () => Done::Refused,
        };
        Line::new(Sort::InstanceExtension, name, has, done)
    };
    asked.instance_extensions.iter().map(one).collect()
}

/// Extensions that Vulkan took in as features that a program has to turn on by other structs.
const OPTIONAL_IN_CORE: &[&str] = &[
    "VK_KHR_draw_indirect_count",
    "VK_KHR_sampler_mirror_clamp_to_edge",
    "VK_EXT_sampler_filter_minmax",
    "VK_EXT_shader_viewport_index_layer",
];

/// Whether a device of this version can do all of an extension without it.
fn in_core(name: &str, api: u32) -> bool {
    let taken_in = entry(name).map_or((0, 0), |e| e.promoted);
    taken_in != (0, 0) && taken_in <= version(api) && !OPTIONAL_IN_CORE.contains(&name)
}

/// What is done about a device extension.
fn extension(name: &str, gpu: &Gpu, remove: bool, unused: &Unused) -> Done {
    match gpu.has(name) {
        true => Done::Kept,
        false if in_core(name, gpu.properties.api_version) => Done::Replaced,
        false if DROPPABLE.contains(&name) => Done::Dropped,
        false if unused.extensions.contains(name) => Done::Unused,
        false if remove => Done::Removed,
        false => Done::Refused,
    }
}

/// The extensions to ask for.
pub(in crate::vulkan) fn extensions(
    gpu: &Gpu,
    asked: &[CString],
    remove: bool,
    unused: &Unused,
    lines: &mut Vec<Line>,
) -> Vec<CString> {
    let mut names = Vec::new();
    for name in asked {
        let text = name.to_string_lossy().into_owned();
        let here = gpu.has(&text);
        let done = extension(&text, gpu, remove, unused);
        if done == Done::Kept {
            names.push(name.clone());
        }
        lines.push(Line::new(Sort::DeviceExtension, &text, here, done));
    }
    // The specification wants it asked for wherever it is there.
    if gpu.has("VK_KHR_portability_subset")
        && !names.iter().any(|n| n.as_bytes() == b"VK_KHR_portability_subset")
    {
        names.push(c"VK_KHR_portability_subset".to_owned());
    }
    names
}

impl Compare<'_> {
    pub(super) fn extensions(&mut self, d: &AskedDevice) {
        for name in &d.extensions {
            let has = self.gpu.has(name);
            let done = extension(name, self.gpu, self.options.remove_unsupported, &Unused::default());
            let found = if done == Done::Replaced { "in Vulkan itself" } else { "" };
            let line = Line::new(Sort::DeviceExtension, name, has, done);
            let line = if done == Done::Replaced { line.by(Bridge::Core) } else { line };
            self.push(line.of(String::new(), found.into()));
        }
        if d.group > 1 {
            let done = self.must(false);
            let line = Line::new(Sort::Queue, "a device made of several physical devices", false, done);
            self.push(line.of(format!("{} devices", d.group), "one".into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::answered::may_be_missing;
    use crate::vulkan::handlers::{Handler, Handlers};
    use gfxr_parse::schema::generated::COMMANDS;

    /// A device without such an extension has no function for its commands, and swapchains exist only here.
    #[test]
    fn no_command_of_what_is_done_without_is_the_drivers() {
        let handlers = Handlers::new();
        let mut commands = 0;
        for extension in DROPPABLE.iter().filter_map(|e| entry(e)) {
            for name in extension.commands {
                let Some(index) = COMMANDS.iter().position(|c| c.name == *name) else { continue };
                let plain = matches!(handlers.of(index), Handler::Plain) && !may_be_missing(name);
                assert!(!plain, "{}: {name}", extension.name);
                commands += 1;
            }
        }
        assert!(commands > 60, "{commands}");
    }
}
