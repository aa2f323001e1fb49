//! Pipeline binaries (VK_KHR_pipeline_binary): what the captured driver compiled means nothing to this one.
//!
//! Asked for: binaries out of pipelines, and pipelines out of binaries. Bridged on every driver: binaries exist only here and
//! say what they said at capture; pipelines are compiled from their shaders. Costs: the time of compiling. Refused: a pipeline
//! that the capture has only as binaries, without its shaders.

use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use gfxr_parse::ahead::Call;
use gfxr_parse::member;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::struct_named;
use gfxr_parse::view::View;
use world::Outcome;

/// What leads to the binaries in the chain of a pipeline's create info.
const INFO: &str = "VkPipelineBinaryInfoKHR";

/// VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR: there is nothing to ask for.
pub(in crate::vulkan) const CAPTURE_DATA: u32 = 1 << 31;

/// vkCreatePipelineBinariesKHR.
pub(in crate::vulkan) fn create(
    _: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    report: &mut Report,
) -> Result<Option<Outcome>> {
    report.note("pipeline binaries: pipelines are compiled from their shaders");
    for h in call.image.handles.iter().filter(|h| h.out) {
        objects.insert_virtual(call.image.u64(h.at), h.ty);
    }
    Ok(Some(Outcome::captured(call)))
}

/// Takes the binaries from the create info of a pipeline at image offset `at`.
pub(in crate::vulkan) fn take(call: &Call, linked: &mut Linked, info: View<'_>, at: u32) -> Result<()> {
    if info.next(INFO).is_none() {
        return Ok(());
    }
    let mut stages = info.structs("pStages").chain(info.one("stage"));
    let has = |s: View<'_>| {
        s.u64("module").is_some_and(|m| m != 0)
            || s.next("VkShaderModuleCreateInfo").is_some()
            || s.next("VkPipelineShaderStageModuleIdentifierCreateInfoEXT").is_some()
    };
    if !stages.all(has) {
        let text = format!(
            "{}: a pipeline of which the capture has only the captured driver's binaries",
            call.command.name
        );
        return Err(Error::new(Kind::Unsupported, text));
    }
    let stype = struct_named(INFO).and_then(|id| STRUCTS[usize::from(id)].stype);
    let chain = at + member!("VkGraphicsPipelineCreateInfo", "pNext");
    let next = linked.unchain(linked.word_at(chain) as *const _, |s| Some(s.as_raw() as u32) == stype);
    linked.set_word_at(chain, next as u64);
    Ok(())
}
