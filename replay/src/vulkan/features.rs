//! Features that hooks cannot do without: whether a device has them, and turning them on.
//!
//! Found by name in the schema: a feature is turned on in whichever struct of the application's chain carries it, so that
//! no struct appears twice that says the same, and in one of our own where none does. Guarantees: nothing that the
//! capture asked for changes; what was added is in no negotiation. Whoever needs a feature asks first whether it is here.

use super::{Gpu, Vulkan};
use crate::hook::Feature;
use ash::vk;
use gfxr_parse::member;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Shape, StructDef, Ty, struct_by_stype, struct_named};
use std::ffi::CString;

/// The struct of the features of Vulkan 1.0.
const CORE: &str = "VkPhysicalDeviceFeatures";

/// Where a struct has a feature.
fn place(def: &StructDef, member: &str) -> Option<usize> {
    let m = def.members.iter().find(|m| m.name == member)?;
    (m.ty == Ty::Bool32 && m.shape == Shape::Value).then_some(m.at as usize)
}

fn def(name: &str) -> &'static StructDef {
    let id = struct_named(name).unwrap_or_else(|| panic!("{name} is missing from the schema"));
    &STRUCTS[id as usize]
}

impl Vulkan {
    /// Those of some features that a physical device (by captured id) lacks.
    pub fn lacks(&self, gpu_id: u64, features: &[Feature]) -> Vec<Feature> {
        let found = self.gpus.get(&gpu_id).and_then(|g| Some((g, self.instances.get(&g.instance)?)));
        let Some((gpu, instance)) = found else { return features.to_vec() };
        let query = ash::khr::get_physical_device_properties2::Instance::new(&self.entry, &instance.ash);
        let has = |f: &Feature| {
            if !f.extension.is_empty()
                && !gpu.has(f.extension)
                && (f.core == 0 || self.device_version(gpu) < f.core)
            {
                return false;
            }
            let def = def(f.structure);
            let at = place(def, f.member).unwrap_or_else(|| panic!("{} has no {}", f.structure, f.member));
            let mut words = vec![0u64; def.size.div_ceil(8) as usize];
            let mut all = vk::PhysicalDeviceFeatures2::default();
            if f.structure != CORE {
                words[0] = u64::from(def.stype.expect("a struct of features has one"));
                all.p_next = words.as_mut_ptr().cast();
            }
            // SAFETY: a chain of a known struct of the right size, of a version or an extension that the device has.
            unsafe { query.get_physical_device_features2(gpu.handle, &mut all) };
            let from: *const u8 =
                if f.structure == CORE { (&raw const all.features).cast() } else { words.as_ptr().cast() };
            // SAFETY: inside the struct.
            unsafe { from.add(at).cast::<u32>().read() != 0 }
        };
        features.iter().filter(|f| !has(f)).copied().collect()
    }

    /// The Vulkan version that a device made on it has: the instance's, as it was made here, bounds it.
    pub fn device_version(&self, gpu: &Gpu) -> u32 {
        let asked = self.instances.get(&gpu.instance).map_or(0, |i| i.api).max(vk::API_VERSION_1_0);
        asked.max(self.needs.api).min(gpu.properties.api_version)
    }
}

/// Turns features on that a device is about to be made with. `own` holds structs of ours until it is.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo whose memory may be written.
pub(super) unsafe fn turn_on(
    vk: &Vulkan,
    (gpu_id, gpu): (u64, &Gpu),
    info: &mut vk::DeviceCreateInfo<'_>,
    core: &mut vk::PhysicalDeviceFeatures,
    own: &mut Vec<Vec<u64>>,
    extensions: &mut Vec<CString>,
) {
    let lacking = vk.lacks(gpu_id, &vk.needs.optional_features);
    let optional = vk.needs.optional_features.iter().filter(|f| !lacking.contains(f));
    for f in vk.needs.features.iter().chain(optional) {
        // SAFETY: the caller's promise.
        unsafe { one(f, info, core, own) };
        let name = CString::new(f.extension).expect("a constant");
        // The older form of the same extension excludes it, and does as well.
        let older = f.extension == "VK_KHR_buffer_device_address"
            && extensions.iter().any(|e| e.as_bytes() == b"VK_EXT_buffer_device_address");
        let in_core = f.core != 0 && vk.device_version(gpu) >= f.core;
        if !f.extension.is_empty() && !in_core && !older && !extensions.contains(&name) {
            extensions.push(name);
        }
    }
}

