//! A capture's summary as text, for reading: what `info` prints.
//!
//! Guarantees: values are escaped (`analyses::report::escape`) and stay on lines of their own; sections without content are left out; lists of commands are sorted by how often they were called.

use analyses::report::{escape, text::beside};
use gfxr_parse::summary::{Device, Summary, Version};
use std::fmt::{self, Display};

/// Lines with their sections.
#[derive(Default)]
struct Page {
    text: String,
    /// Columns that a line has.
    within: Option<usize>,
}

/// Where values begin.
const VALUES: usize = 27;

impl Page {
    fn section(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(title);
        self.text.push('\n');
    }
    fn line(&mut self, key: &str, value: impl Display) {
        let (key, value) = (escape::line(key), value.to_string());
        self.text += &beside(&format!("  {key:<24} "), VALUES, &escape::line(&value), self.within);
    }
    /// A line each, the key before the first; none of none.
    fn list(&mut self, key: &str, values: &[String]) {
        for (n, value) in values.iter().enumerate() {
            self.line(if n == 0 { key } else { "" }, value);
        }
    }
    fn maybe(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.line(key, value);
        }
    }
    fn count(&mut self, key: &str, n: u64) {
        if n > 0 {
            self.line(key, n);
        }
    }
}

/// A size for people.
struct Size(u64);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let k = (63 - self.0.leading_zeros() as usize) / 10;
        write!(f, "{:.1} {}", self.0 as f64 / (1u64 << (10 * k)) as f64, units[k - 1])
    }
}

/// See the module's header; in so many columns.
pub fn render(s: &Summary, within: Option<usize>) -> String {
    let mut p = Page { within, ..Page::default() };
    file(&mut p, s);
    contents(&mut p, s);
    applications(&mut p, s);
    s.devices.iter().for_each(|d| device(&mut p, d));
    program(&mut p, s);
    blocks(&mut p, s);
    commands(&mut p, s);
    oddities(&mut p, s);
    p.text
}

fn file(p: &mut Page, s: &Summary) {
    p.section("File");
    p.line("path", &s.file.path);
    p.line("size", format!("{} ({} bytes)", Size(s.file.size_bytes), s.file.size_bytes));
    p.line("format version", &s.file.version);
    p.line("compression", s.file.compression);
    if let Some(e) = &s.encoder {
        p.maybe("written by", e.gfxrecon_version.as_deref().unwrap_or(""));
        p.maybe("tool", e.tool.as_deref().unwrap_or(""));
        p.maybe("Vulkan headers", e.vulkan_version.as_deref().unwrap_or(""));
        p.maybe("written at", e.timestamp.as_deref().unwrap_or(""));
    }
}

fn program(p: &mut Page, s: &Summary) {
    if let Some(e) = s.executable.as_ref().filter(|e| !e.name.is_empty() || !e.product.is_empty()) {
        p.section("Executable");
        p.maybe("name", &e.name);
        p.maybe("version", &e.version);
        p.maybe("description", &e.description);
        p.maybe("company", &e.company);
        p.maybe("product", &e.product);
        p.maybe("product version", &e.product_version);
    }
    let notes = s.annotations.iter().filter(|a| a.label != "operation");
    for (i, a) in notes.enumerate() {
        if i == 0 {
            p.section("Annotations");
        }
        p.line(&a.label, &a.data);
    }
    if !s.environment.is_empty() {
        p.section("Environment");
        s.environment.iter().for_each(|v| p.line(&v.name, &v.value));
    }
}

fn applications(p: &mut Page, s: &Summary) {
    for a in &s.applications {
        p.section("Application");
        p.line("name", &a.name);
        p.line("version", a.version);
        p.line("engine", &a.engine);
        p.line("engine version", format!("{} ({})", a.engine_version, Version(a.engine_version)));
        p.line("Vulkan version", a.api_version);
        p.list("layers", &a.layers);
        p.list("extensions", &a.extensions);
    }
}

