//! Fuzzing: mutated captures and mutated calls, made from real ones and from the schema, and what must hold of each.
//!
//! An input is named by a target, a seed and an index, so whoever reports one reports three words. The same modules
//! run, briefly, as a test of `gfxr-parse` (`gfxr-parse/tests/mutate.rs`); the binary `mutate` runs them for hours and
//! counts allocations and time as well; `fuzz_targets/` hands the same checks to libFuzzer.

pub mod alloc;
pub mod answers;
pub mod blocks;
pub mod bounds;
pub mod calls;
pub mod cuts;
pub mod echo;
pub mod fields;
pub mod files;
pub mod folder;
pub mod inputs;
pub mod mutants;
pub mod rng;
pub mod run;
pub mod runs;
pub mod seeds;
pub mod synth;
pub mod targets;
pub mod traces;
