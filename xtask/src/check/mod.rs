//! `cargo xtask check`: the rules of the house that a compiler does not see.
//!
//! Which crate may name which ([`arrows`]) and what can be published ([`packages`]), both read from `cargo metadata`; which
//! file may name which inside a crate ([`modules`]); that calls are read by name ([`offsets`]); and what every source file
//! keeps to ([`sources`]: a header, a length, where `unsafe` may stand, nothing left unwritten). Every finding is printed,
//! one a line; any finding fails.

mod arrows;
mod code;
mod modules;
mod offsets;
mod packages;
mod sources;

use std::path::Path;
use std::process::Command;

/// Runs every check on the workspace and prints what it found. Takes no options.
pub fn run(args: &[String]) -> Result<(), String> {
    if let Some(option) = args.first() {
        return Err(format!("unknown option {option}: check takes none"));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the workspace has no folder")?;
    let metadata = metadata(root)?;
    let mut findings = arrows::check(&metadata)?;
    findings.extend(packages::check(&metadata)?);
    findings.extend(modules::check(root, &metadata)?);
    findings.extend(offsets::check(root)?);
    findings.extend(sources::check(root).map_err(|error| format!("reading the sources: {error}"))?);
    if findings.is_empty() {
        println!("check: layering, packages and sources are as they should be");
        return Ok(());
    }
    for finding in &findings {
        eprintln!("{finding}");
    }
    Err(format!("{} to mend", findings.len()))
}

/// What `cargo metadata` says of the workspace's own packages, as JSON.
fn metadata(root: &Path) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}
