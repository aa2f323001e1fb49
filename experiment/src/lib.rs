//! Experiments on captures: plans become processes, and processes become runs.
//!
//! `bench` times captures under plans, in processes that take turns; `what_if`, `study`, `split` and `suite` are experiments made of
//! that. `record` and `follow` take the traces that are wanted beside a run; `times` times what goes on within frames; `page` and `base` put what
//! was found on a page and into a database. `files` is where captures, traces and results are opened and written.
//!
//! Guarantees: what is asked for is a plain struct of settings; whatever fails is a [`failure::Failure`], with the exit code that
//! a program ends with; whatever is to be said on the way goes to one listener ([`say`]). Refuses to know flags: these are the
//! command's.

pub mod attachments;
#[cfg(feature = "database")]
pub mod base;
pub mod bench;
mod draw_state;
pub mod driver_caches;
pub mod dump_resources;
pub mod extract;
pub mod failure;
pub mod files;
pub mod follow;
pub mod frames;
pub mod how;
pub mod info;
pub mod interrupt;
pub mod itself;
pub mod looped;
pub mod ordered;
pub mod own_times;
pub mod page;
mod pictures;
pub mod progress;
pub mod questions;
pub mod readback;
pub mod record;
pub mod reduce;
pub mod replay_json;
pub mod replaying;
pub mod say;
pub mod shots;
pub mod split;
pub mod study;
pub mod suite;
pub mod times;
pub mod trim;
pub mod values;
pub mod verify;
pub mod what_if;
