//! The extension's functions on one device, and its metrics.

use super::abi::{
    Begin, CREATE_INFO, Clear, Create, CreateInfo, Destroy, End, Enumerate, Get, HEADER_BYTES,
    METRIC_DESCRIPTION, MetricDescription, PROPERTIES, Properties,
};
use crate::passes::counters::source::{Metric, Results};
use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::vulkan::{DeviceState, Vulkan};
use std::ffi::{CStr, c_void};

/// How often an array is read again that grows while it is read.
const TRIES: u32 = 16;

/// See the module's header.
pub struct Functions {
    device: vk::Device,
    metrics: Vec<Metric>,
    create: Create,
    destroy: Destroy,
    begin: Begin,
    end: End,
    get: Get,
    clear: Clear,
}

fn missing(name: &str) -> Error {
    Error::new(Kind::Unsupported, format!("the driver has VK_ARM_shader_instrumentation, but no {name}"))
}

impl Functions {
    /// Of a device that was made with the feature.
    pub fn new(vk: &Vulkan, id: u64) -> Result<Self> {
        let (d, Some(instance)) = (vk.device(id)?, vk.instance_of(id)) else {
            return Err(Error::divergence("the device's instance is gone"));
        };
        let device = d.ash.handle();
        let load = |name: &'static CStr| {
            // SAFETY: a live device and a C string.
            let found = unsafe { instance.get_device_proc_addr(device, name.as_ptr()) };
            found.ok_or_else(|| missing(&name.to_string_lossy()))
        };
        // SAFETY: each function is of the type that the registry gives its name.
        unsafe {
            Ok(Functions {
                device,
                metrics: metrics(vk, instance, d)?,
                create: std::mem::transmute::<AnyFn, Create>(load(c"vkCreateShaderInstrumentationARM")?),
                destroy: std::mem::transmute::<AnyFn, Destroy>(load(c"vkDestroyShaderInstrumentationARM")?),
                begin: std::mem::transmute::<AnyFn, Begin>(load(c"vkCmdBeginShaderInstrumentationARM")?),
                end: std::mem::transmute::<AnyFn, End>(load(c"vkCmdEndShaderInstrumentationARM")?),
                get: std::mem::transmute::<AnyFn, Get>(load(c"vkGetShaderInstrumentationValuesARM")?),
                clear: std::mem::transmute::<AnyFn, Clear>(load(c"vkClearShaderInstrumentationMetricsARM")?),
            })
        }
    }

    /// What is counted.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// An instrumentation object.
    pub fn create(&self) -> Result<u64> {
        let info = CreateInfo { s_type: CREATE_INFO, next: std::ptr::null_mut() };
        let mut object = 0;
        // SAFETY: a live device with the feature.
        match unsafe { (self.create)(self.device, &info, std::ptr::null(), &mut object) } {
            vk::Result::SUCCESS => Ok(object),
            e => Err(Error::driver("vkCreateShaderInstrumentationARM", e)),
        }
    }

    /// It goes; nothing that it is active in is pending.
    pub fn destroy(&self, object: u64) {
        // SAFETY: ours, and not in use.
        unsafe { (self.destroy)(self.device, object, std::ptr::null()) }
    }

    /// Active from here on.
    pub fn begin(&self, buffer: vk::CommandBuffer, object: u64) {
        // SAFETY: the command buffer is being recorded, and nothing is active in it.
        unsafe { (self.begin)(buffer, object) }
    }

    /// No longer.
    pub fn end(&self, buffer: vk::CommandBuffer) {
        // SAFETY: it was begun in this command buffer, one command ago.
        unsafe { (self.end)(buffer) }
    }

    /// Zero again; indices stay.
    pub fn clear(&self, object: u64) {
        // SAFETY: ours.
        unsafe { (self.clear)(self.device, object) }
    }

    /// All that it holds.
    pub fn values(&self, object: u64) -> Result<Vec<Results>> {
        let stride = HEADER_BYTES + self.metrics.len() * 8;
        let call = "vkGetShaderInstrumentationValuesARM";
        let mut room = 0;
        for _ in 0..TRIES {
            let mut count = 0;
            // SAFETY: only the count is written.
            let r = unsafe { (self.get)(self.device, object, &mut count, std::ptr::null_mut(), 0) };
            if r != vk::Result::SUCCESS && r != vk::Result::INCOMPLETE {
                return Err(Error::driver(call, r));
            }
            room = count.max(room);
            let mut words = vec![0u64; (room as usize * stride).div_ceil(8)];
            let mut got = room;
            let to: *mut c_void = words.as_mut_ptr().cast();
            // SAFETY: as much room as it is told, in blocks of the stride that the extension gives.
            let r = unsafe { (self.get)(self.device, object, &mut got, to, 0) };
            match r {
                vk::Result::SUCCESS => {
                    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                    return Ok(bytes.chunks_exact(stride).take(got as usize).map(results).collect());
                }
                vk::Result::INCOMPLETE => room += room / 4 + 1,
                e => return Err(Error::driver(call, e)),
            }
        }
        let text = format!("{call} says VK_INCOMPLETE again and again, for {room} blocks at last");
        Err(Error::new(Kind::Unsupported, text))
    }
}

type AnyFn = unsafe extern "system" fn();

fn results(bytes: &[u8]) -> Results {
    let word = |n: usize| u32::from_le_bytes(bytes[n * 4..n * 4 + 4].try_into().expect("4 bytes"));
    let counters = bytes[HEADER_BYTES..].chunks_exact(8);
    Results {
        result_index: word(0),
        result_sub_index: word(1),
        stages: word(2),
        basic_block_index: word(3),
        entry: None,
        counters: counters.map(|c| u64::from_le_bytes(c.try_into().expect("8 bytes"))).collect(),
    }
}

fn metrics(vk: &Vulkan, instance: &ash::Instance, d: &DeviceState) -> Result<Vec<Metric>> {
    let gpu = d.gpu.handle;
    let mut properties = Properties {
        s_type: PROPERTIES,
        next: std::ptr::null_mut(),
        num_metrics: 0,
        per_basic_block_granularity: 0,
    };
    let mut all =
        vk::PhysicalDeviceProperties2 { p_next: (&raw mut properties).cast(), ..Default::default() };
    // SAFETY: a chain of one struct, on a device that has its extension.
    unsafe { instance.get_physical_device_properties2(gpu, &mut all) };
    let name = c"vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM";
    let found = vk.instance_function(instance, name).ok_or_else(|| missing(&name.to_string_lossy()))?;
    // SAFETY: its type is the registry's.
    let enumerate = unsafe { std::mem::transmute::<AnyFn, Enumerate>(found) };
    let new = MetricDescription {
        s_type: METRIC_DESCRIPTION,
        next: std::ptr::null_mut(),
        name: [0; vk::MAX_DESCRIPTION_SIZE],
        description: [0; vk::MAX_DESCRIPTION_SIZE],
    };
    let mut found = vec![new; properties.num_metrics as usize];
    let mut count = properties.num_metrics;
    // SAFETY: room for as many as the properties say.
    match unsafe { enumerate(gpu, &mut count, found.as_mut_ptr()) } {
        vk::Result::SUCCESS if count == properties.num_metrics => {}
        vk::Result::SUCCESS | vk::Result::INCOMPLETE => {
            let n = properties.num_metrics;
            let text =
                format!("the driver says that it has {n} metrics, and describes another number of them");
            return Err(Error::new(Kind::Unsupported, text));
        }
        e => return Err(Error::driver("vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM", e)),
    }
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    };
    Ok(found.iter().map(|m| Metric { name: text(&m.name), about: text(&m.description) }).collect())
}
