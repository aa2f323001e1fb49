//! How the blocks and texels of each format are read, and the texels of a stand-in that they give.

use super::texel::texel_bytes;
use super::{channels, depth, eac};
use rayon::prelude::*;
use world::bytes::texels::Rows;

/// How the blocks of a format are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// BC1; with or without an alpha of one bit.
    Bc1 {
        /// There is one.
        alpha: bool,
    },
    /// BC2.
    Bc2,
    /// BC3.
    Bc3,
    /// BC4 (one channel) and BC5 (two).
    Bc45 {
        /// 1 or 2.
        channels: usize,
        /// From -1 to 1.
        signed: bool,
    },
    /// BC6H, half floats.
    Bc6 {
        /// There are negative ones.
        signed: bool,
    },
    /// BC7.
    Bc7,
    /// ETC2 without alpha.
    Etc2,
    /// ETC2 with an alpha of one bit.
    Etc2A1,
    /// ETC2 with an alpha of 8 bits.
    Etc2A8,
    /// EAC, 11 bits a channel.
    Eac {
        /// 1 or 2.
        channels: usize,
        /// From -1 to 1.
        signed: bool,
    },
    /// ASTC, with the texels of a block.
    Astc(u32, u32),
    /// Three channels of so many bytes each; the stand-in has a fourth, which is one.
    Three {
        /// Of a channel.
        bytes: usize,
        /// One, as its bits.
        one: u32,
    },
    /// Channels of a few bits each, as 8 bits each.
    Packed(channels::Packed),
    /// Depths in another number.
    Depth(depth::Depth),
    /// Texels of so many bytes that are the same in the stand-in: what is stencil of a format with depth.
    Same(usize),
}

/// Texels of the largest block, and bytes of the largest texel.
const MOST: usize = 12 * 12;
const WIDEST: usize = 16;

/// A block's texels, row by row without gaps.
type Block = [u8; MOST * WIDEST];

impl Codec {
    /// For an aspect of a VkFormat; none if nothing stands in for it: it is known everywhere, or not here (HDR of ASTC, PVRTC).
    pub fn of(format: u32, aspect: u32) -> Option<Self> {
        if let Some(depth) = depth::Depth::of(format) {
            return match aspect {
                world::formats::STENCIL if depth::has_stencil(format) => Some(Codec::Same(1)),
                world::formats::STENCIL => None,
                _ => Some(Codec::Depth(depth)),
            };
        }
        let three = channels::three(format).map(|(bytes, one)| Codec::Three { bytes, one });
        let plain = || three.or_else(|| channels::Packed::of(format).map(Codec::Packed));
        Self::compressed(format).or_else(plain)
    }

    /// For a compressed VkFormat.
    pub fn compressed(format: u32) -> Option<Self> {
        let signed = format.is_multiple_of(2);
        Some(match format {
            131 | 132 => Codec::Bc1 { alpha: false },
            133 | 134 => Codec::Bc1 { alpha: true },
            135 | 136 => Codec::Bc2,
            137 | 138 => Codec::Bc3,
            139 | 140 => Codec::Bc45 { channels: 1, signed },
            141 | 142 => Codec::Bc45 { channels: 2, signed },
            143 | 144 => Codec::Bc6 { signed },
            145 | 146 => Codec::Bc7,
            147 | 148 => Codec::Etc2,
            149 | 150 => Codec::Etc2A1,
            151 | 152 => Codec::Etc2A8,
            153 | 154 => Codec::Eac { channels: 1, signed },
            155 | 156 => Codec::Eac { channels: 2, signed },
            157..=184 => {
                let (x, y) = world::formats::planes(format as i32)?.first()?.block;
                Codec::Astc(x, y)
            }
            _ => return None,
        })
    }

    /// Texels of a block, across and down.
    pub fn block(self) -> (usize, usize) {
        match self {
            Codec::Astc(x, y) => (x as usize, y as usize),
            Codec::Three { .. } | Codec::Packed(_) | Codec::Depth(_) | Codec::Same(_) => (1, 1),
            _ => (4, 4),
        }
    }

    /// Bytes of a block.
    pub fn block_bytes(self) -> usize {
        match self {
            Codec::Bc1 { .. } | Codec::Etc2 | Codec::Etc2A1 => 8,
            Codec::Bc45 { channels, .. } | Codec::Eac { channels, .. } => 8 * channels,
            Codec::Three { bytes, .. } => 3 * bytes,
            Codec::Packed(p) => p.bytes,
            Codec::Depth(d) => d.bytes(),
            Codec::Same(bytes) => bytes,
            _ => 16,
        }
    }

    /// Bytes of what a texel becomes in a stand-in.
    pub fn texel_bytes(self, stand_in: u32) -> usize {
        match self {
            Codec::Same(bytes) => bytes,
            _ => texel_bytes(stand_in),
        }
    }

