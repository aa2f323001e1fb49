//! Target "call" of `fuzz/src/targets.rs` for `cargo fuzz run call`: two bytes choose the command, the rest are its
//! parameters.
#![no_main]

use fuzz::targets::Targets;
use gfxr_parse::schema::generated::COMMANDS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((which, params)) = bytes.split_first_chunk() {
        let command = &COMMANDS[usize::from(u16::from_le_bytes(*which)) % COMMANDS.len()];
        Targets::default().call(command, params, true);
    }
});
