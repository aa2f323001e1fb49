//! What shaders say about pointers: which bytes of their push constants, buffers and records are pointers, and which are
//! numbers, whatever they look like.
//!
//! Shader modules are read by the crate `pointers` as they are made; pipelines say which of them see which pipeline
//! layout. Push constants (`push.rs`) are then no guess. Words that the host wrote and that were left alone, because they
//! may be numbers, are kept in a journal (`journal.rs`); what a submission's shaders find there as pointers (`track.rs`,
//! `walk.rs`) is translated before it. A device without buffer addresses costs nothing here.
//!
//! Not known, and left to what words look like (`ray/words.rs`): shader objects, shaders given by identifier, layouts
//! that no pipeline was made with.

mod journal;
mod push;
mod track;
mod walk;

pub(crate) use journal::Word;
pub(crate) use push::{Verdict, behind, pointer_places, verdicts};
pub use track::{
    allocate_sets, bind_sets, copy_buffer, create_layout, create_pool, empty_pool, execute, free_sets,
    update_sets,
};
pub(crate) use track::{bind_pipeline, forget, pushed, traced};
pub(crate) use walk::before_submit;

use crate::error::Result;
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use gfxr_parse::ahead::Call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{StructDef, StructId, Ty, struct_named};
use pointers::{Checked, Module, Root};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use world::Outcome;

/// VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO.
const MODULE_INFO: u32 = 16;
/// VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR.
const LIBRARY_INFO: u32 = 1_000_290_000;

/// See the module's header.
#[derive(Default)]
pub struct Known {
    /// A device with buffer addresses exists.
    on: bool,
    modules: HashMap<u64, Rc<Module>>,
    pipelines: HashMap<u64, Rc<Pipeline>>,
    /// By pipeline layout, the shaders of every pipeline made with it.
    layouts: HashMap<u64, Pipeline>,
    /// By pipeline layout, its set layouts.
    set_layouts: HashMap<u64, Vec<u64>>,
    sets: HashMap<u64, track::Set>,
    commands: HashMap<u64, track::Commands>,
    /// Captured address -> captured id of the buffer there.
    pub(crate) by_address: BTreeMap<u64, u64>,
    pub(crate) journal: journal::Journal,
}

/// The shaders of a pipeline, or of all with one layout.
#[derive(Clone, Default)]
pub(crate) struct Pipeline {
    pub stages: Vec<Stage>,
    /// Some shader is not known.
    pub open: bool,
    /// Captured id of its layout.
    pub layout: u64,
    /// Some shader finds pointers in the buffers bound to it.
    pub reads_pointers: bool,
}

/// A shader in a pipeline.
#[derive(Clone)]
pub(crate) struct Stage {
    pub flags: u32,
    pub module: Rc<Module>,
    pub entry: usize,
}

impl Pipeline {
    fn add(&mut self, stage: &Stage) {
        let same = |s: &Stage| {
            Rc::ptr_eq(&s.module, &stage.module) && (s.entry, s.flags) == (stage.entry, stage.flags)
        };
        if !self.stages.iter().any(same) {
            self.stages.push(stage.clone());
        }
    }
    fn merge(&mut self, other: &Pipeline) {
        self.open |= other.open;
        other.stages.iter().for_each(|s| self.add(s));
    }
}

/// A device was made.
pub(crate) fn device_made(vk: &mut Vulkan, buffer_addresses: bool) {
    vk.known.on |= buffer_addresses;
}

/// vkCreateShaderModule.
pub fn create_module(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if vk.known.on
        && let Some(info) = call.image.target(8)
        && let Ok((id, _)) = super::resources::new_object(call)
    {
        match read(&call.image, info) {
            Some(module) => drop(vk.known.modules.insert(id, module)),
            None => {
                report.note("shaders were not understood; their pointers are found by what words look like")
            }
        }
    }
    vk.raw(call, linked, report)
}

/// vkDestroyShaderModule.
pub fn destroy_module(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    vk.known.modules.remove(&call.image.u64(8));
    vk.raw(call, linked, report)
}

/// vkDestroyPipeline.
pub fn destroy_pipeline(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    vk.known.pipelines.remove(&call.image.u64(8));
    vk.raw(call, linked, report)
}

/// vkDestroyPipelineLayout.
pub fn destroy_layout(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    vk.known.layouts.remove(&call.image.u64(8));
    vk.known.set_layouts.remove(&call.image.u64(8));
    vk.raw(call, linked, report)
}

/// The module that a VkShaderModuleCreateInfo at `info` holds.
fn read(image: &Image, info: u32) -> Option<Rc<Module>> {
    // sType, pNext, flags, codeSize, pCode.
    let bytes = image.u64(info + 24) as usize;
    let at = image.ptr(info + 32).filter(|p| p.has_data())?.to as usize;
    let code = image.bytes().get(at..at.checked_add(bytes)?)?;
    let words: Vec<u32> =
        code.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes"))).collect();
    match Checked::new(&words) {
        Ok(words) => Some(Rc::new(Module::read(words))),
        Err(e) => {
            tracing::debug!("a shader module: {e}");
            None
        }
    }
}

fn member(def: &StructDef, name: &str) -> Option<u32> {
    def.members.iter().find(|m| m.name == name).map(|m| m.at)
}