    /// One block, as texels of a stand-in with so many bytes each.
    fn texels(self, data: &[u8; 16], (stand_in, bytes): (u32, usize), out: &mut Block) {
        let block = &data[..self.block_bytes()];
        match self {
            Codec::Bc1 { alpha } => {
                bcdec_rs::bc1(block, out, 16);
                if !alpha {
                    out.chunks_exact_mut(4).take(16).for_each(|t| t[3] = 255);
                }
            }
            Codec::Bc2 => bcdec_rs::bc2(block, out, 16),
            Codec::Bc3 => bcdec_rs::bc3(block, out, 16),
            Codec::Bc7 => bcdec_rs::bc7(block, out, 16),
            Codec::Bc45 { channels, signed } => {
                let mut all = [0f32; 32];
                match channels {
                    1 => bcdec_rs::bc4_float(block, &mut all, 4, signed),
                    _ => bcdec_rs::bc5_float(block, &mut all, 8, signed),
                }
                let most = f32::from(if signed { i16::MAX as u16 } else { u16::MAX });
                let values = all.map(|v| (v * most).round() as i32);
                channel_values(&values[..16 * channels], (signed, bytes == channels), out);
            }
            Codec::Bc6 { signed } => {
                let mut all = [0u16; 48];
                bcdec_rs::bc6h_half(block, &mut all, 12, signed);
                for (to, rgb) in out.chunks_exact_mut(8).zip(all.chunks_exact(3)) {
                    // (1 as a half)
                    for (to, v) in to.chunks_exact_mut(2).zip([rgb[0], rgb[1], rgb[2], 0x3C00]) {
                        to.copy_from_slice(&v.to_le_bytes());
                    }
                }
            }
            Codec::Etc2 | Codec::Etc2A1 | Codec::Etc2A8 => {
                let mut all = [0u32; 16];
                match self {
                    Codec::Etc2 => texture2ddecoder::decode_etc2_rgb_block(block, &mut all),
                    Codec::Etc2A1 => texture2ddecoder::decode_etc2_rgba1_block(block, &mut all),
                    _ => texture2ddecoder::decode_etc2_rgba8_block(block, &mut all),
                }
                for (to, texel) in out.chunks_exact_mut(4).zip(all) {
                    let [b, g, r, a] = texel.to_le_bytes();
                    // Holes are black; the decoder leaves them a colour.
                    let hole = self == Codec::Etc2A1 && a == 0;
                    to.copy_from_slice(&if hole { [0; 4] } else { [r, g, b, a] });
                }
            }
            Codec::Eac { channels, signed } => {
                let mut all = [0i32; 32];
                for (n, half) in block.chunks_exact(8).enumerate() {
                    for (i, v) in eac::values(half, signed).into_iter().enumerate() {
                        all[i * channels + n] = v;
                    }
                }
                channel_values(&all[..16 * channels], (signed, bytes == channels), out);
            }
            Codec::Astc(x, y) => {
                let footprint = astc_decode::Footprint::new(x, y);
                astc_decode::astc_decode_block(data, footprint, |across, down, texel| {
                    let at = 4 * (down * x + across) as usize;
                    out[at..at + 4].copy_from_slice(&texel);
                });
            }
            Codec::Three { bytes, one } => {
                out[..3 * bytes].copy_from_slice(block);
                out[3 * bytes..4 * bytes].copy_from_slice(&one.to_le_bytes()[..bytes]);
            }
            Codec::Packed(packed) => out[..4].copy_from_slice(&packed.texel(block)),
            Codec::Depth(from) => from.convert(block, stand_in, out),
            Codec::Same(bytes) => out[..bytes].copy_from_slice(block),
        }
    }

    /// The texels of a box: `source` begins with its first block; `rows` says where its rows of blocks and slices lie in it. In
    /// texels of `stand_in`, one of [`super::stand_ins`].
    pub fn decode(self, stand_in: u32, source: &[u8], rows: &Rows, extent: [u32; 3]) -> Vec<u8> {
        let bytes = self.texel_bytes(stand_in);
        let (across, down) = self.block();
        let [width, height, depth] = extent.map(|n| n as usize);
        let row = width * bytes;
        let mut out = vec![0u8; row * height * depth];
        if out.is_empty() {
            return out;
        }
        let of_row = |(n, (z, to)): (usize, (usize, &mut [u8]))| {
            let mut texels: Block = [0; MOST * WIDEST];
            let begin = at(z, rows.stride.1).saturating_add(at(n, rows.stride.0));
            for (x, first) in (0..width).step_by(across).enumerate() {
                let place = begin.saturating_add(x * self.block_bytes());
                let mut data = [0u8; 16];
                let there = source.get(place..).unwrap_or(&[]);
                let there = &there[..there.len().min(self.block_bytes())];
                data[..there.len()].copy_from_slice(there);
                self.texels(&data, (stand_in, bytes), &mut texels);
                let run = across.min(width - first) * bytes;
                for (to, from) in to.chunks_exact_mut(row).zip(texels.chunks_exact(across * bytes)) {
                    to[first * bytes..first * bytes + run].copy_from_slice(&from[..run]);
                }
            }
        };
        let slices = out.par_chunks_mut(row * height).enumerate();
        slices.for_each(|(z, slice)| {
            slice.par_chunks_mut(row * down).enumerate().for_each(|(n, to)| of_row((n, (z, to))));
        });
        out
    }
}

/// Where the nth of something begins.
fn at(n: usize, stride: u64) -> usize {
    usize::try_from(stride).unwrap_or(usize::MAX).saturating_mul(n)
}

/// Channels of 16 bits, or of 8 where the stand-in has no more; signed ones from -32767 to 32767.
fn channel_values(values: &[i32], (signed, narrow): (bool, bool), out: &mut Block) {
    for (i, v) in values.iter().enumerate() {
        match (narrow, signed) {
            (false, _) => out[2 * i..2 * i + 2].copy_from_slice(&(*v as u16).to_le_bytes()),
            (true, false) => out[i] = ((v * 255 + 32767) / 65535) as u8,
            (true, true) => out[i] = (f64::from(*v) * 127.0 / 32767.0).round() as i8 as u8,
        }
    }
}
