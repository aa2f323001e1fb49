//! Every block type as hand-written bytes: parsed, its fields checked, written again, cut off at every byte.

use gfxr_parse::annotation::{Annotation, AnnotationKind};
use gfxr_parse::container::{
    BlockKind, Blocks, Compression, FunctionCall, Marker, MarkerKind, MethodCall, Payload, Scratch, Unknown,
};
use gfxr_parse::error::Kind;
use gfxr_parse::writer::frame_block;

use crate::common::{hex, only_block};

/// Parses, compares, writes again; then the same body one byte shorter at a time, which must give errors, not panics.
fn golden(bytes: &[u8], want: &BlockKind) {
    let block = only_block(bytes);
    assert_eq!((block.index, block.offset, block.file), (0, 16, 0));
    assert_eq!(block.raw(), bytes);
    let kind = block.kind().expect("a good block");
    assert_eq!(&kind, want);
    let mut out = vec![];
    kind.write(&mut out);
    assert_eq!(out, bytes);
    for n in 0..block.body().len() {
        let short = frame_block(block.ty, &block.body()[..n]);
        if let Err(error) = only_block(&short).kind() {
            assert_eq!((error.kind(), error.block()), (Kind::Truncated, Some(0)), "{error}");
        }
    }
}

fn error(bytes: &[u8]) -> String {
    only_block(bytes).kind().expect_err("a bad block").to_string()
}

#[test]
fn frame_markers() {
    golden(
        &hex("0C00000000000000 01000000 | 02000000 | 0700000000000000"),
        &BlockKind::FrameMarker(Marker { kind: MarkerKind::End, frame: 7 }),
    );
    golden(
        &hex("0C00000000000000 01000000 | 01000000 | FFFFFFFFFFFFFFFF"),
        &BlockKind::FrameMarker(Marker { kind: MarkerKind::Begin, frame: u64::MAX }),
    );
    let odd = hex("0C00000000000000 01000000 | 09000000 | 0700000000000000");
    golden(&odd, &BlockKind::FrameMarker(Marker { kind: MarkerKind::Other(9), frame: 7 }));
    assert_eq!(only_block(&odd).kind().unwrap().warning().unwrap(), "frame marker of unknown kind 9");
}

#[test]
fn state_markers() {
    golden(
        &hex("0C00000000000000 02000000 | 01000000 | 0A00000000000000"),
        &BlockKind::StateMarker(Marker { kind: MarkerKind::Begin, frame: 10 }),
    );
    let odd = hex("0C00000000000000 02000000 | 00000000 | 0A00000000000000");
    golden(&odd, &BlockKind::StateMarker(Marker { kind: MarkerKind::Other(0), frame: 10 }));
    assert_eq!(only_block(&odd).kind().unwrap().warning().unwrap(), "state marker of unknown kind 0");
}

#[test]
fn markers_have_one_size() {
    assert_eq!(
        error(&hex("0D00000000000000 01000000 | 02000000 | 0700000000000000 | EE")),
        "block 0, offset 0x28: marker: expected the end of the block, found 1 more bytes"
    );
    assert_eq!(
        error(&hex("0A00000000000000 01000000 | 02000000 | 070000000000")),
        "block 0, offset 0x20: marker frame: expected 8 more bytes, found 6"
    );
}

#[test]
fn annotations() {
    let bytes = hex("1600000000000000 05000000 | 02000000 | 04000000 | 0200000000000000 | 6E6F7465 | 7B7D");
    golden(&bytes, &BlockKind::Annotation(Annotation::new(AnnotationKind::Json, "note", "{}")));
    let mut odd = Annotation::new(AnnotationKind::Other(8), "", "");
    odd.tail = b"z";
    golden(
        &hex("1100000000000000 05000000 | 08000000 | 00000000 | 0000000000000000 | 7A"),
        &BlockKind::Annotation(odd),
    );
    assert_eq!(
        error(&hex("1400000000000000 05000000 | 02000000 | 05000000 | 0200000000000000 | 6E6F7465")),
        "block 0, offset 0x2c: label: expected 5 more bytes, found 4"
    );
    assert_eq!(
        error(&hex("1000000000000000 05000000 | 01000000 | 00000000 | FFFFFFFFFFFFFFFF")),
        "block 0, offset 0x2c: annotation data: expected 18446744073709551615 more bytes, found 0"
    );
}

#[test]
fn function_calls() {
    let bytes = hex("0F00000000000000 04000000 | AE100100 | 0500000000000000 | 010203");
    let call = FunctionCall { call_id: 0x110AE, thread: 5, payload: Payload::plain(&[1, 2, 3]) };
    golden(&bytes, &BlockKind::Call(call));
    let block = only_block(&bytes);
    assert_eq!((block.call_id(), block.meta_type(), block.is_compressed()), (Some(0x110AE), None, false));
    let BlockKind::Call(call) = block.kind().unwrap() else { panic!() };
    assert_eq!(call.payload.offset(), 16 + 12 + 12);
    assert_eq!(call.payload.bytes(&mut Scratch::new()).unwrap(), [1, 2, 3]);
    // A call without parameters is a call.
    golden(
        &hex("0C00000000000000 04000000 | 00100100 | 0500000000000000"),
        &BlockKind::Call(FunctionCall { call_id: 0x11000, thread: 5, payload: Payload::plain(&[]) }),
    );
}

