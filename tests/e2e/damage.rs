//! Damaged captures: a sample with bytes changed at random is read to its end by everything that reads.

use crate::support::root;
use gfxr_parse::container::Capture;
use gfxr_parse::decode::decode_call;
use gfxr_parse::image::Image;
use gfxr_parse::print::{Binaries, Counts, Form, Options, Printer};
use gfxr_parse::schema::command;
use gfxr_parse::shaders::{shaders, uses};
use gfxr_parse::summary::summarize;
use gfxr_parse::verify::Verifier;

/// Damaged copies per sample.
const COPIES: u64 = 60;

/// Reads a capture in every way there is. Returns how many of its blocks are good.
fn read(bytes: Vec<u8>) -> u64 {
    let Ok(capture) = Capture::new(bytes) else { return 0 };
    summarize(&capture, |_| {});
    let mut printers = [(Form::Json, Binaries::Collect), (Form::Text, Binaries::None)]
        .map(|(form, binaries)| Printer::new(form, Options { expand_flags: true, binaries }));
    let mut verifier = Verifier::new();
    let mut image = Image::default();
    let mut scratch = gfxr_parse::container::Scratch::new();
    let mut good = 0;
    for block in capture.all_blocks().filter_map(Result::ok) {
        let verified = verifier.block(&block).is_ok();
        good += u64::from(verified);
        for p in &mut printers {
            p.pass(&block);
            // What comes back byte for byte can be printed.
            assert!(p.block(&block).is_ok() || !verified, "block {}", block.index);
        }
        if let Ok(gfxr_parse::container::BlockKind::Call(call)) = block.kind()
            && let Some(c) = command(call.call_id)
            && let Ok(params) = call.payload.bytes(&mut scratch)
            && decode_call(c, params, &mut image).is_ok()
        {
            shaders(&image);
            uses(&image);
        }
    }
    let [mut json, _] = printers;
    let mut lines = Vec::new();
    json.drain_into(&mut Counts::default(), &mut lines);
    for line in lines.split(|&b| b == b'\n').filter(|l| !l.is_empty()).step_by(37) {
        serde_json::from_slice::<serde_json::Value>(line).expect("JSON");
    }
    good
}

#[test]
fn damaged_samples_are_read_to_the_end() {
    let mut rng = oorandom::Rand64::new(1);
    for name in ["cubes.gfxr", "cubes_zlib.gfxr", "cubes_zstd.gfxr"] {
        let whole = std::fs::read(root().join("captures/samples").join(name))
            .unwrap_or_else(|e| panic!("the sample {name} is committed: {e}"));
        let all = read(whole.clone());
        assert!(all > 0, "{name}");
        for _ in 0..COPIES {
            let mut bytes = whole.clone();
            for _ in 0..rng.rand_u64() % 400 {
                let i = (24 + rng.rand_u64() % (bytes.len() as u64 - 24)) as usize;
                bytes[i] = if rng.rand_u64() & 1 == 0 { 0xFF } else { rng.rand_u64() as u8 };
            }
            bytes.truncate((bytes.len() as u64 - rng.rand_u64() % 100) as usize);
            assert!(read(bytes) <= all);
        }
    }
}

/// A sample that is not compressed, with a write to mapped memory 64 bytes before the memory's first byte: the offset and
/// the mapping's own wrap to a small number.
fn before_the_mapping(bytes: &[u8]) -> Vec<u8> {
    use gfxr_parse::container::BlockKind;
    use gfxr_parse::meta::Meta;
    let capture = Capture::new(bytes.to_vec()).expect("a capture");
    let fill = capture.blocks().find_map(|b| match b.kind() {
        Ok(BlockKind::Meta(m)) => match m.meta {
            Meta::FillMemory(f) => Some((b.offset as usize, b.raw().len(), f.memory, f.offset)),
            _ => None,
        },
        _ => None,
    });
    let (start, len, memory, offset) = fill.expect("the program writes to memory");
    let fields = [memory.to_le_bytes(), offset.to_le_bytes()].concat();
    let at =
        bytes[start..start + len].windows(16).position(|w| w == fields).expect("both stand side by side");
    let mut changed = bytes.to_vec();
    changed[start + at + 8..start + at + 16].copy_from_slice(&(u64::MAX - 63).to_le_bytes());
    changed
}

#[test]
fn a_write_before_a_mapping_is_refused_with_its_place() {
    use crate::support::{Scratch, run, text};
    if !crate::device::device("a_write_before_a_mapping_is_refused_with_its_place") {
        return;
    }
    let scratch = Scratch::new("before");
    let (plain, file) = (scratch.path("plain.gfxr"), scratch.path("before.gfxr"));
    let sample = root().join("captures/samples/memory.gfxr");
    let out = run([
        "compress".as_ref(),
        sample.as_os_str(),
        "--to".as_ref(),
        "none".as_ref(),
        "-o".as_ref(),
        plain.as_os_str(),
    ]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    std::fs::write(&file, before_the_mapping(&std::fs::read(&plain).expect("written"))).expect("written");
    let out = run([file.as_os_str(), "--quiet".as_ref()]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(5), "{said}");
    let parts = ["block ", "at 18446744073709551552 from the mapping at", "leaves VkDeviceMemory"];
    assert!(parts.iter().all(|p| said.contains(p)), "{said}");
}
