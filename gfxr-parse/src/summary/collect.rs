//! Gathers a summary block by block.
//!
//! Guarantees: constant work for most blocks; the calls in [`Told`] are decoded. Refuses nothing.

use super::model::*;
use crate::container::framing::block_type;
use crate::container::{Block, BlockKind, Capture, FrameRule, Place, Scratch};
use crate::cycle::Cycle;
use crate::decode::decode_found;
use crate::error::Error;
use crate::image::Image;
use crate::meta::Meta;
use crate::print::unknown_call;
use crate::schema::generated::COMMANDS;
use crate::schema::{CommandDef, command, enum_named};
use crate::shaders::{self, Origin};
use crate::view::View;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Vulkan's call ids start here.
const FIRST_CALL: u32 = 0x1_1000;
/// More warnings than this are counted, not kept.
const MOST_WARNINGS: usize = 100;

/// What a command tells about the whole; such calls are decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Instance,
    Device,
    Properties,
    Pipelines,
    Shaders,
    Allocate,
    Free,
}

fn told(c: &CommandDef) -> Told {
    match c.name {
        "vkCreateInstance" => Told::Instance,
        "vkCreateDevice" => Told::Device,
        "vkGetPhysicalDeviceProperties"
        | "vkGetPhysicalDeviceProperties2"
        | "vkGetPhysicalDeviceProperties2KHR" => Told::Properties,
        "vkAllocateMemory" => Told::Allocate,
        "vkFreeMemory" => Told::Free,
        name if shaders::is_pipeline_creation(name) => Told::Pipelines,
        name if shaders::concerns(name) => Told::Shaders,
        _ => Told::Nothing,
    }
}

pub(super) struct Collector {
    out: Summary,
    /// For each call id from [`FIRST_CALL`] on: what it tells, and how often it was called.
    calls: Vec<(Told, u64)>,
    foreign: BTreeMap<u32, u64>,
    submits_of_state: u64,
    skipped: BTreeMap<String, u64>,
    types: [BlockStats; 7],
    threads: HashSet<u64>,
    last_thread: u64,
    allocations: HashMap<u64, u64>,
    allocated: u64,
    warnings: usize,
    unread: Vec<String>,
    scratch: Scratch,
    image: Image,
}

impl Collector {
    pub(super) fn new() -> Self {
        let last = COMMANDS.iter().map(|c| c.id).max().unwrap_or(FIRST_CALL);
        let mut calls = vec![(Told::Nothing, 0); (last - FIRST_CALL + 1) as usize];
        for c in &COMMANDS {
            calls[(c.id - FIRST_CALL) as usize].0 = told(c);
        }
        Collector {
            out: Summary { schema_version: SCHEMA_VERSION, ..Summary::default() },
            calls,
            foreign: BTreeMap::new(),
            submits_of_state: 0,
            skipped: BTreeMap::new(),
            types: Default::default(),
            threads: HashSet::new(),
            last_thread: u64::MAX,
            allocations: HashMap::new(),
            allocated: 0,
            warnings: 0,
            unread: Vec::new(),
            scratch: Scratch::new(),
            image: Image::default(),
        }
    }

    pub(super) fn warn(&mut self, what: &dyn std::fmt::Display) {
        self.warnings += 1;
        if self.warnings <= MOST_WARNINGS {
            self.out.warnings.push(what.to_string());
        }
    }

    /// A sibling file cannot be read.
    pub(super) fn unread(&mut self, why: &Error) {
        if self.unread.len() < MOST_WARNINGS {
            self.unread.push(why.to_string());
        }
    }

    #[inline]
    pub(super) fn block(&mut self, block: &Block, place: Place) {
        let base = block.base_type();
        let stats = &mut self.types[if base < 7 { base as usize } else { 0 }];
        stats.count += 1;
        stats.stored_bytes += block.raw().len() as u64;
        let f = &mut self.out.frames;
        f.state_blocks += u64::from(place.state);
        if place.ends_frame {
            if f.count == 0 {
                f.first = place.frame;
            }
            f.count += 1;
            f.last = place.frame;
            f.calls_after_last = 0;
        }
        match block.call_id() {
            Some(id) => {
                self.out.frames.calls_after_last += u64::from(!place.ends_frame);
                let submits = |id| command(id).is_some_and(|c| c.name.starts_with("vkQueueSubmit"));
                self.submits_of_state += u64::from(place.state && submits(id));
                self.call(block, id);
            }
            None => self.other(block),
        }
    }

