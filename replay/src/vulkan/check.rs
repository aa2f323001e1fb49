//! All that a capture asks of a device against all that the device has, in one table.
//!
//! Asks the driver and makes no device. Guarantees: whatever is refused, everything that is refused is in the table, and
//! nothing of the capture has run on the device yet. Refuses by name: missing extensions and features, queue families
//! and queues, formats with their use, limits, sparse binding and external formats where memory is rebound, device
//! groups.

use super::negotiate::{self, Done, Line, Sort};
use super::{Gpu, Prologue, Vk, gpu, memory};
use crate::error::{Error, Kind, Result};
use crate::options::{AddressMode, MemoryMode, Options};
use crate::unused::{Needed, Unused};
use crate::wants::{DeviceWants, ImageSizes, ImageWish, Wants};
use ash::vk;
use gfxr_parse::schema::generated::{ENUMS, STRUCTS};
use gfxr_parse::schema::{StructId, struct_named};
use std::collections::BTreeMap;

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
    wants: &Wants,
    prologue: &Prologue,
    options: &Options,
    needed: impl FnOnce() -> Needed,
) -> Result<Verdict> {
    // SAFETY: loading the system's loader runs its initialisers, which is what the user asked for.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|e| Error::new(Kind::NoDevice, format!("no Vulkan loader on this machine ({e})")))?;
    let here = super::instance::instance_extensions(&entry, options.validate)?;
    let properties2 = c"VK_KHR_get_physical_device_properties2";
    let names = [properties2.as_ptr()];
    let app = vk::ApplicationInfo::default().api_version(wants.api.max(vk::API_VERSION_1_1));
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
        let id = wants.devices.first().map_or(0, |d| d.gpu);
        let gpu = gpu::choose(&gpus, options.gpu.as_deref(), prologue.gpus.get(&id))?;
        let mut lines = instance_lines(wants, &here, options);
        lines.extend(device_lines(&entry, &instance, gpu, wants, prologue, options));
        super::negotiate::forgive(&mut lines, wants, needed);
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

/// The instance's part.
pub(super) fn instance_lines(wants: &Wants, here: &[String], options: &Options) -> Vec<Line> {
    let one = |name: &String| {
        let has = here.contains(name);
        let surface = name.ends_with("_surface") && name != "VK_KHR_surface";
        let done = match () {
            () if surface => Done::Dropped,
            () if has => Done::Kept,
            () if super::instance::droppable(name) => Done::Dropped,
            () if options.remove_unsupported => Done::Removed,
            () => Done::Refused,
        };
        Line::new(Sort::InstanceExtension, name, has, done)
    };
    wants.instance_extensions.iter().map(one).collect()
}

/// The device's part.
pub(super) fn device_lines(
    entry: &ash::Entry,
    instance: &ash::Instance,
    gpu: &Gpu,
    wants: &Wants,
    prologue: &Prologue,
    options: &Options,
) -> Vec<Line> {
    let mut c = Check {
        query: ash::khr::get_physical_device_properties2::Instance::new(entry, instance),
        instance,
        gpu,
        wants,
        options,
        features: BTreeMap::new(),
        lines: Vec::new(),
    };
    c.api();
    for d in &wants.devices {
        c.extensions(d);
        c.device_features(d);
        c.queues(d);
        let mode = memory::choose_mode(options, prologue, d.gpu, gpu);
        c.memory(d, prologue, mode);
        c.limits(mode);
    }
    c.formats();
    c.lines.dedup();
    c.lines
}

struct Check<'c> {
    query: ash::khr::get_physical_device_properties2::Instance,
    instance: &'c ash::Instance,
    gpu: &'c Gpu,
    wants: &'c Wants,
    options: &'c Options,
    /// Structs of features as the device fills them in.
    features: BTreeMap<StructId, Vec<u64>>,
    lines: Vec<Line>,
}

