//! Runs decoded calls: link, invoke, track.
//!
//! A capture is a program. [`session::replay`] reads its blocks (decoded ahead on other threads), an
//! [`exec::Executor`] passes each call through a chain of [`hook::Hook`]s to a [`backend::Backend`]: [`vulkan::Vulkan`]
//! calls the driver, [`backend::Echo`] answers with what the capture recorded. Knows no SPIR-V and no profiling.
//!
//! `unsafe` is allowed in `link.rs`, `generated/`, `vulkan/`, and the folders of `looped/` that put back what is on the device:
//! where memory is linked and where the driver is called.

pub mod backend;
pub mod chain;
pub mod error;
pub mod exec;
pub mod fault;
pub mod frames;
#[allow(missing_docs)]
#[rustfmt::skip]
pub mod generated;
pub mod hook;
mod lifetimes;
pub mod link;
pub mod looped;
pub mod objects;
pub mod options;
pub mod preflight;
pub mod progress;
pub mod report;
pub mod session;
pub mod texels;
pub mod under_way;
pub mod usage;
pub mod vulkan;

pub use ash;