    #[inline]
    fn call(&mut self, block: &Block, id: u32) {
        if let Some(thread) = u64_at(block, 4)
            && thread != self.last_thread
        {
            self.threads.insert(thread);
            self.last_thread = thread;
        }
        if block.is_compressed() {
            let stats = &mut self.types[block_type::FUNCTION_CALL as usize];
            stats.compressed += 1;
            stats.compressed_bytes += block.body().len().saturating_sub(20) as u64;
            stats.uncompressed_bytes =
                stats.uncompressed_bytes.saturating_add(u64_at(block, 12).unwrap_or(0));
        }
        match self.calls.get_mut(id.wrapping_sub(FIRST_CALL) as usize) {
            Some((told, count)) => {
                *count += 1;
                let told = *told;
                if told != Told::Nothing
                    && let Err(e) = self.decode(block, told)
                {
                    self.warn(&block.blame(e));
                }
            }
            None => *self.foreign.entry(id).or_default() += 1,
        }
    }

    #[cold]
    fn decode(&mut self, block: &Block, told: Told) -> Result<(), Error> {
        let BlockKind::Call(call) = block.kind()? else { return Ok(()) };
        let Some(def) = command(call.call_id) else { return Ok(()) };
        let mut image = std::mem::take(&mut self.image);
        let result = decode_found(def, block, &call, &mut self.scratch, &mut image).map(|_| ());
        if result.is_ok() {
            self.tell(&image, told);
        }
        self.image = image;
        result
    }

    fn tell(&mut self, image: &Image, told: Told) {
        let call = View::call(image);
        let good = image.ret().is_none_or(|r| r >= 0);
        match told {
            Told::Nothing => {}
            Told::Instance => self.instance(&call),
            Told::Device if good => {
                let physical = call.u64("physicalDevice").unwrap_or(0);
                let extensions: Vec<String> = call
                    .one("pCreateInfo")
                    .map(|info| {
                        info.texts("ppEnabledExtensionNames").iter().map(ToString::to_string).collect()
                    })
                    .unwrap_or_default();
                let device = self.device(physical);
                device.logical_devices += 1;
                for e in extensions {
                    if !device.extensions.contains(&e) {
                        device.extensions.push(e);
                    }
                }
            }
            Told::Properties => self.properties(&call),
            Told::Pipelines => {
                let n = call.structs("pCreateInfos").count() as u64;
                let p = &mut self.out.pipelines;
                match call.name {
                    "vkCreateGraphicsPipelines" => p.graphics += n,
                    "vkCreateComputePipelines" => p.compute += n,
                    _ => p.ray_tracing += n,
                }
                self.shaders(image);
            }
            Told::Shaders => self.shaders(image),
            Told::Allocate if good => {
                let size = call.one("pAllocateInfo").and_then(|i| i.u64("allocationSize")).unwrap_or(0);
                let m = &mut self.out.memory;
                m.smallest_bytes = if m.allocations == 0 { size } else { m.smallest_bytes.min(size) };
                m.allocations += 1;
                m.total_bytes = m.total_bytes.saturating_add(size);
                m.largest_bytes = m.largest_bytes.max(size);
                self.allocated = self.allocated.saturating_add(size);
                m.peak_bytes = m.peak_bytes.max(self.allocated);
                self.allocations.insert(call.u64("pMemory").unwrap_or(0), size);
            }
            Told::Free => {
                let size = call.u64("memory").and_then(|m| self.allocations.remove(&m)).unwrap_or(0);
                self.allocated = self.allocated.saturating_sub(size);
            }
            Told::Device | Told::Allocate => {}
        }
    }

    fn instance(&mut self, call: &View) {
        let Some(info) = call.one("pCreateInfo") else { return };
        let names = |v: &str| info.texts(v).iter().map(ToString::to_string).collect();
        let mut a = Application {
            instance: call.u64("pInstance").unwrap_or(0),
            layers: names("ppEnabledLayerNames"),
            extensions: names("ppEnabledExtensionNames"),
            ..Application::default()
        };
        if let Some(app) = info.one("pApplicationInfo") {
            let text = |name| app.text(name).map(|t| t.into_owned()).unwrap_or_default();
            a.name = text("pApplicationName");
            a.version = app.u32("applicationVersion").unwrap_or(0);
            a.engine = text("pEngineName");
            a.engine_version = app.u32("engineVersion").unwrap_or(0);
            a.api_version = Version(app.u32("apiVersion").unwrap_or(0));
        }
        self.out.applications.push(a);
    }

