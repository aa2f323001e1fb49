//! Shaders: what is given as SPIR-V can be walked, and has the entry points that are asked for.
//!
//! Guarantees: descriptors that a shader uses are in its pipeline's layout; whoever reads a module of a call that was made may rely on `pointers::check`. Refuses modules that it refuses,
//! and stages whose entry point their module does not have.

use super::{Check, Cx, each, n32, n64};
use crate::follow::layouts::PipelineLayout;
use gfxr_parse::error::{Error, Result};
use gfxr_parse::view::View;
use std::rc::Rc;

/// By canonical name. (Graphics pipelines are looked at in `pipelines.rs`, which asks [`stages`].)
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("vkCreateComputePipelines", |c, v| each(v, "pCreateInfos", |i| stages(c, i))),
    ("vkCreateRayTracingPipelinesKHR", |c, v| each(v, "pCreateInfos", |i| stages(c, i))),
    ("vkCreateRayTracingPipelinesNV", |c, v| each(v, "pCreateInfos", |i| stages(c, i))),
    ("vkCreateShaderModule", |_, v| match v.one("pCreateInfo") {
        Some(info) => module(info).map_err(|e| e.within("pCreateInfo")),
        None => Ok(()),
    }),
    ("vkCreateShadersEXT", |_, v| {
        each(v, "pCreateInfos", |i| match n32(i, "codeType") {
            SPIRV => {
                let words = module_words(i)?;
                entry(&words, i)
            }
            _ => Ok(()),
        })
    }),
];

/// VK_SHADER_CODE_TYPE_SPIRV_EXT.
const SPIRV: u32 = 1;

/// The code of a create info, checked.
fn module_words(info: View<'_>) -> Result<Vec<u32>> {
    let code = info.bytes("pCode").unwrap_or_default();
    let size = usize::try_from(n64(info, "codeSize")).unwrap_or(usize::MAX);
    if size % 4 != 0 || size > code.len() {
        return Err(Error::malformed(format!("expected a multiple of 4, found {size}")).within("codeSize"));
    }
    let words: Vec<u32> = code[..size].as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    match pointers::check(&words) {
        Ok(()) => Ok(words),
        Err(e) => Err(Error::malformed(format!("this SPIR-V cannot be read: {e}")).within("pCode")),
    }
}

fn module(info: View<'_>) -> Result<()> {
    // Validation caches and the like bring none.
    match n64(info, "codeSize") {
        0 => Err(Error::malformed("expected a number above 0").within("codeSize")),
        _ => module_words(info).map(drop),
    }
}

/// The stages of a pipeline's create info.
pub(super) fn stages(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let layout = c.world.pipeline_layouts.get(&n64(v, "layout"));
    each(v, "pStages", |s| stage(c, s, layout))?;
    match v.one("stage") {
        Some(s) => stage(c, s, layout).map_err(|e| e.within("stage")),
        None => Ok(()),
    }
}

fn stage(c: &Cx<'_>, s: View<'_>, layout: Option<&Rc<PipelineLayout>>) -> Result<()> {
    let (wanted, name) = (models(n32(s, "stage")), s.text("pName").unwrap_or_default());
    let entry = |words: &[u32], s| {
        entry(words, s)?;
        match layout {
            Some(layout) => wanted.iter().try_for_each(|model| bound(layout, words, *model, &name)),
            None => Ok(()),
        }
    };
    match n64(s, "module") {
        // A module in the chain, or an identifier of one.
        0 => match s.next("VkShaderModuleCreateInfo") {
            Some(info) => {
                let words =
                    module_words(info).map_err(|e| e.within("<VkShaderModuleCreateInfo>").within("pNext"))?;
                entry(&words, s)
            }
            None => Ok(()),
        },
        id => match c.world.modules.get(&id) {
            Some(module) if !module.words.is_empty() => entry(&module.words, s),
            _ => Ok(()),
        },
    }
}

/// The module has the entry point of this name for this stage.
fn entry(words: &[u32], s: View<'_>) -> Result<()> {
    let (stage, name) = (n32(s, "stage"), s.text("pName").unwrap_or_default());
    let wanted = models(stage);
    if pointers::entry_points(words).any(|(model, n)| n == name && wanted.contains(&model)) {
        return Ok(());
    }
    let text = format!("expected an entry point of the module for stage {stage:#x}, found {name:?}");
    Err(Error::malformed(text).within("pName"))
}

/// The layout has the descriptors that a shader uses: drivers look them up by number.
fn bound(layout: &PipelineLayout, words: &[u32], model: u32, name: &str) -> Result<()> {
    for (set, binding) in pointers::descriptors(words, model, name) {
        // Layouts that descriptors of another kind take the place of (heaps, embedded samplers) are not known.
        let has = match layout.sets.get(set as usize) {
            Some(Some(s)) => s.binding(binding).is_some_and(|b| b.count > 0),
            Some(None) => true,
            None => false,
        };
        if !has {
            let text = format!(
                "expected set {set}, binding {binding} in the pipeline's layout, as shader {name:?} uses it"
            );
            return Err(Error::malformed(text).within("layout"));
        }
    }
    Ok(())
}

/// The execution models of a VkShaderStageFlagBits.
fn models(stage: u32) -> &'static [u32] {
    match stage {
        0x1 => &[0],
        0x2 => &[1],
        0x4 => &[2],
        0x8 => &[3],
        0x10 => &[4],
        0x20 => &[5],
        0x40 => &[5267, 5364],
        0x80 => &[5268, 5365],
        0x100 => &[5313],
        0x200 => &[5315],
        0x400 => &[5316],
        0x800 => &[5317],
        0x1000 => &[5314],
        0x2000 => &[5318],
        _ => &[],
    }
}
