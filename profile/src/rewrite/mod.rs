//! From an application's module to one with probes in it.
//!
//! [`instrument`] takes a module, reduces it to one entry point, lets every pass of a plan put its probes in, and gives a
//! [`Variant`]: the new words, where its counters and probes are, and the [`Facts`] of the original that records refer to.
//! A [`Shader`] is what a pass is given: the module and everything that is done to it. Guarantees: passes see the
//! blocks of the original, whatever others put in; the variant depends on nothing but the words, the entry point and the
//! passes' keys, so that it may be kept ([`Variants`]).

pub mod actions;
pub mod built_ins;
mod calls;
mod chosen;
mod code;
mod expected;
mod facts;
mod held;
mod instrument;
mod launch;
mod left;
mod libraries;
mod lookup;
pub mod placement;
mod places;
mod prologue;
mod sample;
mod sampling;
mod shader;
mod spread;
#[cfg(test)]
mod tests;
mod together;
mod variant;
mod variants;

pub use code::record_instructions;
pub use expected::expected;
pub use facts::{BlockFacts, Facts, FunctionFacts, Lines, debug_sets, does_something};
pub use held::{most_held, most_often};
pub use instrument::{entries, instrument};
pub use left::Left;
pub use libraries::Probes;
pub use places::{Spot, traces};
pub use sample::{Sample, Sampling};
pub use shader::{Device, Exit, ExitKind, Leaves, Shader};
pub use spread::{MOST_REPLAYS, Replays, Spread, most_blocks};
pub use together::leaders;
pub use variant::{Constants, LeftOut, Region, Site, Variant};
pub use variants::{Key, Variants};
