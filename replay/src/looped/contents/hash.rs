//! Hashes of what a frame left behind.
//!
//! BLAKE3 over bytes as copies to buffers give them (texel blocks packed, little-endian as the device stores them; of
//! 24-bit depths the 24 bits). An image: by aspect (colour; depth, stencil; planes), then mip level, then layer; parts in
//! no layout are left out. Everything changed: for each changed buffer, then each changed image, in order of captured
//! ids, the id (8 bytes) and the spans or parts that changed or had no contents before. Multisampled images and structures
//! are left out.

use super::layouts::Part;
use super::learn::{Moves, readable};
use super::read::{self, Chunk};
use super::snapshot::{ImageCopy, Snapshot};
use crate::error::{Error, Kind, Result};
use crate::exec::Executor;
use crate::vulkan::{Vulkan, format};
use ash::vk;

impl Snapshot {
    /// The hash of an image as the frame left it. After an iteration, before the next is prepared.
    pub fn hash_image(&mut self, cx: &mut Executor, image: u64) -> Result<[u8; 32]> {
        let refuse = |why: &str| Error::new(Kind::Unsupported, format!("a hash of VkImage {image}: {why}"));
        let Some(vk) = cx.backend.vulkan() else { return Err(refuse("there is no device")) };
        let Some(i) = self.images.get(&image) else { return Err(refuse("it does not exist")) };
        if !is_readable(i) {
            return Err(refuse(
                "it cannot be read (multisampled, of an unknown format, or not to be copied)",
            ));
        }
        let device = i.state.device;
        let parts: Vec<_> = i.end.parts().filter(|p| i.end.defined(*p)).collect();
        let mut chunks = Vec::new();
        for p in &parts {
            read::part(0, &i.state, None, &i.end, *p, &mut chunks);
        }
        let moves = vec![(i.state.live, i.end.clone(), parts)];
        let mut hasher = blake3::Hasher::new();
        self.hash(vk, device, &moves, &chunks, &[], &mut hasher)?;
        Ok(hasher.finalize().into())
    }

    /// The hash of everything that the frame is known to change, as the frame left it. Likewise.
    pub fn hash_changed(&mut self, cx: &mut Executor) -> Result<[u8; 32]> {
        let mut hasher = blake3::Hasher::new();
        let Some(vk) = cx.backend.vulkan() else { return Ok(hasher.finalize().into()) };
        let mut devices: Vec<u64> = vk.devices.keys().copied().collect();
        devices.sort_unstable();
        for device in devices {
            let (mut chunks, mut ids, mut moves) = (Vec::new(), Vec::new(), Moves::new());
            for (id, b) in self.buffers.iter().filter(|b| b.1.device == device) {
                for span in &b.changed {
                    read::buffer(ids.len(), b.live, None, *span, &mut chunks);
                }
                ids.push(*id);
            }
            for (id, i) in self.images.iter().filter(|i| i.1.state.device == device && is_readable(i.1)) {
                let changed = |p: &Part| i.changed.contains(p) || !i.start.defined(*p);
                let parts: Vec<_> = i.end.parts().filter(|p| i.end.defined(*p) && changed(p)).collect();
                for p in &parts {
                    read::part(ids.len(), &i.state, None, &i.end, *p, &mut chunks);
                }
                moves.push((i.state.live, i.end.clone(), parts));
                ids.push(*id);
            }
            self.hash(vk, device, &moves, &chunks, &ids, &mut hasher)?;
        }
        Ok(hasher.finalize().into())
    }

    /// Reads chunks and hashes them; `ids`: what to write before the first chunk of each resource.
    fn hash(
        &mut self,
        vk: &mut Vulkan,
        device: u64,
        moves: &Moves,
        chunks: &[Chunk],
        ids: &[u64],
        hasher: &mut blake3::Hasher,
    ) -> Result<()> {
        vk.finish_present()?;
        vk.device(device)?.wait_idle()?;
        let mut staging = self.work(vk, device)?.staging.take();
        let mut last = None;
        let done = readable(vk, device, moves, |vk| {
            read::read(vk.device_mut(device)?, &mut staging, chunks, |batch| {
                for (c, bytes, _) in batch {
                    if let Some(id) = ids.get(c.of).filter(|_| last != Some(c.of)) {
                        hasher.update(&id.to_le_bytes());
                        last = Some(c.of);
                    }
                    hasher.update(&c.meaning(bytes));
                }
                Ok(())
            })
        });
        self.work(vk, device)?.staging = staging;
        done
    }
}

fn is_readable(i: &ImageCopy) -> bool {
    i.state.samples == vk::SampleCountFlags::TYPE_1
        && i.state.usage.contains(vk::ImageUsageFlags::TRANSFER_SRC)
        && format::planes(i.state.format).is_some()
}
