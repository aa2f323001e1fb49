//! Decoding small raw LZ4 blocks: tokens of (literals, match), as in the LZ4 block format.
//!
//! Calls are 20 to 200 bytes large and made of half a dozen short sequences. A decoder made for megabytes spends its time
//! on them in the careful code near both ends, and copies runs of zeros (matches that overlap themselves) byte by byte.
//! Here both sides are windows of a fixed size with room behind it: an index modulo that size needs no other check, every
//! short copy is one move, and a short pattern is repeated by a multiplication. Larger blocks go to `lz4_flex`.
//!
//! Guarantees: what is decoded has the size that the tokens say. Refuses what is cut off, refers to bytes before the
//! beginning, or becomes larger than declared.

/// Largest block, compressed or not, that is decoded here.
pub const WINDOW_BYTES: usize = 4096;
/// Bytes behind it, which copies of a fixed size may touch.
const ROOM_BYTES: usize = 16;

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It ends inside a sequence.
    CutOff,
    /// A match begins before the output does.
    Before,
    /// It becomes larger than declared.
    TooLarge,
}

/// Bytes that can be read and written at any index modulo [`WINDOW_BYTES`].
struct Window([u8; WINDOW_BYTES + ROOM_BYTES]);

impl Window {
    #[inline]
    fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        *self.0[at % WINDOW_BYTES..].first_chunk().expect("there is room")
    }
    #[inline]
    fn put<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        *self.0[at % WINDOW_BYTES..].first_chunk_mut().expect("there is room") = bytes;
    }
}

/// Decodes one block after the other.
pub struct Decoder {
    input: Window,
    out: Window,
}

impl Default for Decoder {
    fn default() -> Self {
        let empty = || Window([0; WINDOW_BYTES + ROOM_BYTES]);
        Decoder { input: empty(), out: empty() }
    }
}

impl Decoder {
    /// Decodes `raw`, which must become at most `size` bytes; neither may be larger than [`WINDOW_BYTES`].
    pub fn decode(&mut self, raw: &[u8], size: usize) -> Result<&[u8], Damage> {
        assert!(raw.len().max(size) <= WINDOW_BYTES, "a small block");
        self.input.0[..raw.len()].copy_from_slice(raw);
        let (mut at, mut to) = (0, 0);
        loop {
            let [token] = self.input.get(at);
            at += 1;
            let mut literals = usize::from(token >> 4);
            if literals < 15 {
                self.out.put::<16>(to, self.input.get(at));
            } else {
                let more = self.length(at, raw.len())?;
                (literals, at) = (literals + more.0, more.1);
                if to + literals > size {
                    return Err(Damage::TooLarge);
                }
                for i in (0..literals).step_by(16) {
                    self.out.put::<16>(to + i, self.input.get(at + i));
                }
            }
            (at, to) = (at + literals, to + literals);
            if at >= raw.len() {
                break;
            }
            let offset = usize::from(u16::from_le_bytes(self.input.get(at)));
            at += 2;
            let mut len = usize::from(token & 15) + 4;
            if len == 19 {
                let more = self.length(at, raw.len())?;
                (len, at) = (len + more.0, more.1);
            }
            let end = to + len;
            if end > size {
                return Err(Damage::TooLarge);
            }
            if offset.wrapping_sub(1) >= to {
                return Err(Damage::Before);
            }
            self.repeat(to, offset, end);
            to = end;
        }
        match to {
            _ if at > raw.len() => Err(Damage::CutOff),
            _ if to > size => Err(Damage::TooLarge),
            _ => Ok(&self.out.0[..to]),
        }
    }

    /// The bytes that go on with a length, up to one that is not 255: their sum, and where they end.
    #[inline]
    fn length(&self, mut at: usize, end: usize) -> Result<(usize, usize), Damage> {
        let mut n = 0;
        while at < end {
            let [byte] = self.input.get(at);
            at += 1;
            n += usize::from(byte);
            if byte != 255 {
                return Ok((n, at));
            }
        }
        Err(Damage::CutOff)
    }

