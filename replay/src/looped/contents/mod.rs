//! What a repeated frame changes, put back: the contents of buffers, images and acceleration structures, and layouts.
//!
//! Before the frame, [`Snapshot::take`] copies every resource on the device: buffers and images byte by byte and texel
//! by texel (all levels, layers, aspects and samples), built acceleration structures by cloning. After the frame has run
//! once, [`Snapshot::learn`] compares every resource with its copy: what differs is put back by [`Snapshot::restore`],
//! with one command buffer a device that is recorded once. Layouts come from a [`Tracker`], a hook that follows
//! barriers and render passes by subresource.
//!
//! How it is put back: buffers first, in spans of 64 KiB; then images, whole subresources, those that share memory in the
//! order in which they were last used before the frame; then structures. Images that bytes say nothing about
//! (multisampled, of an unknown format, sharing memory) are put back whenever the frame may write them. Buffers that the
//! frame itself creates hold zeros again, or what the host had put where they were bound; images that it creates are left
//! as they are, in no layout, so that the frame's first use of them is valid again. No image can be made PREINITIALIZED
//! again: those are left as they are, in GENERAL, which whoever repeats the frame says in its barriers instead. Contents of an image that was in no
//! layout before the frame are undefined and left alone.
//!
//! Not put back, by name and number in [`Snapshot::not_restored`]: transient attachments, protected and sparse resources,
//! images that the device cannot copy or that would need more memory for it. Unsafe, and so
//! at capture: a resource that is read although another one that shares its memory was written since.
#![allow(unsafe_code)]

mod backup;
mod copies;
mod events;
mod export;
mod hash;
mod layouts;
mod learn;
mod read;
mod restore;
mod snapshot;
mod structures;
mod take;
#[cfg(test)]
mod tests;
mod tracker;

pub use export::{Held, export, layout};
pub use snapshot::Snapshot;
pub use tracker::{Tracker, Tracking};
