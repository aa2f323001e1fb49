//! Making a [`Gpu`]: instance, headless surface, device and queue.
//!
//! Asks for Vulkan 1.1, the surface, swapchain and headless-surface extensions and, where it exists,
//! VK_EXT_debug_utils; a scene adds its [`Needs`]. Nothing else is enabled, so that what was recorded
//! replays on as many drivers as the scene's own nature allows.
//!
//! Refuses, with the names of what is missing, a machine without a device that can do this.

use std::cell::RefCell;
use std::ffi::{CStr, CString};

use ash::vk;

use super::{Gpu, ray};
use crate::error::{Doing, Error, Result};

/// What a scene asks of the device beyond Vulkan 1.1 and a swapchain.
#[derive(Default)]
pub struct Needs {
    /// Device extensions.
    pub extensions: &'static [&'static CStr],
    /// Features of `vkGetPhysicalDeviceFeatures`.
    pub features: vk::PhysicalDeviceFeatures,
    /// The feature of VK_KHR_dynamic_rendering; the scene names the extension and those it stands on.
    pub dynamic_rendering: bool,
    /// The feature of VK_KHR_timeline_semaphore; the scene names the extension.
    pub timeline_semaphore: bool,
    /// Vulkan 1.2 with ray-tracing pipelines, indirect traces and buffer addresses; the scene names the extensions.
    pub ray_tracing: bool,
    /// Vulkan 1.2 with buffer addresses.
    pub addresses: bool,
    /// With ray tracing: ray queries and traces with indirect tables; the scene names the extensions.
    pub ray_queries: bool,
    /// The least version of Vulkan; 0 where what is above says it.
    pub version: u32,
    /// More structures of features, whose every member is to be enabled; the scene names the extensions.
    pub more: Option<fn() -> MoreFeatures>,
}

/// Structures of features.
pub type MoreFeatures = Vec<Box<dyn Features>>;

/// A structure of features, of whatever kind.
pub trait Features {
    /// Its beginning, which all such structures share.
    fn base(&mut self) -> *mut vk::BaseOutStructure<'static>;
}

impl<T: vk::ExtendsDeviceCreateInfo> Features for T {
    fn base(&mut self) -> *mut vk::BaseOutStructure<'static> {
        std::ptr::from_mut(self).cast()
    }
}

/// A device that was looked at and found able.
struct Choice {
    physical: vk::PhysicalDevice,
    family: u32,
}

impl Gpu {
    /// Opens the first device that can do what the scene needs.
    pub fn open(scene: &str, needs: &Needs) -> Result<Self> {
        // SAFETY: the loader's library has no initialiser that could misbehave.
        let entry = unsafe { ash::Entry::load() }.doing("loading the Vulkan loader (Debian: libvulkan1)")?;
        let (instance, has_debug) = instance(&entry, scene, needs)?;
        let surfaces = ash::khr::surface::Instance::new(&entry, &instance);
        let headless = ash::ext::headless_surface::Instance::new(&entry, &instance);
        let surface =
            unsafe { headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None) }
                .doing("creating a headless surface")?;

