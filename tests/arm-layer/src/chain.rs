//! Instances, devices, and which functions the layer answers with.

use crate::abi::{
    FEATURES, Features, LINK, LOADER_DEVICE_CREATE_INFO, LOADER_INSTANCE_CREATE_INFO, LayerCreateInfo,
    PROPERTIES, Properties,
};
use crate::state::{Device, Instance, OF_INSTANCE, below, below_instance, complain, key, raw, state};
use crate::{BLOCKS, METRICS, commands, executables, instrumentation, lost, misbehave, pipelines};
use ash::vk;
use std::ffi::{CStr, CString, c_char, c_void};

/// The extensions that are added.
pub const EXTENSIONS: [&CStr; 2] =
    [c"VK_ARM_shader_instrumentation", c"VK_KHR_pipeline_executable_properties"];

/// Any function.
pub type Function = vk::PFN_vkVoidFunction;

/// A function as any.
#[macro_export]
macro_rules! any {
    ($f:expr, $ty:ty) => {{
        let f: $ty = $f;
        // SAFETY: a function pointer is turned back by whoever knows its name.
        unsafe { std::mem::transmute::<$ty, ash::vk::PFN_vkVoidFunction>(f) }
    }};
}

/// # Safety
/// `chain` begins a chain of the loader's.
unsafe fn link(mut chain: *const c_void, wanted: i32) -> Option<*mut LayerCreateInfo> {
    while !chain.is_null() {
        let s = chain.cast_mut().cast::<LayerCreateInfo>();
        // SAFETY: the caller's promise; only structs of this sType have a function.
        unsafe {
            if (*s).s_type == wanted && (*s).function == LINK {
                return Some(s);
            }
            chain = (*s).next;
        }
    }
    None
}

unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: called by the loader with its link in the chain.
    unsafe {
        let Some(own) = link((*info).p_next, LOADER_INSTANCE_CREATE_INFO) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let to = (*own).link;
        let get = (*to).get_instance_proc_addr;
        let physical = (*to).second;
        (*own).link = (*to).next;
        let Some(create) = get(vk::Instance::null(), c"vkCreateInstance".as_ptr()) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let create: vk::PFN_vkCreateInstance = std::mem::transmute(create);
        let result = create(info, allocator, out);
        if result == vk::Result::SUCCESS {
            let get_physical =
                std::mem::transmute::<*const c_void, Option<vk::PFN_vkGetInstanceProcAddr>>(physical);
            let functions = OF_INSTANCE.map(|n| {
                let name = CString::new(n).expect("a name of ours");
                get(*out, name.as_ptr())
            });
            let made = Instance { get, get_physical, functions };
            state().instances.insert(key(raw(*out)), made);
        }
        result
    }
}

unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if raw(instance) == 0 {
        return;
    }
    // SAFETY: a live instance of the loader's.
    unsafe {
        let destroy = below_instance::<vk::PFN_vkDestroyInstance>(raw(instance), "vkDestroyInstance");
        state().instances.remove(&key(raw(instance)));
        if let Some(destroy) = destroy {
            destroy(instance, allocator);
        }
    }
}

