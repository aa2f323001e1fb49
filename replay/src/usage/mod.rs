//! What a call says of the objects it uses, held against what they are: the specification's explicit valid usage that drivers
//! are known to trust, checked before the call is made.
//!
//! `gfxr_parse::valid` has looked at the call by itself; here the state is known (`world`): how large a buffer is,
//! what a set's layout has, how many queries a pool has, what the device's limits are. Guarantees: a range that is copied,
//! bound, queried or viewed lies within its object, indices of bindings, sets, subpasses and viewports exist. Refuses, with
//! the member's path. What only the driver can know (memory requirements, formats' features, contents of memory) is the
//! driver's. An object that is not followed is not held against anything.

mod buffers;
mod check;
mod descriptors;
mod images;
mod memory;
mod pipelines;
mod queries;
mod shaders;
#[cfg(test)]
mod tests;

use ash::vk;
use check::{Check, Cx};
use gfxr_parse::ahead::Call;
use gfxr_parse::error::Result;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use world::World;

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