        let Choice { physical, family } = choose(&instance, &surfaces, surface, needs)?;
        let extensions: Vec<_> = wanted_extensions(needs).map(CStr::as_ptr).collect();
        let queue_info =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let mut rendering = vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
        let mut device_info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queue_info)
            .enabled_extension_names(&extensions)
            .enabled_features(&needs.features);
        if needs.dynamic_rendering {
            device_info = device_info.push_next(&mut rendering);
        }
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        if needs.timeline_semaphore {
            device_info = device_info.push_next(&mut timeline);
        }
        let mut addresses =
            vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true);
        if needs.addresses {
            device_info = device_info.push_next(&mut addresses);
        }
        let mut wanted = ray::Features::wanted();
        if needs.ray_tracing {
            device_info = wanted.chain(device_info, needs.ray_queries);
        }
        let mut more = needs.more.map(|make| make()).unwrap_or_default();
        for structure in &mut more {
            let base = structure.base();
            // SAFETY: whatever extends the creation of a device begins like this; `more` outlives the call.
            unsafe { (*base).p_next = device_info.p_next.cast_mut().cast() };
            device_info.p_next = base.cast();
        }
        let device =
            unsafe { instance.create_device(physical, &device_info, None) }.doing("creating the device")?;

        let gpu = Self {
            queue: unsafe { device.get_device_queue(family, 0) },
            family,
            swapchains: ash::khr::swapchain::Device::new(&instance, &device),
            physical,
            memory: unsafe { instance.get_physical_device_memory_properties(physical) },
            surface,
            surfaces,
            ray: needs.ray_tracing.then(|| ray::Ray::new(&instance, &device, physical)),
            debug: has_debug.then(|| ash::ext::debug_utils::Device::new(&instance, &device)),
            owned: RefCell::default(),
            device,
            instance,
            _entry: entry,
        };
        gpu.name(gpu.queue, "main queue");
        Ok(gpu)
    }

    /// Properties of the device that an extension brings.
    pub fn properties<T: vk::ExtendsPhysicalDeviceProperties2>(&self, more: &mut T) {
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(more);
        unsafe { self.instance.get_physical_device_properties2(self.physical, &mut all) };
    }

    /// The functions of an extension, for a scene that needs it.
    pub fn extension<T>(&self, load: fn(&ash::Instance, &ash::Device) -> T) -> T {
        load(&self.instance, &self.device)
    }

    /// The functions of VK_KHR_dynamic_rendering, for a scene that needs it.
    pub fn rendering(&self) -> ash::khr::dynamic_rendering::Device {
        ash::khr::dynamic_rendering::Device::new(&self.instance, &self.device)
    }

    /// The functions of VK_KHR_timeline_semaphore, for a scene that needs it.
    pub fn timeline(&self) -> ash::khr::timeline_semaphore::Device {
        ash::khr::timeline_semaphore::Device::new(&self.instance, &self.device)
    }

    /// The functions of VK_EXT_mesh_shader, for a scene that needs it.
    pub fn mesh(&self) -> ash::ext::mesh_shader::Device {
        ash::ext::mesh_shader::Device::new(&self.instance, &self.device)
    }

    /// The functions that describe the surface, with what they are asked about.
    pub(super) fn surface(&self) -> (&ash::khr::surface::Instance, vk::PhysicalDevice, vk::SurfaceKHR) {
        (&self.surfaces, self.physical, self.surface)
    }
}

/// The device extensions of every scene, then the scene's own.
fn wanted_extensions(needs: &Needs) -> impl Iterator<Item = &'static CStr> {
    std::iter::once(ash::khr::swapchain::NAME).chain(needs.extensions.iter().copied())
}

/// Makes the instance; says whether VK_EXT_debug_utils is there.
fn instance(entry: &ash::Entry, scene: &str, needs: &Needs) -> Result<(ash::Instance, bool)> {
    let offered = unsafe { entry.enumerate_instance_extension_properties(None) }?;
    let has = |name: &CStr| offered.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    let mut extensions = vec![ash::khr::surface::NAME, ash::ext::headless_surface::NAME];
    if let Some(missing) = extensions.iter().find(|name| !has(name)) {
        return Err(Error::new(format!(
            "no driver here offers {} (Mesa's llvmpipe does; Debian: mesa-vulkan-drivers)",
            missing.to_string_lossy()
        )));
    }
    let has_debug = has(ash::ext::debug_utils::NAME);
    if has_debug {
        extensions.push(ash::ext::debug_utils::NAME);
    }
    let extensions: Vec<_> = extensions.into_iter().map(CStr::as_ptr).collect();
    let name = CString::new(scene).doing("naming the application")?;
    let application = vk::ApplicationInfo::default()
        .application_name(&name)
        .application_version(1)
        .engine_name(c"captures")
        .engine_version(1)
        .api_version(needs.version.max(if needs.ray_tracing || needs.addresses {
            vk::API_VERSION_1_2
        } else {
            vk::API_VERSION_1_1
        }));
    let info =
        vk::InstanceCreateInfo::default().application_info(&application).enabled_extension_names(&extensions);
    let instance = unsafe { entry.create_instance(&info, None) }.doing("creating the instance")?;
    Ok((instance, has_debug))
}

