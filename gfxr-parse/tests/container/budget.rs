//! What a capture's budget refuses, by block: before anything is decompressed, and while a call is decoded.

use gfxr_parse::container::{BlockKind, Budget, Capture, Compression, FileHeader, Payload, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::error::Kind;
use gfxr_parse::image::{Image, attrib};
use gfxr_parse::meta::{FillMemory, Meta};
use gfxr_parse::schema::command_named;
use gfxr_parse::writer::{ParamWriter, Writer};

/// One write of `n` zeros, and one call.
fn file(method: Compression, n: usize, call: Option<(&str, &[u8])>) -> Capture {
    let mut w = Writer::new(vec![], &FileHeader::new(method)).unwrap();
    let data = vec![0; n];
    w.meta(1, Meta::FillMemory(FillMemory { memory: 3, offset: 0, data: Payload::plain(&data) })).unwrap();
    if let Some((name, params)) = call {
        w.call(command_named(name).unwrap().id, 1, params).unwrap();
    }
    Capture::new(w.finish().unwrap()).unwrap()
}

#[test]
fn a_block_is_refused_by_what_it_declares() {
    for method in [Compression::Lz4, Compression::Zlib, Compression::Zstd] {
        let n = 6 << 20;
        let capture = file(method, n, None).within(Budget::new(n as u64 - 1024));
        let block = capture.blocks().next().unwrap();
        assert_eq!(block.declared_bytes(), n as u64);
        let BlockKind::Meta(meta) = block.kind().unwrap() else { panic!("metadata") };
        let mut scratch = Scratch::new();
        let error = meta.meta.payload().unwrap().to_vec(&mut scratch).unwrap_err();
        assert_eq!(error.kind(), Kind::Memory);
        assert_eq!(
            error.to_string(),
            "block 0, offset 0x48: uncompressed size is 6291456 bytes, decoding may take 6290432 (--max-memory 6M allows it)"
        );
        assert_eq!(format!("{scratch:?}"), "Scratch(0 bytes)", "nothing was decompressed");
        let capture = capture.within(Budget::new(n as u64));
        let block = capture.blocks().next().unwrap();
        let BlockKind::Meta(meta) = block.kind().unwrap() else { panic!("metadata") };
        assert_eq!(meta.meta.payload().unwrap().to_vec(&mut scratch).unwrap(), vec![0; n]);
        assert_eq!(format!("{scratch:?}"), "Scratch(0 bytes)", "what was large is not kept");
    }
}

#[test]
fn a_call_is_refused_by_what_it_becomes() {
    // A null string takes 4 bytes on the wire, and 8 of the image with a record of 40 once decoded.
    let strings = 300_000;
    let mut w = ParamWriter::new();
    w.structure(|w| {
        w.u32(1).null_struct().u32(0).null_struct().u32(0).null(attrib::STRING | attrib::ARRAY);
        w.u32(strings).preamble(attrib::STRING | attrib::ARRAY | attrib::DATA, Some(strings.into()));
        (0..strings).for_each(|_| {
            w.null_string();
        });
    });
    w.null_struct().u64_ptr(7).u32(0);
    let params = w.take();
    let capture = file(Compression::Zstd, 1, Some(("vkCreateInstance", &params)));
    let decoded = |most: u64| {
        let capture = Capture::new(capture.bytes().to_vec()).unwrap().within(Budget::new(most));
        let block = capture.blocks().nth(1).unwrap();
        let call = block.call().unwrap().unwrap();
        let (mut scratch, mut image) = (Scratch::new(), Image::default());
        let command = command_named("vkCreateInstance").unwrap();
        decode_found(command, &block, &call, &mut scratch, &mut image)
            .map_err(|e| (e.kind(), e.to_string()))?;
        Ok(image.held_bytes())
    };
    let held = decoded(1 << 30).expect("there is room");
    assert!((300_000 * 48..310_000 * 48).contains(&held), "{held}");
    let (kind, text) = decoded(8 << 20).expect_err("there is none");
    assert_eq!(kind, Kind::Memory);
    assert!(
        text.starts_with("block 1, offset 0x")
            && text.contains("vkCreateInstance.pCreateInfo.ppEnabledExtensionNames: ")
            && text.contains("the call and what it is decoded from take ")
            && text.contains(" bytes, decoding may take 8388608 (--max-memory "),
        "{text}"
    );
}

#[test]
fn no_call_is_decompressed_that_could_not_be_decoded() {
    let mut bytes = file(Compression::Zstd, 1, Some(("vkQueueWaitIdle", &[0; 400]))).bytes().to_vec();
    let at = {
        let capture = Capture::new(bytes.clone()).unwrap();
        capture.blocks().nth(1).unwrap().offset as usize + 24
    };
    bytes[at..at + 8].copy_from_slice(&((1u64 << 30) + 1).to_le_bytes());
    let capture = Capture::new(bytes).unwrap().within(Budget::new(u64::MAX));
    let block = capture.blocks().nth(1).unwrap();
    let call = block.call().unwrap().unwrap();
    let command = command_named("vkQueueWaitIdle").unwrap();
    let error = decode_found(command, &block, &call, &mut Scratch::new(), &mut Image::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "block 1, offset {:#x}: vkQueueWaitIdle: uncompressed size of a call is 1073741825, the limit is 1073741824",
            at + 8
        )
    );
}
