//! Mutated samples, replayed, each in a process of its own: what `fuzz/` replays by the thousand, with its own modules.
//!
//! Held: no crash, panic, hang or runaway memory of ours, and few crashes inside the driver.
#![allow(dead_code, reason = "some of what these modules offer is for the long runs alone")]

#[path = "../../fuzz/src/blocks.rs"]
mod blocks;
#[path = "../../fuzz/src/calls.rs"]
mod calls;
#[path = "../../fuzz/src/fields.rs"]
mod fields;
#[path = "../../fuzz/src/files.rs"]
mod files;
#[path = "../../fuzz/src/mutants/mod.rs"]
mod replayed;
#[path = "../../fuzz/src/rng.rs"]
mod rng;
#[path = "../../fuzz/src/seeds.rs"]
mod seeds;
#[path = "../../fuzz/src/synth.rs"]
mod synth;

use crate::device::device;
use crate::support::{Scratch, root};
use replayed::outcome::Outcome;
use replayed::process::Limits;
use replayed::run::{Plan, run};
use replayed::seed::of_folders;
use std::time::Duration;

/// Another seed than those of the long runs.
const SEED: u64 = 100;
const COUNT: u64 = 300;
/// Most that may end inside the driver: three in a hundred, over three times what is seen over thousands.
const MOST_IN_DRIVER: usize = 9;
/// Larger samples take longer than they find (bytes of the file).
const LARGEST: usize = 60_000;

#[test]
fn mutants_do_no_harm() {
    if !device("mutants") {
        return;
    }
    let mut seeds = of_folders(&[root().join("captures/samples")]);
    seeds.retain(|s| s.bytes.len() < LARGEST);
    assert!(seeds.len() > 10, "{}", seeds.len());
    let scratch = Scratch::new("mutants");
    let plan = Plan {
        program: env!("CARGO_BIN_EXE_reray-replay").into(),
        seed: SEED,
        first: 0,
        count: COUNT,
        threads: std::thread::available_parallelism().map_or(2, |n| n.get()),
        limits: Limits { time: Duration::from_secs(20), memory: 4 << 30 },
        scratch: scratch.path("files"),
        keep: None,
        gdb: false,
    };
    let records = run(&plan, &seeds, |_| ()).expect("files can be written");
    let wrong: Vec<_> = records.iter().filter(|r| r.outcome.is_ours()).map(|r| r.json(SEED)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let driver = records.iter().filter(|r| r.outcome == Outcome::Driver).count();
    assert!(driver <= MOST_IN_DRIVER, "{driver} of {COUNT} crashed in the driver");
    // Mutations that break everything test nothing, and neither do those that break nothing.
    let done = records.iter().filter(|r| r.outcome == Outcome::Done).count();
    assert!((60..240).contains(&done), "{done}");
}
