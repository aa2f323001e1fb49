//! Micro-benchmark: what the hook chain costs a call, without a driver.
//!
//! `cargo bench -p reray-replay-vulkan --bench hooks`. The calls of a capture, decoded beforehand, run through an executor on the
//! Echo backend: linked, answered, tracked. Between the rows only the hooks differ: none; eight that want no command
//! (their cost is to be none); one and eight that see every call and pass it on. One thread.

use std::path::Path;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;

use gfxr_parse::ahead::Call;
use gfxr_parse::ahead::{What, read};
use gfxr_parse::container::{Capture, FrameCounter, Scratch, read_file};
use replay::backend::Echo;
use replay::exec::Executor;
use replay::hook::{Commands, Hook};
use replay::options::Options;

fn main() {
    divan::main();
}

/// Sees every call, or none, and does nothing.
struct Idle(bool);

impl Hook for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }
    fn wants(&self) -> Commands {
        if self.0 { Commands::all() } else { Commands::none() }
    }
}

static CAPTURE: LazyLock<Capture> = LazyLock::new(|| {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/cubes.gfxr");
    Capture::open(&sample, read_file).expect("the sample capture")
});

/// The capture's calls, decoded.
#[allow(clippy::vec_box, reason = "as the reader hands them over")]
fn calls() -> Vec<Box<Call>> {
    let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::new(CAPTURE.header()));
    let call = |block| {
        let place = frames.feed(&block);
        match read(&block, place, None, &mut scratch) {
            Ok(What::Call(call)) => Some(call),
            _ => None,
        }
    };
    CAPTURE.blocks().filter_map(call).collect()
}

fn run(bencher: Bencher, hooks: usize, all: bool) {
    let mut calls = calls();
    bencher
        .counter(ItemsCount::new(calls.len()))
        .with_inputs(|| {
            let hooks = (0..hooks).map(|_| Box::new(Idle(all)) as Box<dyn Hook>).collect();
            let options = Options { keep_going: true, ..Options::default() };
            Executor::new(Box::new(Echo::default()), hooks, &options)
        })
        .bench_local_refs(|executor| {
            for call in &mut calls {
                executor.run(call).expect("divergences are counted");
            }
            executor.report.calls
        });
}

/// The chain with nothing in it.
#[divan::bench]
fn no_hooks(bencher: Bencher) {
    run(bencher, 0, false);
}

/// Hooks that want nothing.
#[divan::bench]
fn eight_hooks_that_want_nothing(bencher: Bencher) {
    run(bencher, 8, false);
}

/// A hook that sees every call.
#[divan::bench]
fn one_hook_that_sees_all(bencher: Bencher) {
    run(bencher, 1, true);
}

/// Hooks that see every call.
#[divan::bench]
fn eight_hooks_that_see_all(bencher: Bencher) {
    run(bencher, 8, true);
}
