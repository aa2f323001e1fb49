//! From each compression to each other: the decompressed bytes stay.

use std::collections::BTreeSet;

use gfxr_parse::container::{BlockKind, Capture, Compression, FileHeader, Payload, Scratch, read_file};
use gfxr_parse::error::Kind;
use gfxr_parse::meta::{FillMemory, InitImage, Meta, MetaBlock, Other};
use gfxr_parse::writer::{Writer, frame_block, transcode};

use crate::common::{capture, captures, hex};

/// Every block with its data decompressed: two files with the same list say the same.
fn plain(capture: &Capture) -> Vec<Vec<u8>> {
    let mut scratch = Scratch::new();
    let one = |block: gfxr_parse::container::Block| {
        let mut kind = block.kind().expect("a good block");
        let bytes = kind.payload_mut().map(|p| p.bytes(&mut scratch).expect("good data").to_vec());
        if let (Some(payload), Some(bytes)) = (kind.payload_mut(), &bytes) {
            *payload = Payload::plain(bytes);
        }
        let mut out = vec![];
        kind.write(&mut out);
        out
    };
    capture.blocks().map(one).collect()
}

fn convert(from: &Capture, method: Compression) -> (Capture, usize) {
    let mut out = vec![];
    let report = transcode(from, method, &mut out).unwrap();
    assert!(report.damaged.is_empty() && report.truncated.is_none());
    assert_eq!(report.bytes, out.len() as u64);
    let size = out.len();
    let to = capture(out);
    assert_eq!(to.header().compression(), method);
    (to, size)
}

#[test]
fn real_captures_in_every_method() {
    for path in captures("transcode::real_captures_in_every_method") {
        let start = Capture::open(&path, read_file).unwrap();
        let want = plain(&start);
        let (mut at, same) = convert(&start, start.header().compression());
        assert!(same == start.bytes().len() && at.bytes() == start.bytes());
        let mut sizes = vec![];
        for method in [Compression::Zstd, Compression::Zlib, Compression::None, Compression::Lz4] {
            let (to, size) = convert(&at, method);
            assert!(plain(&to) == want, "{} as {method}", path.display());
            sizes.push((method, size));
            at = to;
        }
        let none = sizes[2].1;
        assert!(sizes.iter().all(|s| s.1 <= none), "{}: {sizes:?}", path.display());
    }
}

/// One block of each kind with data, one that shrinks and one that does not, and blocks without.
fn synthetic(method: Compression) -> Vec<u8> {
    let zeros = vec![0; 5000];
    let mut w = Writer::new(vec![], &FileHeader::new(method)).unwrap();
    w.call(0x11000, 1, &zeros).unwrap();
    w.call(0x11001, 1, &[1, 2, 3]).unwrap();
    w.call(0x11002, 1, &[]).unwrap();
    w.meta(1, Meta::FillMemory(FillMemory { memory: 1, offset: 2, data: Payload::plain(&zeros) })).unwrap();
    let image = InitImage {
        device: 1,
        image: 2,
        aspect: 1,
        layout: 1,
        level_bytes: vec![4000, 1000],
        data: Payload::plain(&zeros),
    };
    w.meta(1, Meta::InitImage(image)).unwrap();
    let method_call = gfxr_parse::container::MethodCall {
        call_id: 0x30001,
        object: 2,
        thread: 1,
        payload: Payload::plain(&zeros),
    };
    w.block(&BlockKind::Method(method_call)).unwrap();
    w.body(0x77, b"who knows").unwrap();
    w.frame_end(1).unwrap();
    assert_eq!(w.index(), 8);
    w.finish().unwrap()
}

#[test]
fn every_kind_of_block_in_every_method() {
    let want = plain(&capture(synthetic(Compression::None)));
    for method in Compression::ALL {
        let file = capture(synthetic(method));
        assert_eq!(plain(&file), want, "{method}");
        let types: Vec<u32> = file.blocks().map(|b| b.ty).collect();
        let z = if method == Compression::None { 0 } else { 0x8000_0000 };
        assert_eq!(
            types,
            [z | 4, 4, 4, z | 3, z | 3, z | 6, 0x77, 1],
            "{method}: kept plain unless it shrinks"
        );
        for to in Compression::ALL {
            assert_eq!(plain(&convert(&file, to).0), want, "{method} to {to}");
        }
    }
}

