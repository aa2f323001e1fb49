//! Micro-benchmark: what following costs a call, without reading the capture and without an analysis.
//!
//! `cargo bench -p reray-replay-vulkan --bench follow`. The calls of captures, decoded beforehand, are followed; nobody is told, and then
//! somebody who looks at every descriptor of every invocation. Captures are the sample `cubes` and those in the folders of
//! `RERAY_CAPTURES`. One thread.

use divan::Bencher;
use divan::counter::ItemsCount;
use gfxr_parse::ahead::Call;
use gfxr_parse::ahead::{What, read};
use gfxr_parse::container::{Capture, FrameCounter, Scratch, read_file};
use std::path::{Path, PathBuf};
use world::Outcome;
use world::{At, AtSet, Follow, Invocation, Observer, World};

fn main() {
    divan::main();
}

fn captures() -> Vec<String> {
    let mut all = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/cubes.gfxr")];
    if let Some(folders) = std::env::var_os("RERAY_CAPTURES") {
        for folder in std::env::split_paths(&folders) {
            let files = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path());
            all.extend(files.filter(|p: &PathBuf| p.extension().is_some_and(|e| e == "gfxr")));
        }
    }
    all.into_iter().map(|p| p.to_string_lossy().into_owned()).collect()
}

/// A capture's calls, decoded.
#[allow(clippy::vec_box, reason = "as the reader hands them over")]
fn calls(path: &str) -> Vec<Box<Call>> {
    let capture = Capture::open(Path::new(path), read_file).expect("a capture");
    let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::new(capture.header()));
    let call = |block| {
        let place = frames.feed(&block);
        match read(&block, place, None, &mut scratch) {
            Ok(What::Call(call)) => Some(call),
            _ => None,
        }
    };
    capture.blocks().filter_map(call).collect()
}

fn run(bencher: Bencher, path: &str, mut to: impl Observer) {
    let calls = calls(path);
    bencher.counter(ItemsCount::new(calls.len())).with_inputs(Follow::new).bench_local_refs(|follow| {
        for call in &calls {
            follow.call(call, Outcome::captured(call), &mut to);
        }
        follow.finish(&mut to);
    });
}

/// Nobody is told.
#[divan::bench(args = captures())]
fn alone(bencher: Bencher, path: &str) {
    run(bencher, path, ());
}

/// Every descriptor of every invocation is looked at.
#[divan::bench(args = captures())]
fn with_descriptors(bencher: Bencher, path: &str) {
    struct Look;
    impl Observer for Look {
        fn invocation(&mut self, w: &World, _: &At, i: &Invocation<'_>) {
            for n in 0..i.invoke.bindings.program.layout().map_or(0, |l| l.sets.len()) {
                if let AtSet::Set { contents, .. } | AtSet::Push { contents } = w.set(i.invoke, n) {
                    for b in &contents.layout.bindings {
                        divan::black_box(contents.written(b.binding).count());
                    }
                }
            }
        }
    }
    run(bencher, path, Look);
}
