//! Benchmark: following a large capture and writing what its invocations bound, without a device.
//!
//! `cargo bench -p reray-profile --bench resources`. The captures are the samples `cubes` and `uniforms` and those in the folders of
//! `RERAY_CAPTURES`, each made large: its middle submissions are repeated until there are 400,000 blocks and
//! (but for the samples, whose blocks are small) 50 MB. Five runs of each; printed are the median time, blocks and bytes a
//! second, the memory that following took beside the capture's live allocations, and the process's largest resident set.
//! With `RERAY_SYNC` what orders commands is followed, too; traces are kept in the folder `RERAY_KEEP`, so that answers to
//! questions can be timed on them.

use gfxr_parse::container::{Capture, Source, read_file};
use gfxr_parse::schema::command;
use gfxr_parse::writer::Writer as CaptureWriter;
use profile::hooks::resources::{Followed, ResourcesHook};
use profile::hooks::sync::Synchronisation;
use replay::error::{Error, Kind};
use replay::options::Options;
use replay::session::{On, replay};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use trace::dir::{Manifest, Writer};

/// Blocks of a large capture.
const BLOCKS: u64 = 400_000;
/// Its bytes.
const BYTES: u64 = 50_000_000;
/// Runs of each.
const RUNS: usize = 5;

fn captures() -> Vec<(PathBuf, u64)> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples");
    let mut all: Vec<(PathBuf, u64)> =
        ["cubes", "uniforms"].iter().map(|n| (samples.join(n).with_extension("gfxr"), 0)).collect();
    if let Some(folders) = std::env::var_os("RERAY_CAPTURES") {
        for folder in std::env::split_paths(&folders) {
            let files = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path());
            let captures = files.filter(|p| p.extension().is_some_and(|e| e == "gfxr"));
            all.extend(captures.map(|p| (p, BYTES)));
        }
    }
    all
}

/// The capture with its middle submissions repeated: its bytes and how many blocks they are. What the repeated calls create
/// and destroy once only diverges in the repetitions; following passes over those calls and counts them.
fn enlarge(path: &Path, least: u64) -> (Vec<u8>, u64) {
    let capture = Capture::open(path, read_file).expect("a capture");
    let submits = ["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"];
    let mut part = 0_u64;
    let parts: Vec<u64> = capture
        .blocks()
        .map(|b| {
            let of = part;
            part += u64::from(b.call_id().and_then(command).is_some_and(|c| submits.contains(&c.name)));
            of
        })
        .collect();
    let (first, last) = (part / 5, part.saturating_sub(2));
    let mut out = CaptureWriter::new(Vec::new(), capture.header()).expect("memory");
    let repeated: Vec<_> =
        capture.blocks().zip(&parts).filter(|(_, p)| (first..last).contains(*p)).map(|(b, _)| b).collect();
    assert!(!repeated.is_empty(), "{} has too few submissions", path.display());
    let mut blocks = capture.blocks().zip(&parts).peekable();
    while let Some((b, _)) = blocks.next_if(|(_, p)| **p < last) {
        out.raw(&b).expect("memory");
    }
    while out.index() < BLOCKS || out.offset() < least {
        repeated.iter().for_each(|b| out.raw(b).expect("memory"));
    }
    blocks.for_each(|(b, _)| out.raw(&b).expect("memory"));
    let count = out.index();
    (out.finish().expect("memory"), count)
}

fn run(capture: &Capture, folder: &Path) -> (Duration, Followed, u64) {
    let begin = Instant::now();
    let writer = Writer::create(folder, Manifest::default()).expect("a folder");
    let writer = Rc::new(RefCell::new(writer));
    let put = || {
        let into = writer.clone();
        Box::new(move |table: &'static trace::Table, values: &[trace::Value<'_>]| {
            into.borrow_mut().put(table, values);
            match into.borrow().failed() {
                None => Ok(()),
                Some(e) => Err(Error::new(Kind::Internal, e.to_string())),
            }
        })
    };
    let (mut hook, followed) = ResourcesHook::new(put(), Box::new(|_| true), None);
    if std::env::var_os("RERAY_SYNC").is_some() {
        hook = hook.with_sync(Synchronisation::new(put(), Box::new(|_| true)));
    }
    let options = Options { keep_going: true, ..Options::default() };
    let summary = replay(capture, &options, On::Echo, vec![Box::new(hook)], 0, &mut ()).expect("it follows");
    let writer = Rc::into_inner(writer).expect("the hook is gone").into_inner();
    writer.finish().expect("a trace");
    let followed = *followed.borrow();
    (begin.elapsed(), followed, summary.report.divergences.count)
}

/// The largest resident set so far, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) << 10
}

fn main() {
    // (tests of benches run them with --test: nothing is measured then)
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let temporary = std::env::temp_dir().join(format!("reray-bench-resources-{}", std::process::id()));
    let keep = std::env::var_os("RERAY_KEEP").map(PathBuf::from);
    for (path, least) in captures() {
        let name = path.file_stem().unwrap_or_default();
        let folder = keep.as_ref().map_or_else(|| temporary.clone(), |k| k.join(name));
        let (bytes, blocks) = enlarge(&path, least);
        let size = bytes.len() as u64;
        let source = Source::new(&path.to_string_lossy(), bytes);
        let capture = Capture::new(source).expect("a capture");
        let mut runs: Vec<(Duration, Followed, u64)> = (0..RUNS).map(|_| run(&capture, &folder)).collect();
        runs.sort_by_key(|r| r.0);
        let (time, f, diverged) = runs[RUNS / 2];
        let seconds = time.as_secs_f64();
        println!(
            "{}: {blocks} blocks, {:.1} MB, {} invocations, {} uniform blocks: {seconds:.2} s ({:.2}-{:.2}), {:.0} blocks/s, {:.1} MB/s; \
             live {} bytes, followed in {}; resident {:.0} MB; {diverged} calls passed over",
            name.to_string_lossy(),
            size as f64 / 1e6,
            f.written,
            f.blocks,
            runs[0].0.as_secs_f64(),
            runs[RUNS - 1].0.as_secs_f64(),
            blocks as f64 / seconds,
            size as f64 / 1e6 / seconds,
            f.live_bytes,
            f.held_bytes,
            resident() as f64 / 1e6,
        );
        let _ = std::fs::remove_dir_all(&temporary);
    }
}
