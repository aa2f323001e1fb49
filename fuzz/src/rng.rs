//! A small generator of random numbers (splitmix64), so that a seed and an index name an input for ever.
//!
//! Guarantees: the same numbers on every machine and with every compiler. Refuses nothing; good enough for choosing
//! mutations and for nothing else.

/// See the module's header.
#[derive(Clone, Debug)]
pub struct Rng(u64);

/// Values that programs get wrong, before one is added to or taken from them.
const EDGES: [u64; 17] = [
    0,
    1,
    2,
    4,
    8,
    16,
    0x7F,
    0xFF,
    0x100,
    0x7FFF,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x7FFF_FFFF_FFFF_FFFF,
    0xFFFF_FFFF_FFFF_FFFF,
];

impl Rng {
    /// The numbers of input `index` of a run with this `seed`.
    pub fn new(seed: u64, index: u64) -> Self {
        let mut rng = Rng(seed ^ 0x9E37_79B9_7F4A_7C15);
        rng.0 = rng.u64() ^ index.wrapping_mul(0xD134_2543_DE82_EF95);
        rng.u64();
        rng
    }
    /// 64 bits.
    pub fn u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.u64() % n as u64) as usize }
    }
    /// True in `n` of `of` cases.
    pub fn chance(&mut self, n: usize, of: usize) -> bool {
        self.below(of) < n
    }
    /// One of them.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
    /// A value likely to be mishandled: near a power of two, near the end of a type, or anything.
    pub fn edge(&mut self) -> u64 {
        match self.below(8) {
            0 => self.u64(),
            1 => self.u64() >> self.below(64),
            2 => 1 << self.below(64),
            _ => {
                let edge = EDGES[self.below(EDGES.len())];
                edge.wrapping_add(self.below(3) as u64).wrapping_sub(1)
            }
        }
    }
    /// `n` bytes.
    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.u64() as u8).collect()
    }
    /// Two places in `0..=len`, the lesser first, rarely far apart.
    pub fn range(&mut self, len: usize) -> (usize, usize) {
        let start = self.below(len + 1);
        let most = if self.chance(1, 8) { len - start } else { (len - start).min(16) };
        (start, start + self.below(most + 1))
    }
}