fn device(p: &mut Page, d: &Device) {
    p.section(if d.logical_devices > 0 { "Device (used)" } else { "Device" });
    p.line("name", &d.name);
    p.line("type", &d.kind);
    p.line("vendor, device", format!("{:#06x}, {:#06x}", d.vendor_id, d.device_id));
    p.line("driver version", format!("{} ({:#x})", d.driver_version, d.driver_version));
    p.line("Vulkan version", d.api_version);
    let heaps: Vec<String> = d.heaps.iter().map(|h| Size(h.size_bytes).to_string()).collect();
    p.maybe("memory heaps", &heaps.join(", "));
    if d.logical_devices > 1 {
        p.line("logical devices", d.logical_devices);
    }
    p.list("extensions", &d.extensions);
}

fn contents(p: &mut Page, s: &Summary) {
    p.section("Frames");
    p.line("count", s.frames.count);
    if s.frames.count > 0 {
        p.line("numbers", format!("{} to {}", s.frames.first, s.frames.last));
        p.line("ended by", s.frames.ended_by);
    }
    if let Some(n) = s.frames.submissions {
        p.line("at a replay", format!("{n}, as each submission ends one where nothing is presented"));
    }
    if let Some(c) = &s.frames.cycle {
        p.line(
            "--frame-by cycle",
            format!("{} of {} submissions each, which repeat", c.frames, c.submissions),
        );
    }
    let trimmed = format!("yes, a snapshot of the state takes {} blocks", s.frames.state_blocks);
    p.line("trimmed", if s.frames.trimmed { &trimmed } else { "no" });

    p.section("Work");
    let c = &s.calls;
    p.line("calls", c.total);
    p.line("threads", c.threads);
    p.count("draws recorded", c.draws);
    p.count("dispatches recorded", c.dispatches);
    p.count("traces recorded", c.trace_rays);
    p.count("builds recorded", c.acceleration_builds);
    p.count("submits", c.submits);
    p.count("presents", c.presents);

    p.section("Pipelines and shaders");
    p.line("graphics pipelines", s.pipelines.graphics);
    p.line("compute pipelines", s.pipelines.compute);
    p.count("ray-tracing pipelines", s.pipelines.ray_tracing);
    p.line("shader modules", s.shaders.modules);
    p.count("shaders in stages", s.shaders.in_stages);
    p.count("shader objects", s.shaders.objects);
    p.line("SPIR-V", Size(s.shaders.code_bytes));

    p.section("Device memory");
    let m = &s.memory;
    p.line("allocations", m.allocations);
    if m.allocations > 0 {
        p.line("total", Size(m.total_bytes));
        p.line("peak", Size(m.peak_bytes));
        p.line("smallest, largest", format!("{}, {}", Size(m.smallest_bytes), Size(m.largest_bytes)));
    }
    if let Some(driver) = s.driver_info.as_ref().filter(|d| !d.is_empty()) {
        p.section("Driver");
        p.line("says", driver);
    }
}

fn blocks(p: &mut Page, s: &Summary) {
    p.section("Blocks");
    p.line("total", s.blocks.total);
    for (name, b) in &s.blocks.by_type {
        let mut text = format!("{}, {}", b.count, Size(b.stored_bytes));
        if b.compressed > 0 {
            let ratio = b.uncompressed_bytes as f64 / b.compressed_bytes.max(1) as f64;
            text += &format!("; {} compressed {ratio:.1}:1", b.compressed);
        }
        p.line(name, text);
    }
}

fn commands(p: &mut Page, s: &Summary) {
    p.section("Calls by command");
    let mut by_count: Vec<_> = s.calls.by_command.iter().collect();
    by_count.sort_by_key(|&(name, &n)| (std::cmp::Reverse(n), name));
    for (name, n) in by_count {
        p.text.push_str(&format!("  {n:>10}  {name}\n"));
    }
}

fn oddities(p: &mut Page, s: &Summary) {
    if s.decodable.undecodable.is_empty() {
        p.section("All commands are known to this build.");
    } else {
        p.section("Not decodable");
        s.decodable
            .undecodable
            .iter()
            .for_each(|u| p.line(&u.what, format!("{} times: {}", u.count, u.reason)));
    }
    let file = s.file.truncated.iter().chain(&s.file.unread);
    if file.clone().chain(&s.warnings).next().is_some() {
        p.section("Warnings");
        file.chain(&s.warnings).for_each(|w| p.text.push_str(&format!("  {}\n", escape::line(w))));
    }
}
