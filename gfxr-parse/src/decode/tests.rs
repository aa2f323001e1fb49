//! Tests of decoding, encoding and printing against bytes made from the schema.
//!
//! What is held: any bytes the decoder accepts come back the same from the encoder and print as valid JSON; bytes cut
//! off anywhere, or changed anywhere, are an error or are accepted, never a panic.

mod errors;
mod random;

use super::{decode_call, decode_struct_array};
use crate::container::{Block, Blocks, Compression, FunctionCall, Payload};
use crate::elements::{Array, encode_arrays, units, without};
use crate::encode::{encode_call, encode_struct_array};
use crate::image::Image;
use crate::print::{Binaries, Counts, Form, Options, Printer};
use crate::schema::CommandDef;
use crate::schema::generated::{COMMANDS, STRUCTS};
use random::{Generator, Rng};

/// Random encodings of each command.
const SEEDS: u64 = 40;

fn params(c: &CommandDef, seed: u64) -> Vec<u8> {
    Generator::new(u64::from(c.id) << 32 | seed).call(c)
}

/// Decodes, encodes, compares. False if the decoder refuses.
fn round_trip(c: &'static CommandDef, bytes: &[u8], image: &mut Image) -> bool {
    if decode_call(c, bytes, image).is_err() {
        return false;
    }
    let mut back = Vec::new();
    encode_call(image, &mut back);
    assert!(back == bytes, "{} does not come back: {bytes:02x?} became {back:02x?}", c.name);
    true
}

#[test]
fn every_command_round_trips() {
    let mut image = Image::default();
    let (mut longest, mut chains) = (0, 0);
    for c in &COMMANDS {
        for seed in 0..SEEDS {
            let bytes = params(c, seed);
            longest = longest.max(bytes.len());
            if let Err(e) = decode_call(c, &bytes, &mut image) {
                panic!("{} seed {seed}: {e} in {bytes:02x?}", c.name);
            }
            assert!(round_trip(c, &bytes, &mut image));
            chains += image.ptrs.iter().filter(|p| p.attrib & 0x20 != 0 && p.has_data()).count();
        }
    }
    // The generator must not be one that only makes null pointers.
    assert!(longest > 1000 && chains > 5000, "{longest} {chains}");
}

#[test]
fn elements_of_every_array_can_be_left_out() {
    let mut image = Image::default();
    let (mut left_out, mut arrays) = (0, std::collections::BTreeSet::new());
    for c in &COMMANDS {
        for seed in 0..SEEDS {
            let bytes = params(c, seed);
            if let Err(e) = decode_call(c, &bytes, &mut image) {
                panic!("{} seed {seed}: {e}", c.name);
            }
            let (written, all) = encode_arrays(&image);
            assert_eq!(written, bytes, "{} seed {seed}", c.name);
            assert_eq!(without(&bytes, &all, |_, _| false), bytes, "{} seed {seed}", c.name);
            for (n, array) in all.iter().enumerate() {
                arrays.insert((c.name, array.name));
                let descriptors = units(&all, n).is_empty();
                for e in 0..array.elements.len() {
                    let less = without(&bytes, &all, |a, b| (a, b) == (n, e));
                    assert!(round_trip(c, &less, &mut image), "{} {}[{e}]", c.name, array.name);
                    // (of those between others two writes are made, which `elements` tests)
                    if descriptors {
                        continue;
                    }
                    let (_, now) = encode_arrays(&image);
                    // (the others are, byte for byte, as they were)
                    let bytes_of = |a: &Array, from: &[u8], but: Option<usize>| -> Vec<Vec<u8>> {
                        let all = a.elements.iter().enumerate().filter(|(n, _)| Some(*n) != but);
                        all.map(|(_, range)| from[range.clone()].to_vec()).collect()
                    };
                    let left = bytes_of(array, &bytes, Some(e));
                    let same = |a: &Array| a.name == array.name && bytes_of(a, &less, None) == left;
                    assert!(
                        left.is_empty() || now.iter().any(same),
                        "{} {}[{e}]: {now:?}",
                        c.name,
                        array.name
                    );
                    assert_eq!(less.len() + array.elements[e].len(), bytes.len());
                    left_out += 1;
                }
            }
        }
    }
    for known in [
        ("vkUpdateDescriptorSets", "pDescriptorWrites"),
        ("vkCmdCopyBuffer", "pRegions"),
        ("vkCmdCopyBuffer2", "pRegions"),
        ("vkCmdPipelineBarrier", "pImageMemoryBarriers"),
        ("vkCmdPipelineBarrier2", "pImageMemoryBarriers"),
        ("vkQueueSubmit", "pSubmits"),
    ] {
        assert!(arrays.contains(&known), "{known:?}");
    }
    let descriptors = ["pImageInfo", "pBufferInfo", "pTexelBufferView"];
    assert!(arrays.iter().any(|(_, name)| descriptors.contains(name)), "{arrays:?}");
    assert!(!arrays.contains(&("vkCreateGraphicsPipelines", "pCreateInfos")), "as many come back");
    assert!(left_out > 1000, "{left_out}");
}

