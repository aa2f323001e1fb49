//! What the capture asked of its device against what this one has.
//!
//! Features are compared through the schema: every VkBool32 of every feature struct in the chain, structs newer than
//! `ash` included. What is missing is refused by name before the first call, or dropped with `--remove-unsupported`.

use super::Gpu;
use crate::error::{Error, Kind, Result};
use crate::unused::{Needed, Unused};
use crate::wants::Wants;
use ash::vk;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Shape, StructDef, StructId, Ty, struct_by_stype, struct_named};
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};

/// What was done about one thing the capture asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Used as asked.
    Kept,
    /// Left out: it only watches, only concerns windows, or is done here by other means.
    Dropped,
    /// Left out because the user said so; the replay may differ.
    Removed,
    /// Left out: only shaders could use it, and none of the capture's does.
    Unused,
    /// Something else stands in for it.
    Replaced,
    /// Tried all the same: it may fail.
    Risked,
    /// The replay cannot go on.
    Refused,
}

/// What kind of thing was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// The Vulkan version.
    Api,
    /// An instance extension.
    InstanceExtension,
    /// A device extension.
    DeviceExtension,
    /// A feature.
    Feature,
    /// A limit that the capture comes near.
    Limit,
    /// Queue families and their queues.
    Queue,
    /// Memory types and heaps, and memory of special kinds.
    Memory,
    /// A format and its use.
    Format,
}

impl Sort {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Api => "version",
            Sort::InstanceExtension => "instance extension",
            Sort::DeviceExtension => "device extension",
            Sort::Feature => "feature",
            Sort::Limit => "limit",
            Sort::Queue => "queues",
            Sort::Memory => "memory",
            Sort::Format => "format",
        }
    }
}

impl Done {
    /// What it means, in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Done::Kept => "kept",
            Done::Dropped => "dropped",
            Done::Removed => "removed",
            Done::Unused => "unused",
            Done::Replaced => "replaced",
            Done::Risked => "risked",
            Done::Refused => "refused",
        }
    }
}

/// One line of the negotiation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// See [`Sort`].
    pub sort: Sort,
    /// An extension's name, `VkStruct.member`, a format and its use.
    pub what: String,
    /// How much of it, where that is a question.
    pub asked: String,
    /// How much of it is here, likewise.
    pub found: String,
    /// This device has it.
    pub here: bool,
    /// See [`Done`].
    pub done: Done,
}

impl Line {
    /// One without amounts.
    pub fn new(sort: Sort, what: &str, here: bool, done: Done) -> Self {
        Line { sort, what: what.to_owned(), asked: String::new(), found: String::new(), here, done }
    }
    /// The amounts.
    pub fn of(self, asked: String, found: String) -> Self {
        Line { asked, found, ..self }
    }
}

/// Device extensions a replay can do without: they only observe, or belong to the window system, which is virtual.
const DROPPABLE: &[&str] = &[
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
    "VK_EXT_queue_family_foreign",
    "VK_KHR_win32_keyed_mutex",
    "VK_KHR_portability_subset",
    "VK_KHR_pipeline_binary",
    "VK_EXT_pipeline_creation_feedback",
    "VK_EXT_memory_budget",
    "VK_EXT_memory_priority",
    "VK_EXT_pageable_device_local_memory",
    "VK_NV_low_latency",
    "VK_NV_low_latency2",
    "VK_AMD_anti_lag",
];

/// Features whose commands are done without them where they are missing (`ray/indirect.rs`, `ray/copies.rs`).
const BY_OTHER_MEANS: &[&str] = &["accelerationStructureIndirectBuild", "accelerationStructureHostCommands"];

/// What is done about a device extension.
pub(super) fn extension(name: &str, here: bool, remove: bool, unused: &Unused) -> Done {
    match here {
        true => Done::Kept,
        false if DROPPABLE.contains(&name) => Done::Dropped,
        false if unused.extensions.contains(name) => Done::Unused,
        false if remove => Done::Removed,
        false => Done::Refused,
    }
}

