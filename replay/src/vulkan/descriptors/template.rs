//! Descriptor update templates. The capture holds their data packed by kind, not at the application's offsets: so the
//! template is made anew with packed offsets, and the data are passed as they lie in the image.

use crate::error::{Error, Result};
use crate::vulkan::linked_call::LinkedCall;
use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::decode::template as packed;
use gfxr_parse::image::Image;
use gfxr_parse::{argument, member, param};
use world::World;

/// How many of each kind packed data hold: image infos, buffer infos, texel buffer views; acceleration structures, bytes of inline
/// uniform blocks.
type Counts = [u64; 5];

/// The kind of a VkDescriptorType, by its place in [`Counts`].
fn kind(ty: u32) -> usize {
    match ty {
        0..=3 | 10 => 0,
        6..=9 => 1,
        4 | 5 => 2,
        1_000_150_000 => 3,
        _ => 4,
    }
}

const IMAGE: usize = size_of::<vk::DescriptorImageInfo>();
const BUFFER: usize = size_of::<vk::DescriptorBufferInfo>();
const HANDLE: usize = size_of::<vk::BufferView>();

/// Gives each entry its place in packed data; none where that is beyond all numbers.
fn pack(entries: &mut [vk::DescriptorUpdateTemplateEntry]) -> Option<Counts> {
    let sizes = [IMAGE, BUFFER, HANDLE, HANDLE, 1];
    let mut counts = [0usize; 5];
    for e in entries.iter() {
        let n = &mut counts[kind(e.descriptor_type.as_raw() as u32)];
        *n = n.checked_add(e.descriptor_count as usize)?;
    }
    let behind = |at: usize, k: usize| at.checked_add(counts[k].checked_mul(sizes[k])?);
    // The image keeps its header in front and one before each tail; offsets count from behind the former.
    let mut next = [0usize; 5];
    for k in 1..3 {
        next[k] = behind(next[k - 1], k - 1)?;
    }
    let end = behind(next[2], 2)?;
    next[3] = end.checked_add(packed::TAIL_HEADER_BYTES)?;
    let after = if counts[3] > 0 { behind(next[3], 3)? } else { end };
    next[4] = after.checked_add(packed::TAIL_HEADER_BYTES)?;
    for e in entries {
        let k = kind(e.descriptor_type.as_raw() as u32);
        e.offset = next[k];
        e.stride = sizes[k];
        next[k] = next[k].checked_add((e.descriptor_count as usize).checked_mul(sizes[k])?)?;
    }
    Some(counts.map(|n| n as u64))
}

/// vkCreateDescriptorUpdateTemplate.
pub fn create(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk: _, linked, .. } = c;
    const INFO: usize = argument!("vkCreateDescriptorUpdateTemplate", "pCreateInfo");
    let Some(info) = linked.param::<vk::DescriptorUpdateTemplateCreateInfo<'_>>(INFO).copied() else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    let entries = linked.all_mut(info.p_descriptor_update_entries, info.descriptor_update_entry_count);
    entries.and_then(pack).ok_or_else(|| {
        Error::divergence(
            "pDescriptorUpdateEntries holds fewer than its count says, or more than there can be",
        )
    })?;
    Ok(())
}

/// The packed data must be of the template's shape, or the driver would read past them.
fn check(world: &World, call: &Call, template: u64, blob: u32) -> Result<()> {
    let entries = world.templates.get(&template).map(|t| &t.entries);
    let entries = entries.ok_or_else(|| {
        Error::divergence(format!("VkDescriptorUpdateTemplate {template} was never created"))
    })?;
    let mut wanted = Counts::default();
    entries.iter().for_each(|e| wanted[kind(e.ty)] += u64::from(e.count));
    let found = held(&call.image, blob);
    if found != Some(wanted) {
        return Err(Error::divergence(format!(
            "template {template} wants {:?} image, buffer and texel descriptors, acceleration structures and inline \
             bytes, the data hold {}",
            wanted,
            found.map_or("others".into(), |f| format!("{f:?}"))
        )));
    }
    Ok(())
}

