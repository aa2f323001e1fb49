//! Target "container" of `fuzz/src/targets.rs` for `cargo fuzz run container`.
#![no_main]

use fuzz::targets::Targets;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    Targets::default().container(file, false);
});