#[test]
fn every_struct_round_trips() {
    let mut image = Image::default();
    for (id, def) in STRUCTS.iter().enumerate() {
        for seed in 0..SEEDS {
            let mut generator = Generator::new(seed << 32 | id as u64);
            let Some(bytes) = generator.struct_array(id as u16) else { continue };
            match decode_struct_array(id as u16, &bytes, &mut image) {
                Ok(used) => assert_eq!(used, bytes.len(), "{}", def.name),
                Err(e) => panic!("{} seed {seed}: {e} in {bytes:02x?}", def.name),
            }
            let mut back = Vec::new();
            encode_struct_array(&image, id as u16, false, &mut back);
            assert!(back == bytes, "{}: {bytes:02x?} became {back:02x?}", def.name);
        }
    }
}

#[test]
fn every_truncation_is_an_error_or_accepted() {
    let mut image = Image::default();
    for c in &COMMANDS {
        let bytes = params(c, 1);
        for n in (0..bytes.len()).take(3000) {
            // Template data end where their bytes end, so a shorter call may be one, too.
            round_trip(c, &bytes[..n], &mut image);
        }
    }
}

#[test]
fn every_mutation_is_an_error_or_round_trips() {
    let mut image = Image::default();
    let mut rng = Rng(7);
    let mut accepted = 0;
    for c in &COMMANDS {
        let whole = params(c, 2);
        for _ in 0..500 {
            let mut bytes = whole.clone();
            for _ in 0..rng.below(4) + 1 {
                let i = rng.below(bytes.len().max(1) as u64) as usize;
                let Some(b) = bytes.get_mut(i) else { continue };
                *b = match rng.below(4) {
                    0 => 0,
                    1 => 0xFF,
                    2 => *b ^ 1 << rng.below(8),
                    _ => rng.next() as u8,
                };
            }
            accepted += u32::from(round_trip(c, &bytes, &mut image));
        }
    }
    assert!(accepted > 1000, "{accepted}");
}

/// A block that holds this call.
fn block(c: &CommandDef, params: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    FunctionCall { call_id: c.id, thread: 3, payload: Payload::plain(params) }.write(&mut bytes);
    bytes
}

fn print(form: Form, options: Options, bytes: &[u8]) -> Vec<u8> {
    let block: Block = Blocks::new(bytes, 0, Compression::None).next().expect("one block");
    let mut printer = Printer::new(form, options);
    printer.block(&block).unwrap_or_else(|e| panic!("{e}"));
    let mut out = Vec::new();
    printer.drain_into(&mut Counts::default(), &mut out);
    out
}

#[test]
fn every_command_prints_as_json() {
    let binaries = [Binaries::Placeholder, Binaries::None, Binaries::Collect];
    for c in &COMMANDS {
        for seed in 0..SEEDS {
            let bytes = block(c, &params(c, seed));
            let options = Options { expand_flags: seed % 2 == 1, binaries: binaries[seed as usize % 3] };
            let line = print(Form::Json, options, &bytes);
            assert_eq!(line.iter().filter(|&&b| b == b'\n').count(), 1);
            let value: serde_json::Value = serde_json::from_slice(&line).unwrap_or_else(|e| {
                panic!("{} seed {seed}: {e} in {}", c.name, String::from_utf8_lossy(&line))
            });
            let function = &value["function"];
            assert_eq!(function["name"], c.name);
            assert_eq!(function["thread"], 3);
            assert_eq!(function.get("return").is_some(), c.ret.is_some(), "{}", c.name);
            // Every parameter is there; the trailing template data come in addition.
            let args = function["args"].as_object().expect("an object");
            assert_eq!(args.len(), c.params.len() + usize::from(c.trailing), "{}", c.name);
            let text = String::from_utf8(print(Form::Text, options, &bytes)).expect("UTF-8");
            assert!(text.starts_with("#0 vk") && text.ends_with('\n'), "{text}");
        }
    }
}
