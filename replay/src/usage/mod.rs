//! What a call says of the objects it uses, held against what they are: the specification's explicit valid usage that drivers
//! are known to trust, checked before the call is made.
//!
//! `gfxr_parse::valid` has looked at the call by itself; here the state is known (`world`): how large a buffer is,
//! what a set's layout has, how many queries a pool has, what the device's limits are. Guarantees: a range that is copied,
//! bound, queried or viewed lies within its object, indices of bindings, sets, subpasses and viewports exist. Refuses, with
//! the member's path. What only the driver can know (memory requirements, formats' features, contents of memory) is the
//! driver's. An object that is not followed is not held against anything.

mod buffers;
mod descriptors;
mod images;
mod memory;
mod pipelines;
mod queries;
mod shaders;
#[cfg(test)]
mod tests;

use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::error::{Error, Result};
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use world::World;
use world::span::Span;

/// What a check may look at.
struct Cx<'w> {
    world: &'w World,
    /// The device's; none before there is one, and without a driver.
    limits: Option<&'w vk::PhysicalDeviceLimits>,
}

/// Looks at a call's parameters.
type Check = fn(&Cx<'_>, View<'_>) -> Result<()>;

/// See the module's header.
pub struct Usage {
    /// By index in the schema's table.
    checks: Vec<Option<Check>>,
}

impl Default for Usage {
    fn default() -> Self {
        let tables = [
            buffers::CHECKS,
            images::CHECKS,
            memory::CHECKS,
            descriptors::CHECKS,
            pipelines::CHECKS,
            queries::CHECKS,
            shaders::CHECKS,
        ];
        let of = |name: &str| tables.iter().flat_map(|t| t.iter()).find(|c| c.0 == name).map(|c| c.1);
        Usage { checks: COMMANDS.iter().map(|c| of(c.canonical)).collect() }
    }
}

impl Usage {
    /// Looks at a call that is to be made.
    #[inline]
    pub fn check(&self, call: &Call, world: &World, limits: Option<&vk::PhysicalDeviceLimits>) -> Result<()> {
        match self.checks[call.index] {
            Some(check) => check(&Cx { world, limits }, View::call(&call.image)),
            None => Ok(()),
        }
    }
}

/// 64 bits; 0 where they are missing.
fn n64(v: View<'_>, name: &str) -> u64 {
    v.u64(name).unwrap_or(0)
}

/// 32 bits.
fn n32(v: View<'_>, name: &str) -> u32 {
    v.u32(name).unwrap_or(0)
}

/// The struct that a parameter or member leads to.
fn one(v: View<'_>, name: &str, look: impl FnOnce(View<'_>) -> Result<()>) -> Result<()> {
    v.one(name).map_or(Ok(()), look).map_err(|e| e.within(name))
}

/// Each struct of an array.
fn each(v: View<'_>, name: &str, mut one: impl FnMut(View<'_>) -> Result<()>) -> Result<()> {
    v.structs(name)
        .enumerate()
        .try_for_each(|(i, s)| one(s).map_err(|e| e.within(&format!("[{i}]")).within(name)))
}

/// A range lies within so many bytes (or queries, bindings, …) of what it is a range of.
fn within(offset: u64, len: u64, size: u64, of: &str) -> Result<()> {
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
fn at_most(n: u64, most: u64, what: &str) -> Result<()> {
    if n <= most { Ok(()) } else { Err(too_many(n, most, what)) }
}

#[cold]
fn too_many(n: u64, most: u64, what: &str) -> Error {
    Error::malformed(format!("expected at most {most} ({what}), found {n}"))
}
