//! Where to count so that everything else follows, and how what counts is put there.
//!
//! [`Program`] says of a shader's functions how what is counted goes through them: invocations, or subgroups with however many of
//! theirs. [`Placement`] chooses the ways to be measured, and solves for the others; a [`Flow`] is what decoding needs of it.
//! [`Insertions`] puts instructions on ways. Passes `blocks` and `simt` count so.

mod flow;
mod knuth;
mod shape;
mod ways;

pub use flow::Flow;
pub use knuth::{From, Link, Placement, Shape, Way};
pub(super) use shape::leaves;
pub use shape::{Known, Program};
pub use ways::{Insertions, value};
