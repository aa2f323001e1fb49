//! `small-textures`: images that are only sampled are seen as 2 × 2 texels (block-compressed ones as one block).
//!
//! Beside such an image another is made: of the same format, type and layers, but small and of one level, grey and opaque (zero where
//! it is of integers or compressed), ready to be read by shaders. Views of the image are made as views of that one, so that descriptors
//! follow by themselves; copies into the image go to the image. Guarantees: an image that is ever written by shaders or as an attachment
//! stays. Refuses, by a count: sampled images of several samples, planes, sparse or shared memory, and formats for which
//! another stands in here. Shaders that fetch texels by coordinates read beyond what there is. A small image is in the layout that
//! the first descriptor names which is written plainly or pushed; descriptors that name another are counted, and those of templates and
//! descriptor buffers are not looked at.
#![allow(unsafe_code)]

use super::beside::Beside;
use super::edit::{self, Edit, set};
use super::entry::{Entry, Made, no_others};
use super::memory::{allocate, barrier, memory_type};
use super::tally::Tally;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::enum_named;
use gfxr_parse::view::View;
use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use replay::vulkan::{DeviceState, driver};
use std::collections::HashMap;
use trace::plan::Use;
use world::{Depth, Outcome};

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "small-textures",
    options: &[],
    about: "images that are only sampled are seen as 2 × 2 grey texels, or as one block",
    asks: "does time go to the bandwidth of textures?",
    pictures_stay: false,
    make,
};

fn make(of: &Use) -> std::result::Result<Made, String> {
    no_others(&ENTRY, &of.options)?;
    Ok(Made::Hook(Box::new(SmallTextures {
        tally: Tally::new(ENTRY.name),
        images: Beside::new(ash::Device::destroy_image),
        layouts: HashMap::new(),
        memory: vec![],
    })))
}

struct SmallTextures {
    tally: Tally,
    images: Beside<vk::Image>,
    /// By image: which aspects it has, the layout that it is in, and whether a descriptor has said so.
    layouts: HashMap<u64, (vk::ImageAspectFlags, vk::ImageLayout, bool)>,
    memory: Vec<Chunk>,
}

/// Memory in which small images lie, one behind the other, until their device goes.
struct Chunk {
    device: u64,
    kind: u32,
    memory: vk::DeviceMemory,
    bytes: u64,
    used: u64,
}

/// Bytes that are taken at once.
const CHUNK_BYTES: u64 = 4 << 20;

/// VkImageUsageFlags: sampled, copied from and to, copied to by the host.
const SAMPLED: u32 = 4;
const READ: u32 = SAMPLED | 1 | 2 | 0x40_0000;
/// VK_IMAGE_TILING_LINEAR.
const LINEAR: u32 = 1;
/// VK_IMAGE_USAGE_TRANSFER_DST_BIT.
const TRANSFER_DST: u32 = 2;
/// VkImageCreateFlags of sparse, split, disjoint and protected images.
const APART: u32 = 0b111 | 0x40 | 0x200 | 0x800;

/// VK_IMAGE_TYPE_3D, and VK_IMAGE_VIEW_TYPE_3D as well.
const VOLUME: u32 = 2;

const WANTS: [&str; 7] = [
    "vkCreateImage",
    "vkCreateImageView",
    "vkDestroyImage",
    "vkDestroyDevice",
    "vkUpdateDescriptorSets",
    "vkCmdPushDescriptorSet",
    "vkCmdPushDescriptorSetKHR",
];

/// What a small image is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Grey,
    Zero,
    /// As many bytes of zeros as a block of each layer has.
    Blocks(u32),
    Depth,
}

