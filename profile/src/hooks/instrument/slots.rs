//! Words that the host writes and shaders read by address: what is said of each action, one or several words for each.
//!
//! They lie in memory that the host sees and that is mapped as long as it lives, so that writing one takes no submission;
//! whatever is submitted later sees it. Guarantees: a slot that was never written, or given back, says zero.

use super::memory::{Buffer, Where};
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::vulkan::DeviceState;

/// Slots of a block.
const BLOCK: usize = 4096;

struct Block {
    buffer: Buffer,
    mapped: *mut u64,
}

/// A slot of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    block: usize,
    index: usize,
    /// For the shader.
    pub address: u64,
}

/// A device's.
pub struct Slots {
    /// Words of a slot.
    words: usize,
    blocks: Vec<Block>,
    /// Of the last block, those that were given out.
    used: usize,
    free: Vec<Slot>,
}

impl Default for Slots {
    fn default() -> Self {
        Slots::of(1)
    }
}

impl Slots {
    /// Slots of so many words.
    pub fn of(words: usize) -> Self {
        Slots { words, blocks: Vec::new(), used: 0, free: Vec::new() }
    }

    /// A slot that says zero.
    pub fn take(&mut self, d: &DeviceState) -> Result<Slot> {
        if let Some(slot) = self.free.pop() {
            return Ok(slot);
        }
        if self.blocks.is_empty() || self.used == BLOCK {
            let bytes = (BLOCK * self.words * size_of::<u64>()) as u64;
            let what = "what is said of actions";
            let buffer = Buffer::new(d, bytes, Where::Host).map_err(|e| Error::driver(what, e))?;
            // SAFETY: memory of ours that the host sees and that nobody has mapped.
            let mapped = unsafe { d.ash.map_memory(buffer.memory, 0, bytes, vk::MemoryMapFlags::empty()) };
            let mapped = match mapped {
                Ok(at) => at.cast::<u64>(),
                Err(e) => {
                    buffer.destroy(&d.ash);
                    return Err(Error::driver(what, e));
                }
            };
            // SAFETY: as many bytes as were mapped; nothing reads them yet.
            unsafe { mapped.write_bytes(0, BLOCK * self.words) };
            self.blocks.push(Block { buffer, mapped });
            self.used = 0;
        }
        let (block, index) = (self.blocks.len() - 1, self.used);
        self.used += 1;
        Ok(Slot {
            block,
            index,
            address: self.blocks[block].buffer.address + (index * self.words) as u64 * 8,
        })
    }

    /// A slot by its number, of no device.
    #[cfg(test)]
    pub fn numbered(index: usize) -> Slot {
        Slot { block: 0, index, address: 0 }
    }

    /// Says something. Nothing that is running reads the slot.
    pub fn say(&mut self, slot: Slot, word: u64) {
        self.say_all(slot, &[word]);
    }

    /// Says several words; those behind them stay.
    pub fn say_all(&mut self, slot: Slot, words: &[u64]) {
        assert!(words.len() <= self.words, "a slot has {} words", self.words);
        let first = slot.index * self.words;
        for (n, word) in words.iter().enumerate() {
            // SAFETY: the word is one of the slot's, which is one of the block's; its memory is mapped and coherent.
            unsafe { self.blocks[slot.block].mapped.add(first + n).write_volatile(*word) };
        }
    }

    /// Nothing reads the slot any more.
    pub fn give_back(&mut self, slot: Slot) {
        self.say_all(slot, &vec![0; self.words]);
        self.free.push(slot);
    }

    /// Gives the memory back; the device is idle.
    pub fn destroy(self, d: &ash::Device) {
        self.blocks.into_iter().for_each(|b| b.buffer.destroy(d));
    }
}
