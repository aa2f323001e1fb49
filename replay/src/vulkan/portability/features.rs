//! Features, compared through the schema: every VkBool32 of every feature struct in the chain, structs newer than `ash`
//! included.
//!
//! Refused by name: what is missing, unless nothing uses it, its commands are done by other means, or the user has it removed.

use super::extensions::DROPPABLE;
use super::unused::{Unused, brings};
use crate::error::Result;
use crate::options::{AddressMode, Bridge};
use crate::preflight::asked::AskedDevice;
use crate::vulkan::Gpu;
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;
use gfxr_parse::member;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Shape, StructDef, StructId, Ty, struct_by_stype, struct_named};
use std::ffi::c_void;

/// Features whose commands are done without them where they are missing (`ray/indirect.rs`, `ray/copies.rs`).
const BY_OTHER_MEANS: &[&str] = &["accelerationStructureIndirectBuild", "accelerationStructureHostCommands"];

/// Those of sparse resources, which are ordinary ones where they are missing (`sparse.rs`), begin so.
const SPARSE: &str = "sparse";

/// Features of extensions that every device of the version has which took the extension in, without a struct to turn them on.
const MANDATORY_IN_1_3: &[&str] = &["extendedDynamicState", "extendedDynamicState2"];

/// What is done about a feature. All but what is kept or refused is to be cleared.
fn feature(structure: &str, member: &str, here: bool, api: u32, remove: bool, unused: &Unused) -> Done {
    match here {
        true => Done::Kept,
        false if api >= vk::API_VERSION_1_3 && MANDATORY_IN_1_3.contains(&member) => Done::Replaced,
        false if BY_OTHER_MEANS.contains(&member) || member.starts_with(SPARSE) => Done::Dropped,
        false if brings(structure).any(|e| DROPPABLE.contains(&e.name)) => Done::Dropped,
        false if unused.features.contains(member) => Done::Unused,
        false if remove => Done::Removed,
        false => Done::Refused,
    }
}

/// Whether a struct holds features: all its members but sType and pNext are VkBool32, and its name says so.
fn is_features(def: &StructDef) -> bool {
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
pub(in crate::vulkan) unsafe fn compare(
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
            let done = feature(def.name, name, here, gpu.properties.api_version, remove, unused);
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
            const CORE: usize = member!("VkPhysicalDeviceFeatures2", "features") as usize;
            // SAFETY: VkPhysicalDeviceFeatures lies there.
            compare(&STRUCTS[core_id as usize], unsafe { asked.add(CORE) }, core_here);
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
pub(in crate::vulkan) unsafe fn asks_for_buffer_addresses(info: &vk::DeviceCreateInfo<'_>) -> bool {
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

impl Compare<'_> {
    pub(super) fn device_features(&mut self, d: &AskedDevice) {
        for &(id, member) in &d.features {
            let (def, api) = (&STRUCTS[id as usize], self.gpu.properties.api_version);
            let has = self.has(id, member) && !self.gpu.hides(def.name);
            // Addresses and handles that are not as captured are translated.
            let translated =
                member.ends_with("CaptureReplay") && self.options.addresses != AddressMode::Exact;
            let done = match feature(
                def.name,
                member,
                has,
                api,
                self.options.remove_unsupported,
                &Unused::default(),
            ) {
                Done::Removed | Done::Refused if translated => Done::Dropped,
                done => done,
            };
            let line = Line::new(Sort::Feature, &format!("{}.{member}", def.name), has, done);
            self.push(match member {
                _ if done == Done::Replaced => line.by(Bridge::Core),
                _ if BY_OTHER_MEANS.contains(&member) => line.by(Bridge::Builds),
                _ if member.starts_with(SPARSE) => line.by(Bridge::Sparse),
                _ => line,
            });
        }
    }

    /// A feature, asked through the schema's layout of its struct.
    fn has(&mut self, id: StructId, member: &str) -> bool {
        let core = struct_named("VkPhysicalDeviceFeatures");
        let (query, gpu) = (&self.query, self.gpu);
        let words = self.features.entry(id).or_insert_with(|| {
            let def = &STRUCTS[id as usize];
            let mut all = vk::PhysicalDeviceFeatures2::default();
            let mut words = vec![0u64; def.size.div_ceil(8) as usize];
            if Some(id) != core {
                words[0] = u64::from(def.stype.unwrap_or(0));
                all.p_next = words.as_mut_ptr().cast();
            }
            // SAFETY: one struct of its own size, or none.
            unsafe { query.get_physical_device_features2(gpu.handle, &mut all) };
            if Some(id) == core {
                let bytes = size_of::<vk::PhysicalDeviceFeatures>();
                // SAFETY: the struct is `bytes` long, and `words` at least as long.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        (&raw const all.features).cast::<u8>(),
                        words.as_mut_ptr().cast(),
                        bytes.min(words.len() * 8),
                    );
                }
            }
            words
        });
        let at = STRUCTS[id as usize].members.iter().find(|m| m.name == member).map_or(0, |m| m.at);
        words[at as usize / 8] >> (at % 8 * 8) & 0xFFFF_FFFF != 0
    }
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
