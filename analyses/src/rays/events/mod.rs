//! Ray events in memory, by launch and invocation: what every question about rays works on.
//!
//! An event takes ten bytes: a number that says what it is ([`Code`]: kind, shader, place), the object that it is about and
//! its distance, a column each. Invocations' events lie one behind the other in program order.
//!
//! Guarantees: rows of one invocation keep their order, whatever stands between them; objects are numbered in the order of
//! (instance, primitive, geometry), so that comparing numbers compares objects. Refuses launches that rows are of and
//! `ray_launches` does not have, invocations outside their launch, kinds that no version here knows, more than 65,535
//! distinct codes, and lanes beyond 127.

mod data;
mod event_level;
mod laws;
#[cfg(any(test, feature = "model"))]
pub mod model;
mod numbers;
mod read;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub mod text;
mod unpack;
mod walk;

pub use data::{Code, Events, Launch, NO, Object};
pub use event_level::{ALL, Occupancy, counts, entered, fullness};
pub use laws::{CHUNK, Law, laws};
pub use numbers::kind;
pub(crate) use numbers::{Fast, hash};
pub use read::read;
pub use unpack::Wants;
pub use walk::{Outcome, Ray, Walk};