/// The first device with the extensions and features, and one queue family for everything.
fn choose(
    instance: &ash::Instance,
    surfaces: &ash::khr::surface::Instance,
    surface: vk::SurfaceKHR,
    needs: &Needs,
) -> Result<Choice> {
    let mut refusals = String::new();
    for physical in unsafe { instance.enumerate_physical_devices() }.doing("listing the devices")? {
        match suits(instance, surfaces, surface, needs, physical)? {
            Ok(family) => return Ok(Choice { physical, family }),
            Err(why) => {
                let properties = unsafe { instance.get_physical_device_properties(physical) };
                let name = properties.device_name_as_c_str().unwrap_or(c"a device without a name");
                refusals += &format!("\n  {}: {why}", name.to_string_lossy());
            }
        }
    }
    Err(Error::new(format!("no device here can run this scene{refusals}")))
}

/// The queue family to use of a device, or why the device will not do.
fn suits(
    instance: &ash::Instance,
    surfaces: &ash::khr::surface::Instance,
    surface: vk::SurfaceKHR,
    needs: &Needs,
    physical: vk::PhysicalDevice,
) -> Result<std::result::Result<u32, String>> {
    let offered = unsafe { instance.enumerate_device_extension_properties(physical) }?;
    let missing: Vec<_> = wanted_extensions(needs)
        .filter(|name| !offered.iter().any(|e| e.extension_name_as_c_str() == Ok(name)))
        .map(CStr::to_string_lossy)
        .collect();
    if !missing.is_empty() {
        return Ok(Err(format!("lacks {}", missing.join(", "))));
    }

    if unsafe { instance.get_physical_device_properties(physical) }.api_version < needs.version {
        return Ok(Err("is of an older version of Vulkan".to_owned()));
    }
    let features = unsafe { instance.get_physical_device_features(physical) };
    if !covers(&features, &needs.features) {
        return Ok(Err("lacks a feature that the scene enables".to_owned()));
    }
    if needs.dynamic_rendering {
        let mut rendering = vk::PhysicalDeviceDynamicRenderingFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut rendering);
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        if rendering.dynamic_rendering == vk::FALSE {
            return Ok(Err("lacks dynamic rendering".to_owned()));
        }
    }
    if needs.timeline_semaphore {
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut timeline);
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        if timeline.timeline_semaphore == vk::FALSE {
            return Ok(Err("lacks timeline semaphores".to_owned()));
        }
    }

    if needs.addresses {
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut addresses);
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        if properties.api_version < vk::API_VERSION_1_2 || addresses.buffer_device_address == vk::FALSE {
            return Ok(Err("lacks buffer addresses".to_owned()));
        }
    }
    if needs.ray_tracing && !ray::Features::offered(instance, physical, needs.ray_queries) {
        return Ok(Err("lacks ray-tracing pipelines, their indirect traces or buffer addresses".to_owned()));
    }

    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    for (index, family) in (0..).zip(&families) {
        let able = family.queue_flags.contains(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        if able && unsafe { surfaces.get_physical_device_surface_support(physical, index, surface) }? {
            return Ok(Ok(index));
        }
    }
    Ok(Err("has no queue that draws, computes and presents without a window".to_owned()))
}

/// Whether every feature that is wanted is offered.
fn covers(offered: &vk::PhysicalDeviceFeatures, wanted: &vk::PhysicalDeviceFeatures) -> bool {
    const COUNT: usize = size_of::<vk::PhysicalDeviceFeatures>() / size_of::<vk::Bool32>();
    // SAFETY: the struct is nothing but VkBool32 members, in C layout.
    let bools = |f: &vk::PhysicalDeviceFeatures| unsafe {
        std::mem::transmute::<vk::PhysicalDeviceFeatures, [vk::Bool32; COUNT]>(*f)
    };
    bools(wanted)
        .iter()
        .zip(bools(offered))
        .all(|(wanted, offered)| *wanted == vk::FALSE || offered != vk::FALSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wanted_feature_must_be_offered() {
        let none = vk::PhysicalDeviceFeatures::default();
        let wide = none.wide_lines(true);
        assert!(covers(&none, &none));
        assert!(covers(&wide, &none));
        assert!(covers(&wide, &wide));
        assert!(!covers(&none, &wide));
    }
}
