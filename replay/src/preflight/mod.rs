//! What a capture asks for, before any of it runs: passes over all of its blocks, those of its siblings too.
//!
//! Each pass decodes the calls that it is about and no other, and is made only where somebody wants to know: what is asked of the
//! device (`asked`), what of that is used (`used`), which resources share memory (`sharing`), how descriptors' offsets are aligned
//! (`alignment`) and which commands write where they are not aligned enough (`written_places`), what is done with images
//! that those of another format could not do (`stand_ins`), how much room scratch memory has (`scratch`). Refuses nothing: a call that cannot be decoded
//! asks for nothing here, and is an error where it is replayed.

pub mod alignment;
pub mod asked;
mod calls;
pub mod prologue;
pub mod scratch;
pub mod sharing;
pub mod stand_ins;
pub mod used;
pub mod written_places;
