//! Instances and physical devices.

use super::{Vulkan, gpu, portability};
use crate::error::{Error, Kind, Result, Vk};
use crate::objects::Objects;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::live::InstanceState;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::param;
use std::ffi::{CStr, CString, c_char};
use world::Outcome;

const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// vkCreateInstance: window-system extensions and layers go, callbacks into the captured process go.
pub fn create(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let available = instance_extensions(&vk.entry, vk.options.validate)?;
    let Some(info) = linked.param::<vk::InstanceCreateInfo<'_>>(0).copied() else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    let asked = linked
        .texts(info.pp_enabled_extension_names, info.enabled_extension_count)
        .ok_or_else(|| Error::new(Kind::Capture, "ppEnabledExtensionNames: a name is missing"))?;
    let (mut names, mut missing): (Vec<CString>, Vec<String>) = (Vec::new(), Vec::new());
    for name in asked {
        let text = name.to_string_lossy();
        let here = available.iter().any(|a| *a == *text);
        // Platforms' surfaces (…_surface) are never made here; VK_KHR_surface itself is what VK_KHR_swapchain stands on.
        if here && (text == "VK_KHR_surface" || !text.ends_with("_surface")) {
            names.push(name);
        } else if portability::droppable(&text) || vk.options.remove_unsupported {
            if !text.ends_with("_surface") {
                report.note(&format!("instance extension {text} dropped"));
            }
        } else {
            missing.push(text.into_owned());
        }
    }
    if !missing.is_empty() {
        return Err(Error::new(
            Kind::Unsupported,
            format!(
                "no driver on this machine has the instance extensions {}; --remove-unsupported drops them, `reray-replay \
                 check` says what else the capture asks for",
                missing.join(", ")
            ),
        ));
    }
    let mut add = |n: &CStr| {
        if available.iter().any(|a| a.as_bytes() == n.to_bytes()) && !names.iter().any(|x| x.as_c_str() == n)
        {
            names.push(n.to_owned());
        }
    };
    for n in &vk.needs.instance_extensions {
        add(&CString::new(*n).expect("a constant"));
    }
    // Feature and driver queries of our own need it on Vulkan 1.0.
    add(c"VK_KHR_get_physical_device_properties2");
    if vk.options.validate {
        add(c"VK_EXT_debug_utils");
    }
    let pointers: Vec<*const c_char> = names.iter().map(|n| n.as_ptr()).collect();
    let layers: &[*const c_char] = if vk.options.validate { &[VALIDATION.as_ptr()] } else { &[] };
    let next = linked.unchain(info.p_next, |s| {
        matches!(
            s,
            vk::StructureType::DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT
                | vk::StructureType::DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT
                | vk::StructureType::VALIDATION_FLAGS_EXT
                | vk::StructureType::VALIDATION_FEATURES_EXT
                | vk::StructureType::DIRECT_DRIVER_LOADING_LIST_LUNARG
                | vk::StructureType::LAYER_SETTINGS_CREATE_INFO_EXT
        )
    });
    let mut application = info.p_application_info;
    let own;
    let asked = linked.one(application).map_or(0, |a| a.api_version);
    let api = portability::instance_version(&vk.entry, asked).max(vk.needs.api);
    match linked.one_mut(application) {
        Some(app) => app.api_version = api,
        None => {
            own = vk::ApplicationInfo::default().api_version(api);
            application = &raw const own;
        }
    }
    let mut create = vk.messages.create_info();
    if let Some(info) = linked.param_mut::<vk::InstanceCreateInfo<'_>>(0) {
        info.enabled_extension_count = pointers.len() as u32;
        info.pp_enabled_extension_names = pointers.as_ptr();
        info.enabled_layer_count = layers.len() as u32;
        info.pp_enabled_layer_names = layers.as_ptr();
        if !names.iter().any(|n| n.as_bytes() == b"VK_KHR_portability_enumeration") {
            info.flags &= !vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        info.p_application_info = application;
        info.p_next = next;
        if vk.options.validate {
            create.p_next = next;
            info.p_next = (&raw const create).cast();
        }
    }
    let outcome = vk.raw(call, linked, report)?;
    if outcome.result() < 0 {
        if outcome.result() == vk::Result::ERROR_INCOMPATIBLE_DRIVER.as_raw() {
            let text = "the Vulkan loader finds no driver; `reray-replay devices` says what to install";
            return Err(Error::new(Kind::NoDevice, text));
        }
        return Err(
            if vk.options.validate && outcome.result() == vk::Result::ERROR_LAYER_NOT_PRESENT.as_raw() {
                Error::new(
                    Kind::Unsupported,
                    "the validation layer is not installed; on Debian: apt-get install vulkan-validationlayers",
                )
            } else {
                Error::driver("vkCreateInstance", vk::Result::from_raw(outcome.result()))
            },
        );
    }
    let to = call
        .image
        .target(param!("vkCreateInstance", "pInstance"))
        .ok_or_else(|| Error::divergence("the capture has no id for the new instance"))?;
    let live = vk::Instance::from_raw(linked.word_at(to));
    // SAFETY: a live instance just made by this loader.
    let ash = unsafe { ash::Instance::load(vk.entry.static_fn(), live) };
    let messenger = if vk.options.validate {
        let loader = ash::ext::debug_utils::Instance::new(&vk.entry, &ash);
        // SAFETY: the messages outlive the instance (both are fields of the backend).
        let m = unsafe { loader.create_debug_utils_messenger(&vk.messages.create_info(), None) };
        Some((loader, m.what("vkCreateDebugUtilsMessengerEXT")?))
    } else {
        None
    };
    vk.table.reset(live.as_raw(), None);
    #[cfg(target_os = "linux")]
    for driver in super::pin::drivers() {
        tracing::debug!("{driver} stays loaded");
    }
    vk.instances.insert(call.image.u64(to), InstanceState { ash, api, messenger });
    let _ = objects;
    Ok(outcome)
}

