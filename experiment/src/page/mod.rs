//! One page of what traces, runs and replays say: what it is made of (`inputs`), and its plots as files (`plots`).
//!
//! Guarantees: a page holds what every question that an input can answer answered. Refuses inputs of which nothing can be said.

pub mod inputs;
pub mod plots;