/// What is done about a feature. All but what is kept or refused is to be cleared.
pub(super) fn feature(member: &str, here: bool, remove: bool, unused: &Unused) -> Done {
    match here {
        true => Done::Kept,
        false if BY_OTHER_MEANS.contains(&member) => Done::Dropped,
        false if unused.features.contains(member) => Done::Unused,
        false if remove => Done::Removed,
        false => Done::Refused,
    }
}

/// The extensions to ask for.
pub fn extensions(
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
        let done = extension(&text, here, remove, unused);
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

/// Whether a struct holds features: all its members but sType and pNext are VkBool32, and its name says so.
pub fn is_features(def: &StructDef) -> bool {
    def.name.starts_with("VkPhysicalDevice") && def.name.contains("Features") && def.stype.is_some()
}

fn booleans(def: &'static StructDef) -> impl Iterator<Item = (&'static str, u32)> {
    def.members.iter().filter(|m| m.ty == Ty::Bool32 && m.shape == Shape::Value).map(|m| (m.name, m.at))
}

/// Compares features; with `remove`, clears those that are missing.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo; the instance is alive and has VK_KHR_get_physical_device_properties2 or
/// version 1.1.
pub unsafe fn features(
    entry: &ash::Entry,
    instance: &ash::Instance,
    gpu: &Gpu,
    info: &mut vk::DeviceCreateInfo<'_>,
    remove: bool,
    unused: &Unused,
    lines: &mut Vec<Line>,
) -> Result<()> {
    let mut structs: Vec<(StructId, *mut u8)> = Vec::new();
    let mut link = info.p_next as *mut vk::BaseOutStructure<'_>;
    // SAFETY: a linked chain.
    while let Some(s) = unsafe { link.as_mut() } {
        if let Some(id) = struct_by_stype(s.s_type.as_raw() as u32)
            && is_features(&STRUCTS[id as usize])
        {
            structs.push((id, link.cast()));
        }
        link = s.p_next;
    }
    // What the device has, in a chain of the same structs.
    let mut here: Vec<Vec<u64>> =
        structs.iter().map(|(id, _)| vec![0; STRUCTS[*id as usize].size.div_ceil(8) as usize]).collect();
    let mut next: *mut c_void = std::ptr::null_mut();
    for (words, (id, _)) in here.iter_mut().zip(&structs).rev() {
        let def = &STRUCTS[*id as usize];
        if def.name == "VkPhysicalDeviceFeatures2" {
            continue;
        }
        words[0] = u64::from(def.stype.expect("checked"));
        words[1] = next as u64;
        next = words.as_mut_ptr().cast();
    }
    let mut core = vk::PhysicalDeviceFeatures2 { p_next: next, ..Default::default() };
    let query = ash::khr::get_physical_device_properties2::Instance::new(entry, instance);
    // SAFETY: a chain of known structs of the right sizes.
    unsafe { query.get_physical_device_features2(gpu.handle, &mut core) };
    let core_id = struct_named("VkPhysicalDeviceFeatures").expect("core");
    let core_here = (&raw const core.features).cast::<u8>();
    let mut compare = |def: &'static StructDef, asked: *mut u8, have: *const u8| {
        for (name, at) in booleans(def) {
            // SAFETY: `at` is inside both structs, which are of type `def`.
            let (asked, have) =
                unsafe { (asked.add(at as usize).cast::<u32>(), *have.add(at as usize).cast::<u32>()) };
            // SAFETY: as above.
            if unsafe { *asked } == 0 {
                continue;
            }
            let here = have != 0 && !gpu.hides(def.name);
            let done = feature(name, here, remove, unused);
            if !matches!(done, Done::Kept | Done::Refused) {
                // SAFETY: as above.
                unsafe { *asked = 0 };
            }
            lines.push(Line::new(Sort::Feature, &format!("{}.{name}", def.name), here, done));
        }
    };
    if !info.p_enabled_features.is_null() {
        compare(&STRUCTS[core_id as usize], info.p_enabled_features as *mut u8, core_here);
    }
    for (words, (id, asked)) in here.iter().zip(&structs) {
        let def = &STRUCTS[*id as usize];
        if def.name == "VkPhysicalDeviceFeatures2" {
            // SAFETY: VkPhysicalDeviceFeatures lies after sType and pNext.
            compare(&STRUCTS[core_id as usize], unsafe { asked.add(16) }, core_here);
        } else {
            compare(def, *asked, words.as_ptr().cast());
        }
    }
    Ok(())
}

