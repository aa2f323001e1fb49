//! Instrumented pipelines: the passes' shaders in the application's place, their memory, and what they left behind.
//!
//! Modules are rewritten as they are created, on other threads; where a pipeline or shader object is made of them, the
//! linked call is given ours, with constants that say where this entry point's memory is (`stages`). At a frame's end
//! the device is waited for, memory is read back and zeroed (`memory`), and handed on raw ([`Raw`]); what makes records
//! of it is `collect`. Guarantees: a device that lacks what a pass needs is refused before it is made (`demands`);
//! every entry point that is left as it was is counted with the reason ([`Done::left_alone`]); the application's objects
//! and memory are not touched.
//!
//! Not known: whose frame work is that the application submits before a frame's end and that waits for something it does
//! only later (it would hang here, until the watchdog).

mod chosen;
mod code;
mod collect;
mod demands;
mod given;
mod hook;
mod launches;
mod memory;
mod per_action;
mod plan;
mod scan;
mod sessions;
mod slots;
mod specialize;
pub(super) mod stages;
pub mod tables;

pub use collect::{Raw, Undecoded, decode};
pub use demands::stage_of_bit;
pub use hook::{InstrumentHook, Taker};
pub use per_action::Counted;
pub use plan::{
    Done, EVERYTHING, Entry, Kind, LabelFilter, PipelineFilter, Places, Plan, Selection, Session, Tally,
    Window,
};
pub use scan::{Scanned, scan};
pub use sessions::{Measured, Measurement, measure};
