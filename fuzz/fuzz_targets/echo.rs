//! Target "echo" of `fuzz/src/echo.rs` for `cargo fuzz run echo`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    fuzz::echo::run(file, 0);
});
