//! Modules without the capabilities, and calls without the bits, that this device lacks and nothing uses (`unused.rs`).
//!
//! Only where there are such: a module is changed in the linked call, and the changed words live until the call was made. A bit
//! says what may be done with a buffer, or what a barrier waits for: nothing is done with it, and nothing is waited for.

use crate::link::Linked;
use crate::vulkan::Vulkan;
use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::argument;
use gfxr_parse::image::{Image, Ptr};
use gfxr_parse::schema::Ty;
use gfxr_parse::schema::generated::ENUMS;
use gfxr_parse::walk::{Pointee, Visitor, walk_call};
use std::collections::BTreeMap;

/// Changes every module of a call. Called after linking.
pub(in crate::vulkan) fn strip(vk: &mut Vulkan, call: &Call, linked: &mut Linked) -> bool {
    vk.stripped.clear();
    let mut changed = false;
    if !vk.unused.bits.is_empty() {
        let mut clear = Clear { bits: &vk.unused.bits, linked, changed: false };
        walk_call(&call.image, &mut clear);
        changed = clear.changed;
    }
    // Where the code is, and where a stage's chain begins: what is found first is changed afterwards.
    let mut codes: Vec<Code> = Vec::new();
    let mut stages: Vec<(*const Stage, u32)> = Vec::new();
    match call.command.name {
        "vkCreateShaderModule" => {
            let info = linked.arg(argument!("vkCreateShaderModule", "pCreateInfo"));
            codes.push(Code::Module(info as *const _));
        }
        "vkCreateShadersEXT" => {
            const INFOS: usize = argument!("vkCreateShadersEXT", "pCreateInfos");
            const COUNT: usize = argument!("vkCreateShadersEXT", "createInfoCount");
            let infos = linked.params::<vk::ShaderCreateInfoEXT<'_>>(INFOS, COUNT).unwrap_or_default();
            let spirv = infos.iter().filter(|i| i.code_type == vk::ShaderCodeTypeEXT::SPIRV);
            codes.extend(spirv.map(|i| Code::Shader((&raw const *i).cast())));
        }
        "vkCreateGraphicsPipelines" => {
            const INFOS: usize = argument!("vkCreateGraphicsPipelines", "pCreateInfos");
            const COUNT: usize = argument!("vkCreateGraphicsPipelines", "createInfoCount");
            let infos =
                linked.params::<vk::GraphicsPipelineCreateInfo<'static>>(INFOS, COUNT).unwrap_or_default();
            stages.extend(infos.iter().map(|i| (i.p_stages, i.stage_count)));
        }
        "vkCreateComputePipelines" => {
            const INFOS: usize = argument!("vkCreateComputePipelines", "pCreateInfos");
            const COUNT: usize = argument!("vkCreateComputePipelines", "createInfoCount");
            let infos =
                linked.params::<vk::ComputePipelineCreateInfo<'static>>(INFOS, COUNT).unwrap_or_default();
            stages.extend(infos.iter().map(|i| (&raw const i.stage, 1)));
        }
        "vkCreateRayTracingPipelinesKHR" => {
            const INFOS: usize = argument!("vkCreateRayTracingPipelinesKHR", "pCreateInfos");
            const COUNT: usize = argument!("vkCreateRayTracingPipelinesKHR", "createInfoCount");
            let infos = linked
                .params::<vk::RayTracingPipelineCreateInfoKHR<'static>>(INFOS, COUNT)
                .unwrap_or_default();
            stages.extend(infos.iter().map(|i| (i.p_stages, i.stage_count)));
        }
        _ => {}
    }
    for (at, n) in stages {
        for stage in linked.all(at, n).unwrap_or_default() {
            let modules =
                linked.chain(stage.p_next).filter(|s| s.1 == vk::StructureType::SHADER_MODULE_CREATE_INFO);
            codes.extend(modules.map(|s| Code::Module(s.0.cast())));
        }
    }
    for code in codes {
        let Some((words, size)) = code.words(linked) else { continue };
        let Some(words) = linked.all(words, size) else { continue };
        if let Some(less) = vk.without_unused(words) {
            code.replace(linked, &less);
            vk.stripped.push(less);
        }
    }
    changed || !vk.stripped.is_empty()
}

/// Takes bits out of a linked call.
struct Clear<'c> {
    bits: &'c BTreeMap<&'static str, u64>,
    linked: &'c mut Linked,
    changed: bool,
}

impl Visitor for Clear<'_> {
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        let (Ty::Flags(id) | Ty::Flags64(id)) = ty else { return };
        let Some(mask) = self.bits.get(ENUMS[usize::from(id)].name) else { return };
        let wide = matches!(ty, Ty::Flags64(_));
        let bits = if wide { image.u64(at) } else { image.u32(at).into() };
        if bits & mask == 0 {
            return;
        }
        self.changed = true;
        match wide {
            true => self.linked.set_word_at(at, bits & !mask),
            false => self.linked.set_u32_at(at, (bits & !mask) as u32),
        }
    }
    fn pointer(&mut self, _: &Image, _: &Ptr, _: Pointee) {}
    fn text(&mut self, _: &Image, _: u32, _: u64, _: u32) {}
}

type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// A struct of a linked call that holds SPIR-V.
enum Code {
    Module(*const vk::ShaderModuleCreateInfo<'static>),
    Shader(*const vk::ShaderCreateInfoEXT<'static>),
}

impl Code {
    /// Where its words are, and how many.
    fn words(&self, linked: &Linked) -> Option<(*const u32, u32)> {
        let (at, bytes) = match self {
            Code::Module(at) => linked.one(*at).map(|i| (i.p_code, i.code_size))?,
            Code::Shader(at) => linked.one(*at).map(|i| (i.p_code.cast(), i.code_size))?,
        };
        bytes.is_multiple_of(4).then_some((at, u32::try_from(bytes / 4).ok()?))
    }
    /// Makes it hold others, which outlive the call.
    fn replace(&self, linked: &mut Linked, words: &[u32]) {
        match self {
            Code::Module(at) => {
                if let Some(i) = linked.one_mut(*at) {
                    (i.p_code, i.code_size) = (words.as_ptr(), words.len() * 4);
                }
            }
            Code::Shader(at) => {
                if let Some(i) = linked.one_mut(*at) {
                    (i.p_code, i.code_size) = (words.as_ptr().cast(), words.len() * 4);
                }
            }
        }
    }
}
