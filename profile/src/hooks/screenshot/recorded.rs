//! What command buffers will do, in the order it was recorded: copies out, and images that change their layout.
//!
//! Kept from vkBeginCommandBuffer to the next; played at each submission, secondary command buffers where their
//! primary executes them. Refuses nothing; what is nested deeper than `NESTED` is not seen.

use super::layouts::Moved;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::objects::Objects;
use std::collections::HashMap;

/// Commands that copy, or begin and join command buffers.
pub const COMMANDS: &[&str] = &[
    "vkBeginCommandBuffer",
    "vkCmdExecuteCommands",
    "vkCmdCopyImageToBuffer",
    "vkCmdCopyImageToBuffer2",
    "vkCmdCopyBuffer",
    "vkCmdCopyBuffer2",
    "vkCmdCopyImage",
    "vkCmdCopyImage2",
    "vkCmdBlitImage",
    "vkCmdBlitImage2",
    "vkCmdResolveImage",
    "vkCmdResolveImage2",
];

/// Something copied to where the application may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// Part of an image into a buffer.
    ImageToBuffer(ImageToBuffer),
    /// Between buffers.
    Buffer {
        /// Where from.
        from: u64,
        /// Where to.
        buffer: u64,
        /// First byte written there.
        offset: u64,
        /// Bytes up to the last one written.
        size: u64,
    },
    /// Between images; the destination.
    Image(u64),
}

/// A region of vkCmdCopyImageToBuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageToBuffer {
    /// Where from.
    pub image: u64,
    /// Which aspect of it.
    pub aspect: vk::ImageAspectFlags,
    /// Where to.
    pub buffer: u64,
    /// First byte written.
    pub offset: u64,
    /// Texels from row to row in the buffer.
    pub row_texels: u32,
    /// Texels.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// What happens when a command buffer executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something is copied.
    Copy(Copy),
    /// An image is in another layout from here on.
    Moved(Moved),
}

#[derive(Debug)]
enum Entry {
    Step(Step),
    Execute(Vec<u64>),
}

/// How deep secondary command buffers may nest; one level, without VK_EXT_nested_command_buffer.
const NESTED: u32 = 8;
/// Wider or higher than this is no image of any device.
const MOST_TEXELS: u32 = 1 << 16;
/// How many command buffers are kept before the dead ones are looked for.
const SWEEP: usize = 1024;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Recorded {
    buffers: HashMap<u64, Vec<Entry>>,
    sweep_at: usize,
}

impl Recorded {
    /// Looks at one of [`COMMANDS`].
    pub fn see(&mut self, call: &Call, objects: &Objects) {
        let v = View::call(&call.image);
        let Some(id) = v.u64("commandBuffer") else { return };
        match call.command.canonical {
            "vkBeginCommandBuffer" => {
                self.sweep(objects);
                self.buffers.entry(id).or_default().clear();
            }
            "vkCmdExecuteCommands" => {
                self.buffers.entry(id).or_default().push(Entry::Execute(v.u64s("pCommandBuffers")));
            }
            other => {
                let copy = copy_of(other, v).map(Step::Copy);
                self.buffers.entry(id).or_default().extend(copy.map(Entry::Step));
            }
        }
    }

    /// Images that a command moves.
    pub fn moves(&mut self, command_buffer: u64, moved: Vec<Moved>) {
        let to = self.buffers.entry(command_buffer).or_default();
        to.extend(moved.into_iter().map(|m| Entry::Step(Step::Moved(m))));
    }

    /// Everything that happens when these execute, in order.
    pub fn play(&self, command_buffers: &[u64], each: &mut dyn FnMut(Step)) {
        self.play_nested(command_buffers, NESTED, each);
    }

    fn play_nested(&self, command_buffers: &[u64], deeper: u32, each: &mut dyn FnMut(Step)) {
        for entry in command_buffers.iter().filter_map(|id| self.buffers.get(id)).flatten() {
            match entry {
                Entry::Step(s) => each(*s),
                Entry::Execute(ids) if deeper > 0 => self.play_nested(ids, deeper - 1, each),
                Entry::Execute(_) => {}
            }
        }
    }

