//! What the layer knows: instances and devices by the loader's key, and everything else by handle.

use ash::vk::{self, Handle};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard};

/// A dispatchable handle's key: the first word of what it points to, one for all of an instance or of a device.
///
/// # Safety
/// `handle` is a live dispatchable handle, as the loader hands them to layers.
pub unsafe fn key(handle: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { (handle as *const u64).read() }
}

/// Functions below of an instance that the layer calls. Asked for while it is made: later a loader may answer with the
/// uppermost layer's.
pub const OF_INSTANCE: [&str; 7] = [
    "vkDestroyInstance",
    "vkCreateDevice",
    "vkEnumerateDeviceExtensionProperties",
    "vkGetPhysicalDeviceFeatures2",
    "vkGetPhysicalDeviceFeatures2KHR",
    "vkGetPhysicalDeviceProperties2",
    "vkGetPhysicalDeviceProperties2KHR",
];

/// What is below of an instance.
#[derive(Clone, Copy)]
pub struct Instance {
    pub get: vk::PFN_vkGetInstanceProcAddr,
    pub get_physical: Option<vk::PFN_vkGetInstanceProcAddr>,
    /// As [`OF_INSTANCE`].
    pub functions: [vk::PFN_vkVoidFunction; OF_INSTANCE.len()],
}

/// Those of a device.
#[derive(Clone, Copy)]
pub struct Device {
    pub handle: vk::Device,
    pub get: vk::PFN_vkGetDeviceProcAddr,
    pub instrumentation: bool,
    pub executables: bool,
    pub fault: bool,
    pub checkpoints: bool,
}

/// A pipeline or shader object.
#[derive(Clone, Debug, Default)]
pub struct Shaders {
    /// Made with the flag: its executions are counted.
    pub instrumented: bool,
    /// Made with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR.
    pub statistics: bool,
    /// The stages of each result: (sub index, stages).
    pub parts: Vec<(u32, u32)>,
    /// Every stage once.
    pub stages: Vec<u32>,
}

/// What a command buffer holds: an object's index, and what ran then.
#[derive(Clone, Debug)]
pub struct Captured {
    pub object: u64,
    pub result_index: u32,
    pub parts: Vec<(u32, u32)>,
}

/// A command buffer.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    pub active: Option<u64>,
    pub captured: Vec<Captured>,
    pub executed: Vec<u64>,
    /// Those of VK_NV_device_diagnostic_checkpoints, in order.
    pub checkpoints: Vec<u64>,
    /// By bind point.
    pub pipelines: HashMap<i32, u64>,
    /// Shader objects by stage.
    pub objects: BTreeMap<u32, u64>,
}

/// A result's place: in the order in which results are given.
pub type Place = (u32, u32, u32, u32);

/// An instrumentation object.
#[derive(Clone, Debug, Default)]
pub struct Object {
    pub next_index: u32,
    /// By (result index, stages, sub index, block).
    pub values: BTreeMap<Place, Vec<u64>>,
    pub asked: bool,
}

/// See the module's header.
#[derive(Default)]
pub struct State {
    pub instances: HashMap<u64, Instance>,
    pub devices: HashMap<u64, Device>,
    pub shaders: HashMap<u64, Shaders>,
    pub buffers: HashMap<u64, Buffer>,
    pub objects: HashMap<u64, Object>,
    pub next_object: u64,
}

/// All of it.
pub fn state() -> MutexGuard<'static, State> {
    static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
    STATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Says that a rule was broken.
pub fn complain(what: &str) {
    eprintln!("{}{what}", crate::COMPLAINT);
}

/// A function below a device, by any of its dispatchable handles.
///
/// # Safety
/// As [`key`]'s; `F` is the type of the function of this name.
pub unsafe fn below<F: Copy>(handle: u64, name: &str) -> F {
    assert_eq!(size_of::<F>(), size_of::<*const c_void>());
    // SAFETY: the caller's promise.
    let device = state().devices[&unsafe { key(handle) }];
    let c = CString::new(name).expect("a name of ours");
    // SAFETY: a live device; the function was asked of it by this name before anybody could call it.
    unsafe {
        let found = (device.get)(device.handle, c.as_ptr());
        std::mem::transmute_copy(&found.unwrap_or_else(|| panic!("nothing below has {name}")))
    }
}

/// A function below an instance, by any of its dispatchable handles; none where nothing below has it.
///
/// # Safety
/// As [`below`]'s.
pub unsafe fn below_instance<F: Copy>(handle: u64, name: &str) -> Option<F> {
    assert_eq!(size_of::<F>(), size_of::<*const c_void>());
    // SAFETY: the caller's promise.
    let instance = state().instances.get(&unsafe { key(handle) }).copied()?;
    let at = OF_INSTANCE.iter().position(|n| *n == name).expect("asked for at first");
    // Its KHR form, where there is one, stands behind it and does as well.
    let other = OF_INSTANCE.iter().position(|n| n.strip_suffix("KHR") == Some(name));
    let found = instance.functions[at].or_else(|| instance.functions[other?])?;
    // SAFETY: the function of this name, or of its KHR form.
    Some(unsafe { std::mem::transmute_copy(&found) })
}

/// The handle's number.
pub fn raw(h: impl Handle) -> u64 {
    h.as_raw()
}
