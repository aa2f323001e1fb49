//! Memory that is rebound: rows of images that the host writes, where the capture's driver had them elsewhere. And memory that nobody writes.
//!
//! What resources share is shown by the scene `memory` in the matrix.

use crate::device::device;
use crate::ordering::without;
use crate::support::{Scratch, reray, root, run, sample, text};
use gfxr_parse::container::{Block, BlockKind, Capture};
use gfxr_parse::meta::Meta;
use std::path::Path;

/// The scene's tile of rows: where it begins, and how many rows it has.
const TILE: (usize, usize) = (16, 16);
/// As many columns of a row are looked at as half a row's bytes hold.
const COLUMNS: usize = 5;

/// `memory`, not compressed, with answers that say that rows were half as far apart as they were.
fn half_as_far(scratch: &Scratch) -> String {
    let (sample, file) = (root().join("captures/samples/memory.gfxr"), scratch.path("plain.gfxr"));
    let (from, to) = (sample.to_str().expect("plain"), file.to_str().expect("plain"));
    let out = run(["compress", from, "--to", "none", "-o", to]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let bytes = std::fs::read(&file).expect("just written");
    let mut changed = bytes.clone();
    let capture = Capture::new(bytes.clone()).expect("a capture");
    // Size, row pitch and array pitch of 16 rows of 13 texels, as the dump prints them.
    let answer = [1024u64, 64, 1024].map(u64::to_le_bytes).concat();
    let mut found = 0;
    for b in capture.blocks().filter(|b| b.call_id().is_some()) {
        let (start, end) = (b.offset as usize, b.offset as usize + b.raw().len());
        if let Some(at) = bytes[start..end].windows(24).position(|w| w == answer) {
            changed[start + at + 8..start + at + 16].copy_from_slice(&32u64.to_le_bytes());
            found += 1;
        }
    }
    assert_eq!(found, 2, "an answer for each of the two images");
    std::fs::write(&file, changed).expect("written");
    to.to_owned()
}

/// The first columns of each row of the tile.
fn rows(file: &Path) -> Vec<Vec<u8>> {
    let file = std::fs::File::open(file).expect("the PNG is there");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let (samples, width) = (info.color_type.samples(), info.width as usize);
    let texel = |x: usize, y: usize| pixels[(y * width + x) * samples..][..3].to_vec();
    let row = |y| (0..COLUMNS).flat_map(|x| texel(TILE.0 + x, TILE.0 + y)).collect();
    (0..TILE.1).map(row).collect()
}

#[test]
fn what_the_host_writes_goes_to_the_rows_that_an_image_has_here() {
    if !device("rows of linear images") {
        return;
    }
    let scratch = Scratch::new("memory-rows");
    let file = half_as_far(&scratch);
    let shot = |mode: &str| {
        let to = scratch.path(mode);
        let args =
            ["screenshot", &file, "--frames", "4", "--memory", mode, "-o", to.to_str().expect("plain")];
        let out = run(args);
        assert!(out.status.success(), "{mode}: {}", text(&out.stderr));
        rows(&to.join("frame_4.png"))
    };
    let shown = rows(&root().join("captures/samples/memory_frame_4.png"));
    assert_ne!(shown[0], shown[1], "each row has its colour");
    // The program wrote row n at 64 n. If rows are said to be 32 apart, row 2n begins there, and row 2n + 1 in its middle.
    let moved: Vec<_> = (0..TILE.1).map(|y| shown[y / 2].clone()).collect();
    assert_eq!(shot("rebind"), moved);
}

#[test]
fn what_no_call_writes_is_zero_where_that_is_asked_for() {
    if !device("what_no_call_writes_is_zero") {
        return;
    }
    let scratch = Scratch::new("zero-memory");
    // Without what the host wrote: the dispatches read what lies in memory.
    let whole = sample("closed_compute.gfxr");
    let read = Capture::new(std::fs::read(&whole).expect("readable")).expect("a capture");
    let is_fill =
        |b: &Block<'_>| matches!(b.kind(), Ok(BlockKind::Meta(m)) if matches!(m.meta, Meta::FillMemory(_)));
    let fills: Vec<u64> = (0..).zip(read.blocks()).filter(|(_, b)| is_fill(b)).map(|(n, _)| n).collect();
    assert!(!fills.is_empty());
    let unwritten = scratch.path("unwritten.gfxr");
    without(&whole, &fills, &unwritten);
    let buffers = |flags: &[&str]| -> Vec<Vec<u8>> {
        let to = scratch.path(&format!("dumped{}", flags.concat()));
        let mut c = reray();
        c.arg("dump-resources").arg(&unwritten).args(["--commands", "at=0-99999", "-o"]).arg(&to);
        // (llvmpipe fills what it hands out with a value of its own then)
        let out = c.args(flags).env("LVP_POISON_MEMORY", "true").output();
        let out = out.expect("the program starts");
        assert!(out.status.success(), "{}", text(&out.stderr));
        let files = std::fs::read_dir(&to).expect("a folder").map(|f| f.expect("an entry").path());
        let uniforms = files.filter(|f| {
            let name = f.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.ends_with("binding_2.bin") || name.ends_with("binding_3.bin")
        });
        uniforms.map(|f| std::fs::read(f).expect("readable")).collect()
    };
    for memory in ["none", "rebind"] {
        let before = buffers(&["--memory", memory]);
        assert!(!before.is_empty() && before.iter().flatten().all(|b| *b != 0), "{memory}: {before:?}");
        let zeros = buffers(&["--memory", memory, "--zero-memory"]);
        assert!(!zeros.is_empty() && zeros.iter().flatten().all(|b| *b == 0), "{memory}: {zeros:?}");
    }
}