/// vkDestroyInstance.
pub fn destroy(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let id = call.image.u64(0);
    // Devices that were not destroyed are no longer there afterwards, for anybody.
    let left: Vec<u64> = vk.devices.iter().filter(|d| d.1.instance_id == id).map(|d| *d.0).collect();
    for device in left {
        report.note("an instance was destroyed before its device");
        super::device::release(vk, objects, device)?;
        vk.devices.remove(&device);
        objects.remove_owner(device);
    }
    vk.gpus.retain(|_, g| g.instance != id);
    if let Some(state) = vk.instances.remove(&id)
        && let Some((loader, m)) = state.messenger
    {
        // SAFETY: made by us, destroyed once, before its instance.
        unsafe { loader.destroy_debug_utils_messenger(m, None) };
    }
    let outcome = vk.raw(call, linked, report);
    let other = vk.instances.values().next().map_or(0, |i| i.ash.handle().as_raw());
    vk.table.reset(other, None);
    outcome
}

/// vkEnumeratePhysicalDevices: every captured device becomes the one chosen for it.
pub fn enumerate_physical_devices(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, .. } = c;
    map_physical_devices(vk, objects, call)?;
    Ok(Outcome::captured(call))
}

/// vkEnumeratePhysicalDeviceGroups: likewise.
pub fn enumerate_physical_device_groups(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, .. } = c;
    map_physical_devices(vk, objects, call)?;
    Ok(Outcome::captured(call))
}

fn map_physical_devices(vk: &mut Vulkan, objects: &mut Objects, call: &Call) -> Result<()> {
    let Some(instance) = vk.instances.get(&call.image.u64(0)) else {
        return Err(Error::divergence("the instance was never created"));
    };
    let mut here = gpu::list_gpus(&instance.ash)?;
    here.iter_mut().for_each(|gpu| gpu.rehearse(vk.options.rehearse));
    for h in call.image.handles.iter().filter(|h| h.out && h.ty == vk.types.physical_device) {
        let id = call.image.u64(h.at);
        let gpu = gpu::choose(&here, vk.options.gpu.as_deref(), vk.prologue.gpus.get(&id))?;
        objects.insert(id, gpu.handle.as_raw(), h.ty);
        objects.belongs_to(id, call.image.u64(0));
        vk.gpus.insert(id, gpu::Gpu { instance: call.image.u64(0), ..gpu.clone() });
    }
    Ok(())
}

/// Names of the instance extensions here, those of the validation layer too if it is to be loaded.
pub fn instance_extensions(entry: &ash::Entry, validate: bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let sources: &[Option<&CStr>] = if validate { &[None, Some(VALIDATION)] } else { &[None] };
    for &layer in sources {
        // SAFETY: a query.
        let found = unsafe { entry.enumerate_instance_extension_properties(layer) };
        let found = match (found, layer) {
            (Err(_), Some(_)) => continue,
            (found, _) => found.what("vkEnumerateInstanceExtensionProperties")?,
        };
        names.extend(
            found
                .iter()
                .filter_map(|e| e.extension_name_as_c_str().ok().map(|n| n.to_string_lossy().into_owned())),
        );
    }
    Ok(names)
}
