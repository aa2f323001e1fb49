//! The passes: a folder each, with its rewrite, the tables it records, and its tests.

mod simt;

use crate::Pass;

/// Every pass there is: its name, what it measures, and how it is made.
pub static PASSES: &[(&str, &str, fn() -> Box<dyn Pass>)] =
    &[("simt", "invocations that are active in each basic block", || Box::new(simt::Simt))];

/// The pass of this name.
pub fn by_name(name: &str) -> Option<Box<dyn Pass>> {
    PASSES.iter().find(|p| p.0 == name).map(|p| p.2())
}