/// vkCreate{Graphics,Compute,RayTracing}Pipelines: to be called with the call as captured.
pub(crate) fn pipelines_made(vk: &mut Vulkan, call: &Call) {
    if !vk.known.on {
        return;
    }
    let image = &call.image;
    let param = |name| call.command.params.iter().find(|p| p.name == name);
    let (Some(infos), Some(out)) = (param("pCreateInfos"), param("pPipelines")) else { return };
    let Ty::Struct(info) = infos.ty else { return };
    let (Some(infos), Some(ids)) =
        (image.ptr(infos.at).filter(|p| p.has_data()), image.ptr(out.at).filter(|p| p.has_data()))
    else {
        return;
    };
    for i in 0..infos.len.min(ids.len) as u32 {
        let at = infos.to + i * STRUCTS[info as usize].size;
        let (pipeline, layout) = one(&vk.known, image, info, at);
        vk.known.layouts.entry(layout).or_default().merge(&pipeline);
        vk.known.pipelines.insert(image.u64(ids.to + i * 8), Rc::new(pipeline));
    }
}

/// The pipeline whose create info lies at `at`, and the captured id of its layout.
fn one(known: &Known, image: &Image, info: StructId, at: u32) -> (Pipeline, u64) {
    let def = &STRUCTS[info as usize];
    let stage = struct_named("VkPipelineShaderStageCreateInfo").expect("core");
    let mut pipeline = Pipeline::default();
    if let Some(m) = member(def, "stage") {
        add_stage(known, image, at + m, &mut pipeline);
    }
    if let Some(m) = member(def, "pStages")
        && let Some(stages) = image.ptr(at + m).filter(|p| p.has_data())
    {
        for s in 0..stages.len as u32 {
            add_stage(known, image, stages.to + s * STRUCTS[stage as usize].size, &mut pipeline);
        }
    }
    // Libraries: for graphics in the chain, for ray tracing in a member.
    let in_chain = image.chain_find(at + 8, LIBRARY_INFO);
    let libraries = in_chain.or_else(|| member(def, "pLibraryInfo").and_then(|m| image.target(at + m)));
    // sType, pNext, libraryCount, pLibraries.
    if let Some(list) = libraries.and_then(|l| image.ptr(l + 24)).filter(|p| p.has_data()) {
        for l in 0..list.len as u32 {
            match known.pipelines.get(&image.u64(list.to + l * 8)) {
                Some(library) => pipeline.merge(library),
                None => pipeline.open = true,
            }
        }
    }
    pipeline.layout = member(def, "layout").map_or(0, |m| image.u64(at + m));
    pipeline.reads_pointers = pipeline.stages.iter().any(|s| {
        let roots = s.module.entries.get(s.entry).map_or(&[][..], |e| &e.roots);
        roots.iter().any(|r| matches!(r.0, Root::Buffer { .. }) && !s.module.layouts[r.1].fields.is_empty())
    });
    let layout = pipeline.layout;
    (pipeline, layout)
}

/// VkPipelineShaderStageCreateInfo: sType, pNext, flags, stage, module, pName, pSpecializationInfo.
fn add_stage(known: &Known, image: &Image, at: u32, pipeline: &mut Pipeline) {
    let module = match image.u64(at + 24) {
        0 => image.chain_find(at + 8, MODULE_INFO).and_then(|info| read(image, info)),
        id => known.modules.get(&id).cloned(),
    };
    let name = image.ptr(at + 32).filter(|p| p.has_data()).map(|p| {
        let text = &image.bytes()[p.to as usize..];
        String::from_utf8_lossy(&text[..text.iter().position(|b| *b == 0).unwrap_or(text.len())]).into_owned()
    });
    let found = module.zip(name).and_then(|(module, name)| {
        let entry = module.entries.iter().position(|e| e.name == name)?;
        Some(Stage { flags: image.u32(at + 20), module, entry })
    });
    match found {
        Some(stage) => pipeline.add(&stage),
        None => pipeline.open = true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::struct_by_stype;

    #[test]
    fn the_structs_are_as_they_are_read() {
        let at = |s: &str, m: &str| member(&STRUCTS[struct_named(s).expect("core") as usize], m);
        let stage = "VkPipelineShaderStageCreateInfo";
        assert_eq!(
            [at(stage, "stage"), at(stage, "module"), at(stage, "pName")],
            [Some(20), Some(24), Some(32)]
        );
        let module = "VkShaderModuleCreateInfo";
        assert_eq!([at(module, "codeSize"), at(module, "pCode")], [Some(24), Some(32)]);
        assert_eq!(at("VkPipelineLibraryCreateInfoKHR", "pLibraries"), Some(24));
        assert_eq!(struct_by_stype(LIBRARY_INFO), struct_named("VkPipelineLibraryCreateInfoKHR"));
        assert_eq!(struct_by_stype(MODULE_INFO), struct_named(module));
        for info in [
            "VkComputePipelineCreateInfo",
            "VkGraphicsPipelineCreateInfo",
            "VkRayTracingPipelineCreateInfoKHR",
        ] {
            assert!(at(info, "layout").is_some(), "{info}");
        }
    }
}