/// # Safety
/// As [`turn_on`]'s.
unsafe fn one(
    f: &Feature,
    info: &mut vk::DeviceCreateInfo<'_>,
    core: &mut vk::PhysicalDeviceFeatures,
    own: &mut Vec<Vec<u64>>,
) {
    // SAFETY: a linked chain; every struct begins with sType and pNext, and members lie inside their structs.
    unsafe {
        let on = |base: *mut u8, at: usize| base.add(at).cast::<u32>().write(vk::TRUE);
        let mut link = info.p_next as *mut vk::BaseOutStructure<'_>;
        while let Some(s) = link.as_mut() {
            let id = struct_by_stype(s.s_type.as_raw() as u32);
            let found = match f.structure {
                CORE if s.s_type == vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 => {
                    place(def(CORE), f.member)
                        .map(|at| at + member!("VkPhysicalDeviceFeatures2", "features") as usize)
                }
                CORE => None,
                _ => id.and_then(|id| place(&STRUCTS[id as usize], f.member)),
            };
            if let Some(at) = found {
                return on(link.cast(), at);
            }
            link = s.p_next;
        }
        let def = def(f.structure);
        let at = place(def, f.member).unwrap_or_else(|| panic!("{} has no {}", f.structure, f.member));
        if f.structure == CORE {
            if info.p_enabled_features.is_null() {
                info.p_enabled_features = core;
            }
            return on(info.p_enabled_features.cast_mut().cast(), at);
        }
        let mut words = vec![0u64; def.size.div_ceil(8) as usize];
        words[0] = u64::from(def.stype.expect("a struct of features has one"));
        words[1] = info.p_next as u64;
        on(words.as_mut_ptr().cast(), at);
        info.p_next = words.as_ptr().cast();
        own.push(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES: Feature = Feature {
        structure: "VkPhysicalDeviceBufferDeviceAddressFeatures",
        member: "bufferDeviceAddress",
        extension: "VK_KHR_buffer_device_address",
        core: vk::API_VERSION_1_2,
    };
    const STORES: Feature =
        Feature { structure: CORE, member: "fragmentStoresAndAtomics", extension: "", core: 0 };

    #[test]
    fn a_feature_is_turned_on_where_the_chain_has_it() {
        let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
        let mut all = vk::PhysicalDeviceFeatures2::default();
        let mut info = vk::DeviceCreateInfo::default().push_next(&mut twelve).push_next(&mut all);
        let (mut core, mut own) = (vk::PhysicalDeviceFeatures::default(), Vec::new());
        // SAFETY: a chain of live structs.
        unsafe {
            one(&ADDRESSES, &mut info, &mut core, &mut own);
            one(&STORES, &mut info, &mut core, &mut own);
        }
        assert!(own.is_empty() && info.p_enabled_features.is_null());
        assert_eq!((twelve.buffer_device_address, all.features.fragment_stores_and_atomics), (1, 1));
    }

    #[test]
    fn a_feature_that_no_struct_has_comes_in_one_of_our_own() {
        let mut info = vk::DeviceCreateInfo::default();
        let (mut core, mut own) = (vk::PhysicalDeviceFeatures::default(), Vec::new());
        // SAFETY: a create info without anything.
        unsafe {
            one(&ADDRESSES, &mut info, &mut core, &mut own);
            one(&STORES, &mut info, &mut core, &mut own);
        }
        // SAFETY: what `own` holds.
        let added = unsafe { &*info.p_next.cast::<vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>>() };
        assert_eq!(added.s_type, vk::StructureType::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
        assert_eq!((added.buffer_device_address, added.buffer_device_address_multi_device), (1, 0));
        assert!(added.p_next.is_null());
        assert_eq!(core.fragment_stores_and_atomics, 1);
    }
}
