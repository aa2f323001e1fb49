//! Descriptor buffers (VK_EXT_descriptor_buffer): the driver's own bytes, found again in what the host writes.
//!
//! vkGetDescriptorEXT gave the application bytes that mean something to the captured driver in the captured process. The
//! driver here is asked the same and answers with others. Where the host writes the first, the second are put: into
//! descriptor buffers, into buffers that are copied from, and into updates of buffers. A descriptor that one write begins
//! and another ends is found too, as what the host wrote to descriptor buffers is kept.
//!
//! A driver whose descriptors have other sizes reads other buffers (`portability/descriptor_buffers`). That would do here
//! as well, and costs more: memory, and following what it contains.
//!
//! Refuses: a driver that lays sets out otherwise though its descriptors have the same sizes; descriptors in the snapshot
//! of a capture that begins later than the first frame, as the capture layer does not write what they mean. Left as captured,
//! and said: descriptors of fewer than 16 bytes that are copied into a descriptor buffer from another one, as they look like
//! any number.

use super::table::{Piece, TELLING};
use super::usage::holds_descriptors;
use crate::error::{Error, Kind, Result};
use crate::report::Report;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::memory;
use crate::vulkan::portability;
use crate::vulkan::state::Vulkan;
use ash::vk;
use gfxr_parse::view::View;
use gfxr_parse::{member, param};
use world::Outcome;

/// A buffer was made.
pub(super) fn buffer_made(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    if outcome.result() >= 0 && View::call(&c.call.image).one("pCreateInfo").is_some_and(holds_descriptors) {
        c.vk.descriptors.buffers.insert(new_object(c.call)?.0, Vec::new());
    }
    Ok(())
}

/// A buffer is gone.
pub(super) fn buffer_gone(c: &mut LinkedCall<'_>) -> Result<()> {
    c.vk.descriptors.buffers.remove(&c.call.image.u64(param!("vkDestroyBuffer", "buffer")));
    Ok(())
}

/// The host writes `data` into a buffer, from its byte `within` on: what of it is to be other bytes.
pub(crate) fn written(vk: &mut Vulkan, buffer: u64, within: u64, data: &[u8]) -> Result<Vec<Piece>> {
    let d = &mut vk.descriptors;
    if d.is_unused() || vk.descriptor_buffers.is_on() {
        return Ok(Vec::new());
    }
    let Some(shadow) = d.buffers.get_mut(&buffer) else {
        let copied =
            vk.buffers.get(&buffer).is_none_or(|b| b.usage.contains(vk::BufferUsageFlags::TRANSFER_SRC));
        let found = if copied { d.table.find(within, data, TELLING) } else { Vec::new() };
        let pieces: Vec<Piece> = found.into_iter().map(|(at, live)| (at, live.to_vec())).collect();
        vk.ray.totals.descriptors += pieces.len() as u64;
        return Ok(pieces);
    };
    let (inside, outside) = d.table.rewritten(shadow, within as usize, data);
    vk.ray.totals.descriptors += inside.len() as u64;
    for (at, bytes) in outside {
        memory::write_within(vk, buffer, false, at as u64, &bytes)?;
    }
    Ok(inside)
}

/// Initial contents of a buffer: refused where they are descriptors that nobody explains. Where the capture has said of some what they are, as
/// one that this project trimmed does, it has of all.
pub(crate) fn loaded(vk: &Vulkan, buffer: u64, data: &[u8], report: &mut Report) -> Result<()> {
    let d = &vk.descriptors;
    if !d.buffers.contains_key(&buffer) || !d.table.is_empty() || data.iter().all(|b| *b == 0) {
        return Ok(());
    }
    let what = format!(
        "VkBuffer {buffer} is a descriptor buffer, and the capture begins behind the calls that say what its descriptors are"
    );
    refuse(vk, what, "record from the first frame on", report)
}

/// An update of a buffer whose `data` lies at image offset `to`: the descriptors among it are put into the linked call.
pub(crate) fn updated(vk: &mut Vulkan, buffer: u64, at: u64, data: &[u8]) -> Vec<Piece> {
    let d = &mut vk.descriptors;
    let least = if d.buffers.contains_key(&buffer) { 0 } else { TELLING };
    let found = d.table.find(at, data, least).into_iter();
    let pieces: Vec<Piece> = found.map(|(at, live)| (at, live.to_vec())).collect();
    vk.ray.totals.descriptors += pieces.len() as u64;
    pieces
}

/// vkCmdCopyBuffer, vkCmdCopyBuffer2.
pub fn copy(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, report, .. } = c;
    let d = &vk.descriptors;
    if d.table.any_small() {
        let v = View::call(&call.image);
        let to = v.one("pCopyBufferInfo").unwrap_or(v).u64("dstBuffer").unwrap_or(0);
        if d.buffers.contains_key(&to) {
            report.note("descriptors of fewer than 16 bytes that are copied into a descriptor buffer were left as captured");
        }
    }
    Ok(())
}

