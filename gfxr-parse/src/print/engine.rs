//! A printer into one kind of sink, and what it knows from block to block.

use super::options::{Blob, Counter, Options};
use crate::container::Scratch;
use crate::image::Image;
use crate::schema::StructDef;

/// A printer into one kind of sink.
pub(super) struct Engine<S> {
    pub(super) options: Options,
    pub(super) sink: S,
    pub(super) image: Image,
    pub(super) scratch: Scratch,
    pub(super) state: State,
    /// Numbers to be filled in, in order of place.
    pub(super) counters: Vec<Counter>,
    pub(super) blobs: Vec<Blob>,
}

/// What a walk keeps in mind; lives in the printer so that its memory is kept.
#[derive(Default)]
pub(super) struct State {
    /// The structs around the current place, innermost last: definition and offset.
    pub(super) stack: Vec<(&'static StructDef, u32)>,
    /// Depths (of `stack`) at which an object was opened for a union, to be closed with its member.
    pub(super) unions: Vec<usize>,
    /// Tails of template data: descriptor type, offset, count.
    pub(super) tails: Vec<(u64, u32, u64)>,
}