/// Whether any struct of the chain turns buffer device addresses on.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo.
pub unsafe fn asks_for_buffer_addresses(info: &vk::DeviceCreateInfo<'_>) -> bool {
    let mut link = info.p_next as *const vk::BaseInStructure<'_>;
    // SAFETY: a linked chain.
    while let Some(s) = unsafe { link.as_ref() } {
        if let Some(id) = struct_by_stype(s.s_type.as_raw() as u32) {
            for (name, at) in booleans(&STRUCTS[id as usize]) {
                if name != "bufferDeviceAddress" {
                    continue;
                }
                // SAFETY: inside the struct.
                if unsafe { *link.cast::<u8>().add(at as usize).cast::<u32>() } != 0 {
                    return true;
                }
            }
        }
        link = s.p_next;
    }
    false
}

/// Takes back refusals of what no shader needs. What shaders need is asked for only if there is one to take back.
pub fn forgive(lines: &mut [Line], wants: &Wants, needed: impl FnOnce() -> Needed) -> Unused {
    let refused = |sort: Sort| move |l: &&Line| l.sort == sort && l.done == Done::Refused;
    let extensions: Vec<&str> =
        lines.iter().filter(refused(Sort::DeviceExtension)).map(|l| &*l.what).collect();
    let features: Vec<(&str, &str)> =
        lines.iter().filter(refused(Sort::Feature)).filter_map(|l| l.what.split_once('.')).collect();
    if extensions.is_empty() && features.is_empty() {
        return Unused::default();
    }
    let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for &(id, member) in wants.devices.iter().flat_map(|d| &d.features) {
        asked.entry(STRUCTS[id as usize].name.to_owned()).or_default().push(member.to_owned());
    }
    let unused = Unused::of(&needed(), &extensions, &features, &asked);
    for l in lines.iter_mut().filter(|l| l.done == Done::Refused) {
        let left_out = match l.sort {
            Sort::DeviceExtension => unused.extensions.contains(&l.what),
            Sort::Feature => l.what.split_once('.').is_some_and(|(_, m)| unused.features.contains(m)),
            _ => false,
        };
        if left_out {
            l.done = Done::Unused;
        }
    }
    unused
}

/// Fails with the whole list if anything was refused.
pub fn refuse(lines: &[Line], gpu: &Gpu) -> Result<()> {
    let refused: Vec<&Line> = lines.iter().filter(|l| l.done == Done::Refused).collect();
    if refused.is_empty() {
        return Ok(());
    }
    let text = format!("{} lacks what the capture asks for:", gpu.name());
    let mut error = Error::new(Kind::Unsupported, text);
    for l in &refused {
        let mut text = format!("  {}", l.what);
        if !l.asked.is_empty() || !l.found.is_empty() {
            text += &format!(" (asked: {}; here: {})", l.asked, l.found);
        }
        error = error.with(&text);
    }
    let mut text = "Replay on another device (--gpu; `reray-replay devices` lists them)".to_owned();
    let removable = |s| matches!(s, Sort::InstanceExtension | Sort::DeviceExtension | Sort::Feature);
    if refused.iter().any(|l| removable(l.sort)) {
        text += ", drop extensions and features with --remove-unsupported";
    }
    if refused.iter().any(|l| !removable(l.sort)) {
        text += ", or try all the same with --keep-going";
    }
    Err(error.with(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_done_by_other_means_exist() {
        let id = struct_named("VkPhysicalDeviceAccelerationStructureFeaturesKHR").expect("the schema has it");
        let names: Vec<_> = booleans(&STRUCTS[id as usize]).map(|b| b.0).collect();
        assert!(BY_OTHER_MEANS.iter().all(|n| names.contains(n)), "{names:?}");
    }

    #[test]
    fn feature_structs_are_found_by_the_schema() {
        let features = STRUCTS.iter().filter(|s| is_features(s)).count();
        assert!(features > 150, "{features}");
        let def = &STRUCTS[struct_named("VkPhysicalDeviceVulkan12Features").expect("core") as usize];
        assert_eq!(booleans(def).count(), 47);
    }
}
