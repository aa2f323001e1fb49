//! What is measured, and how: passes over SPIR-V, and hooks into a replay.
//!
//! A [`Pass`] rewrites a shader on its way to the driver, leaving probes in it, and reads back what the probes
//! wrote. A hook (of the `replay` crate) stands in the chain of calls: it hands shaders to passes, gives the
//! probes their memory, and collects it at a fence or a frame's end. A pass knows SPIR-V and no Vulkan; a hook
//! knows Vulkan and no SPIR-V.
//!
//! [`spirv`] takes modules apart and puts them together again; [`reflect`] says what they bind and read; [`rewrite`] leads a module through the passes of a plan;
//! [`passes`] are the passes; [`changes`] edit calls, for experiments; [`costs`] says what they cost; [`pictures`] compares what a changed replay shows with what it shows as captured; [`readback`] reads what resources hold at commands; [`texts`] are shaders as people read them; [`hooks`] stand in the chain of calls.
#![deny(unsafe_code)]

pub mod changes;
pub mod costs;
pub mod hooks;
#[cfg(test)]
mod hostile;
pub mod limits;
mod needs;
mod pass;
pub mod passes;
pub mod pictures;
mod probe;
pub mod readback;
pub mod reflect;
pub mod rewrite;
pub mod spirv;
#[cfg(test)]
mod testing;
pub mod texts;

pub use needs::Needs;
pub use pass::{
    ActionData, At, Change, EachRecord, EntryData, Error, FrameData, Launch, LaunchTable, Log, LogRecord,
    Pass, Result, Sink, Tables,
};
pub use probe::{ShaderHash, SourceLine, Stage};
