//! Reads and writes GFXReconstruct captures: bytes -> blocks -> calls, and back, byte for byte.
//!
//! Knows no driver and holds no `unsafe`.
#![forbid(unsafe_code)]

pub mod ahead;
pub mod annotation;
pub mod apis;
pub mod blocks;
pub mod container;
pub mod cycle;
pub mod decode;
pub mod edit;
pub mod elements;
pub mod encode;
pub mod error;
pub mod image;
pub mod leaves;
pub mod limits;
pub mod meta;
pub mod names;
mod parts;
pub mod print;
pub mod schema;
pub mod shaders;
pub mod summary;
pub mod valid;
pub mod verify;
pub mod view;
pub mod walk;
pub mod writer;
