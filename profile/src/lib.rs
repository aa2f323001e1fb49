//! What is measured, and how: passes over SPIR-V, and hooks into a replay.
//!
//! A [`Pass`] rewrites a shader on its way to the driver, leaving probes in it, and reads back what the probes
//! wrote. A hook (of the `replay` crate) stands in the chain of calls: it hands shaders to passes, gives the
//! probes their memory, and collects it at a fence or a frame's end. A pass knows SPIR-V and no Vulkan; a hook
//! knows Vulkan and no SPIR-V.
//!
//! No pass is here yet. Hooks that need none are in [`hooks`]. What is here is the shape that a pass has: what it says of itself, what it is given, and
//! what it leaves behind.
#![deny(unsafe_code)]

pub mod hooks;
mod needs;
mod pass;
mod probe;
pub mod spirv;

pub use needs::Needs;
pub use pass::{Change, Error, Pass, Result, Shader, Sink};
pub use probe::{Probe, ProbeId, ProbeMap, Probes, ShaderHash, SourceLine, Stage};