/// The edits that make an image small, and what it is filled with. None: it is small, or not for us; an error if it is sampled alone and out of
/// reach.
fn small(info: View<'_>) -> std::result::Result<Option<(Vec<Edit>, Content)>, ()> {
    let n = |name: &str| info.u32(name).unwrap_or(0);
    let usage = n("usage");
    if usage & SAMPLED == 0 || usage & !READ != 0 {
        return Ok(None);
    }
    let known = ["VkImageFormatListCreateInfo", "VkImageStencilUsageCreateInfo"];
    let planes = world::formats::planes(n("format") as i32).unwrap_or_default();
    let aspects = world::formats::aspects(n("format") as i32);
    let depth = aspects != [vk::ImageAspectFlags::COLOR.as_raw()];
    let (several, split) = (n("samples") != 1 || n("tiling") > LINEAR, n("flags") & APART != 0);
    let strange = info.chain().any(|s| !known.contains(&s.name));
    let planar = aspects.iter().any(|a| *a >= vk::ImageAspectFlags::PLANE_0.as_raw());
    let (Some(plane), false) = (planes.first(), several || split || strange || planar) else {
        return Err(());
    };
    let compressed = plane.block != (1, 1);
    let (width, height) = if compressed { plane.block } else { (2, 2) };
    let Some(extent) = info.one("extent") else { return Err(()) };
    let of = |side: &str, most: u32| set(extent, side, extent.u32(side)?.min(most));
    let mut edits: Vec<Edit> =
        [of("width", width), of("height", height), of("depth", 2)].into_iter().flatten().collect();
    edits.extend(set(info, "mipLevels", 1));
    if edits.iter().all(|e| info.image().u32(e.at) == e.value) {
        return Ok(None);
    }
    edits.extend(set(info, "usage", usage | TRANSFER_DST));
    // (optimal, from no layout)
    edits.extend(set(info, "tiling", 0));
    edits.extend(set(info, "initialLayout", 0));
    let content = match format_name(n("format")) {
        _ if depth => Content::Depth,
        _ if compressed => Content::Blocks(plane.block_bytes),
        name if name.contains("INT") => Content::Zero,
        _ => Content::Grey,
    };
    Ok(Some((edits, content)))
}

/// VK_FORMAT_… .
fn format_name(format: u32) -> &'static str {
    enum_named("VkFormat").and_then(|e| e.value(format)).unwrap_or_default()
}

impl SmallTextures {
    fn image(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let v = View::call(&call.image);
        let id = v.u64("pImage").unwrap_or(0);
        self.images.forget(id);
        self.layouts.remove(&id);
        let found = v.one("pCreateInfo").map_or(Ok(None), small);
        match found {
            Ok(None) => {}
            Err(()) => self.tally.beyond("sampled images out of reach stay as they are", 1),
            Ok(Some((edits, content))) => {
                let mut edited = call.clone();
                edit::apply(&mut edited.image, &edits);
                if !self.images.make(cx, (&mut edited, &[id]), &[], next)? || !self.ready(cx, id, content)? {
                    self.images.forget(id);
                    self.tally.beyond("sampled images that cannot be made small stay as they are", 1);
                }
            }
        }
        next.run(cx, call)
    }

    /// Gives a small image memory and contents; not if another format stands in for its own.
    fn ready(&mut self, cx: &mut Executor, id: u64, content: Content) -> Result<bool> {
        let (Some(image), Some(vk)) = (self.images.get(id), cx.backend.vulkan()) else { return Ok(false) };
        let Some(state) = vk.image(id).filter(|s| s.live == image).cloned() else { return Ok(false) };
        if state.format != state.captured_format {
            return Ok(false);
        }
        let d = vk.device(state.device)?;
        self.bind(d, state.device, image)?;
        let zeros = match content {
            Content::Blocks(bytes) => {
                Some(Zeros::new(d, u64::from(bytes * state.layers * state.extent.depth))?)
            }
            _ => None,
        };
        let range = vk::ImageSubresourceRange {
            aspect_mask: state.aspects(),
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        };
        let read = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let written = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let done = submit(d, |ash, cmd| {
            barrier(ash, cmd, (image, range), vk::ImageLayout::UNDEFINED, written);
            // SAFETY: a command buffer of ours that is being recorded; the image is in that layout, and has that usage.
            unsafe {
                match (content, &zeros) {
                    (Content::Depth, _) => {
                        let far = vk::ClearDepthStencilValue { depth: 0.5, stencil: 0 };
                        ash.cmd_clear_depth_stencil_image(cmd, image, written, &far, &[range]);
                    }
                    (Content::Blocks(_), Some(zeros)) => {
                        let layers = vk::ImageSubresourceLayers {
                            aspect_mask: range.aspect_mask,
                            mip_level: 0,
                            base_array_layer: 0,
                            layer_count: state.layers,
                        };
                        let region = vk::BufferImageCopy {
                            image_subresource: layers,
                            image_extent: state.extent,
                            ..Default::default()
                        };
                        ash.cmd_fill_buffer(cmd, zeros.buffer, 0, vk::WHOLE_SIZE, 0);
                        let filled = vk::MemoryBarrier::default()
                            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                            .dst_access_mask(vk::AccessFlags::TRANSFER_READ);
                        let stage = vk::PipelineStageFlags::TRANSFER;
                        ash.cmd_pipeline_barrier(
                            cmd,
                            stage,
                            stage,
                            vk::DependencyFlags::empty(),
                            &[filled],
                            &[],
                            &[],
                        );
                        ash.cmd_copy_buffer_to_image(cmd, zeros.buffer, image, written, &[region]);
                    }
                    _ => {
                        let grey = [0.5, 0.5, 0.5, 1.0];
                        let float32 = if content == Content::Grey { grey } else { [0.0; 4] };
                        ash.cmd_clear_color_image(
                            cmd,
                            image,
                            written,
                            &vk::ClearColorValue { float32 },
                            &[range],
                        );
                    }
                }
            }
            barrier(ash, cmd, (image, range), written, read);
        });
        if let Some(zeros) = zeros {
            zeros.destroy(&d.ash);
        }
        done?;
        self.layouts.insert(id, (range.aspect_mask, read, false));
        self.tally.done("sampled images made small");
        Ok(true)
    }

