//! Single blocks of a capture, by number.
//!
//! Guarantees: blocks are looked for in one pass, and read when they are asked for. A block that cannot be read has no values and no
//! bytes. Refuses nothing.

use crate::container::{Block, BlockKind, Capture, Scratch};
use crate::decode::decode_found;
use crate::image::Image;
use crate::leaves::{Leaf, leaves};
use crate::schema::command;
use crate::shaders;
use std::collections::{BTreeSet, HashMap};

/// The blocks of one capture that are wanted.
pub struct Blocks<'c>(HashMap<u64, Block<'c>>);

impl<'c> Blocks<'c> {
    /// Looks for them.
    pub fn of(capture: &'c Capture, wanted: &BTreeSet<u64>) -> Blocks<'c> {
        let mut all = HashMap::new();
        if let Some(last) = wanted.last() {
            for block in capture.blocks() {
                if block.index > *last {
                    break;
                }
                if wanted.contains(&block.index) {
                    _ = all.insert(block.index, block);
                }
            }
        }
        Blocks(all)
    }

    fn image(&self, block: u64) -> Option<Image> {
        let block = self.0.get(&block)?;
        let Ok(BlockKind::Call(call)) = block.kind() else { return None };
        let mut image = Image::default();
        decode_found(command(call.call_id)?, block, &call, &mut Scratch::new(), &mut image).ok()?;
        Some(image)
    }

    /// What a call gave.
    pub fn leaves(&self, block: u64) -> Vec<(String, Leaf)> {
        self.image(block).map_or_else(Vec::new, |i| leaves(&i))
    }

    /// The SPIR-V in a call.
    pub fn shaders(&self, block: u64) -> Vec<Vec<u8>> {
        let Some(image) = self.image(block) else { return vec![] };
        shaders::shaders(&image).into_iter().map(|s| s.code.to_vec()).collect()
    }

    /// Bytes of contents.
    pub fn bytes(&self, block: u64, at: u64, bytes: u64) -> Option<Vec<u8>> {
        let Ok(BlockKind::Meta(meta)) = self.0.get(&block)?.kind() else { return None };
        let data = meta.meta.payload()?;
        let all = data.to_vec(&mut Scratch::new()).ok()?;
        let from = usize::try_from(at).ok()?;
        Some(all.get(from..from.checked_add(usize::try_from(bytes).ok()?)?)?.to_vec())
    }
}
