//! Round trip: every block of every capture at hand comes back byte for byte.

use crate::support::{captures, run, text};
use gfxr_parse::container::{BlockKind, Capture};
use gfxr_parse::verify::Verifier;

#[test]
fn every_capture_comes_back_byte_for_byte() {
    let mut calls = 0;
    for path in captures() {
        let capture = Capture::new(std::fs::read(&path).expect("readable")).unwrap_or_else(|e| panic!("{e}"));
        let mut verifier = Verifier::new();
        let mut file = Vec::with_capacity(capture.bytes().len());
        let before = calls;
        capture.header().write(&mut file);
        for block in capture.blocks() {
            verifier.block(&block).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let kind = block.kind().expect("verified");
            calls += u64::from(matches!(kind, BlockKind::Call(_)));
            kind.write(&mut file);
        }
        assert!(file == capture.bytes(), "{}: differs as a whole", path.display());
        assert!(calls > before, "{}: no call was compared", path.display());
    }
    eprintln!("{calls} calls");
}

#[test]
fn verify_says_so() {
    for path in captures() {
        let out = run(["verify".as_ref(), path.as_os_str()]);
        assert_eq!(out.status.code(), Some(0), "{}{}", text(&out.stdout), text(&out.stderr));
        assert!(text(&out.stdout).ends_with("all come back byte for byte\n"));
    }
}