    fn bind(&mut self, d: &DeviceState, device: u64, image: vk::Image) -> Result<()> {
        // SAFETY: an image of ours, of this device.
        let need = unsafe { d.ash.get_image_memory_requirements(image) };
        let kind = memory_type(d, need.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        let place = |c: &Chunk| c.used.next_multiple_of(need.alignment);
        let has_room =
            |c: &&mut Chunk| c.device == device && c.kind == kind && place(c) + need.size <= c.bytes;
        if self.memory.iter_mut().find(has_room).is_none() {
            let bytes = CHUNK_BYTES.max(need.size);
            let memory = allocate(d, bytes, kind)?;
            self.memory.push(Chunk { device, kind, memory, bytes, used: 0 });
        }
        let Some(chunk) = self.memory.iter_mut().find(has_room) else {
            return Err(Error::new(Kind::Internal, "a new piece of memory is too small"));
        };
        let at = place(chunk);
        chunk.used = at + need.size;
        // SAFETY: as above; the memory is large enough, of a type that suits, and nothing else lies there.
        unsafe { d.ash.bind_image_memory(image, chunk.memory, at) }
            .map_err(|e| Error::driver("vkBindImageMemory", e))
    }

    fn view(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let Some(info) = View::call(&call.image).one("pCreateInfo") else { return next.run(cx, call) };
        let image = info.u64("image").unwrap_or(0);
        if self.images.get(image).is_none() {
            return next.run(cx, call);
        }
        let volume = cx.objects.world().images.get(&image).is_some_and(|i| i.kind == VOLUME);
        if volume && info.u32("viewType") != Some(VOLUME) {
            self.tally.beyond("views of an image's slices stay as they are", 1);
            return next.run(cx, call);
        }
        let mut edits: Vec<Edit> = vec![];
        if let Some(range) = info.one("subresourceRange") {
            edits.extend(set(range, "baseMipLevel", 0));
            edits.extend(set(range, "levelCount", 1));
        }
        edits.extend(info.next("VkImageViewMinLodCreateInfoEXT").and_then(|m| set(m, "minLod", 0)));
        let mut edited = call.clone();
        edit::apply(&mut edited.image, &edits);
        self.images.within(cx, &[image], |cx| next.run(cx, &mut edited))
    }

    /// Descriptors are written: a small image is put into the layout that the first of its own names.
    fn descriptors(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let mut moved: Vec<(u64, vk::ImageLayout)> = vec![];
        let world = cx.objects.world();
        for info in View::call(&call.image).structs("pDescriptorWrites").flat_map(|w| w.structs("pImageInfo"))
        {
            let (Some(view), Some(layout)) = (info.u64("imageView"), info.u32("imageLayout")) else {
                continue;
            };
            let Some(image) = world.image_views.get(&view).map(|v| v.image) else { continue };
            let Some((_, is, said)) = self.layouts.get_mut(&image) else { continue };
            let layout = vk::ImageLayout::from_raw(layout as i32);
            if *is != layout && *said {
                self.tally.beyond("descriptors name another layout than others of the same image", 1);
            } else if *is != layout {
                moved.push((image, layout));
                *is = layout;
            }
            *said = true;
        }
        for (id, layout) in moved {
            let (Some(image), Some((aspects, ..)), Some(vk)) =
                (self.images.get(id), self.layouts.get(&id), cx.backend.vulkan())
            else {
                continue;
            };
            let Some(device) = vk.image(id).map(|i| i.device) else { continue };
            let range = vk::ImageSubresourceRange {
                aspect_mask: *aspects,
                base_mip_level: 0,
                level_count: 1,
                base_array_layer: 0,
                layer_count: vk::REMAINING_ARRAY_LAYERS,
            };
            let from = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
            submit(vk.device(device)?, |ash, cmd| barrier(ash, cmd, (image, range), from, layout))?;
        }
        Ok(())
    }

    fn give_back(&mut self, cx: &mut Executor, device: Option<u64>) -> Result<()> {
        self.images.give_back(cx, device)?;
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for chunk in self.memory.extract_if(.., |c| device.is_none_or(|d| d == c.device)) {
            if let Ok(d) = vk.device(chunk.device) {
                // SAFETY: ours; the images that lay there are gone.
                unsafe { d.ash.free_memory(chunk.memory, None) };
            }
        }
        Ok(())
    }
}

/// A buffer of zeros, to be.
struct Zeros {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Zeros {
    fn new(d: &DeviceState, bytes: u64) -> Result<Zeros> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        // (filled in whole words)
        let info = vk::BufferCreateInfo::default().size(bytes.next_multiple_of(4)).usage(usage);
        // SAFETY: plain creations on a live device; the memory suits the buffer.
        unsafe {
            let buffer = d.ash.create_buffer(&info, None).map_err(|e| Error::driver("vkCreateBuffer", e))?;
            let need = d.ash.get_buffer_memory_requirements(buffer);
            let kind = memory_type(d, need.memory_type_bits, vk::MemoryPropertyFlags::empty())?;
            let memory = allocate(d, need.size, kind)?;
            d.ash
                .bind_buffer_memory(buffer, memory, 0)
                .map_err(|e| Error::driver("vkBindBufferMemory", e))?;
            Ok(Zeros { buffer, memory })
        }
    }

