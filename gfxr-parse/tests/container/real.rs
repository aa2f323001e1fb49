//! Real captures through reader and writer.

use gfxr_parse::container::{BlockKind, Capture, Scratch, read_file};
use gfxr_parse::meta::Meta;
use gfxr_parse::writer::Writer;

use crate::common::captures;

#[test]
fn a_raw_copy_is_the_same_bytes() {
    for path in captures("real::a_raw_copy_is_the_same_bytes") {
        let capture = Capture::open(&path, read_file).unwrap();
        let mut writer = Writer::new(vec![], capture.header()).unwrap();
        let mut blocks = capture.blocks_of_main_file();
        for block in &mut blocks {
            writer.raw(&block).unwrap();
        }
        writer.bytes(blocks.rest()).unwrap();
        assert!(writer.finish().unwrap() == capture.bytes(), "{}", path.display());
    }
}

#[test]
fn every_block_is_understood_and_written_back() {
    for path in captures("real::every_block_is_understood_and_written_back") {
        let capture = Capture::open(&path, read_file).unwrap();
        let mut scratch = Scratch::new();
        let mut buffer = vec![];
        let mut calls = 0;
        for block in capture.blocks() {
            let mut kind = block.kind().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            buffer.clear();
            kind.write(&mut buffer);
            assert!(buffer == block.raw(), "{}: block {}", path.display(), block.index);
            assert_eq!(kind.warning(), None, "{}", path.display());
            if let BlockKind::Meta(meta) = &kind {
                assert_eq!(meta.family, 1);
                assert!(meta.tail.is_empty());
                if let Meta::InitImage(image) = &meta.meta {
                    assert_eq!(image.level_bytes.iter().sum::<u64>(), image.data.size());
                }
            }
            calls += u64::from(block.call_id().is_some());
            if let Some(payload) = kind.payload_mut() {
                let bytes = payload.bytes(&mut scratch).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                assert_eq!(bytes.len() as u64, payload.size());
            }
        }
        assert!(calls > 100, "{}", path.display());
        assert!(
            capture.blocks_of_main_file().rest().len() == capture.bytes().len() - capture.header().size()
        );
    }
}

#[test]
fn the_encoder_says_who_it_was() {
    for path in captures("real::the_encoder_says_who_it_was") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let capture = Capture::open(&path, read_file).unwrap();
        let operation = capture.blocks().find_map(|b| match b.kind() {
            Ok(BlockKind::Annotation(a)) => a.operation(),
            _ => None,
        });
        let version = operation.and_then(|o| o.version()).map(|v| v.to_string());
        let want = match name {
            n if n.contains("_105") => Some("1.0.5"),
            n if n.contains("trim") => None,
            _ => Some("0.9.18"),
        };
        assert_eq!(version.as_deref(), want, "{name}");
        let exe = capture.blocks().find_map(|b| match b.kind() {
            Ok(BlockKind::Meta(m)) => match m.meta {
                Meta::ExeInfo(e) => Some(e.app_name.until_nul().text().into_owned()),
                _ => None,
            },
            _ => None,
        });
        // Older builds leave it empty outside Windows.
        let want = if name == "vkcube_105.gfxr" { "vkcube" } else { "" };
        assert!(exe.is_some_and(|e| e.starts_with(want)), "{name}");
    }
}

#[test]
fn reading_may_be_spread_over_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Capture>();
    shared::<gfxr_parse::container::Block>();
    shared::<BlockKind>();
    sent::<Scratch>();
    sent::<gfxr_parse::container::AllBlocks>();
    sent::<gfxr_parse::container::Compressor>();
}