unsafe extern "system" fn enumerate_extensions(
    gpu: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller's arrays, as the command has them.
    unsafe {
        let name = "vkEnumerateDeviceExtensionProperties";
        let below: Option<vk::PFN_vkEnumerateDeviceExtensionProperties> = below_instance(raw(gpu), name);
        let Some(next) = below else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        let ours = !layer.is_null() && CStr::from_ptr(layer).to_bytes() == crate::LAYER.as_bytes();
        if !layer.is_null() && !ours {
            return next(gpu, layer, count, out);
        }
        let mut all = Vec::new();
        if !ours {
            let mut n = 0;
            let r = next(gpu, layer, &mut n, std::ptr::null_mut());
            if r != vk::Result::SUCCESS {
                return r;
            }
            all.resize(n as usize, vk::ExtensionProperties::default());
            let r = next(gpu, layer, &mut n, all.as_mut_ptr());
            if r != vk::Result::SUCCESS {
                return r;
            }
        }
        for e in EXTENSIONS.iter().chain(lost::extensions()).copied() {
            if all.iter().any(|a| a.extension_name_as_c_str() == Ok(e)) {
                continue;
            }
            let mut p = vk::ExtensionProperties { spec_version: 1, ..Default::default() };
            for (to, from) in p.extension_name.iter_mut().zip(e.to_bytes_with_nul()) {
                *to = *from as c_char;
            }
            all.push(p);
        }
        if out.is_null() {
            *count = all.len() as u32;
            return vk::Result::SUCCESS;
        }
        let n = all.len().min(*count as usize);
        std::ptr::copy_nonoverlapping(all.as_ptr(), out, n);
        *count = n as u32;
        if n < all.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}

/// # Safety
/// `chain` begins a chain of structs of Vulkan.
unsafe fn find(mut chain: *const c_void, wanted: i32) -> *mut c_void {
    while !chain.is_null() {
        // SAFETY: the caller's promise.
        unsafe {
            let s = chain.cast::<vk::BaseInStructure<'_>>();
            if (*s).s_type.as_raw() == wanted {
                return chain.cast_mut();
            }
            chain = (*s).p_next.cast();
        }
    }
    std::ptr::null_mut()
}

const FAULT_FEATURES: i32 = vk::StructureType::PHYSICAL_DEVICE_FAULT_FEATURES_EXT.as_raw();
const EXECUTABLE_FEATURES: i32 =
    vk::StructureType::PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR.as_raw();

unsafe extern "system" fn features(gpu: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceFeatures2<'_>) {
    // SAFETY: the caller's chain.
    unsafe {
        let next: Option<vk::PFN_vkGetPhysicalDeviceFeatures2> =
            below_instance(raw(gpu), "vkGetPhysicalDeviceFeatures2");
        if let Some(next) = next {
            next(gpu, out);
        }
        if let Some(f) = find((*out).p_next, FEATURES).cast::<Features>().as_mut() {
            f.shader_instrumentation = 1;
        }
        let f = find((*out).p_next, EXECUTABLE_FEATURES)
            .cast::<vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR<'_>>();
        if let Some(f) = f.as_mut() {
            f.pipeline_executable_info = 1;
        }
        let f = find((*out).p_next, FAULT_FEATURES).cast::<vk::PhysicalDeviceFaultFeaturesEXT<'_>>();
        if let Some(f) = f.as_mut().filter(|_| !lost::extensions().is_empty()) {
            f.device_fault = 1;
        }
    }
}

unsafe extern "system" fn properties(gpu: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties2<'_>) {
    // SAFETY: the caller's chain.
    unsafe {
        let next: Option<vk::PFN_vkGetPhysicalDeviceProperties2> =
            below_instance(raw(gpu), "vkGetPhysicalDeviceProperties2");
        if let Some(next) = next {
            next(gpu, out);
        }
        if let Some(p) = find((*out).p_next, PROPERTIES).cast::<Properties>().as_mut() {
            p.num_metrics = METRICS.len() as u32;
            p.per_basic_block_granularity = u32::from(BLOCKS > 1);
        }
    }
}

/// Takes a struct out of a chain that may be written.
///
/// # Safety
/// As [`find`]'s.
unsafe fn unlink(chain: &mut *const c_void, wanted: i32) -> bool {
    let mut slot: *mut *const c_void = chain;
    // SAFETY: the caller's promise; every struct has its pNext behind its sType.
    unsafe {
        while !(*slot).is_null() {
            let s = (*slot).cast::<vk::BaseInStructure<'_>>().cast_mut();
            if (*s).s_type.as_raw() == wanted {
                *slot = (*s).p_next.cast();
                return true;
            }
            slot = (&raw mut (*s).p_next).cast();
        }
    }
    false
}

unsafe extern "system" fn create_device(
    gpu: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    // SAFETY: called by the loader with its link in the chain.
    unsafe {
        let Some(own) = link((*info).p_next, LOADER_DEVICE_CREATE_INFO) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let to = (*own).link;
        let get = std::mem::transmute::<*const c_void, vk::PFN_vkGetDeviceProcAddr>((*to).second);
        (*own).link = (*to).next;
        let Some(create) = below_instance::<vk::PFN_vkCreateDevice>(raw(gpu), "vkCreateDevice") else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let mut info = *info;
        let all = if info.enabled_extension_count == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(info.pp_enabled_extension_names, info.enabled_extension_count as usize)
        };
        let has = |n: &CStr| all.iter().any(|a| CStr::from_ptr(*a) == n);
        let (arm, executable) = (has(EXTENSIONS[0]), has(EXTENSIONS[1]));
        let [fault, checkpoints] = lost::EXTENSIONS.map(has);
        let ours = |n: &CStr| EXTENSIONS.contains(&n) || lost::extensions().contains(&n);
        let rest: Vec<_> = all.iter().copied().filter(|a| !ours(CStr::from_ptr(*a))).collect();
        info.enabled_extension_count = rest.len() as u32;
        info.pp_enabled_extension_names = rest.as_ptr();
        let mut chain = info.p_next;
        let on = |s: *const u32| !s.is_null() && *s.add(4) != 0;
        let arm_on = on(find(chain, FEATURES).cast());
        let executable_on = on(find(chain, EXECUTABLE_FEATURES).cast());
        let fault_on = on(find(chain, FAULT_FEATURES).cast());
        if (arm_on && !arm) || (executable_on && !executable) || (fault_on && !fault) {
            complain("a feature is turned on without its extension");
        }
        unlink(&mut chain, FEATURES);
        unlink(&mut chain, EXECUTABLE_FEATURES);
        if !lost::extensions().is_empty() {
            unlink(&mut chain, FAULT_FEATURES);
        }
        info.p_next = chain;
        let result = create(gpu, &info, allocator, out);
        if result == vk::Result::SUCCESS {
            let made = Device {
                handle: *out,
                get,
                instrumentation: arm && arm_on,
                executables: executable && executable_on,
                fault: fault && fault_on,
                checkpoints,
            };
            state().devices.insert(key(raw(*out)), made);
        }
        result
    }
}

