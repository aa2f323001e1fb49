//! What differs between the device that a capture was recorded on and this one: a file a difference, with what was asked for,
//! what is here, how that is bridged, and when it is refused.
//!
//! One table says it ([`Line`]): [`check`] prints it without making a device, a replay makes it before the first one and refuses
//! what it refuses. Guarantees: whatever is refused, everything that is refused is in the table, and nothing of the capture has
//! run on the device yet.

mod alignment;
mod binaries;
mod exchange;
mod extensions;
mod features;
mod formats;
mod held;
mod limits;
mod memory_types;
mod queues;
mod samples;
pub(super) mod sparse;
mod strip;
mod unused;
mod versions;

/// Commands that the capture answers, whatever the device.
pub use super::handlers::answered_by_capture as answered;
pub(super) use alignment::{
    Realigned, buffer_gone, buffer_made, in_call as realign, memory_written, recorded,
    written as buffer_written,
};
pub(super) use binaries::{
    ANSWERED as ANSWERED_BINARIES, CAPTURE_DATA, create as create_binaries, take as take_binaries,
};
pub(super) use exchange::exchange;
pub(super) use extensions::{droppable, extensions};
pub(super) use features::{asks_for_buffer_addresses, compare as features};
pub(super) use held::{Held, signal, submit};
pub(super) use queues::Folding;
pub(super) use samples::Samples;
pub(super) use strip::strip;
pub(super) use unused::{Unused, forgive};
pub(super) use versions::of_instance as instance_version;

use super::{Gpu, Prologue, Vk, gpu, memory};
use crate::error::{Error, Kind, Result};
use crate::options::{MemoryMode, Options};
use crate::preflight::asked::Asked;
use crate::preflight::used::Used;
use ash::vk;
use gfxr_parse::schema::StructId;
use std::collections::BTreeMap;

/// What was done about one thing the capture asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Used as asked.
    Kept,
    /// Left out: it only watches, only concerns windows, or is done here by other means.
    Dropped,
    /// Left out because the user said so; the replay may differ.
    Removed,
    /// Left out: nothing in the capture uses it.
    Unused,
    /// Something else stands in for it.
    Replaced,
    /// Tried all the same: it may fail.
    Risked,
    /// The replay cannot go on.
    Refused,
}

/// What kind of thing was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// The Vulkan version.
    Api,
    /// An instance extension.
    InstanceExtension,
    /// A device extension.
    DeviceExtension,
    /// A feature.
    Feature,
    /// A limit that the capture comes near.
    Limit,
    /// Queue families and their queues.
    Queue,
    /// Memory types and heaps, and memory of special kinds.
    Memory,
    /// A format and its use.
    Format,
}

impl Sort {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Api => "version",
            Sort::InstanceExtension => "instance extension",
            Sort::DeviceExtension => "device extension",
            Sort::Feature => "feature",
            Sort::Limit => "limit",
            Sort::Queue => "queues",
            Sort::Memory => "memory",
            Sort::Format => "format",
        }
    }
}

impl Done {
    /// What it means, in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Done::Kept => "kept",
            Done::Dropped => "dropped",
            Done::Removed => "removed",
            Done::Unused => "unused",
            Done::Replaced => "replaced",
            Done::Risked => "risked",
            Done::Refused => "refused",
        }
    }
}

/// One line of the negotiation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// See [`Sort`].
    pub sort: Sort,
    /// An extension's name, `VkStruct.member`, a format and its use.
    pub what: String,
    /// How much of it, where that is a question.
    pub asked: String,
    /// How much of it is here, likewise.
    pub found: String,
    /// This device has it.
    pub here: bool,
    /// See [`Done`].
    pub done: Done,
}

