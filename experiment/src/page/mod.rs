//! One page of what captures, traces, runs and replays say: what it is made of (`inputs`; of a capture, `capture` and `pictures`), and its
//! plots as files (`plots`).
//!
//! Guarantees: a page holds what every question that an input can answer answered. Refuses inputs of which nothing can be said.

pub mod capture;
pub mod inputs;
mod pictures;
pub mod plots;