impl Check<'_> {
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

    fn api(&mut self) {
        // A version is never refused for itself: what it brings is asked for by name.
        let here = self.gpu.properties.api_version;
        let has = version(here) >= version(self.wants.api);
        let done = if has { Done::Kept } else { Done::Removed };
        let line = Line::new(Sort::Api, "Vulkan", has, done);
        self.push(line.of(text(self.wants.api), text(here)));
    }

    fn extensions(&mut self, d: &DeviceWants) {
        for name in &d.extensions {
            let has = self.gpu.has(name);
            let done = negotiate::extension(name, has, self.options.remove_unsupported, &Unused::default());
            self.push(Line::new(Sort::DeviceExtension, name, has, done));
        }
        if d.group > 1 {
            let done = self.must(false);
            let line = Line::new(Sort::Queue, "a device made of several physical devices", false, done);
            self.push(line.of(format!("{} devices", d.group), "one".into()));
        }
    }

    fn device_features(&mut self, d: &DeviceWants) {
        for &(id, member) in &d.features {
            let def = &STRUCTS[id as usize];
            let has = self.has(id, member) && !self.gpu.hides(def.name);
            // Addresses and handles that are not as captured are translated.
            let translated =
                member.ends_with("CaptureReplay") && self.options.addresses != AddressMode::Exact;
            let done =
                match negotiate::feature(member, has, self.options.remove_unsupported, &Unused::default()) {
                    Done::Removed | Done::Refused if translated => Done::Dropped,
                    done => done,
                };
            self.push(Line::new(Sort::Feature, &format!("{}.{member}", def.name), has, done));
        }
    }

    /// A feature, asked through the schema's layout of its struct.
    fn has(&mut self, id: StructId, member: &str) -> bool {
        let core = struct_named("VkPhysicalDeviceFeatures");
        let (query, gpu) = (&self.query, self.gpu);
        let words = self.features.entry(id).or_insert_with(|| {
            let def = &STRUCTS[id as usize];
            let mut all = vk::PhysicalDeviceFeatures2::default();
            let mut words = vec![0u64; def.size.div_ceil(8) as usize];
            if Some(id) != core {
                words[0] = u64::from(def.stype.unwrap_or(0));
                all.p_next = words.as_mut_ptr().cast();
            }
            // SAFETY: one struct of its own size, or none.
            unsafe { query.get_physical_device_features2(gpu.handle, &mut all) };
            if Some(id) == core {
                let bytes = size_of::<vk::PhysicalDeviceFeatures>();
                // SAFETY: the struct is `bytes` long, and `words` at least as long.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        (&raw const all.features).cast::<u8>(),
                        words.as_mut_ptr().cast(),
                        bytes.min(words.len() * 8),
                    );
                }
            }
            words
        });
        let at = STRUCTS[id as usize].members.iter().find(|m| m.name == member).map_or(0, |m| m.at);
        words[at as usize / 8] >> (at % 8 * 8) & 0xFFFF_FFFF != 0
    }

    fn queues(&mut self, d: &DeviceWants) {
        let then = self.wants.families.get(&d.gpu);
        for &(family, count) in &d.queues {
            let asked = then.and_then(|f| f.get(family as usize)).copied().map(vk::QueueFlags::from_raw);
            let here = self.gpu.families.get(family as usize);
            let able = asked.unwrap_or_default() & WORK;
            let has = here.is_some_and(|h| h.queue_count >= count && h.queue_flags.contains(able));
            let say = |n: u32, f: Option<vk::QueueFlags>| match f {
                Some(f) => format!("{n} × {f:?}"),
                None => format!("{n}"),
            };
            let found = here.map_or("no such family".into(), |h| say(h.queue_count, Some(h.queue_flags)));
            // More abilities than the captured work needs are no reason to refuse: only counts are sure.
            let done = match here {
                Some(h) if h.queue_count >= count => Done::Kept,
                _ => self.must(false),
            };
            let line = Line::new(Sort::Queue, &format!("queue family {family}"), has, done);
            self.push(line.of(say(count, asked), found));
        }
    }

    fn memory(&mut self, d: &DeviceWants, prologue: &Prologue, mode: MemoryMode) {
        let here = &self.gpu.memory.memory_types[..self.gpu.memory.memory_type_count as usize];
        let flags = |f: u32| format!("{:?}", vk::MemoryPropertyFlags::from_raw(f));
        let then = prologue.memory.get(&d.gpu).cloned().unwrap_or_default();
        let lines: Vec<Line> = then
            .iter()
            .enumerate()
            .map(|(i, f)| {
                let now = here.get(i).map(|t| t.property_flags.as_raw());
                let kept = mode == MemoryMode::None;
                let done = if kept { Done::Kept } else { Done::Replaced };
                let line = Line::new(Sort::Memory, &format!("memory type {i}"), now == Some(*f), done);
                line.of(flags(*f), now.map_or("none".into(), flags))
            })
            .collect();
        lines.into_iter().for_each(|l| self.push(l));
        let heaps = &self.gpu.memory.memory_heaps[..self.gpu.memory.memory_heap_count as usize];
        let largest = heaps.iter().map(|h| h.size).max().unwrap_or(0);
        let total: u64 = heaps.iter().map(|h| h.size).sum();
        let fits = self.wants.peak_bytes <= total;
        let done = if fits { Done::Kept } else { Done::Risked };
        let line = Line::new(Sort::Memory, "memory allocated at one time", fits, done);
        self.push(line.of(bytes(self.wants.peak_bytes), format!("largest heap {}", bytes(largest))));
        for (name, n) in self.wants.imports.clone() {
            let line = Line::new(Sort::Memory, name, false, Done::Replaced);
            self.push(line.of(format!("{n} times"), "memory of the replay's own".into()));
        }
        if self.wants.sparse > 0 {
            let has = mode != MemoryMode::Rebind;
            let line = Line::new(Sort::Memory, "sparse binding", has, self.must(has));
            let found = if has { "memory as captured" } else { "memory rebind: each resource has its own" };
            self.push(line.of(format!("{} resources", self.wants.sparse), found.into()));
        }
    }

    fn limits(&mut self, mode: MemoryMode) {
        let l = &self.gpu.properties.limits;
        for (&name, &used) in &self.wants.limits {
            let most: u64 = match name {
                "maxBoundDescriptorSets" => l.max_bound_descriptor_sets.into(),
                "maxPushConstantsSize" => l.max_push_constants_size.into(),
                "maxSamplerAnisotropy" => l.max_sampler_anisotropy as u64,
                "maxVertexInputAttributes" => l.max_vertex_input_attributes.into(),
                "maxVertexInputBindings" => l.max_vertex_input_bindings.into(),
                "maxFramebufferWidth" => l.max_framebuffer_width.into(),
                "maxFramebufferHeight" => l.max_framebuffer_height.into(),
                "maxFramebufferLayers" => l.max_framebuffer_layers.into(),
                // Memory of our own comes in few allocations.
                "maxMemoryAllocationCount" if mode == MemoryMode::Rebind => continue,
                "maxMemoryAllocationCount" => l.max_memory_allocation_count.into(),
                _ => continue,
            };
            let line = Line::new(Sort::Limit, name, used <= most, self.must(used <= most));
            let line = line.of(used.to_string(), most.to_string());
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
    }

    fn formats(&mut self) {
        for (wish, sizes) in &self.wants.images {
            let refusal = self.image(wish, sizes);
            let has = refusal.is_none();
            let line = Line::new(Sort::Format, &image_text(wish, sizes.samples), has, self.must(has));
            let times = if sizes.count == 1 { String::new() } else { format!(", {} images", sizes.count) };
            let [w, h, d] = sizes.extent;
            let size = if d > 1 { format!("{w}×{h}×{d}") } else { format!("{w}×{h}") };
            self.push(line.of(format!("{size}{times}"), refusal.unwrap_or("yes".into())));
        }
        let features = |format: u32| {
            // SAFETY: a query.
            unsafe {
                self.instance.get_physical_device_format_properties(
                    self.gpu.handle,
                    vk::Format::from_raw(format as i32),
                )
            }
            .buffer_features
        };
        use vk::FormatFeatureFlags as F;
        let texels = self.wants.texel_buffers.iter().map(|&(f, storage)| {
            let (what, flag) = match storage {
                true => ("storage texel buffer", F::STORAGE_TEXEL_BUFFER),
                false => ("uniform texel buffer", F::UNIFORM_TEXEL_BUFFER),
            };
            (f, what, flag)
        });
        let vertices = self.wants.vertices.iter().map(|&f| (f, "vertex attribute", F::VERTEX_BUFFER));
        let lines: Vec<Line> = texels
            .chain(vertices)
            .map(|(f, what, flag)| {
                let has = features(f).contains(flag);
                Line::new(Sort::Format, &format!("{} as {what}", format_name(f)), has, self.must(has))
            })
            .collect();
        lines.into_iter().for_each(|l| self.push(l));
        if self.wants.external_formats > 0 {
            let line = Line::new(Sort::Format, "external formats (Android)", false, self.must(false));
            self.push(line.of(format!("{} images", self.wants.external_formats), String::new()));
        }
    }

    /// Why there can be no such image, if there cannot.
    fn image(&self, w: &ImageWish, s: &ImageSizes) -> Option<String> {
        const DRM: i32 = 1_000_158_000;
        if w.tiling as i32 == DRM {
            return Some("layouts of other devices (DRM modifiers) are not made here".into());
        }
        // SAFETY: a query.
        let found = unsafe {
            self.instance.get_physical_device_image_format_properties(
                self.gpu.handle,
                vk::Format::from_raw(w.format as i32),
                vk::ImageType::from_raw(w.kind as i32),
                vk::ImageTiling::from_raw(w.tiling as i32),
                vk::ImageUsageFlags::from_raw(w.usage),
                vk::ImageCreateFlags::from_raw(w.flags),
            )
        };
        let most = match found {
            Ok(most) => most,
            Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => return Some("not supported".into()),
            Err(e) => return Some(format!("{e:?}")),
        };
        let extent = most.max_extent;
        let fits = s.extent[0] <= extent.width && s.extent[1] <= extent.height && s.extent[2] <= extent.depth;
        match () {
            () if !fits => Some(format!("at most {}×{}×{}", extent.width, extent.height, extent.depth)),
            () if s.levels > most.max_mip_levels => Some(format!("at most {} levels", most.max_mip_levels)),
            () if s.layers > most.max_array_layers => {
                Some(format!("at most {} layers", most.max_array_layers))
            }
            () if s.samples & !most.sample_counts.as_raw() != 0 => {
                Some(format!("not with {} samples", s.samples & !most.sample_counts.as_raw()))
            }
            () => None,
        }
    }
}

