//! Changes of graphics state, a file each, and the one hook that makes them.

pub mod change;
pub mod hook;
pub mod no_blend;
pub mod no_color;
pub mod no_depth;
pub mod no_fragments;
pub mod one_pixel;