impl Line {
    /// One without amounts.
    pub fn new(sort: Sort, what: &str, here: bool, done: Done) -> Self {
        Line { sort, what: what.to_owned(), asked: String::new(), found: String::new(), here, done }
    }
    /// The amounts.
    pub fn of(self, asked: String, found: String) -> Self {
        Line { asked, found, ..self }
    }
}

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
    let verdict = gpu::list_gpus(&instance).and_then(|gpus| {
        let id = asked.devices.first().map_or(0, |d| d.gpu);
        let gpu = gpu::choose(&gpus, options.gpu.as_deref(), prologue.gpus.get(&id))?;
        let (mut lines, ..) = table(&entry, &instance, gpu, asked, prologue, options)?;
        forgive(&mut lines, asked, used);
        Ok(Verdict {
            gpu: gpu.name(),
            memory: memory::choose_mode(options, prologue, id, gpu),
            same_driver: prologue.gpus.get(&id).is_some_and(|then| gpu.is_same(then)),
            lines,
        })
    });
    // SAFETY: nothing was made from it.
    unsafe { instance.destroy_instance(None) };
    verdict
}

/// All that is asked for, against this device and the instance extensions that are here; which numbers of samples are others,
/// and which buffers have aligned copies.
pub(super) fn table(
    entry: &ash::Entry,
    instance: &ash::Instance,
    gpu: &Gpu,
    asked: &Asked,
    prologue: &Prologue,
    options: &Options,
) -> Result<(Vec<Line>, Samples, Realigned)> {
    let here = super::instance::instance_extensions(entry, options.validate)?;
    let mut lines = extensions::of_instance(asked, &here, options);
    let mut c = Compare {
        query: ash::khr::get_physical_device_properties2::Instance::new(entry, instance),
        instance,
        gpu,
        asked,
        options,
        features: BTreeMap::new(),
        lines: Vec::new(),
    };
    c.api();
    for d in &asked.devices {
        c.extensions(d);
        c.device_features(d);
        c.queues(d);
        let mode = memory::choose_mode(options, prologue, d.gpu, gpu);
        c.memory(d, prologue, mode);
        c.limits(mode);
    }
    let realigned = c.alignments();
    let samples = c.samples();
    c.formats(&samples);
    c.lines.dedup();
    lines.append(&mut c.lines);
    Ok((lines, samples, realigned))
}

/// A comparison under way.
struct Compare<'c> {
    query: ash::khr::get_physical_device_properties2::Instance,
    instance: &'c ash::Instance,
    gpu: &'c Gpu,
    asked: &'c Asked,
    options: &'c Options,
    /// Structs of features as the device fills them in.
    features: BTreeMap<StructId, Vec<u64>>,
    lines: Vec<Line>,
}

impl Compare<'_> {
    fn push(&mut self, line: Line) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// What cannot be left out.
    fn must(&self, has: bool) -> Done {
        match has {
            true => Done::Kept,
            false if self.options.keep_going => Done::Removed,
            false => Done::Refused,
        }
    }
}

/// Fails with the whole list if anything was refused.
pub fn refuse(lines: &[Line], gpu: &Gpu) -> Result<()> {
    let refused: Vec<&Line> = lines.iter().filter(|l| l.done == Done::Refused).collect();
    if refused.is_empty() {
        return Ok(());
    }
    let text = format!("{} lacks what the capture asks for:", gpu.name());
    let mut error = Error::new(Kind::Unsupported, text);
    let removable = |s| matches!(s, Sort::InstanceExtension | Sort::DeviceExtension | Sort::Feature);
    for l in &refused {
        let mut text = format!("  {}", l.what);
        if !l.asked.is_empty() && removable(l.sort) {
            text += &format!(" ({})", l.asked);
        } else if !l.asked.is_empty() || !l.found.is_empty() {
            text += &format!(" (asked: {}; here: {})", l.asked, l.found);
        }
        error = error.with(&text);
    }
    let mut text = "Replay on another device (--gpu; `reray-replay devices` lists them)".to_owned();
    if refused.iter().any(|l| removable(l.sort)) {
        text += ", drop extensions and features with --remove-unsupported";
    }
    if refused.iter().any(|l| !removable(l.sort)) {
        text += ", or try all the same with --keep-going";
    }
    Err(error.with(&text))
}