    fn device(&mut self, physical: u64) -> &mut Device {
        let devices = &mut self.out.devices;
        let i = devices.iter().position(|d| d.physical_device == physical).unwrap_or_else(|| {
            devices.push(Device { physical_device: physical, ..Device::default() });
            devices.len() - 1
        });
        &mut devices[i]
    }

    fn properties(&mut self, call: &View) {
        let Some(p) = call.one("pProperties") else { return };
        let p = p.one("properties").unwrap_or(p);
        let device = self.device(call.u64("physicalDevice").unwrap_or(0));
        if !device.name.is_empty() {
            return;
        }
        device.name = p.text("deviceName").map(|t| t.into_owned()).unwrap_or_default();
        device.kind = device_kind(p.u32("deviceType").unwrap_or(0));
        device.vendor_id = p.u32("vendorID").unwrap_or(0);
        device.device_id = p.u32("deviceID").unwrap_or(0);
        device.driver_version = p.u32("driverVersion").unwrap_or(0);
        device.api_version = Version(p.u32("apiVersion").unwrap_or(0));
        device.pipeline_cache_uuid = hex(p.bytes("pipelineCacheUUID").unwrap_or(&[]));
    }

    fn shaders(&mut self, image: &Image) {
        for shader in shaders::shaders(image) {
            let s = &mut self.out.shaders;
            match shader.origin {
                Origin::Module => s.modules += 1,
                Origin::Stage => s.in_stages += 1,
                Origin::Object => s.objects += 1,
            }
            s.code_bytes += shader.code.len() as u64;
        }
    }

    fn other(&mut self, block: &Block) {
        match block.kind() {
            Ok(kind) => {
                if let Some(data) = kind.payload().filter(|p| p.is_compressed()) {
                    let stats = &mut self.types[block.base_type() as usize % 7];
                    stats.compressed += 1;
                    stats.compressed_bytes += data.raw().len() as u64;
                    stats.uncompressed_bytes = stats.uncompressed_bytes.saturating_add(data.size());
                }
                if let BlockKind::Meta(m) = &kind {
                    self.meta(&m.meta);
                }
                if let BlockKind::Annotation(a) = &kind {
                    self.annotation(block.index, a);
                }
                if let Some(warning) = kind.warning() {
                    *self.skipped.entry(warning).or_default() += 1;
                }
            }
            Err(e) => self.warn(&e),
        }
    }

    fn annotation(&mut self, block: u64, a: &crate::annotation::Annotation) {
        if let Some(o) = a.operation()
            && self.out.encoder.is_none()
        {
            self.out.encoder = Some(Encoder {
                tool: o.tool,
                timestamp: o.timestamp,
                gfxrecon_version: o.gfxrecon_version,
                vulkan_version: o.vulkan_version,
            });
        }
        let kind = ["other", "text", "json", "xml"];
        self.out.annotations.push(AnnotationInfo {
            block,
            kind: kind.get(a.kind.value() as usize).copied().unwrap_or("other"),
            label: a.label.text().into_owned(),
            data: a.data.text().into_owned(),
        });
    }

    fn meta(&mut self, meta: &Meta) {
        match meta {
            Meta::DeviceProperties(m) => {
                let device = self.device(m.physical_device);
                device.name = m.name.text().into_owned();
                device.kind = device_kind(m.device_type);
                device.vendor_id = m.vendor;
                device.device_id = m.device;
                device.driver_version = m.driver_version;
                device.api_version = Version(m.api_version);
                device.pipeline_cache_uuid = hex(&m.pipeline_cache_uuid);
            }
            Meta::DeviceMemory(m) => {
                let device = self.device(m.physical_device);
                device.heaps = m.heaps.iter().map(|h| Heap { size_bytes: h.size, flags: h.flags }).collect();
                device.memory_types =
                    m.types.iter().map(|t| MemoryTypeInfo { flags: t.flags, heap: t.heap }).collect();
            }
            Meta::ExeInfo(m) => {
                let text = |t: crate::container::Text| t.until_nul().text().into_owned();
                let e = Executable {
                    name: text(m.app_name),
                    version: m.app_version.map(|n| n.to_string()).join("."),
                    company: text(m.company_name),
                    product: text(m.product_name),
                    product_version: text(m.product_version),
                    description: text(m.file_description),
                };
                self.out.executable = Some(e);
            }
            Meta::DriverInfo(m) => self.out.driver_info = Some(m.text.until_nul().text().into_owned()),
            Meta::Environment(m) => self.out.environment.extend(
                m.variables()
                    .map(|(n, v)| Variable { name: n.text().into_owned(), value: v.text().into_owned() }),
            ),
            _ => {}
        }
    }

