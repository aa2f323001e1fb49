//! Memory that the copies of recordings lie in.
//!
//! Pieces of powers of two, cut from buffers of some mebibytes that stay mapped. Guarantees: a piece belongs to one recording
//! until it is given back. Refuses nothing.

use crate::hooks::readable::Readable;
use replay::ash::{self, vk};
use replay::error::Result;
use replay::vulkan::DeviceState;
use std::collections::HashMap;

/// Bytes of a buffer, unless a piece wants more.
const CHUNK: u64 = 4 << 20;
/// Bytes of a piece, at least.
const LEAST: u64 = 256;

struct Chunk {
    device: u64,
    ash: ash::Device,
    types: vk::PhysicalDeviceMemoryProperties,
    memory: Readable,
    used: u64,
}

#[derive(Clone, Copy)]
struct Piece {
    chunk: usize,
    offset: u64,
    size: u64,
}

/// See the module's header.
#[derive(Default)]
pub struct Landings {
    chunks: Vec<Option<Chunk>>,
    /// By device and size.
    free: HashMap<(u64, u64), Vec<Piece>>,
    taken: HashMap<u64, Piece>,
    numbers: u64,
}

impl Landings {
    /// A piece; its number.
    pub fn take(&mut self, d: &DeviceState, bytes: u64) -> Result<u64> {
        self.taken(d.id, &d.ash, &d.gpu.memory, bytes.next_power_of_two().max(LEAST))
    }

    /// Another one as large as a piece; none if there is no such piece.
    pub fn another(&mut self, number: u64) -> Result<Option<u64>> {
        let Some(piece) = self.taken.get(&number).copied() else { return Ok(None) };
        let Some(c) = &self.chunks[piece.chunk] else { return Ok(None) };
        let (device, ash, types) = (c.device, c.ash.clone(), c.types);
        self.taken(device, &ash, &types, piece.size).map(Some)
    }

    /// Bytes of a piece.
    pub fn size(&self, number: u64) -> u64 {
        self.taken.get(&number).map_or(0, |p| p.size)
    }

    fn taken(
        &mut self,
        device: u64,
        ash: &ash::Device,
        types: &vk::PhysicalDeviceMemoryProperties,
        size: u64,
    ) -> Result<u64> {
        let piece = match self.free.get_mut(&(device, size)).and_then(Vec::pop) {
            Some(piece) => piece,
            None => self.cut(device, ash, types, size)?,
        };
        self.numbers += 1;
        self.taken.insert(self.numbers, piece);
        Ok(self.numbers)
    }

    fn cut(
        &mut self,
        device: u64,
        ash: &ash::Device,
        types: &vk::PhysicalDeviceMemoryProperties,
        size: u64,
    ) -> Result<Piece> {
        let room = |c: &Chunk| c.device == device && c.used + size <= c.memory.bytes;
        let at = self.chunks.iter().position(|c| c.as_ref().is_some_and(room));
        let chunk = match at {
            Some(at) => at,
            None => {
                let memory = Readable::new(ash, types, size.max(CHUNK))?;
                self.chunks.push(Some(Chunk { device, ash: ash.clone(), types: *types, memory, used: 0 }));
                self.chunks.len() - 1
            }
        };
        let offset = self.chunks[chunk].as_mut().map_or(0, |c| {
            c.used += size;
            c.used - size
        });
        Ok(Piece { chunk, offset, size })
    }

    /// Nothing that runs uses it any longer.
    pub fn give(&mut self, number: u64) {
        if let Some(piece) = self.taken.remove(&number)
            && let Some(Some(c)) = self.chunks.get(piece.chunk)
        {
            self.free.entry((c.device, piece.size)).or_default().push(piece);
        }
    }

    /// Where a piece is: the device, the buffer, and the first byte in it.
    pub fn place(&self, number: u64) -> Option<(&ash::Device, vk::Buffer, u64)> {
        let piece = self.taken.get(&number)?;
        let c = self.chunks[piece.chunk].as_ref()?;
        Some((&c.ash, c.memory.buffer, piece.offset))
    }

    /// The device of a piece.
    pub fn device(&self, number: u64) -> Option<u64> {
        self.chunks[self.taken.get(&number)?.chunk].as_ref().map(|c| c.device)
    }

    fn bytes_at(&self, number: u64, at: u64, bytes: u64) -> Option<*mut u8> {
        let piece = self.taken.get(&number)?;
        let c = self.chunks[piece.chunk].as_ref()?;
        if at.checked_add(bytes)? > piece.size {
            return None;
        }
        // SAFETY: mapped, and inside of the piece, which is inside of the buffer.
        Some(unsafe { c.memory.map.add((piece.offset + at) as usize) })
    }

    /// What was copied into a piece; the device has finished that.
    pub fn bytes(&self, number: u64, at: u64, bytes: u64) -> Option<&[u8]> {
        let first = self.bytes_at(number, at, bytes)?;
        // SAFETY: in range and mapped as long as this lives; the device is idle, and the host writes through `&mut self` only.
        Some(unsafe { std::slice::from_raw_parts(first, bytes as usize) })
    }

    /// Turns bytes of a piece over, so that what is not copied anew is not taken for a copy; the device is idle.
    pub fn spoil(&mut self, number: u64, at: u64, bytes: u64) {
        if let Some(first) = self.bytes_at(number, at, bytes) {
            // SAFETY: as above, and nobody else has a reference.
            let all = unsafe { std::slice::from_raw_parts_mut(first, bytes as usize) };
            all.iter_mut().for_each(|b| *b = !*b);
        }
    }

    /// Destroys what a device has, or all; nothing is in use.
    pub fn destroy(&mut self, device: Option<u64>) {
        for c in &mut self.chunks {
            if let Some(c) = c.take_if(|c| device.is_none_or(|d| d == c.device)) {
                c.memory.destroy(&c.ash);
            }
        }
        self.free.retain(|k, _| device.is_some_and(|d| d != k.0));
        let chunks = &self.chunks;
        self.taken.retain(|_, p| chunks[p.chunk].is_some());
    }
}
