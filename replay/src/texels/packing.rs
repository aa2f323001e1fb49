//! How texels of a stand-in become captured ones again, for the shader that does it.
//!
//! Guarantees: the captured bits of every texel that was read from such. Refuses (by `None`) formats whose bits are lost.

use super::codec::Codec;
use super::depth::Depth;

/// How one texel of a stand-in becomes one of the captured format again, as shaders/pack.comp does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Of a texel here, and as captured.
    pub bytes: [u32; 2],
    /// 0: the first bytes are the same. 1: channels of 8 bits are packed. 2: depth, by the kinds in `what`.
    pub way: u32,
    /// By channel: the first bit and, from bit 8 on, the bits; of depth, the kinds here and as captured.
    pub what: [u32; 4],
}

impl Codec {
    /// How texels of a stand-in become captured ones; none if what they were made of is lost.
    pub fn packing(self, stand_in: u32) -> Option<Packing> {
        let bytes = [self.texel_bytes(stand_in) as u32, self.block_bytes() as u32];
        Some(match self {
            Codec::Three { .. } | Codec::Same(_) => Packing { bytes, way: 0, what: [0; 4] },
            Codec::Packed(p) => Packing { bytes, way: 1, what: p.channels.map(|(first, n)| first | n << 8) },
            Codec::Depth(to) => {
                let from = Depth::of(stand_in)?;
                Packing { bytes, way: 2, what: [from.kind(), to.kind(), 0, 0] }
            }
            _ => return None,
        })
    }
}
