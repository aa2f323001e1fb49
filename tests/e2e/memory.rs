//! Memory that is rebound: rows of images that the host writes, where the capture's driver had them elsewhere.
//!
//! What resources share is shown by the scene `memory` in the matrix.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use gfxr_parse::container::Capture;
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