    pub(super) fn finish(mut self, capture: &Capture, rule: FrameRule, truncated: Option<String>) -> Summary {
        self.count_calls();
        let mut out = self.out;
        let h = capture.header();
        out.file = FileInfo {
            path: capture.name().to_string(),
            size_bytes: capture.bytes().len() as u64,
            version: format!("{}.{}", h.major, h.minor),
            compression: h.compression().name(),
            truncated,
            unread: self.unread,
        };
        out.frames.ended_by = match rule {
            FrameRule::Presents => "presents",
            FrameRule::Markers => "markers",
        };
        if out.frames.count == 0 && out.calls.submits > 0 {
            out.frames.ended_by = "submissions";
            out.frames.submissions = Some(out.calls.submits - self.submits_of_state);
        }
        out.frames.cycle = if out.frames.count == 0 { Cycle::of(capture) } else { None };
        out.frames.trimmed = out.frames.state_blocks > 0;
        let names = [
            "unknown",
            "frame marker",
            "state marker",
            "metadata",
            "function call",
            "annotation",
            "method call",
        ];
        for (name, stats) in names.into_iter().zip(self.types).filter(|(_, s)| s.count > 0) {
            out.blocks.total += stats.count;
            out.blocks.by_type.insert(name, stats);
        }
        out.warnings.extend(h.warnings());
        if self.warnings > MOST_WARNINGS {
            out.warnings.push(format!("and {} more", self.warnings - MOST_WARNINGS));
        }
        out
    }

    fn count_calls(&mut self) {
        let out = &mut self.out;
        let mut unknown: BTreeMap<u32, u64> = std::mem::take(&mut self.foreign);
        for (i, &(_, n)) in self.calls.iter().enumerate().filter(|(_, c)| c.1 > 0) {
            let id = FIRST_CALL + i as u32;
            let Some(c) = command(id) else {
                unknown.insert(id, n);
                continue;
            };
            let calls = &mut out.calls;
            calls.by_command.insert(c.name.to_string(), n);
            out.decodable.calls += n;
            match c.name {
                n if n.starts_with("vkCmdDraw") => calls.draws += self.calls[i].1,
                n if n.starts_with("vkCmdDispatch") => calls.dispatches += self.calls[i].1,
                n if n.starts_with("vkCmdTraceRays") => calls.trace_rays += self.calls[i].1,
                n if n.starts_with("vkCmdBuildAcceleration") => calls.acceleration_builds += self.calls[i].1,
                n if n.starts_with("vkQueueSubmit") => calls.submits += self.calls[i].1,
                "vkQueuePresentKHR" => calls.presents += n,
                _ => {}
            }
        }
        for (id, count) in unknown {
            let named = crate::schema::generated::UNDECODABLE.iter().find(|u| u.0 == id);
            let what = named.map_or_else(|| format!("call {id:#x}"), |u| u.1.to_string());
            out.calls.by_command.insert(what.clone(), count);
            let reason = unknown_call(id).message().to_string();
            out.decodable.undecodable.push(Undecodable { what, count, reason });
        }
        for (reason, count) in std::mem::take(&mut self.skipped) {
            out.decodable.undecodable.push(Undecodable { what: "block".to_string(), count, reason });
        }
        out.calls.total = out.calls.by_command.values().sum();
        out.calls.threads = self.threads.len() as u64;
    }
}

fn device_kind(v: u32) -> String {
    let name = enum_named("VkPhysicalDeviceType").and_then(|e| e.value(v));
    name.map_or_else(|| v.to_string(), |n| n.trim_start_matches("VK_PHYSICAL_DEVICE_TYPE_").to_lowercase())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The body's bytes at `at`, as 8-byte number.
fn u64_at(block: &Block, at: usize) -> Option<u64> {
    block.body().get(at..at + 8).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes")))
}
