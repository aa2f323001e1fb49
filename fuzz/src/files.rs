//! Mutations of whole captures: a few blocks of a real one, some made up, put together wrongly.
//!
//! What is mutated: the header (version, options, method), the order of blocks (dropped, doubled, swapped, spliced in
//! from another capture), a block's size, type and body, a call's parameters in plain and compressed form, the size a
//! compressed block declares, and where the file ends. Guarantees: the same random numbers and seeds give the same
//! bytes. Refuses nothing.

use gfxr_parse::container::{BlockKind, Blocks, Compression, Compressor, Payload, Scratch};
use gfxr_parse::decode::{decode_call, decode_struct_array};
use gfxr_parse::image::Image;
use gfxr_parse::limits::TRUSTED_SIZE;
use gfxr_parse::meta::id;
use gfxr_parse::schema::{command, struct_named};

use super::blocks;
use super::calls::{self, Care};
use super::fields::Fields;
use super::rng::Rng;
use super::seeds::Seeds;

/// Bytes of a block header.
const HEADER_BYTES: usize = 12;
/// The bit of a compressed block's type.
const COMPRESSED: u32 = 0x8000_0000;

/// Makes files; holds memory that is used again.
#[derive(Default)]
pub struct Files {
    scratch: Scratch,
    image: Image,
    compressors: Vec<Compressor>,
}

impl Files {
    /// One mutated capture.
    pub fn file(&mut self, seeds: &Seeds, rng: &mut Rng) -> Vec<u8> {
        let (codec, mut header, mut list) = self.start(seeds, rng);
        for _ in 0..1 + rng.below(4) {
            match rng.below(8) {
                0 | 1 => reorder(&mut list, seeds, rng),
                2 if rng.chance(1, 3) => mutate_header(&mut header, rng),
                _ => self.block(codec, &mut list, rng),
            }
        }
        let mut file = header;
        list.iter().for_each(|b| file.extend_from_slice(b));
        if rng.chance(1, 6) {
            calls::mutate_bytes(&mut file, rng);
        }
        file
    }

