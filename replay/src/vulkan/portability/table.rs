//! The table of all that a capture asks for beside what is here: made without a device (`check`), or before a replay makes its
//! first one.

use super::compare::Compare;
use super::descriptor_buffers::{DescriptorBuffers, Sizes};
use super::line::{Done, Line, refuse, turn_off};
use super::stand_ins::{StandInImages, StandIns, bridge_features, replaced};
use super::unused::{Unused, forgive};
use super::{Realigned, Samples, extensions};
use crate::error::{Error, Kind, Result, Vk};
use crate::options::{MemoryMode, Options};
use crate::preflight::asked::Asked;
use crate::preflight::prologue::Prologue;
use crate::preflight::stand_ins::Uses;
use crate::preflight::{stand_ins, used, written_places};
use crate::vulkan::answered::answered_by_capture;
use crate::vulkan::gpu::{self, Gpu};
use crate::vulkan::instance::instance_extensions;
use crate::vulkan::memory::mode::choose_mode;
use crate::vulkan::state::Vulkan;
use ash::vk;
use gfxr_parse::container::Capture;
use std::borrow::Cow;
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
pub fn check(asked: &Asked, prologue: &Prologue, options: &Options, capture: &Capture) -> Result<Verdict> {
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
        let (mut lines, bridges) = table(&entry, &instance, gpu, asked, prologue, options, capture)?;
        turn_off(&mut lines, &options.no_bridges);
        let options = with_room(options, &bridges.stand_ins);
        Ok(Verdict {
            gpu: gpu.name(),
            memory: choose_mode(&options, prologue, id, gpu),
            same_driver: prologue.gpus.get(&id).is_some_and(|then| gpu.is_same(then)),
            lines,
        })
    });
    // SAFETY: nothing was made from it.
    unsafe { instance.destroy_instance(None) };
    verdict
}

/// What stands in for what is not here.
pub(super) struct Bridges {
    /// Numbers of samples that are others.
    samples: Samples,
    /// Buffers that have aligned copies.
    realigned: Realigned,
    /// Images that are not made.
    unmade: HashSet<u64>,
    /// Formats that are others.
    stand_ins: StandIns,
    /// Images of such are copied to buffers.
    packs: bool,
    /// Features that are not needed for that.
    cleared: Vec<&'static str>,
    /// What is left out.
    unused: Unused,
    /// How descriptor buffers differ.
    descriptors: Option<(u64, Sizes)>,
}

/// Images in another format than at capture do not lie where they lay.
fn with_room<'o>(options: &'o Options, found: &StandIns) -> Cow<'o, Options> {
    match options.memory {
        MemoryMode::Auto if !found.is_empty() => {
            Cow::Owned(Options { memory: MemoryMode::Rebind, ..options.clone() })
        }
        _ => Cow::Borrowed(options),
    }
}

/// All that is asked for, against this device and the instance extensions that are here, and what stands in for what is not.
pub(super) fn table(
    entry: &ash::Entry,
    instance: &ash::Instance,
    gpu: &Gpu,
    asked: &Asked,
    prologue: &Prologue,
    options: &Options,
    capture: &Capture,
) -> Result<(Vec<Line>, Bridges)> {
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
        uses: Uses::default(),
        unmade: HashSet::new(),
    };
    c.api();
    let stand_ins = c.stand_ins(|| stand_ins::scan(capture));
    let with_room = with_room(options, &stand_ins);
    for d in &asked.devices {
        c.extensions(d);
        c.device_features(d);
        c.queues(d);
        let mode = choose_mode(&with_room, prologue, d.gpu, gpu);
        c.memory(d, prologue, mode);
        c.limits(mode);
    }
    let unused = forgive(&mut c.lines, asked, || used::scan(capture, answered_by_capture));
    let realigned = c.alignments(|copied| written_places::scan(capture, copied));
    let samples = c.samples(|k| stand_ins.get(&k.format).map_or(*k, |s| replaced(k, *s)));
    let descriptors = c.descriptor_buffers();
    c.formats(&samples, &stand_ins, &unused);
    c.lines.dedup();
    lines.append(&mut c.lines);
    let cleared = bridge_features(&mut lines, asked.images.keys().map(|k| k.format), &stand_ins);
    let packs = c.uses.copied_out.iter().any(|f| stand_ins.contains_key(f));
    let unmade = c.unmade;
    Ok((lines, Bridges { samples, realigned, stand_ins, packs, cleared, unused, descriptors, unmade }))
}

/// Compares all that the capture asks for with the device; refuses what is not here. False if the device that the
/// capture uses has not been enumerated yet (programs look around with an instance of its own first).
pub fn compare(vk: &mut Vulkan, asked: &Asked, capture: &Capture) -> Result<bool> {
    let id = asked.devices.first().map_or(0, |d| d.gpu);
    let Some(gpu) = vk.gpus.get(&id).cloned() else { return Ok(false) };
    let Some(instance) = vk.instances.get(&gpu.instance) else { return Ok(false) };
    let (prologue, options) = (&vk.prologue, &vk.options);
    let (mut lines, bridges) = table(&vk.entry, &instance.ash, &gpu, asked, prologue, options, capture)?;
    let Bridges { samples, realigned, stand_ins, packs, cleared, unused, descriptors, unmade } = bridges;
    vk.unmade = unmade;
    if !vk.needs.one_sample {
        vk.samples = samples;
    }
    vk.options = with_room(&vk.options, &stand_ins).into_owned();
    vk.stand_ins = StandInImages::new(stand_ins, packs);
    if packs {
        vk.needs.add(super::stand_ins::packing_needs());
    }
    vk.realigned = realigned;
    if let Some((factor, told)) = descriptors {
        vk.descriptor_buffers = DescriptorBuffers::new(factor, told);
    }
    vk.unused = unused;
    vk.unused.features.extend(cleared.into_iter().map(str::to_owned));
    vk.differs |=
        !(vk.unused.is_empty() && vk.unmade.is_empty() && vk.samples.is_empty() && vk.realigned.is_empty());
    turn_off(&mut lines, &vk.options.no_bridges);
    vk.whole_table = true;
    vk.captured_families.clone_from(&asked.families);
    vk.negotiation = lines;
    refuse(&vk.negotiation, &gpu)?;
    Ok(true)
}
