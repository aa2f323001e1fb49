//! Files cut off at every byte: never a panic, everything whole is kept, what is missing is told.

use gfxr_parse::container::{
    Blocks, Capture, Compression, FileHeader, FrameCounter, MarkerKind, Payload, Scratch, read_file,
};
use gfxr_parse::error::Kind;
use gfxr_parse::meta::{FillMemory, Meta, SwapchainImage, SwapchainImages};
use gfxr_parse::writer::Writer;

use crate::common::captures;

/// Reads all there is, bodies and data included; says how many blocks were whole and what was missing.
fn read_all(capture: &Capture, scratch: &mut Scratch) -> (u64, Option<String>) {
    let mut counter = FrameCounter::new(capture.header());
    let mut blocks = capture.all_blocks();
    let mut n = 0;
    for block in &mut blocks {
        let block = block.expect("no siblings here");
        counter.feed(&block);
        let mut kind = block.kind().expect("a whole block is good");
        if let Some(payload) = kind.payload_mut() {
            payload.bytes(scratch).expect("whole data are good");
        }
        n += 1;
    }
    let missing = blocks.truncated().map(|e| {
        assert_eq!((e.kind(), e.block()), (Kind::Truncated, Some(n)));
        e.to_string()
    });
    (n, missing)
}

/// Cuts `file` after every byte up to `most`; `ends` are the offsets where a block ends.
fn cut_everywhere(file: &[u8], most: usize) {
    let whole = Capture::new(file.to_vec()).unwrap();
    let start = whole.header().size();
    let mut ends = vec![start];
    ends.extend(whole.blocks().map(|b| b.offset as usize + b.raw().len()));
    let mut scratch = Scratch::new();
    for n in 0..=most.min(file.len()) {
        let capture = match Capture::new(file[..n].to_vec()) {
            Ok(capture) => capture,
            Err(e) => {
                assert!(n < start, "{e}");
                assert!([Kind::NotACapture, Kind::Truncated].contains(&e.kind()), "{e}");
                continue;
            }
        };
        let want = ends.iter().filter(|&&e| e <= n).count() as u64 - 1;
        let (blocks, missing) = read_all(&capture, &mut scratch);
        assert_eq!(blocks, want, "cut at {n}");
        assert_eq!(missing.is_none(), ends.contains(&n), "cut at {n}: {missing:?}");
    }
}

fn synthetic() -> Vec<u8> {
    let data = [7; 200];
    let mut w = Writer::new(vec![], &FileHeader::new(Compression::Lz4)).unwrap();
    w.annotation(gfxr_parse::annotation::AnnotationKind::Json, "operation", r#"{"tool":"capture"}"#).unwrap();
    w.state(MarkerKind::Begin, 3).unwrap();
    w.call(0x11000, 1, &data).unwrap();
    w.meta(1, Meta::FillMemory(FillMemory { memory: 1, offset: 0, data: Payload::plain(&data) })).unwrap();
    let images = vec![SwapchainImage::default(); 2];
    w.meta(1, Meta::SwapchainImages(SwapchainImages { device: 1, swapchain: 2, last_presented: 0, images }))
        .unwrap();
    w.state(MarkerKind::End, 3).unwrap();
    w.body(0x99, b"unknown").unwrap();
    w.frame_end(3).unwrap();
    w.finish().unwrap()
}

#[test]
fn a_small_file_at_every_byte() {
    let file = synthetic();
    assert!(file.len() < 1000);
    cut_everywhere(&file, file.len());
}

#[test]
fn a_real_capture_at_every_byte_of_its_first_64_kib() {
    let Some(path) = captures("truncation::a_real_capture").into_iter().next() else { return };
    let bytes = read_file(std::fs::File::open(&path).unwrap()).unwrap();
    let file = (*bytes).as_ref();
    // With all bodies and data in the first 8 KiB; beyond, where the blocks before the cut only repeat themselves, the
    // walk over the blocks alone.
    cut_everywhere(file, 8 << 10);
    let whole = Capture::new(file.to_vec()).unwrap();
    let start = whole.header().size();
    let ends: Vec<usize> = whole.blocks().map(|b| b.offset as usize + b.raw().len()).collect();
    for n in start..=(64 << 10).min(file.len()) {
        let mut blocks = Blocks::new(&file[start..n], start as u64, Compression::Lz4);
        let count = blocks.by_ref().count();
        assert_eq!(count, ends.iter().take_while(|&&e| e <= n).count(), "cut at {n}");
        let at_end = n == start || ends.contains(&n);
        assert_eq!(blocks.truncated().is_none(), at_end, "cut at {n}");
        let left = n - ends[..count].last().copied().unwrap_or(start);
        assert_eq!(blocks.rest().len(), left, "cut at {n}");
    }
}

#[test]
fn what_truncation_says() {
    let file = synthetic();
    let mut scratch = Scratch::new();
    let mut cut = |n: usize| read_all(&Capture::new(file[..n].to_vec()).unwrap(), &mut scratch).1.unwrap();
    let last = file.len() - 24;
    assert_eq!(
        cut(last + 5),
        format!("block 7, offset {last:#x}: the file ends inside a block header: expected 12 bytes, found 5")
    );
    assert_eq!(
        cut(last + 12),
        format!(
            "block 7, offset {last:#x}: the file ends inside this block: expected 12 more bytes, found 0"
        )
    );
    assert_eq!(
        cut(last + 23),
        format!(
            "block 7, offset {last:#x}: the file ends inside this block: expected 12 more bytes, found 11"
        )
    );
}

#[test]
fn a_size_beyond_everything_is_a_truncated_block() {
    let mut file = synthetic();
    let last = file.len() - 24;
    for size in [13u64, u64::from(u32::MAX) + 5, u64::MAX - 11, u64::MAX] {
        file[last..last + 8].copy_from_slice(&size.to_le_bytes());
        let capture = Capture::new(file.clone()).unwrap();
        let (n, missing) = read_all(&capture, &mut Scratch::new());
        assert_eq!(n, 7);
        assert_eq!(
            missing.unwrap(),
            format!(
                "block 7, offset {last:#x}: the file ends inside this block: expected {size} more bytes, found 12"
            )
        );
    }
}

#[test]
fn damage_anywhere_never_panics() {
    let file = synthetic();
    let mut scratch = Scratch::new();
    for i in 0..file.len() {
        for bit in [0x01, 0x80, 0xFF] {
            let mut bad = file.clone();
            bad[i] ^= bit;
            let Ok(capture) = Capture::new(bad) else { continue };
            let mut counter = FrameCounter::new(capture.header());
            let mut whole = 0;
            for block in capture.blocks() {
                counter.feed(&block);
                whole += block.raw().len();
                let Ok(mut kind) = block.kind() else { continue };
                let _ = kind.warning();
                if let Some(payload) = kind.payload_mut() {
                    let _ = payload.bytes(&mut scratch);
                }
                let mut out = vec![];
                kind.write(&mut out);
                assert_eq!(out, block.raw(), "damage at {i}");
            }
            assert!(whole <= file.len());
        }
    }
}
