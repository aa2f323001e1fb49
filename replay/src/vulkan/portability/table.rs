//! The table of all that a capture asks for beside what is here: made without a device (`check`), or before a replay makes its
//! first one.

use super::compare::Compare;
use super::line::{Done, Line, refuse, turn_off};
use super::unused::forgive;
use super::{Realigned, Samples, extensions};
use crate::error::{Error, Kind, Result, Vk};
use crate::options::{MemoryMode, Options};
use crate::preflight::asked::Asked;
use crate::preflight::prologue::Prologue;
use crate::preflight::used::Used;
use crate::vulkan::gpu::{self, Gpu};
use crate::vulkan::instance::instance_extensions;
use crate::vulkan::memory::mode::choose_mode;
use crate::vulkan::state::Vulkan;
use ash::vk;
use std::collections::{BTreeMap, HashSet};

/// What replaying a capture here would take.
#[derive(Debug)]
pub struct Verdict {
    /// The device it would run on.
    pub gpu: String,
    /// The mode memory would be in.
    pub memory: MemoryMode,
    /// The capture was taken on this device and driver.
    pub same_driver: bool,
    /// Everything asked for.
    pub lines: Vec<Line>,
}

impl Verdict {
    /// Nothing is refused.
    pub fn replays(&self) -> bool {
        !self.lines.iter().any(|l| l.done == Done::Refused)
    }
}

/// Compares without replaying: an instance of our own, no device.
pub fn check(
    asked: &Asked,
    prologue: &Prologue,
    options: &Options,
    used: impl FnOnce() -> Used,
) -> Result<Verdict> {
    // SAFETY: loading the system's loader runs its initialisers, which is what the user asked for.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|e| Error::new(Kind::NoDevice, format!("no Vulkan loader on this machine ({e})")))?;
    let properties2 = c"VK_KHR_get_physical_device_properties2";
    let names = [properties2.as_ptr()];
    let app = vk::ApplicationInfo::default().api_version(asked.api.max(vk::API_VERSION_1_1));
    let info = vk::InstanceCreateInfo::default().application_info(&app).enabled_extension_names(&names);
    // SAFETY: a plain creation.
    let instance = match unsafe { entry.create_instance(&info, None) } {
        Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => {
            let text = "the Vulkan loader finds no driver; `reray-replay devices` says what to install";
            return Err(Error::new(Kind::NoDevice, text));
        }
        r => r.what("vkCreateInstance")?,
    };
    let verdict = gpu::list_gpus(&instance).and_then(|mut gpus| {
        gpus.iter_mut().for_each(|gpu| gpu.rehearse(options.rehearse));
        let id = asked.devices.first().map_or(0, |d| d.gpu);
        let gpu = gpu::choose(&gpus, options.gpu.as_deref(), prologue.gpus.get(&id))?;
        let Compared { mut lines, .. } = table(&entry, &instance, gpu, asked, prologue, options)?;
        forgive(&mut lines, asked, used);
        turn_off(&mut lines, &options.no_bridges);
        Ok(Verdict {
            gpu: gpu.name(),
            memory: choose_mode(options, prologue, id, gpu),
            same_driver: prologue.gpus.get(&id).is_some_and(|then| gpu.is_same(then)),
            lines,
        })
    });
    // SAFETY: nothing was made from it.
    unsafe { instance.destroy_instance(None) };
    verdict
}

/// All that is asked for beside what is here, and what bridges need to know of it.
pub(super) struct Compared {
    lines: Vec<Line>,
    /// Numbers of samples that are others.
    samples: Samples,
    /// Buffers that have aligned copies.
    realigned: Realigned,
    /// Images that are not made.
    unmade: HashSet<u64>,
}

/// Compares with this device and the instance extensions that are here.
pub(super) fn table(
    entry: &ash::Entry,
    instance: &ash::Instance,
    gpu: &Gpu,
    asked: &Asked,
    prologue: &Prologue,
    options: &Options,
) -> Result<Compared> {
    let here = instance_extensions(entry, options.validate)?;
    let mut lines = extensions::of_instance(asked, &here, options);
    let mut c = Compare {
        query: ash::khr::get_physical_device_properties2::Instance::new(entry, instance),
        instance,
        gpu,
        asked,
        options,
        features: BTreeMap::new(),
        lines: Vec::new(),
        unmade: HashSet::new(),
    };
    c.api();
    for d in &asked.devices {
        c.extensions(d);
        c.device_features(d);
        c.queues(d);
        let mode = choose_mode(options, prologue, d.gpu, gpu);
        c.memory(d, prologue, mode);
        c.limits(mode);
    }
    let realigned = c.alignments();
    let samples = c.samples();
    c.formats(&samples);
    c.lines.dedup();
    lines.append(&mut c.lines);
    Ok(Compared { lines, samples, realigned, unmade: c.unmade })
}

/// Compares all that the capture asks for with the device; refuses what is not here. False if the device that the
/// capture uses has not been enumerated yet (programs look around with an instance of its own first).
pub fn compare(vk: &mut Vulkan, asked: &Asked, used: impl FnOnce() -> Used) -> Result<bool> {
    let id = asked.devices.first().map_or(0, |d| d.gpu);
    let Some(gpu) = vk.gpus.get(&id).cloned() else { return Ok(false) };
    let Some(instance) = vk.instances.get(&gpu.instance) else { return Ok(false) };
    let (prologue, options) = (&vk.prologue, &vk.options);
    let Compared { mut lines, samples, realigned, unmade } =
        table(&vk.entry, &instance.ash, &gpu, asked, prologue, options)?;
    vk.unmade = unmade;
    vk.samples = samples;
    // What commands write to a buffer is copied out of it.
    vk.needs.transfer_src |= !realigned.is_empty();
    vk.realigned = realigned;
    vk.unused = forgive(&mut lines, asked, used);
    turn_off(&mut lines, &vk.options.no_bridges);
    vk.whole_table = true;
    vk.captured_families.clone_from(&asked.families);
    vk.negotiation = lines;
    refuse(&vk.negotiation, &gpu)?;
    Ok(true)
}
