//! Mutated captures and calls, briefly: what `fuzz/` runs for hours, with the same inputs under the same numbers.
//!
//! Its modules are used as they are (they are no crate of this workspace). Held: `fuzz/src/targets.rs`. The seeds are
//! the captures in this repository and, where they are at hand, those of `../shared/captures`.
#![allow(dead_code, reason = "some of what these modules offer is for the long runs alone")]

#[path = "../../fuzz/src/blocks.rs"]
mod blocks;
#[path = "../../fuzz/src/calls.rs"]
mod calls;
#[path = "../../fuzz/src/cuts.rs"]
mod cuts;
#[path = "../../fuzz/src/fields.rs"]
mod fields;
#[path = "../../fuzz/src/files.rs"]
mod files;
#[path = "../../fuzz/src/inputs.rs"]
mod inputs;
#[path = "../../fuzz/src/rng.rs"]
mod rng;
#[path = "../../fuzz/src/seeds.rs"]
mod seeds;
#[path = "../../fuzz/src/synth.rs"]
mod synth;
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gfxr_parse::container::{Compression, FileHeader};
use gfxr_parse::schema::generated::COMMANDS;

use inputs::{Inputs, Target};
use rng::Rng;
use seeds::Seeds;
use targets::{Ran, Targets};

/// The inputs' seed: another than that of the long runs, so that these add to them.
const SEED: u64 = 2;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

static SEEDS: LazyLock<Seeds> = LazyLock::new(|| {
    let seeds = Seeds::of_folders(&[folder("../captures/samples"), folder("../../shared/captures")]);
    assert!(!seeds.files.is_empty(), "the repository's own capture is here");
    eprintln!("seeds: {}", seeds.names.join(", "));
    seeds
});

/// Runs `count` inputs on all cores; a panic names the input.
fn run(target: Target, count: u64) -> Ran {
    struct Name(Target, u64);
    impl Drop for Name {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("mutate --target {} --seed {SEED} --first {} --count 1", self.0.name(), self.1);
            }
        }
    }
    let next = AtomicU64::new(0);
    let worker = || {
        let (mut inputs, mut ran) = (Inputs::default(), Ran::default());
        loop {
            let index = next.fetch_add(1, Relaxed);
            if index >= count {
                return ran;
            }
            let name = Name(target, index);
            let input = inputs.make(target, &SEEDS, SEED, index);
            ran.add(inputs.run(target, &input, index));
            drop(name);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut ran = Ran::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().for_each(|w| ran.add(w.join().expect("see the input named above")));
    });
    ran
}

#[test]
fn mutated_files() {
    let ran = run(Target::Container, 10_000);
    // Mutations that break everything test nothing, and neither do those that break nothing.
    assert!(ran.refused * 50 > ran.read && ran.refused * 2 < ran.read, "{ran:?}");
    assert!(ran.round_trips * 3 > ran.read, "{ran:?}");
}

#[test]
fn mutated_calls() {
    let ran = run(Target::Call, 20_000);
    assert!(ran.refused * 5 > ran.read && ran.refused * 2 < ran.read, "{ran:?}");
}

#[test]
fn mutated_calls_that_come_back() {
    let ran = run(Target::RoundTrip, 20_000);
    assert!(ran.round_trips * 10 > ran.read * 8, "{ran:?}");
}

/// A small file with a block of every kind and metadata of every type, compressed where it may be.
fn every_kind(codec: Compression) -> Vec<u8> {
    let mut rng = Rng::new(SEED, codec as u64);
    let mut file = vec![];
    FileHeader::new(codec).write(&mut file);
    for which in 0..blocks::METAS {
        blocks::meta(which, &mut rng, &mut file);
    }
    for _ in 0..40 {
        blocks::other(&mut rng, &mut file);
    }
    let mut files = files::Files::default();
    for _ in 0..30 {
        let (id, params) = blocks::call(&mut rng);
        let mut block = vec![];
        blocks::call_block(id, &params, &mut block);
        file.extend(files.recompressed(&block, codec));
    }
    file
}

#[test]
fn a_file_of_every_kind_cut_off_after_every_byte() {
    for codec in Compression::ALL {
        let file = every_kind(codec);
        assert!((10_000..60_000).contains(&file.len()), "{}", file.len());
        cuts::everywhere(&file);
    }
}

#[test]
fn a_real_capture_cut_off_after_every_byte_of_its_first_20_kb() {
    let file = std::fs::read(folder("../captures/samples/cubes.gfxr")).expect("it is in the repository");
    cuts::everywhere(&file[..20_000]);
}

#[test]
fn parameters_cut_off_after_every_byte() {
    let mut targets = Targets::default();
    let mut cuts = 0;
    for (i, command) in COMMANDS.iter().enumerate() {
        let Some(params) = synth::call(command, &mut Rng::new(SEED, i as u64)) else { continue };
        assert_eq!(targets.call(command, &params, false).round_trips, 1, "{}", command.name);
        for end in 0..params.len().min(2000) {
            targets.call(command, &params[..end], false);
            cuts += 1;
        }
    }
    assert!(cuts > 50_000, "{cuts}");
}
