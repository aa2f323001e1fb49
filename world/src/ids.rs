//! State by the capture's ids.
//!
//! Refuses nothing.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// State by captured id.
pub type Ids<V> = HashMap<u64, V, BuildHasherDefault<IdHasher>>;

/// Spreads ids, which count up from 1, by one multiplication: handlers look several up for each call.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(self.0 ^ u64::from(b)));
    }
    #[inline]
    fn write_u64(&mut self, id: u64) {
        self.0 = id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
