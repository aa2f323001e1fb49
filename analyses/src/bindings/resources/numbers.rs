//! Numbers that stand for something: what maps them, and what stands for nothing.
//!
//! Guarantees: maps go by a fixed hash, so that a run's order is every run's.

use std::collections::HashMap;

/// A map by numbers that nobody chose to collide.
pub type Numbers<V> = HashMap<u64, V, crate::rays::events::Fast>;

/// In place of an index where there is none.
pub const NOTHING: u32 = u32::MAX;
