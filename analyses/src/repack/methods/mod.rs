//! The methods.

mod identity;
mod numrays;
mod objects;
mod random;
mod rounds;
mod tiled_numrays;
mod tiled_objects;

use super::Method;

/// Every method there is.
pub static METHODS: &[&dyn Method] = &[
    &identity::Identity,
    &random::Random,
    &numrays::Numrays,
    &tiled_numrays::TiledNumrays,
    &objects::Objects,
    &tiled_objects::TiledObjects,
    &rounds::Rounds,
];