    /// Some blocks that belong together: of a capture, or made up.
    fn start(&mut self, seeds: &Seeds, rng: &mut Rng) -> (Compression, Vec<u8>, Vec<Vec<u8>>) {
        if seeds.files.is_empty() || rng.chance(1, 4) {
            let codec = *rng.pick(&Compression::ALL);
            let header = [
                &b"GFXR"[..],
                &[0; 4],
                &[rng.below(2) as u8, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
                &[codec as u8, 0, 0, 0],
            ]
            .concat();
            let list = (0..1 + rng.below(10)).map(|_| self.made_up(codec, rng)).collect();
            return (codec, header, list);
        }
        let file = rng.pick(&seeds.files);
        let n = if rng.chance(1, 200) { file.blocks.len() } else { 1 + rng.below(20) };
        let first = if rng.chance(1, 4) { 0 } else { rng.below(file.blocks.len()) };
        let list = file.blocks[first..(first + n).min(file.blocks.len())].to_vec();
        (file.codec, file.header.clone(), list)
    }

    fn made_up(&mut self, codec: Compression, rng: &mut Rng) -> Vec<u8> {
        let mut block = vec![];
        if rng.chance(2, 3) {
            let (id, params) = blocks::call(rng);
            blocks::call_block(id, &params, &mut block);
        } else {
            blocks::other(rng, &mut block);
        }
        if rng.chance(1, 2) { self.recompressed(&block, codec) } else { block }
    }

    fn compressor(&mut self, codec: Compression) -> &mut Compressor {
        if self.compressors.is_empty() {
            self.compressors.extend(Compression::ALL.map(Compressor::new));
        }
        &mut self.compressors[codec as usize]
    }

    /// The block with its data compressed, if it has data and they shrink.
    pub fn recompressed(&mut self, block: &[u8], codec: Compression) -> Vec<u8> {
        let Some(parsed) = Blocks::new(block, 0, codec).next() else { return block.to_vec() };
        let Ok(mut kind) = parsed.kind() else { return block.to_vec() };
        let mut out = vec![];
        let Some(payload) = kind.payload_mut().filter(|p| !p.is_compressed()) else { return block.to_vec() };
        let plain = payload.raw();
        let Ok(Some(raw)) = self.compressor(codec).compress(plain) else { return block.to_vec() };
        *payload = Payload::compressed(raw, codec, plain.len() as u64, 0, 0);
        kind.write(&mut out);
        out
    }

    /// Mutates one block of the list.
    fn block(&mut self, codec: Compression, list: &mut Vec<Vec<u8>>, rng: &mut Rng) {
        if list.is_empty() || rng.chance(1, 8) {
            let block = self.made_up(codec, rng);
            let at = rng.below(list.len() + 1);
            return list.insert(at, block);
        }
        let i = rng.below(list.len());
        match rng.below(10) {
            0 => set(&mut list[i], 0, 8, rng),
            1 => set(&mut list[i], 8, 4, rng),
            2 => {
                if let Some(high) = list[i].get_mut(11) {
                    *high ^= 0x80;
                }
            }
            3 => {
                let other = *rng.pick(&Compression::ALL);
                list[i] = self.recompressed(&list[i], other);
            }
            4..=6 => {
                if let Some(block) = self.call(codec, &list[i], rng).or_else(|| self.structs(&list[i], rng)) {
                    list[i] = block;
                }
            }
            7 => {
                // A field of the body's head: call id, thread, counts, sizes.
                let at = HEADER_BYTES + 4 * rng.below(10);
                let width = if rng.chance(1, 2) { 4 } else { 8 };
                set(&mut list[i], at, width, rng);
            }
            _ => {
                let head = HEADER_BYTES.min(list[i].len());
                let mut body = list[i].split_off(head);
                calls::mutate_bytes(&mut body, rng);
                if rng.chance(7, 8) && list[i].len() >= 8 {
                    list[i][..8].copy_from_slice(&(body.len() as u64).to_le_bytes());
                }
                list[i].extend_from_slice(&body);
            }
        }
    }

    /// The call in `block` with other parameters, compressed or not.
    fn call(&mut self, codec: Compression, block: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
        let parsed = Blocks::new(block, 0, codec).next()?;
        let BlockKind::Call(call) = parsed.kind().ok()? else { return None };
        let params = call.payload.bytes(&mut self.scratch).ok()?;
        let def = command(call.call_id)?;
        let care = if rng.chance(1, 2) { Care::Gentle } else { Care::Rough };
        let mutated = match decode_call(def, params, &mut self.image) {
            Ok(()) => calls::mutate(params, &Fields::of_call(&self.image), care, rng),
            Err(_) => {
                let mut bytes = params.to_vec();
                calls::mutate_bytes(&mut bytes, rng);
                bytes
            }
        };
        let mut out = vec![];
        blocks::call_block(call.call_id, &mutated, &mut out);
        let mut out = if rng.chance(1, 2) { self.recompressed(&out, codec) } else { out };
        let compressed =
            out.get(8..12).is_some_and(|t| u32::from_le_bytes([t[0], t[1], t[2], t[3]]) & COMPRESSED != 0);
        if compressed {
            mutate_compressed(&mut out, rng);
        }
        Some(out)
    }

    /// The metadata block, if it is one that carries encoded structs, with others.
    fn structs(&mut self, block: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
        const BEFORE: usize = HEADER_BYTES + 4 + 8; // id, device
        let name = match Blocks::new(block, 0, Compression::None).next()?.meta_type()? {
            id::BUILD_ACCELERATION => "VkAccelerationStructureBuildGeometryInfoKHR",
            id::COPY_ACCELERATION => "VkCopyAccelerationStructureInfoKHR",
            _ => return None,
        };
        let ty = struct_named(name)?;
        let encoded = block.get(BEFORE..)?;
        let used = decode_struct_array(ty, encoded, &mut self.image).ok()?;
        let fields = Fields::of_structs(&self.image, ty, false);
        let care = if rng.chance(1, 2) { Care::Gentle } else { Care::Rough };
        let mut out = block[..BEFORE].to_vec();
        out.extend(calls::mutate(&encoded[..used], &fields, care, rng));
        out.extend_from_slice(&encoded[used..]);
        let size = (out.len() - HEADER_BYTES) as u64;
        out[..8].copy_from_slice(&size.to_le_bytes());
        Some(out)
    }
}

/// Another declared size (beyond what is allocated as declared, too), other compressed bytes, both or neither.
fn mutate_compressed(block: &mut Vec<u8>, rng: &mut Rng) {
    const SIZE: usize = HEADER_BYTES + 12; // call id, thread
    match rng.below(8) {
        0 => set(block, SIZE, 8, rng),
        1 => {
            let size = TRUSTED_SIZE as u64 * (1 + rng.below(4) as u64) + rng.below(3) as u64 - 1;
            block[SIZE..SIZE + 8].copy_from_slice(&size.to_le_bytes());
        }
        _ => {}
    }
    if rng.chance(1, 4) {
        let mut raw = block.split_off(SIZE + 8);
        calls::mutate_bytes(&mut raw, rng);
        block.extend_from_slice(&raw);
        let size = (block.len() - HEADER_BYTES) as u64;
        block[..8].copy_from_slice(&size.to_le_bytes());
    }
}

/// Another value for the `width` bytes at `at`, if they are there.
fn set(bytes: &mut [u8], at: usize, width: usize, rng: &mut Rng) {
    if let Some(field) = bytes.get_mut(at..at + width) {
        let mut old = [0; 8];
        old[..width].copy_from_slice(field);
        let old = u64::from_le_bytes(old);
        let new = match rng.below(4) {
            0 => old.wrapping_add(rng.below(9) as u64).wrapping_sub(4),
            1 => old ^ (1 << rng.below(width * 8)),
            _ => rng.edge(),
        };
        field.copy_from_slice(&new.to_le_bytes()[..width]);
    }
}

fn reorder(list: &mut Vec<Vec<u8>>, seeds: &Seeds, rng: &mut Rng) {
    if list.is_empty() {
        return;
    }
    let (i, j) = (rng.below(list.len()), rng.below(list.len()));
    match rng.below(5) {
        0 => {
            list.remove(i);
        }
        1 => {
            let block = list[i].clone();
            list.insert(j, block);
        }
        2 => list.swap(i, j),
        3 => {
            let n = list[i].len();
            list[i].truncate(rng.below(n + 1));
        }
        _ => {
            if !seeds.files.is_empty() {
                let from = rng.pick(&seeds.files);
                if !from.blocks.is_empty() {
                    list.insert(i, rng.pick(&from.blocks).clone());
                }
            }
        }
    }
}

fn mutate_header(header: &mut Vec<u8>, rng: &mut Rng) {
    match rng.below(6) {
        0 => calls::mutate_bytes(header, rng),
        1 => set(header, 8, 4, rng),  // minor version
        2 => set(header, 12, 4, rng), // number of options
        3 if header.len() >= 24 => header[20] = rng.below(5) as u8, // method
        _ => {
            if let Some(n) = header.get(12).copied() {
                header[12] = n.wrapping_add(1);
                let option = [rng.below(3) as u32, rng.below(4) as u32].map(u32::to_le_bytes).concat();
                header.extend_from_slice(&option);
            }
        }
    }
}
