//! What a check looks at, and what it says: members by name, ranges within sizes, numbers within limits.

use ash::vk;
use gfxr_parse::error::{Error, Result};
use gfxr_parse::view::View;
use world::World;
use world::span::Span;

/// What a check may look at.
pub(super) struct Cx<'w> {
    pub world: &'w World,
    /// The device's; none before there is one, and without a driver.
    pub limits: Option<&'w vk::PhysicalDeviceLimits>,
}

/// Looks at a call's parameters.
pub(super) type Check = fn(&Cx<'_>, View<'_>) -> Result<()>;

/// 64 bits; 0 where they are missing.
pub(super) fn n64(v: View<'_>, name: &str) -> u64 {
    v.u64(name).unwrap_or(0)
}

/// 32 bits.
pub(super) fn n32(v: View<'_>, name: &str) -> u32 {
    v.u32(name).unwrap_or(0)
}

/// The struct that a parameter or member leads to.
pub(super) fn one(v: View<'_>, name: &str, look: impl FnOnce(View<'_>) -> Result<()>) -> Result<()> {
    v.one(name).map_or(Ok(()), look).map_err(|e| e.within(name))
}

/// Each struct of an array.
pub(super) fn each(v: View<'_>, name: &str, mut one: impl FnMut(View<'_>) -> Result<()>) -> Result<()> {
    v.structs(name)
        .enumerate()
        .try_for_each(|(i, s)| one(s).map_err(|e| e.within(&format!("[{i}]")).within(name)))
}

/// A range lies within so many bytes (or queries, bindings, …) of what it is a range of.
pub(super) fn within(offset: u64, len: u64, size: u64, of: &str) -> Result<()> {
    match Span::within(offset, len, size) {
        Some(_) => Ok(()),
        None => Err(outside(offset, len, size, of)),
    }
}

#[cold]
fn outside(offset: u64, len: u64, size: u64, of: &str) -> Error {
    Error::malformed(format!("expected {len} from {offset} on to lie within the {size} of the {of}"))
}

/// A number is at most what the device, or an object, allows.
pub(super) fn at_most(n: u64, most: u64, what: &str) -> Result<()> {
    if n <= most { Ok(()) } else { Err(too_many(n, most, what)) }
}

#[cold]
fn too_many(n: u64, most: u64, what: &str) -> Error {
    Error::malformed(format!("expected at most {most} ({what}), found {n}"))
}
