//! The index of extracted shaders.
//!
//! Guarantees: entries are in the order of creation; `schema_version` is raised when a member changes its meaning.

use super::spirv::{self, Module};
use analyses::report::{counted, escape};
use gfxr_parse::container::Block;
use gfxr_parse::image::Image;
use gfxr_parse::schema::enum_named;
use gfxr_parse::shaders::{self, Origin};
use gfxr_parse::view::View;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Digits of a hash in a file's name.
const HASH_DIGITS: usize = 16;

/// The index; what `index.json` holds.
#[derive(Debug, Serialize)]
pub struct Index {
    schema_version: u32,
    capture: String,
    /// By file name without its ending.
    files: BTreeMap<String, File>,
    creations: Vec<Creation>,
    /// Which creation made which handle.
    #[serde(skip)]
    by_handle: HashMap<u64, usize>,
    #[serde(skip)]
    names: HashMap<u64, String>,
}

/// A file.
#[derive(Debug, Serialize)]
struct File {
    size_bytes: u64,
    /// None: this is not SPIR-V.
    module: Option<Module>,
}

/// One time that code was handed to the driver.
#[derive(Debug, Serialize)]
struct Creation {
    file: String,
    block: u64,
    command: &'static str,
    /// Of the shader module or object, or of the pipeline it was part of.
    handle: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    used: Vec<Used>,
}

/// A stage it is used for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Used {
    pipeline: u64,
    stage: String,
    entry: String,
}

impl Index {
    pub fn new(capture: &str) -> Self {
        Index {
            schema_version: 1,
            capture: capture.to_string(),
            files: BTreeMap::new(),
            creations: Vec::new(),
            by_handle: HashMap::new(),
            names: HashMap::new(),
        }
    }

    /// Takes note of a call; returns the code that has not been seen before, with its hash.
    pub fn call<'i>(&mut self, block: &Block, image: &'i Image) -> Vec<(String, &'i [u8])> {
        let command = image.command.map_or("", |c| c.name);
        let mut fresh = Vec::new();
        for s in shaders::shaders(image) {
            let file = hash(s.code);
            if !self.files.contains_key(&file) {
                let size_bytes = s.code.len() as u64;
                self.files.insert(file.clone(), File { size_bytes, module: spirv::read(s.code) });
                fresh.push((file.clone(), s.code));
            }
            let mut creation = Creation {
                file,
                block: block.index,
                command,
                handle: s.handle,
                name: s.name,
                used: Vec::new(),
            };
            if let Some(stage) = s.stage {
                let pipeline = if s.origin == Origin::Stage { s.handle } else { 0 };
                creation.used.push(Used {
                    pipeline,
                    stage: stage_name(stage),
                    entry: s.entry.unwrap_or_default(),
                });
            }
            if s.origin != Origin::Stage {
                self.by_handle.insert(s.handle, self.creations.len());
            }
            self.creations.push(creation);
        }
        for u in shaders::uses(image) {
            if let Some(&i) = self.by_handle.get(&u.module) {
                let used = Used { pipeline: u.pipeline, stage: stage_name(u.stage), entry: u.entry };
                if !self.creations[i].used.contains(&used) {
                    self.creations[i].used.push(used);
                }
            }
        }
        if let Some((handle, name)) = naming(image) {
            self.names.insert(handle, name);
        }
        fresh
    }

    /// Puts in the names that were given later.
    pub fn finish(mut self) -> Self {
        for (&handle, &i) in &self.by_handle {
            if let Some(name) = self.names.get(&handle) {
                self.creations[i].name.get_or_insert_with(|| name.clone());
            }
        }
        self
    }

    /// How many of what.
    pub fn headline(&self) -> String {
        let bytes: u64 = self.files.values().map(|f| f.size_bytes).sum();
        let (files, shaders) = (self.files.len() as u64, self.creations.len() as u64);
        format!("{} ({bytes} bytes) from {}", counted(files, "file"), counted(shaders, "shader"))
    }

    /// For reading.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n{}\n", escape::line(&self.capture), self.headline());
        for c in &self.creations {
            let file = &self.files[&c.file];
            let name = c.name.as_ref().map_or_else(String::new, |n| format!(" \"{}\"", escape::line(n)));
            out += &format!(
                "\n{}.spv  {} bytes  block {}  {} -> {}{name}\n",
                c.file, file.size_bytes, c.block, c.command, c.handle
            );
            match &file.module {
                None => out += "    not SPIR-V\n",
                Some(m) => {
                    for e in &m.entry_points {
                        out += &format!("    {} {}\n", e.stage, escape::line(&e.name));
                    }
                }
            }
            for u in &c.used {
                out += &format!("    used as {} {} by {}\n", u.stage, escape::line(&u.entry), u.pipeline);
            }
        }
        out
    }
}

/// `VK_SHADER_STAGE_FRAGMENT_BIT` -> `fragment`.
fn stage_name(stage: u32) -> String {
    let Some(name) = enum_named("VkShaderStageFlagBits").and_then(|e| e.value(stage)) else {
        return format!("{stage:#x}");
    };
    let name = name.trim_start_matches("VK_SHADER_STAGE_");
    ["_KHR", "_EXT", "_NV", "_HUAWEI", "_BIT"]
        .iter()
        .fold(name, |n, end| n.strip_suffix(end).unwrap_or(n))
        .to_lowercase()
}

/// The name of code: the start of its hash.
pub fn hash(code: &[u8]) -> String {
    blake3::hash(code).to_hex().as_str()[..HASH_DIGITS].to_string()
}

/// Whether a command gives objects names.
pub fn is_naming(command: &str) -> bool {
    matches!(command, "vkSetDebugUtilsObjectNameEXT" | "vkDebugMarkerSetObjectNameEXT")
}

/// The object a naming call names: VkObjectType (or the older VkDebugReportObjectTypeEXT), handle and name.
fn naming(image: &Image) -> Option<(u64, String)> {
    let call = View::call(image);
    if !is_naming(call.name) {
        return None;
    }
    let info = call.one("pNameInfo")?;
    let object = info.u64("objectHandle").or_else(|| info.u64("object"))?;
    Some((object, info.text("pObjectName")?.into_owned()))
}