#[test]
fn an_option_is_added_only_when_needed() {
    let bare = capture(hex("47465852 00000000 00000000 00000000"));
    assert_eq!(convert(&bare, Compression::None).1, 16);
    assert_eq!(convert(&bare, Compression::Lz4).1, 24);
}

#[test]
fn damaged_blocks_are_passed_on_and_told() {
    let mut bytes = synthetic(Compression::Lz4);
    // The first block's declared size.
    bytes[24 + 12 + 12] ^= 1;
    bytes.extend(frame_block(4, &[1, 2]));
    let from = capture(bytes);
    let mut out = vec![];
    let report = transcode(&from, Compression::Zstd, &mut out).unwrap();
    let told: Vec<String> = report.damaged.iter().map(|e| e.to_string()).collect();
    assert_eq!(
        told,
        [
            "block 0, offset 0x38: lz4 data: expected 5001 bytes uncompressed, found 5000",
            &format!(
                "block 8, offset {:#x}: call id: expected 4 more bytes, found 2",
                from.bytes().len() - 2
            ),
        ]
    );
    assert_eq!(report.blocks, 9);
    let to = capture(out);
    assert_eq!(to.blocks().next().unwrap().raw(), from.blocks().next().unwrap().raw());
    assert_eq!(to.blocks().last().unwrap().raw(), from.blocks().last().unwrap().raw());
}

#[test]
fn a_truncated_capture_keeps_what_is_whole() {
    let mut bytes = synthetic(Compression::Lz4);
    bytes.pop();
    let mut out = vec![];
    let report = transcode(&capture(bytes), Compression::Zlib, &mut out).unwrap();
    assert_eq!(report.blocks, 7);
    let error = report.truncated.expect("told");
    assert_eq!((error.kind(), error.block()), (Kind::Truncated, Some(7)));
    assert_eq!(plain(&capture(out))[..], plain(&capture(synthetic(Compression::None)))[..7]);
}

#[test]
fn what_cannot_be_rewritten_is_refused() {
    let other = Other { id: 17, compressed: true, raw: b"?" };
    let block = BlockKind::Meta(MetaBlock::new(0, Meta::Other(other)));
    let mut bytes = hex("47465852 00000000 01000000 01000000 01000000 01000000");
    block.write(&mut bytes);
    let from = capture(bytes);
    assert_eq!(convert(&from, Compression::Lz4).1, from.bytes().len(), "the same method is a copy");
    let error = transcode(&from, Compression::Zstd, vec![]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "block 0, offset 0x18: compressed metadata of type 17: where its data begin is not known, so they cannot be \
         compressed anew"
    );
    let mut w = Writer::new(vec![], &FileHeader::new(Compression::Zstd)).unwrap();
    let error = w.raw(&from.blocks().next().unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "block 0, offset 0x18: block cannot be passed on raw: its data are lz4, the file's method is zstd"
    );
}

#[test]
fn errors_of_the_output_come_through() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::new(std::io::ErrorKind::StorageFull, "disk full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = Writer::new(Full, &FileHeader::new(Compression::None)).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (Kind::Io, "cannot write: disk full"));
}

#[test]
fn compressed_types_are_those_the_format_names() {
    // Of the metadata in the real captures only fill memory and the init blocks are compressed.
    let mut seen = BTreeSet::new();
    for path in captures("transcode::compressed_types_are_those_the_format_names") {
        let capture = Capture::open(&path, read_file).unwrap();
        seen.extend(capture.blocks().filter(|b| b.is_compressed()).filter_map(|b| b.meta_type()));
    }
    assert!(seen.iter().all(|t| [2, 7, 8, 39].contains(t)), "{seen:?}");
}
