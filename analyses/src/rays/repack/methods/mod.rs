//! The methods, by name.

mod identity;
mod longest;
mod numrays;
mod objects;
mod random;
mod rounds;
mod tiled_numrays;
mod tiled_objects;

use super::work::Method;

/// Every method there is.
pub static METHODS: &[&dyn Method] = &[
    &identity::Identity,
    &random::Random,
    &numrays::Numrays,
    &tiled_numrays::TiledNumrays,
    &objects::Objects,
    &tiled_objects::TiledObjects,
    &rounds::Rounds,
    &longest::IDENTITY,
    &longest::ROUNDS,
];

/// The method of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Method> {
    METHODS.iter().copied().find(|m| m.name() == name)
}
