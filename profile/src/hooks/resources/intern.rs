//! Numbers for what is equal: from 1, in the order of coming.
//!
//! Guarantees: equal values have equal numbers; long ones are kept as a hash of 128 bits. Refuses nothing.

use std::collections::HashMap;
use std::hash::Hash;

/// Numbers of small values.
#[derive(Debug)]
pub struct Numbers<K>(HashMap<K, u64>);

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Numbers(HashMap::new())
    }
}

impl<K: Hash + Eq> Numbers<K> {
    /// The number of a value, and whether it is new.
    pub fn of(&mut self, key: K) -> (u64, bool) {
        let next = self.0.len() as u64 + 1;
        let number = *self.0.entry(key).or_insert(next);
        (number, number == next)
    }
}

/// A short name of long contents.
pub fn digest(bytes: &[u8]) -> u128 {
    let hash = blake3::hash(bytes);
    u128::from_le_bytes(hash.as_bytes()[..16].try_into().expect("16 bytes"))
}