const WORK: vk::QueueFlags = vk::QueueFlags::from_raw(0b111);

fn version(v: u32) -> (u32, u32) {
    (vk::api_version_major(v), vk::api_version_minor(v))
}

fn text(v: u32) -> String {
    format!("{}.{}", version(v).0.max(1), version(v).1)
}

fn bytes(n: u64) -> String {
    format!("{:.1} MiB", n as f64 / f64::from(1 << 20))
}

fn named(of: &str, value: i64) -> Option<&'static str> {
    let def = ENUMS.iter().find(|e| e.name == of)?;
    def.values.iter().find(|v| v.0 == value).map(|v| v.1)
}

fn format_name(f: u32) -> String {
    named("VkFormat", f.into()).map_or_else(|| format!("VkFormat {f}"), str::to_owned)
}

/// An image in words: format, kind where it is not the usual one, what it is for.
fn image_text(w: &ImageWish, samples: u32) -> String {
    let mut t = format_name(w.format);
    let kind = |t: &mut String, what: &str| {
        *t += " ";
        *t += what;
    };
    match w.kind {
        0 => kind(&mut t, "1D"),
        2 => kind(&mut t, "3D"),
        _ => {}
    }
    if w.tiling == 1 {
        kind(&mut t, "linear");
    }
    if samples > 1 {
        let counts: Vec<String> =
            (0..7).map(|b| 1 << b).filter(|n| samples & n != 0).map(|n| n.to_string()).collect();
        kind(&mut t, &format!("{} samples", counts.join(", ")));
    }
    let bits = |of: &str, prefix: &str, v: u32| {
        let names = (0..32).filter(|b| v >> b & 1 != 0).map(|b| {
            let name = named(of, 1 << b).unwrap_or("?");
            name.trim_start_matches(prefix).trim_end_matches("_BIT").to_owned()
        });
        names.collect::<Vec<_>>().join(" | ")
    };
    if w.flags != 0 {
        kind(&mut t, &bits("VkImageCreateFlagBits", "VK_IMAGE_CREATE_", w.flags));
    }
    format!("{t} for {}", bits("VkImageUsageFlagBits", "VK_IMAGE_USAGE_", w.usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_named_by_what_makes_it_special() {
        let w = ImageWish { format: 37, kind: 1, tiling: 0, usage: 0x14, flags: 0 };
        assert_eq!(image_text(&w, 1), "VK_FORMAT_R8G8B8A8_UNORM for SAMPLED | COLOR_ATTACHMENT");
        let odd = ImageWish { kind: 2, tiling: 1, flags: 1, usage: 8, ..w };
        assert_eq!(
            image_text(&odd, 5),
            "VK_FORMAT_R8G8B8A8_UNORM 3D linear 1, 4 samples SPARSE_BINDING for STORAGE"
        );
        assert_eq!(text(0), "1.0");
        assert_eq!(text(vk::API_VERSION_1_3), "1.3");
    }
}