/// One literal 0x07, then a match of 15 + 1 + 4 bytes at distance 1, then five literals: 26 times 0x07.
const LZ4: &str = "1F 07 0100 01 | 50 0707070707";

#[test]
fn compressed_function_calls() {
    let bytes =
        hex(&format!("1F00000000000000 04000080 | 00100100 | 0500000000000000 | 1A00000000000000 | {LZ4}"));
    let raw = hex(LZ4);
    let payload = Payload::compressed(&raw, Compression::Lz4, 26, 0, 52);
    golden(&bytes, &BlockKind::Call(FunctionCall { call_id: 0x11000, thread: 5, payload }));
    let block = only_block(&bytes);
    assert_eq!((block.call_id(), block.is_compressed(), block.base_type()), (Some(0x11000), true, 4));
    let BlockKind::Call(call) = block.kind().unwrap() else { panic!() };
    assert_eq!(call.payload.bytes(&mut Scratch::new()).unwrap(), [7; 26]);
    assert_eq!(format!("{:?}", call.payload), "Payload(26 bytes as lz4 in 11)");
}

#[test]
fn a_payload_says_where_it_is_wrong() {
    let read = |size: &str, codec| {
        let bytes = hex(&format!("1F00000000000000 04000080 | 00100100 | 0500000000000000 | {size} | {LZ4}"));
        let block = Blocks::new(&bytes, 0x1000, codec).next().unwrap();
        let BlockKind::Call(call) = block.kind().unwrap() else { panic!() };
        call.payload.bytes(&mut Scratch::new()).unwrap_err().to_string()
    };
    assert_eq!(
        read("1B00000000000000", Compression::Lz4),
        "block 0, offset 0x1020: lz4 data: expected 27 bytes uncompressed, found 26"
    );
    assert_eq!(
        read("1900000000000000", Compression::Lz4),
        "block 0, offset 0x1020: lz4 data: expected 25 bytes uncompressed, found 26"
    );
    assert_eq!(
        read("0000000010000000", Compression::Lz4),
        "block 0, offset 0x1020: uncompressed size is 68719476736, the limit is 8589934592"
    );
    assert_eq!(
        read("1A00000000000000", Compression::None),
        "block 0, offset 0x1020: a compressed block in a file whose header names no compression method"
    );
    assert_eq!(
        read("1A00000000000000", Compression::Zlib),
        "block 0, offset 0x1020: damaged zlib data: not a valid stream"
    );
    assert_eq!(
        read("1A00000000000000", Compression::Zstd),
        "block 0, offset 0x1020: damaged zstd data: Unknown frame descriptor"
    );
}

#[test]
fn method_calls() {
    let bytes = hex("1600000000000000 06000000 | 02000300 | 0900000000000000 | 0500000000000000 | 0102");
    let method = MethodCall { call_id: 0x30002, object: 9, thread: 5, payload: Payload::plain(&[1, 2]) };
    golden(&bytes, &BlockKind::Method(method));
    let block = only_block(&bytes);
    assert_eq!(block.call_id(), None);
    assert_eq!(block.kind().unwrap().warning().unwrap(), "a method call (Direct3D 12) is not replayed");
    let bytes = hex(&format!(
        "2700000000000000 06000080 | 02000300 | 0900000000000000 | 0500000000000000 | 1A00000000000000 | {LZ4}"
    ));
    let raw = hex(LZ4);
    let payload = Payload::compressed(&raw, Compression::Lz4, 26, 0, 60);
    golden(&bytes, &BlockKind::Method(MethodCall { payload, ..method }));
}

#[test]
fn unknown_types_are_data() {
    for ty in [0u32, 7, 0x7FFF_FFFF, 0x8000_0001, 0x8000_0002, 0x8000_0005, 0x8000_0007] {
        let bytes = frame_block(ty, b"abc");
        golden(&bytes, &BlockKind::Unknown(Unknown { ty, body: b"abc" }));
        let warning = only_block(&bytes).kind().unwrap().warning().unwrap();
        assert_eq!(warning, format!("block type {ty:#x} is not known to this build"));
    }
    golden(&hex("0000000000000000 07000000"), &BlockKind::Unknown(Unknown { ty: 7, body: &[] }));
}

#[test]
fn a_bad_block_does_not_end_the_file() {
    // A call cut inside its thread id, then a good marker.
    let bytes = hex(
        "0600000000000000 04000000 | AE100100 0500 | 0C00000000000000 01000000 02000000 0700000000000000",
    );
    let blocks: Vec<_> = Blocks::new(&bytes, 16, Compression::None).collect();
    assert_eq!(blocks.len(), 2);
    let bad = blocks[0].kind().unwrap_err();
    assert_eq!(bad.to_string(), "block 0, offset 0x20: thread id: expected 8 more bytes, found 2");
    assert_eq!(blocks[1].index, 1);
    assert_eq!(blocks[1].offset, 16 + 18);
    assert!(matches!(blocks[1].kind(), Ok(BlockKind::FrameMarker(Marker { frame: 7, .. }))));
    assert_eq!([blocks[0].raw(), blocks[1].raw()].concat(), bytes);
}