unsafe extern "system" fn destroy_device(device: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
    if raw(device) == 0 {
        return;
    }
    // SAFETY: a live device of the loader's.
    unsafe {
        let destroy: vk::PFN_vkDestroyDevice = below(raw(device), "vkDestroyDevice");
        let left = {
            let mut s = state();
            s.devices.remove(&key(raw(device)));
            let left = s.objects.len();
            s.objects.clear();
            left
        };
        if left > 0 {
            complain(&format!("{left} instrumentation objects were not destroyed"));
        }
        destroy(device, allocator);
    }
}

fn of_instance(name: &str) -> Function {
    match name {
        "vkCreateInstance" => any!(create_instance, vk::PFN_vkCreateInstance),
        "vkDestroyInstance" => any!(destroy_instance, vk::PFN_vkDestroyInstance),
        "vkCreateDevice" => any!(create_device, vk::PFN_vkCreateDevice),
        "vkGetInstanceProcAddr" => any!(get_instance_proc_addr, vk::PFN_vkGetInstanceProcAddr),
        _ => of_physical(name),
    }
}

fn of_physical(name: &str) -> Function {
    match name {
        "vkEnumerateDeviceExtensionProperties" => {
            any!(enumerate_extensions, vk::PFN_vkEnumerateDeviceExtensionProperties)
        }
        "vkGetPhysicalDeviceFeatures2" | "vkGetPhysicalDeviceFeatures2KHR" => {
            any!(features, vk::PFN_vkGetPhysicalDeviceFeatures2)
        }
        "vkGetPhysicalDeviceProperties2" | "vkGetPhysicalDeviceProperties2KHR" => {
            any!(properties, vk::PFN_vkGetPhysicalDeviceProperties2)
        }
        instrumentation::ENUMERATE => instrumentation::enumerate(),
        _ => None,
    }
}

fn of_device(name: &str) -> Function {
    match name {
        "vkDestroyDevice" => any!(destroy_device, vk::PFN_vkDestroyDevice),
        "vkGetDeviceProcAddr" => any!(get_device_proc_addr, vk::PFN_vkGetDeviceProcAddr),
        _ => pipelines::of(name)
            .or_else(|| commands::of(name))
            .or_else(|| instrumentation::of(name))
            .or_else(|| executables::of(name))
            .or_else(|| lost::of(name)),
    }
}

/// Whether a device that was made so has the function at all.
fn is_there(device: &Device, name: &str) -> bool {
    if instrumentation::DEVICE_NAMES.contains(&name) {
        device.instrumentation
    } else if executables::NAMES.contains(&name) {
        device.executables
    } else if lost::NAMES.contains(&name) && !lost::extensions().is_empty() {
        lost::is_there(device, name)
    } else {
        true
    }
}

/// # Safety
/// `name` is a C string.
unsafe fn text<'n>(name: *const c_char) -> &'n str {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default()
}

/// vkGetInstanceProcAddr.
///
/// # Safety
/// As the command has it.
pub unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> Function {
    // SAFETY: the caller's arguments.
    unsafe {
        let ours = of_instance(text(name)).or_else(|| of_device(text(name)));
        if ours.is_some() || raw(instance) == 0 {
            return ours;
        }
        let next = state().instances.get(&key(raw(instance))).copied()?;
        (next.get)(instance, name)
    }
}

/// vkGetDeviceProcAddr. Of what the driver lacks nothing is offered.
///
/// # Safety
/// As the command has it.
pub unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> Function {
    // SAFETY: the caller's arguments.
    unsafe {
        let next = state().devices.get(&key(raw(device))).copied()?;
        let n = text(name);
        let own =
            [&instrumentation::DEVICE_NAMES[..], &executables::NAMES, &lost::NAMES].concat().contains(&n);
        if !is_there(&next, n) {
            return None;
        }
        let found = match of_device(n) {
            Some(f) if own || (next.get)(device, name).is_some() => Some(f),
            Some(_) => None,
            None => (next.get)(device, name),
        };
        misbehave::instead(n, found)
    }
}

/// vk_layerGetPhysicalDeviceProcAddr: functions of physical devices that the loader does not know.
///
/// # Safety
/// As the loader calls it.
pub unsafe extern "system" fn get_physical_device_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> Function {
    // SAFETY: the caller's arguments.
    unsafe {
        let ours = of_physical(text(name));
        if ours.is_some() || raw(instance) == 0 {
            return ours;
        }
        let next = state().instances.get(&key(raw(instance))).copied()?;
        next.get_physical.and_then(|g| g(instance, name))
    }
}