    fn destroy(self, ash: &ash::Device) {
        // SAFETY: ours; what used it was waited for.
        unsafe {
            ash.destroy_buffer(self.buffer, None);
            ash.free_memory(self.memory, None);
        }
    }
}

/// Records, submits and waits.
fn submit(d: &DeviceState, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
    let (queue, family) = d.own_queue();
    let wrong = |e| Error::driver("filling a small image", e);
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    // SAFETY: objects of ours on a live device; they go once what was submitted is done, and stay where that hangs.
    unsafe {
        let pool = d.ash.create_command_pool(&info, None).map_err(wrong)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let cmd = d.ash.allocate_command_buffers(&info).map_err(wrong)?[0];
        d.ash.begin_command_buffer(cmd, &vk::CommandBufferBeginInfo::default()).map_err(wrong)?;
        record(&d.ash, cmd);
        d.ash.end_command_buffer(cmd).map_err(wrong)?;
        let fence = d.ash.create_fence(&vk::FenceCreateInfo::default(), None).map_err(wrong)?;
        let buffers = [cmd];
        driver::submit(&d.ash, queue, &[vk::SubmitInfo::default().command_buffers(&buffers)], fence)?;
        match d.ash.wait_for_fences(&[fence], true, d.watchdog_ns) {
            Err(vk::Result::TIMEOUT) => return Err(Error::hang("filling a small image", d.watchdog_ns)),
            done => done.map_err(wrong)?,
        }
        d.ash.destroy_fence(fence, None);
        d.ash.destroy_command_pool(pool, None);
    }
    Ok(())
}

impl Hook for SmallTextures {
    fn name(&self) -> &'static str {
        "change small-textures"
    }

    fn follows(&self) -> Depth {
        Depth::Objects
    }

    fn wants(&self) -> Commands {
        Commands::named(&WANTS)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        match call.command.name {
            "vkCreateImage" => return self.image(cx, call, next),
            "vkCreateImageView" => return self.view(cx, call, next),
            "vkDestroyImage" => {
                let id = View::call(&call.image).u64("image").unwrap_or(0);
                self.layouts.remove(&id);
                return self.images.destroyed(cx, call, id, next);
            }
            "vkDestroyDevice" => self.give_back(cx, Some(call.image.u64(0)))?,
            _ => self.descriptors(cx, call)?,
        }
        next.run(cx, call)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        self.give_back(cx, None)
    }
}
