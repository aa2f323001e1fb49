//! Descriptor update templates. The capture holds their data packed by kind, not at the application's offsets: so the
//! template is made anew with packed offsets, and the data are passed as they lie in the image.

use super::Vulkan;
use crate::error::{Error, Result};
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use ash::vk;
use gfxr_parse::decode::template::{HEADER_BYTES, TAIL_HEADER_BYTES};

/// Bytes of each kind in a packed template's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateState {
    /// Image infos, buffer infos, texel buffer views.
    pub counts: [u64; 3],
}

const IMAGE: usize = 24;
const BUFFER: usize = 24;
const TEXEL: usize = 8;

/// Gives each entry its place in packed data.
fn pack(entries: &mut [vk::DescriptorUpdateTemplateEntry]) -> [u64; 3] {
    let kind = |t: vk::DescriptorType| match t.as_raw() {
        0..=3 | 10 => 0,
        6..=9 => 1,
        4 | 5 => 2,
        1_000_150_000 => 3,
        _ => 4,
    };
    let sizes = [IMAGE, BUFFER, TEXEL, 8, 1];
    let mut counts = [0usize; 5];
    for e in entries.iter() {
        counts[kind(e.descriptor_type)] += e.descriptor_count as usize;
    }
    // The image keeps its header in front and one before each tail; offsets count from behind the former.
    let mut next = [0usize; 5];
    for k in 1..3 {
        next[k] = next[k - 1] + counts[k - 1] * sizes[k - 1];
    }
    let end = next[2] + counts[2] * sizes[2];
    next[3] = end + TAIL_HEADER_BYTES;
    let after = if counts[3] > 0 { next[3] + counts[3] * 8 } else { end };
    next[4] = after + TAIL_HEADER_BYTES;
    for e in entries {
        let k = kind(e.descriptor_type);
        e.offset = next[k];
        e.stride = sizes[k];
        next[k] += e.descriptor_count as usize * sizes[k];
    }
    [counts[0] as u64, counts[1] as u64, counts[2] as u64]
}

/// vkCreateDescriptorUpdateTemplate.
pub fn create(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let info: *mut vk::DescriptorUpdateTemplateCreateInfo = linked.ptr(1);
    // SAFETY: linked memory holds the create info; its array was checked against its count.
    let counts = unsafe {
        let Some(info) = info.as_mut() else { return Err(Error::divergence("pCreateInfo is missing")) };
        let entries = info.p_descriptor_update_entries as *mut vk::DescriptorUpdateTemplateEntry;
        let n = if entries.is_null() { 0 } else { info.descriptor_update_entry_count as usize };
        if n == 0 { [0; 3] } else { pack(std::slice::from_raw_parts_mut(entries, n)) }
    };
    let outcome = vk.raw(call, linked, report)?;
    if let Ok((id, _)) = super::resources::new_object(call) {
        vk.templates.insert(id, TemplateState { counts });
    }
    Ok(outcome)
}

/// vkDestroyDescriptorUpdateTemplate.
pub fn destroy(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    vk.templates.remove(&call.image.u64(8));
    vk.raw(call, linked, report)
}

/// The packed data must be of the template's shape, or the driver would read past them.
fn check(vk: &Vulkan, call: &Call, template: u64, blob: u32) -> Result<()> {
    let state = vk.templates.get(&template);
    let state = state.ok_or_else(|| {
        Error::divergence(format!("VkDescriptorUpdateTemplate {template} was never created"))
    })?;
    let found = [0, 8, 16].map(|o| call.image.u64(blob + o));
    if state.counts != found {
        return Err(Error::divergence(format!(
            "template {template} wants {:?} image, buffer and texel descriptors, the data hold {found:?}",
            state.counts
        )));
    }
    Ok(())
}

/// vkUpdateDescriptorSetWithTemplate, vkCmdPushDescriptorSetWithTemplate: data are the last parameter.
pub fn update(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let push = call.command.name.starts_with("vkCmdPush");
    let template = call.image.u64(if push { 8 } else { 16 });
    let last = call.command.params.len() - 1;
    if let Some(blob) = call.image.target(last as u32 * 8) {
        check(vk, call, template, blob)?;
        linked.set_arg(last, linked.address_of(blob) + HEADER_BYTES as u64);
    }
    vk.raw(call, linked, report)
}

/// vkCmdPushDescriptorSetWithTemplate2: the struct points to the data.
pub fn push2(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let info: *mut vk::PushDescriptorSetWithTemplateInfoKHR = linked.ptr(1);
    // VkPushDescriptorSetWithTemplateInfo: sType, pNext, descriptorUpdateTemplate, layout, set, pData.
    let at = call.image.target(8);
    let template = at.map_or(0, |to| call.image.u64(to + 16));
    let blob = at.and_then(|to| call.image.target(to + 40));
    // SAFETY: linked memory holds the struct (or null).
    if let (Some(info), Some(blob)) = (unsafe { info.as_mut() }, blob) {
        check(vk, call, template, blob)?;
        info.p_data = (linked.address_of(blob) + HEADER_BYTES as u64) as *const _;
    }
    vk.raw(call, linked, report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_packed_by_kind_in_their_own_order() {
        let e = |ty: i32, n: u32| vk::DescriptorUpdateTemplateEntry {
            descriptor_type: vk::DescriptorType::from_raw(ty),
            descriptor_count: n,
            offset: 999,
            stride: 999,
            ..Default::default()
        };
        let mut v = [e(6, 2), e(1, 1), e(4, 3), e(7, 1), e(1_000_150_000, 1), e(1_000_138_000, 12)];
        assert_eq!(pack(&mut v), [1, 3, 3]);
        let at: Vec<_> = v.iter().map(|e| (e.offset, e.stride)).collect();
        assert_eq!(at, [(24, 24), (0, 24), (96, 8), (72, 24), (136, 8), (160, 1)]);
    }
}