    /// Forgets command buffers that died with their pools.
    fn sweep(&mut self, objects: &Objects) {
        if self.buffers.len() >= self.sweep_at.max(SWEEP) {
            self.buffers.retain(|id, _| objects.any(*id).is_some());
            self.sweep_at = self.buffers.len() * 2;
        }
    }
}

/// Command buffers of a vkQueueSubmit or vkQueueSubmit2, in order.
pub fn submitted(call: &Call) -> Vec<u64> {
    let v = View::call(&call.image);
    let batches = v.structs("pSubmits");
    if call.command.canonical == "vkQueueSubmit" {
        batches.flat_map(|b| b.u64s("pCommandBuffers")).collect()
    } else {
        batches
            .flat_map(|b| b.structs("pCommandBufferInfos"))
            .filter_map(|i| i.u64("commandBuffer"))
            .collect()
    }
}

fn copy_of(command: &str, v: View<'_>) -> Option<Copy> {
    // The newer commands have the older ones' parameters in a struct.
    let infos = [
        "pCopyImageToBufferInfo",
        "pCopyBufferInfo",
        "pCopyImageInfo",
        "pBlitImageInfo",
        "pResolveImageInfo",
    ];
    let info = infos.iter().find_map(|name| v.one(name)).unwrap_or(v);
    match command.trim_end_matches('2') {
        "vkCmdCopyImageToBuffer" => {
            let (image, buffer) = (info.u64("srcImage")?, info.u64("dstBuffer")?);
            let regions = info.structs("pRegions").filter_map(|r| image_region(image, buffer, r));
            regions.max_by_key(|r| u64::from(r.width) * u64::from(r.height)).map(Copy::ImageToBuffer)
        }
        "vkCmdCopyBuffer" => {
            let spans = info.structs("pRegions").filter_map(|r| {
                let at = r.u64("dstOffset")?;
                Some((at, at.checked_add(r.u64("size")?)?))
            });
            let (from, to) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
            Some(Copy::Buffer {
                from: info.u64("srcBuffer")?,
                buffer: info.u64("dstBuffer")?,
                offset: from,
                size: to - from,
            })
        }
        _ => info.u64("dstImage").map(Copy::Image),
    }
}

fn image_region(image: u64, buffer: u64, r: View<'_>) -> Option<ImageToBuffer> {
    let extent = r.one("imageExtent")?;
    let (width, height) = (extent.u32("width")?, extent.u32("height")?);
    if width > MOST_TEXELS || height > MOST_TEXELS {
        return None;
    }
    Some(ImageToBuffer {
        image,
        aspect: vk::ImageAspectFlags::from_raw(r.one("imageSubresource")?.u32("aspectMask")?),
        buffer,
        offset: r.u64("bufferOffset")?,
        row_texels: r.u32("bufferRowLength").filter(|n| *n != 0).unwrap_or(width),
        width,
        height,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secondary_command_buffers_play_where_they_are_executed() {
        let moved = |image| Step::Moved((image, vk::ImageLayout::GENERAL));
        let mut r = Recorded::default();
        r.buffers.insert(1, vec![Entry::Step(moved(10)), Entry::Execute(vec![2, 3]), Entry::Step(moved(40))]);
        r.buffers.insert(2, vec![Entry::Step(moved(20))]);
        // One that executes itself ends all the same.
        r.buffers.insert(3, vec![Entry::Step(moved(30)), Entry::Execute(vec![3])]);
        let mut seen = Vec::new();
        r.play(&[1, 9, 2], &mut |s| seen.push(s));
        let mut expected = vec![moved(10), moved(20)];
        expected.extend(vec![moved(30); NESTED as usize]);
        expected.extend([moved(40), moved(20)]);
        assert_eq!(seen, expected);
    }
}
