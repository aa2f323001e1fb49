//! Micro-benchmarks of reading: blocks, compression, calls decoded, encoded and printed.
//!
//! `cargo bench -p gfxr-parse`. What is read: made-up blocks in memory (256 MB of them), the sample capture of this
//! repository in its three compressions, the captures in `../shared/captures` where they are at hand, and those in the
//! folder that `RERAY_CAPTURES` names. Everything is in memory before the clock starts; one thread.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};

use gfxr_parse::container::{
    BlockKind, Blocks, Capture, Compression, FrameCounter, FrameRule, Payload, Scratch, read_file,
};
use gfxr_parse::decode::decode_call;
use gfxr_parse::encode::encode_call;
use gfxr_parse::image::Image;
use gfxr_parse::print::{Counts, Form, Options, Printer};
use gfxr_parse::schema::{CommandDef, command};

fn main() {
    divan::main();
}

/// Bytes of the made-up blocks.
const SCANNED_BYTES: usize = 256 << 20;

/// A capture in memory, with its calls' parameters decompressed.
struct Loaded {
    name: String,
    capture: Capture,
    calls: Vec<(&'static CommandDef, Vec<u8>)>,
    call_bytes: usize,
}

static CAPTURES: LazyLock<Vec<Loaded>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("../captures/samples"), root.join("../../shared/captures")];
    folders.extend(std::env::var_os("RERAY_CAPTURES").map(PathBuf::from));
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .filter_map(|f| std::fs::read_dir(f).ok())
        .flat_map(|entries| entries.filter_map(|e| Some(e.ok()?.path())))
        .filter(|p| p.extension().is_some_and(|e| e == "gfxr"))
        .collect();
    paths.sort();
    paths.iter().map(|p| load(p)).collect()
});

fn load(path: &Path) -> Loaded {
    let capture = Capture::open(path, read_file).expect("a capture");
    let (mut scratch, mut calls) = (Scratch::new(), vec![]);
    for block in capture.blocks() {
        let Ok(BlockKind::Call(call)) = block.kind() else { continue };
        if let (Some(def), Ok(params)) = (command(call.call_id), call.payload.bytes(&mut scratch)) {
            calls.push((def, params.to_vec()));
        }
    }
    let call_bytes = calls.iter().map(|c| c.1.len()).sum();
    let name = path.file_stem().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    Loaded { name, capture, calls, call_bytes }
}

/// The captures' names: one benchmark each.
fn names() -> Vec<&'static str> {
    CAPTURES.iter().map(|c| c.name.as_str()).collect()
}

fn named(name: &str) -> &'static Loaded {
    CAPTURES.iter().find(|c| c.name == name).expect("one of them")
}

/// From header to header over blocks with bodies of this size.
#[divan::bench(args = [64, 1024, 65536], sample_count = 20)]
fn scan_made_up_blocks(bencher: Bencher, body_bytes: usize) {
    let mut block = vec![0u8; 12 + body_bytes];
    block[..8].copy_from_slice(&(body_bytes as u64).to_le_bytes());
    block[8] = 4;
    let file = block.repeat(SCANNED_BYTES / block.len());
    bencher.counter(BytesCount::of_slice(&file)).bench(|| {
        Blocks::new(divan::black_box(&file), 0, Compression::Lz4).map(|b| u64::from(b.ty)).sum::<u64>()
    });
}

/// The same over a capture, each block told which frame it is in.
#[divan::bench(args = names())]
fn scan_capture(bencher: Bencher, name: &str) {
    let capture = &named(name).capture;
    bencher.counter(BytesCount::of_slice(capture.bytes())).bench(|| {
        let mut frames = FrameCounter::with_rule(FrameRule::detect(capture));
        capture.blocks().map(|b| frames.feed(&b).frame).max()
    });
}

/// Bodies read and data decompressed; counted in bytes that come out.
#[divan::bench(args = names())]
fn decompress(bencher: Bencher, name: &str) {
    let capture = &named(name).capture;
    let payload = |b: gfxr_parse::container::Block<'static>| b.kind().ok()?.payload_mut().copied();
    let payloads: Vec<Payload> =
        capture.blocks().filter_map(payload).filter(Payload::is_compressed).collect();
    let bytes: u64 = payloads.iter().map(Payload::size).sum();
    let mut scratch = Scratch::new();
    bencher
        .counter(BytesCount::new(bytes as usize))
        .bench_local(|| payloads.iter().map(|p| p.bytes(&mut scratch).map_or(0, <[u8]>::len)).sum::<usize>());
}

/// Parameters to images.
#[divan::bench(args = names())]
fn decode_calls(bencher: Bencher, name: &str) {
    let loaded = named(name);
    let mut image = Image::default();
    bencher
        .counter(ItemsCount::new(loaded.calls.len()))
        .counter(BytesCount::new(loaded.call_bytes))
        .bench_local(|| loaded.calls.iter().filter(|(c, p)| decode_call(c, p, &mut image).is_ok()).count());
}

/// Images back to parameters.
#[divan::bench(args = names())]
fn encode_calls(bencher: Bencher, name: &str) {
    let loaded = named(name);
    let images: Vec<Image> = loaded
        .calls
        .iter()
        .filter_map(|(c, p)| {
            let mut image = Image::default();
            decode_call(c, p, &mut image).ok().map(|()| image)
        })
        .collect();
    let mut out = Vec::new();
    bencher.counter(ItemsCount::new(images.len())).counter(BytesCount::new(loaded.call_bytes)).bench_local(
        || {
            images.iter().fold(0, |n, image| {
                out.clear();
                encode_call(image, &mut out);
                n + out.len()
            })
        },
    );
}

/// Blocks to JSON lines: decompression, decoding and printing; counted in bytes of JSON.
#[divan::bench(args = names())]
fn print_json(bencher: Bencher, name: &str) {
    let loaded = named(name);
    let mut printer = Printer::new(Form::Json, Options::default());
    let mut out = Vec::new();
    let mut print = || {
        out.clear();
        let mut counts = Counts::default();
        let printed = loaded.capture.blocks().filter(|b| printer.block(b).is_ok()).count();
        printer.drain_into(&mut counts, &mut out);
        (printed, out.len())
    };
    let (blocks, bytes) = print();
    bencher.counter(ItemsCount::new(blocks)).counter(BytesCount::new(bytes)).bench_local(print);
}