/// What packed data hold of each kind; none if their tails are not in the order that offsets are given in.
fn held(image: &Image, blob: u32) -> Option<Counts> {
    let [images, buffers, texels, tails] = packed::counts(image, blob);
    let mut held = [images, buffers, texels, 0, 0];
    let packed = images * IMAGE as u64 + buffers * BUFFER as u64 + texels * HANDLE as u64;
    let mut at = u64::from(blob) + packed::HEADER_BYTES as u64 + packed;
    let mut last = 0;
    for _ in 0..tails {
        let behind = at.checked_add(packed::TAIL_HEADER_BYTES as u64)?;
        let (n, ty) = packed::tail(image, u32::try_from(at).ok().filter(|_| behind <= image.len() as u64)?);
        let (kind, bytes) = match ty {
            1_000_150_000 => (3, n.checked_mul(HANDLE as u64)?),
            1_000_138_000 => (4, n),
            // (a count without anything behind it: the layer writes one at the end)
            _ => break,
        };
        if kind <= last {
            return None;
        }
        (last, held[kind]) = (kind, n);
        at = behind.checked_add(bytes)?.checked_next_multiple_of(8)?;
    }
    Some(held)
}

/// vkUpdateDescriptorSetWithTemplate, vkCmdPushDescriptorSetWithTemplate: data are the last parameter.
pub fn update(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { objects, call, linked, .. } = c;
    let push = call.command.name.starts_with("vkCmdPush");
    let (template, data) = match push {
        true => (
            param!("vkCmdPushDescriptorSetWithTemplate", "descriptorUpdateTemplate"),
            argument!("vkCmdPushDescriptorSetWithTemplate", "pData"),
        ),
        false => (
            param!("vkUpdateDescriptorSetWithTemplate", "descriptorUpdateTemplate"),
            argument!("vkUpdateDescriptorSetWithTemplate", "pData"),
        ),
    };
    if let Some(blob) = call.image.target(call.command.params[data].at) {
        check(objects.world(), call, call.image.u64(template), blob)?;
        linked.set_arg(data, linked.address_of(blob) + packed::HEADER_BYTES as u64);
    }
    Ok(())
}

/// vkCmdPushDescriptorSetWithTemplate2: the struct points to the data.
pub fn push2(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk: _, objects, call, linked, .. } = c;
    const INFO: usize =
        argument!("vkCmdPushDescriptorSetWithTemplate2", "pPushDescriptorSetWithTemplateInfo");
    let at = call.image.target(call.command.params[INFO].at);
    let blob =
        at.and_then(|to| call.image.target(to + member!("VkPushDescriptorSetWithTemplateInfo", "pData")));
    if let (Some(at), Some(blob)) = (at, blob) {
        let template = member!("VkPushDescriptorSetWithTemplateInfo", "descriptorUpdateTemplate");
        check(objects.world(), call, call.image.u64(at + template), blob)?;
        let data = linked.address_of(blob) + packed::HEADER_BYTES as u64;
        if let Some(info) = linked.param_mut::<vk::PushDescriptorSetWithTemplateInfoKHR<'_>>(INFO) {
            info.p_data = data as *const _;
        }
    }
    Ok(())
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
        assert_eq!(pack(&mut v), Some([1, 3, 3, 1, 12]));
        let at: Vec<_> = v.iter().map(|e| (e.offset, e.stride)).collect();
        assert_eq!(at, [(24, 24), (0, 24), (96, 8), (72, 24), (136, 8), (160, 1)]);
    }

    #[test]
    fn what_data_hold_is_told_with_their_tails() {
        let mut image = Image::default();
        let blob = image.alloc(packed::HEADER_BYTES + IMAGE + HANDLE);
        for (word, n) in [1u64, 0, 1, 2].into_iter().enumerate() {
            image.edit_u64(blob + word as u32 * 8, n);
        }
        let structures = image.alloc(packed::TAIL_HEADER_BYTES + 16);
        let inline = image.alloc(packed::TAIL_HEADER_BYTES + 5);
        let tails = [(structures, 2, 1_000_150_000), (inline, 5, 1_000_138_000)];
        for (at, n, ty) in tails {
            image.edit_u64(at, n);
            image.edit_u64(at + 8, ty);
        }
        assert_eq!(held(&image, blob), Some([1, 0, 1, 2, 5]));
        image.edit_u64(inline + 8, 1_000_150_000);
        assert_eq!(held(&image, blob), None, "two tails of one kind");
    }
}
