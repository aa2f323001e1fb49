//! The round trip of one block: is it understood to the last byte?
//!
//! Calls are decoded and encoded again, metadata that hold encoded structs as well; every other block is read and
//! written again. Guarantees: `Ok` means that the bytes are the same. Refuses (as an error with the block's place)
//! blocks that cannot be read, and says of those that come back different where the first difference is.

use crate::container::{Block, BlockKind, FunctionCall, Scratch};
use crate::decode::{decode_found, decode_struct_array, decode_struct_array2};
use crate::encode::{encode_call, encode_struct_array};
use crate::error::{Error, Result};
use crate::image::Image;
use crate::limits::TRUSTED_SIZE;
use crate::meta::Meta;
use crate::print::unknown_call;
use crate::schema::{StructId, command, struct_named};

/// What is needed to verify blocks one after the other; one per thread.
#[derive(Debug, Default)]
pub struct Verifier {
    scratch: Scratch,
    image: Image,
    bytes: Vec<u8>,
}

impl Verifier {
    /// Nothing allocated yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Verifies one block.
    pub fn block(&mut self, block: &Block) -> Result<()> {
        let result = self.all_of(block);
        self.scratch.trim();
        self.image.trim();
        if self.bytes.capacity() > TRUSTED_SIZE {
            self.bytes = Vec::new();
        }
        result
    }

    fn all_of(&mut self, block: &Block) -> Result<()> {
        let kind = block.kind()?;
        match &kind {
            BlockKind::Call(call) => self.call(block, call)?,
            BlockKind::Meta(meta) => self.encoded(&meta.meta).map_err(|e| block.blame(e))?,
            _ => {}
        }
        if let Some(data) = kind.payload() {
            // Data that cannot be decompressed are not understood, even though they could be passed on.
            data.bytes(&mut self.scratch)?;
        }
        self.bytes.clear();
        kind.write(&mut self.bytes);
        same(block.raw(), &self.bytes, block.offset).map_err(|e| block.blame(e))
    }

    /// The parameters of a call.
    fn call(&mut self, block: &Block, call: &FunctionCall) -> Result<()> {
        let Some(def) = command(call.call_id) else { return Err(block.blame(unknown_call(call.call_id))) };
        let params = decode_found(def, block, call, &mut self.scratch, &mut self.image)?;
        self.bytes.clear();
        encode_call(&self.image, &mut self.bytes);
        same(params, &self.bytes, 0).map_err(|e| {
            let (e, plain) = (e.within(def.name), !call.payload.is_compressed());
            block.blame(if plain { e.rebase(call.payload.offset()) } else { e.in_decompressed() })
        })
    }

    /// Structs in parameter encoding inside metadata.
    fn encoded(&mut self, meta: &Meta) -> Result<()> {
        let id = |name| struct_named(name).expect("in the schema");
        match meta {
            Meta::BuildAcceleration(m) => {
                let geometry = id("VkAccelerationStructureBuildGeometryInfoKHR");
                let range = id("VkAccelerationStructureBuildRangeInfoKHR");
                let used = self.structs(geometry, false, m.encoded, m.offset)?;
                self.structs(range, true, &m.encoded[used..], m.offset + used as u64)?;
            }
            Meta::CopyAcceleration(m) => {
                self.structs(id("VkCopyAccelerationStructureInfoKHR"), false, m.encoded, m.offset)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn structs(&mut self, id: StructId, twice: bool, from: &[u8], offset: u64) -> Result<usize> {
        let read = if twice { decode_struct_array2 } else { decode_struct_array };
        let used = read(id, from, &mut self.image).map_err(|e| e.rebase(offset))?;
        self.bytes.clear();
        encode_struct_array(&self.image, id, twice, &mut self.bytes);
        same(&from[..used], &self.bytes, offset)?;
        Ok(used)
    }
}

/// Fails with the place of the first difference.
fn same(want: &[u8], found: &[u8], offset: u64) -> Result<()> {
    if want == found {
        return Ok(());
    }
    let at = want.iter().zip(found).position(|(a, b)| a != b).unwrap_or(want.len().min(found.len()));
    let message = if want.len() == found.len() {
        format!("does not come back as it was: expected byte {:#04x}, found {:#04x}", want[at], found[at])
    } else {
        format!("does not come back as it was: expected {} bytes, found {}", want.len(), found.len())
    };
    Err(Error::malformed(message).at_offset(offset + at as u64))
}
