//! Shaders: what is given as SPIR-V can be walked, and has the entry points that are asked for.
//!
//! Guarantees: the SPIR-V of a call that is made keeps to what [`pointers::Checked`] says, wherever in the call it stands.
//! Refuses other modules, and stages whose entry point their module does not have. (That a layout has each descriptor which a
//! shader names is not asked for: programs that run everywhere name some that it has not.) What is wrong with a module
//! otherwise, only drivers find.

use super::check::{Check, Cx, each, n32, n64, one};
use gfxr_parse::error::{Error, Result};
use gfxr_parse::view::View;
use pointers::Checked;

/// By canonical name. (Graphics pipelines are looked at in `pipelines.rs`, which asks [`stages`].)
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("vkCreateComputePipelines", |c, v| each(v, "pCreateInfos", |i| stages(c, i))),
    ("vkCreateExecutionGraphPipelinesAMDX", |c, v| each(v, "pCreateInfos", |i| stages(c, i))),
    ("vkCreatePipelineBinariesKHR", |c, v| {
        one(v, "pCreateInfo", |i| one(i, "pPipelineCreateInfo", |p| any(c, p)))
    }),
    ("vkCreateRayTracingPipelinesKHR", |c, v| each(v, "pCreateInfos", |i| stages(c, i))),
    ("vkCreateRayTracingPipelinesNV", |c, v| each(v, "pCreateInfos", |i| stages(c, i))),
    ("vkCreateShaderModule", |_, v| one(v, "pCreateInfo", |i| code(i, |_| Ok(())))),
    ("vkCreateShadersEXT", |_, v| {
        each(v, "pCreateInfos", |i| match n32(i, "codeType") {
            SPIRV => code(i, |words| entry(words, i)),
            _ => Ok(()),
        })
    }),
    ("vkGetPipelineIndirectMemoryRequirementsNV", |c, v| one(v, "pCreateInfo", |i| stages(c, i))),
    ("vkGetPipelineKeyKHR", |c, v| one(v, "pPipelineCreateInfo", |p| any(c, p))),
    ("vkGetShaderModuleCreateInfoIdentifierEXT", |_, v| one(v, "pCreateInfo", |i| code(i, |_| Ok(())))),
];

/// VK_SHADER_CODE_TYPE_SPIRV_EXT.
const SPIRV: u32 = 1;

/// Checks the code of a create info, and looks at it.
fn code(info: View<'_>, look: impl FnOnce(Checked<'_>) -> Result<()>) -> Result<()> {
    let code = info.bytes("pCode").unwrap_or_default();
    let size = n64(info, "codeSize");
    if size == 0 || !size.is_multiple_of(4) {
        let text = format!("expected a multiple of 4 above 0: SPIR-V has words of 4 bytes, found {size}");
        return Err(Error::malformed(text).within("codeSize"));
    }
    let Some(code) = usize::try_from(size).ok().and_then(|n| code.get(..n)) else {
        let text = format!("expected at most the {} bytes of pCode, found {size}", code.len());
        return Err(Error::malformed(text).within("codeSize"));
    };
    let words: Vec<u32> = code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    match Checked::new(&words) {
        Ok(words) => look(words),
        Err(e) => Err(Error::malformed(format!("this is no SPIR-V: {e}")).within("pCode")),
    }
}

/// VkPipelineCreateInfoKHR: a pipeline's create info of any kind stands in its chain.
fn any(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let kinds = [
        "VkGraphicsPipelineCreateInfo",
        "VkComputePipelineCreateInfo",
        "VkRayTracingPipelineCreateInfoKHR",
        "VkExecutionGraphPipelineCreateInfoAMDX",
    ];
    let infos = kinds.iter().filter_map(|kind| Some((kind, v.next(kind)?)));
    infos
        .into_iter()
        .try_for_each(|(kind, i)| stages(c, i).map_err(|e| e.within(&format!("<{kind}>")).within("pNext")))
}

/// The stages of a pipeline's create info.
pub(super) fn stages(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    each(v, "pStages", |s| stage(c, s))?;
    one(v, "stage", |s| stage(c, s))?;
    match v.next("VkGraphicsPipelineShaderGroupsCreateInfoNV") {
        Some(groups) => each(groups, "pGroups", |g| each(g, "pStages", |s| stage(c, s)))
            .map_err(|e| e.within("<VkGraphicsPipelineShaderGroupsCreateInfoNV>").within("pNext")),
        None => Ok(()),
    }
}

fn stage(c: &Cx<'_>, s: View<'_>) -> Result<()> {
    let entry = |words: Checked<'_>| entry(words, s);
    match n64(s, "module") {
        // A module in the chain, or an identifier of one.
        0 => match s.next("VkShaderModuleCreateInfo") {
            Some(info) => {
                code(info, entry).map_err(|e| e.within("<VkShaderModuleCreateInfo>").within("pNext"))
            }
            None => Ok(()),
        },
        id => match c.world.modules.get(&id).and_then(|m| Checked::new(&m.words).ok()) {
            Some(words) => entry(words),
            None => Ok(()),
        },
    }
}

/// The module has the entry point of this name for this stage.
fn entry(words: Checked<'_>, s: View<'_>) -> Result<()> {
    let (stage, name) = (n32(s, "stage"), s.text("pName").unwrap_or_default());
    let wanted = models(stage);
    if pointers::entry_points(words).any(|(model, n)| n == name && wanted.contains(&model)) {
        return Ok(());
    }
    let text = format!("expected an entry point of the module for stage {stage:#x}, found {name:?}");
    Err(Error::malformed(text).within("pName"))
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
