//! Whether this machine has a Vulkan device.
//!
//! Guarantees: where `RERAY_REQUIRE_DEVICE` is set (in CI) a missing device fails the test that asks; elsewhere the test
//! is skipped by name.

use crate::support::{run, skip};
use std::sync::OnceLock;

/// There is a device; otherwise `test` is skipped, or fails.
pub fn device(test: &str) -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| run(["devices", "--json"]).status.code() == Some(0));
    if !found {
        assert!(
            std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(),
            "{test}: no Vulkan device, and one is required"
        );
        skip(test, "no Vulkan device");
    }
    found
}