    /// Copies what lies `offset` bytes before `to` until `end` is reached.
    #[inline]
    fn repeat(&mut self, mut to: usize, offset: usize, end: usize) {
        // How often a pattern of so many bytes fits into eight: a number with a 1 at each of its beginnings, and its
        // bytes then.
        const TIMES: [u64; 8] = [
            0,
            0x0101_0101_0101_0101,
            0x0001_0001_0001_0001,
            0x0001_0000_0100_0001,
            0x0000_0001_0000_0001,
            1 << 40 | 1,
            1 << 48 | 1,
            1 << 56 | 1,
        ];
        const STEP: [usize; 8] = [8, 8, 8, 6, 8, 5, 6, 7];
        if offset >= 8 {
            loop {
                self.out.put::<8>(to, self.out.get(to - offset));
                to += 8;
                if to >= end {
                    break;
                }
            }
        } else {
            let bytes = u64::from_le_bytes(self.out.get(to - offset)) & ((1 << (offset * 8)) - 1);
            let pattern = bytes.wrapping_mul(TIMES[offset]).to_le_bytes();
            loop {
                self.out.put(to, pattern);
                to += STEP[offset];
                if to >= end {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs whose matches have every short offset, long and short literals, and runs.
    fn samples() -> Vec<Vec<u8>> {
        let mut all = vec![vec![7; 5], vec![0; WINDOW_BYTES], (0..=255).collect()];
        for period in 1..40usize {
            for n in [13, 20, 64, 300, 4000] {
                let noise = |i: usize| (i.wrapping_mul(2_654_435_761) >> 7) as u8;
                all.push((0..n).map(|i| noise(i % period)).collect());
                all.push(
                    (0..n).map(|i| if i % 61 < period { noise(i) } else { (i % period) as u8 }).collect(),
                );
            }
        }
        all
    }

    #[test]
    fn what_another_encoder_made_comes_back() {
        let mut decoder = Decoder::default();
        let mut seen = 0;
        for data in samples() {
            let raw = lz4_flex::block::compress(&data);
            if raw.len() <= WINDOW_BYTES {
                assert!(decoder.decode(&raw, data.len()) == Ok(&data), "{data:?}");
                seen += 1;
            }
        }
        assert!(seen > 300, "{seen}");
    }

    #[test]
    fn damaged_blocks_end_as_with_another_decoder() {
        let mut decoder = Decoder::default();
        let mut refused = 0;
        for data in samples().iter().filter(|d| d.len() <= 300) {
            let raw = lz4_flex::block::compress(data);
            for i in 0..raw.len() {
                for flip in [0x01, 0x10, 0x55, 0xFF] {
                    let mut bad = raw.clone();
                    bad[i] ^= flip;
                    let mut theirs = vec![0; data.len()];
                    let n = lz4_flex::block::decompress_into(&bad, &mut theirs);
                    let ours = decoder.decode(&bad, data.len());
                    match n {
                        Ok(n) => assert_eq!(ours, Ok(&theirs[..n])),
                        Err(_) => {
                            assert!(ours.is_err(), "{bad:?}");
                            refused += 1;
                        }
                    }
                }
                let cut = lz4_flex::block::decompress(&raw[..i], data.len());
                assert_eq!(decoder.decode(&raw[..i], data.len()).ok(), cut.as_deref().ok(), "cut at {i}");
            }
        }
        assert!(refused > 5_000, "{refused}");
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        let mut d = Decoder::default();
        assert_eq!(d.decode(&[], 10), Err(Damage::CutOff));
        assert_eq!(d.decode(&[0x20, 1], 10), Err(Damage::CutOff));
        assert_eq!(d.decode(&[0xF0, 255, 255], 10), Err(Damage::CutOff));
        assert_eq!(d.decode(&[0x10, 1, 2, 0], 10), Err(Damage::Before));
        assert_eq!(d.decode(&[0x10, 1, 1, 0, 0x10, 9], 5), Err(Damage::TooLarge));
        assert_eq!(d.decode(&[0x10, 1, 1, 0, 0x10, 9], 6), Ok(&[1, 1, 1, 1, 1, 9][..]));
    }
}
