//! The file header: versions, options, refusals and what they say.

use gfxr_parse::container::{Compression, FileHeader};
use gfxr_parse::error::Kind;

use crate::common::{capture, hex, version};

fn round_trip(bytes: &[u8]) -> FileHeader {
    let header = FileHeader::read(bytes).expect("a header");
    let mut out = vec![];
    header.write(&mut out);
    assert_eq!(out, bytes);
    assert_eq!(header.size(), bytes.len());
    header
}

fn refused(bytes: &[u8]) -> (Kind, String) {
    let error = FileHeader::read(bytes).expect_err("refused");
    (error.kind(), error.to_string())
}

#[test]
fn both_versions() {
    let old = round_trip(&hex("47465852 | 00000000 00000000 | 00000000"));
    assert_eq!(old, version(0, 0));
    assert!(!old.explicit_frames());
    assert_eq!(old.compression(), Compression::None);
    let new = round_trip(&hex("47465852 | 00000000 01000000 | 00000000"));
    assert_eq!(new, version(0, 1));
    assert!(new.explicit_frames());
}

#[test]
fn every_compression() {
    for (value, method) in Compression::ALL.into_iter().enumerate() {
        let bytes = hex(&format!("47465852 00000000 01000000 01000000 | 01000000 0{value}000000"));
        let header = round_trip(&bytes);
        assert_eq!(header.compression(), method);
        assert_eq!(header, FileHeader::new(method));
        assert!(header.warnings().is_empty());
    }
}

#[test]
fn unknown_options_are_kept_and_told() {
    let bytes = hex(
        "47465852 00000000 00000000 03000000 | 09000000 2A000000 | 01000000 01000000 | 01000000 03000000",
    );
    let mut header = round_trip(&bytes);
    assert_eq!(header.compression(), Compression::Zstd, "the last one counts");
    assert_eq!(header.warnings(), ["file option 9 (value 42) is not known to this build"]);
    header.set_compression(Compression::None);
    assert_eq!(header.options, [(9, 42), (1, 1), (1, 0)]);
}

#[test]
fn compression_is_added_only_if_there_is_any() {
    let mut header = version(0, 0);
    header.set_compression(Compression::None);
    assert!(header.options.is_empty());
    header.set_compression(Compression::Zlib);
    assert_eq!(header.options, [(1, 2)]);
}

#[test]
fn refusals() {
    assert_eq!(
        refused(b""),
        (
            Kind::NotACapture,
            "not a GFXReconstruct capture: expected \"GFXR\" at the start, found nothing".into()
        )
    );
    assert_eq!(
        refused(b"\x89PNG\r\n"),
        (
            Kind::NotACapture,
            "not a GFXReconstruct capture: expected \"GFXR\" at the start, found \"\\x89PNG\"".into()
        )
    );
    assert_eq!(
        refused(b"GFXR\0\0"),
        (Kind::Truncated, "offset 0x6: file header: expected 16 bytes, the file has 6".into())
    );
    assert_eq!(
        refused(&hex("47465852 00000000 02000000 00000000")),
        (
            Kind::NotACapture,
            "offset 0x4: format version 0.2 is newer than 0.1, the newest this build reads".into()
        )
    );
    assert_eq!(
        refused(&hex("47465852 01000000 00000000 00000000")).1,
        "offset 0x4: format version 1.0 is newer than 0.1, the newest this build reads"
    );
    assert_eq!(
        refused(&hex("47465852 00000000 00000000 FFFFFFFF")),
        (Kind::Limit, "offset 0xc: number of file options is 4294967295, the limit is 1024".into())
    );
    assert_eq!(
        refused(&hex("47465852 00000000 00000000 02000000 01000000 01000000 01")),
        (
            Kind::Truncated,
            "offset 0x19: file header with its options: expected 32 bytes, the file has 25".into()
        )
    );
    assert_eq!(
        refused(&hex("47465852 00000000 00000000 01000000 01000000 07000000")),
        (
            Kind::Unknown,
            "offset 0x14: compression method 7 is not known to this build (0 none, 1 LZ4, 2 zlib, 3 zstd)"
                .into()
        )
    );
}

#[test]
fn a_capture_of_nothing_is_a_capture() {
    let capture = capture(hex("47465852 00000000 01000000 00000000"));
    assert_eq!(capture.blocks().count(), 0);
    let mut all = capture.all_blocks();
    assert!(all.next().is_none());
    assert!(all.truncated().is_none());
}
