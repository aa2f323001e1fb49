//! Physical devices: what is here, and which one a capture gets.

use crate::error::{Error, Kind, Result, Vk};
use crate::options::Rehearse;
use crate::preflight::prologue::CapturedGpu;
use ash::vk;

/// A physical device of this machine.
#[derive(Clone)]
pub struct Gpu {
    /// Live handle.
    pub handle: vk::PhysicalDevice,
    /// Captured id of the instance it was enumerated from; 0 outside a replay.
    pub instance: u64,
    /// Index in the loader's order.
    pub index: usize,
    /// Its properties.
    pub properties: vk::PhysicalDeviceProperties,
    /// Its memory types and heaps.
    pub memory: vk::PhysicalDeviceMemoryProperties,
    /// Its queue families.
    pub families: Vec<vk::QueueFamilyProperties>,
    /// Names of its extensions.
    pub extensions: Vec<String>,
}

impl Gpu {
    /// Its name.
    pub fn name(&self) -> String {
        self.properties
            .device_name_as_c_str()
            .map_or_else(|_| "unnamed".into(), |n| n.to_string_lossy().into_owned())
    }
    /// Whether it has a device extension.
    /// Whether a feature struct says nothing, because the extension that it came with is not here.
    pub fn hides(&self, features: &str) -> bool {
        BARE.iter().any(|b| b.1 == features && !self.has(b.0))
    }
    /// Plays a device that has less.
    pub fn rehearse(&mut self, rehearse: Rehearse) {
        if rehearse.bare {
            self.extensions.retain(|e| !BARE.iter().any(|b| b.0 == e));
        }
        if rehearse.alignment {
            let l = &mut self.properties.limits;
            l.min_uniform_buffer_offset_alignment = 1024;
            l.min_storage_buffer_offset_alignment = 1024;
            l.min_texel_buffer_offset_alignment = 1024;
        }
    }
    /// Whether it has a device extension.
    pub fn has(&self, extension: &str) -> bool {
        self.extensions.iter().any(|e| e == extension)
    }
    /// Compared with a captured one.
    fn as_captured(&self) -> CapturedGpu {
        CapturedGpu {
            name: self.name(),
            vendor: self.properties.vendor_id,
            device: self.properties.device_id,
            driver: self.properties.driver_version,
            kind: self.properties.device_type.as_raw(),
            cache_uuid: self.properties.pipeline_cache_uuid,
        }
    }
    /// The same driver on the same device: what was captured there can be replayed as it is.
    pub fn is_same(&self, captured: &CapturedGpu) -> bool {
        let here = self.as_captured();
        (here.vendor, here.device, here.driver, here.cache_uuid)
            == (captured.vendor, captured.device, captured.driver, captured.cache_uuid)
    }
}

/// Everything the loader finds, in its order.
pub fn list_gpus(instance: &ash::Instance) -> Result<Vec<Gpu>> {
    // SAFETY: the instance is alive; the queries only write what they return.
    unsafe {
        let handles = instance.enumerate_physical_devices().what("vkEnumeratePhysicalDevices")?;
        handles
            .into_iter()
            .enumerate()
            .map(|(index, handle)| {
                let extensions = instance
                    .enumerate_device_extension_properties(handle)
                    .what("vkEnumerateDeviceExtensionProperties")?
                    .iter()
                    .filter_map(|e| {
                        e.extension_name_as_c_str().ok().map(|n| n.to_string_lossy().into_owned())
                    })
                    .collect();
                Ok(Gpu {
                    handle,
                    instance: 0,
                    index,
                    properties: instance.get_physical_device_properties(handle),
                    memory: instance.get_physical_device_memory_properties(handle),
                    families: instance.get_physical_device_queue_family_properties(handle),
                    extensions,
                })
            })
            .collect()
    }
}

/// Extensions that a rehearsal takes away, and their structs: what real captures ask for and their shaders do not use.
const BARE: &[(&str, &str)] = &[
    ("VK_KHR_ray_query", "VkPhysicalDeviceRayQueryFeaturesKHR"),
    ("VK_KHR_ray_tracing_position_fetch", "VkPhysicalDeviceRayTracingPositionFetchFeaturesKHR"),
    ("VK_EXT_shader_atomic_float2", "VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT"),
];

/// Which of the devices of these names is asked for (`--gpu`): a number, or part of a name.
pub fn wished(names: &[String], wish: &str) -> Option<usize> {
    let by_index = wish.parse::<usize>().ok().filter(|i| *i < names.len());
    by_index.or_else(|| names.iter().position(|n| n.to_lowercase().contains(&wish.to_lowercase())))
}

/// The device a captured one becomes: the user's choice, else the same one, else the most capable kind.
pub fn choose<'g>(gpus: &'g [Gpu], wish: Option<&str>, captured: Option<&CapturedGpu>) -> Result<&'g Gpu> {
    if gpus.is_empty() {
        return Err(Error::new(
            Kind::NoDevice,
            "the Vulkan loader finds no device; on Debian: apt-get install mesa-vulkan-drivers",
        ));
    }
    if let Some(wish) = wish {
        let names: Vec<String> = gpus.iter().map(Gpu::name).collect();
        return wished(&names, wish).map(|i| &gpus[i]).ok_or_else(|| {
            let names: Vec<_> = gpus.iter().map(|g| format!("{} ({})", g.index, g.name())).collect();
            Error::new(
                Kind::NoDevice,
                format!("no device matches --gpu {wish}; there are: {}", names.join(", ")),
            )
        });
    }
    let score = |g: &Gpu| {
        let same = captured.is_some_and(|c| g.is_same(c));
        let alike = captured
            .is_some_and(|c| (c.vendor, c.device) == (g.properties.vendor_id, g.properties.device_id));
        let kind = match g.properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => 4,
            vk::PhysicalDeviceType::INTEGRATED_GPU => 3,
            vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
            _ => 1,
        };
        (same, alike, kind, std::cmp::Reverse(g.index))
    };
    Ok(gpus.iter().max_by_key(|g| score(g)).expect("not empty"))
}