fn refuse(vk: &Vulkan, what: String, instead: &str, report: &mut Report) -> Result<()> {
    if vk.options.keep_going {
        report.note(&what);
        return Ok(());
    }
    Err(Error::new(Kind::Unsupported, format!("{what}; {instead}")))
}

/// What a driver must have in common with the captured one.
fn same(vk: &Vulkan, what: &str, captured: u64, live: &[u64], report: &mut Report) -> Result<()> {
    if live.contains(&captured) {
        return Ok(());
    }
    let here = live.first().copied().unwrap_or(0);
    let what = format!("descriptor buffers: {what} is {captured} in the capture and {here} on this device");
    refuse(
        vk,
        what,
        "only a driver that lays descriptors out as the captured one did can replay this",
        report,
    )
}

/// Bytes of a descriptor: plain, and where buffer accesses are robust.
fn sizes_of(vk: &Vulkan, device: u64, ty: vk::DescriptorType) -> Option<[u64; 2]> {
    use vk::DescriptorType as T;
    let d = vk.devices.get(&device)?;
    let instance = vk.instances.get(&d.instance_id)?;
    let mut p = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut p);
    let query = ash::khr::get_physical_device_properties2::Instance::new(&vk.entry, &instance.ash);
    // SAFETY: a chain of known structs; the device has the extension, as one of its functions is called.
    unsafe { query.get_physical_device_properties2(d.gpu.handle, &mut all) };
    let one = |n: usize| [n, n];
    let sizes = match ty {
        T::SAMPLER => one(p.sampler_descriptor_size),
        T::COMBINED_IMAGE_SAMPLER => one(p.combined_image_sampler_descriptor_size),
        T::SAMPLED_IMAGE => one(p.sampled_image_descriptor_size),
        T::STORAGE_IMAGE => one(p.storage_image_descriptor_size),
        T::INPUT_ATTACHMENT => one(p.input_attachment_descriptor_size),
        T::ACCELERATION_STRUCTURE_KHR => one(p.acceleration_structure_descriptor_size),
        T::UNIFORM_TEXEL_BUFFER => {
            [p.uniform_texel_buffer_descriptor_size, p.robust_uniform_texel_buffer_descriptor_size]
        }
        T::STORAGE_TEXEL_BUFFER => {
            [p.storage_texel_buffer_descriptor_size, p.robust_storage_texel_buffer_descriptor_size]
        }
        T::UNIFORM_BUFFER => [p.uniform_buffer_descriptor_size, p.robust_uniform_buffer_descriptor_size],
        T::STORAGE_BUFFER => [p.storage_buffer_descriptor_size, p.robust_storage_buffer_descriptor_size],
        _ => return None,
    };
    Some(sizes.map(|n| n as u64))
}

/// vkGetDescriptorEXT. The captured bytes now mean these.
pub fn get(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    if c.vk.descriptor_buffers.is_on() {
        return portability::descriptor_buffers::get(c);
    }
    let LinkedCall { vk, call, linked, report, .. } = c;
    let (device, bytes) = (call.image.u64(0), call.image.u64(param!("vkGetDescriptorEXT", "dataSize")));
    let ty = call
        .image
        .target(param!("vkGetDescriptorEXT", "pDescriptorInfo"))
        .map_or(0, |info| call.image.u32(info + member!("VkDescriptorGetInfoEXT", "type")))
        as i32;
    if vk.descriptors.sizes.insert((device, ty, bytes))
        && let Some(here) = sizes_of(vk, device, vk::DescriptorType::from_raw(ty))
    {
        let what = format!("the size of a descriptor ({:?})", vk::DescriptorType::from_raw(ty));
        same(vk, &what, bytes, &here, report)?;
    }
    let outcome = vk.raw(call, linked, report)?;
    if let Some(p) = call.image.ptr(param!("vkGetDescriptorEXT", "pDescriptor")).filter(|p| p.has_data()) {
        let (to, len) = (p.to as usize, (p.len as usize).min(bytes as usize));
        let live = linked.bytes_at(p.to, len);
        vk.descriptors.table.insert(&call.image.bytes()[to..to + len], &live);
    }
    Ok(outcome)
}

/// vkGetDescriptorSetLayoutSizeEXT and vkGetDescriptorSetLayoutBindingOffsetEXT: the application computed with what it was
/// told.
pub fn layout(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let (at, what) = match call.command.name {
        "vkGetDescriptorSetLayoutSizeEXT" => {
            (param!("vkGetDescriptorSetLayoutSizeEXT", "pLayoutSizeInBytes"), "the size of a set")
        }
        _ => (param!("vkGetDescriptorSetLayoutBindingOffsetEXT", "pOffset"), "the offset of a binding"),
    };
    let Some(to) = call.image.target(at) else { return Ok(()) };
    if !vk.descriptor_buffers.is_on() {
        same(vk, what, call.image.u64(to), &[linked.word_at(to)], report)?;
    } else if call.command.name == "vkGetDescriptorSetLayoutSizeEXT" {
        portability::descriptor_buffers::set_size(vk, call.image.u64(to), linked.word_at(to))?;
    }
    Ok(())
}
