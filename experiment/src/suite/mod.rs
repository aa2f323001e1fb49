//! `suite`: many captures, on one machine or on many (docs/suites.md).
//!
//! A suite file says what is measured (`file`, `keys`); that is a list of units (`units`), each in one shard (`shard`): `read` reads it all. `run`
//! measures units one by one, each in a process of its own; `merge` puts what shards measured together; `compare` judges two
//! results unit by unit. What lies on disk is `trace::suite`'s, in a folder or in one file (`results`, `crate::files::archive`).
//!
//! Guarantees: a suite is read by every machine as the same units. Refuses what each of these refuses.

mod beside;
mod compare;
mod file;
mod keys;
mod list;
mod merge;
mod read;
mod results;
mod run;
mod shard;
mod units;

pub use compare::{Question, compare};
pub use file::{Suite, parse};
pub use list::list;
pub use merge::{Merge, merge};
pub use read::{Read, read};
pub use run::{Task, run};
pub use shard::Shard;
pub use units::{AsRead, Unit, Words, units};
