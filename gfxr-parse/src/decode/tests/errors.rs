//! Snapshots of error texts: what a user reads when a capture and the format disagree.

use super::decode_call;
use crate::container::{Blocks, Compression, FunctionCall, Payload};
use crate::error::{Error, Kind};
use crate::image::Image;
use crate::image::attrib::{ARRAY, DATA, NULL, SINGLE, STRING, STRUCT};
use crate::limits::MAX_PNEXT;
use crate::schema::command_named;
use crate::verify::Verifier;
use crate::writer::ParamWriter;

fn error(command: &str, params: &[u8]) -> Error {
    let c = command_named(command).expect("a command");
    decode_call(c, params, &mut Image::default()).expect_err("must be refused")
}

/// vkQueueSubmit(queue 1, 1 submit) up to and including the sType.
fn submit(stype: u32) -> ParamWriter {
    let mut w = ParamWriter::new();
    w.u64(1).u32(1).preamble(ARRAY | STRUCT | DATA, Some(1)).u32(stype);
    w
}

#[test]
fn missing_bytes_in_a_nested_member() {
    let mut w = submit(4);
    // pNext, waitSemaphoreCount, then an array of two semaphores of which one is there.
    w.u32(NULL).u32(2).preamble(ARRAY | DATA, Some(2)).u64(7);
    let e = error("vkQueueSubmit", w.as_bytes());
    assert_eq!(
        e.to_string(),
        "offset 0x40: vkQueueSubmit.pSubmits[0].pWaitSemaphores: data: expected 16 more bytes, found 8"
    );
    assert_eq!(e.kind(), Kind::Truncated);
    let mut w = ParamWriter::new();
    w.u64(1).preamble(SINGLE | STRUCT | DATA, None).u32(1_000_001_001).u32(NULL).u16(0);
    let e = error("vkQueuePresentKHR", w.as_bytes());
    assert_eq!(
        e.to_string(),
        "offset 0x1c: vkQueuePresentKHR.pPresentInfo.waitSemaphoreCount: a 32-bit value: expected 4 more bytes, \
         found 2"
    );
}

#[test]
fn a_wrong_stype() {
    let mut w = submit(12);
    w.bytes(&[0; 40]);
    let e = error("vkQueueSubmit", w.as_bytes());
    assert_eq!(
        e.to_string(),
        "offset 0x20: vkQueueSubmit.pSubmits[0]: expected the sType of VkSubmitInfo (4), found 12 \
         (VkBufferCreateInfo)"
    );
    assert_eq!(e.kind(), Kind::Malformed);
}

#[test]
fn an_unknown_stype_in_a_chain() {
    let mut w = submit(4);
    w.preamble(SINGLE | STRUCT | DATA, None).u32(1_999_999_999).bytes(&[0; 40]);
    let e = error("vkQueueSubmit", w.as_bytes());
    assert_eq!(
        e.to_string(),
        "offset 0x30: vkQueueSubmit.pSubmits[0].pNext: sType 1999999999 is not in the registry of this build (1.4.363)"
    );
    assert_eq!(e.kind(), Kind::Unknown);
}

#[test]
fn an_error_deep_in_a_chain_names_the_links() {
    let mut w = submit(4);
    // VkTimelineSemaphoreSubmitInfo -> VkProtectedSubmitInfo, whose VkBool32 is missing.
    w.preamble(SINGLE | STRUCT | DATA, None).u32(1_000_207_003);
    w.preamble(SINGLE | STRUCT | DATA, None).u32(1_000_145_000).u32(NULL);
    let e = error("vkQueueSubmit", w.as_bytes());
    assert_eq!(
        e.to_string(),
        "offset 0x48: vkQueueSubmit.pSubmits[0].pNext<VkTimelineSemaphoreSubmitInfo>.pNext<VkProtectedSubmitInfo>\
         .protectedSubmit: a 32-bit value: expected 4 more bytes, found 0"
    );
}

#[test]
fn bytes_left_over() {
    let mut w = ParamWriter::new();
    w.u64(1).u32(0).u64(5);
    let e = error("vkDeviceWaitIdle", w.as_bytes());
    assert_eq!(e.to_string(), "offset 0xc: vkDeviceWaitIdle: 8 bytes are left over after the last parameter");
}

#[test]
fn wrong_preambles() {
    let mut w = ParamWriter::new();
    w.u64(1).u32(1).preamble(STRING | DATA, Some(3));
    let e = error("vkQueueSubmit", w.as_bytes());
    assert_eq!(
        e.to_string(),
        "offset 0xc: vkQueueSubmit.pSubmits: expected the preamble of a single or an array pointer, found 0xc8"
    );
    let mut w = ParamWriter::new();
    w.u64(1).u32(1).u32(0x4000_0004);
    let e = error("vkQueueSubmit", w.as_bytes());
    assert_eq!(
        e.to_string(),
        "offset 0xc: vkQueueSubmit.pSubmits: expected the preamble of a single or an array pointer, found 0x40000004"
    );
    let mut w = submit(4);
    w.preamble(ARRAY | STRUCT | DATA, Some(1)).bytes(&[0; 40]);
    let e = error("vkQueueSubmit", w.as_bytes());
    assert_eq!(
        e.to_string(),
        "offset 0x24: vkQueueSubmit.pSubmits[0].pNext: expected the preamble of a single pointer, found 0xe4"
    );
}

#[test]
fn a_bit_field_that_is_too_wide() {
    // vkCmdBuildPartitionedAccelerationStructures and others only carry addresses of instances; the struct itself is
    // reached through an array of them.
    let id = crate::schema::struct_named("VkAccelerationStructureInstanceKHR").expect("known");
    let mut w = ParamWriter::new();
    w.preamble(ARRAY | STRUCT | DATA, Some(1));
    w.preamble(ARRAY | DATA, Some(12)).bytes(&[0; 48]).u32(1 << 24);
    let e = super::decode_struct_array(id, w.as_bytes(), &mut Image::default()).expect_err("too wide");
    assert_eq!(
        e.to_string(),
        "offset 0x58: VkAccelerationStructureInstanceKHR[0].instanceCustomIndex: expected a value of 24 bits, found \
         0x1000000"
    );
}

#[test]
fn limits() {
    let mut w = submit(4);
    for _ in 0..=MAX_PNEXT {
        w.preamble(SINGLE | STRUCT | DATA, None).u32(1_000_145_000);
    }
    let e = error("vkQueueSubmit", w.as_bytes());
    let text = e.to_string();
    assert!(
        text.starts_with("offset 0x10030: vkQueueSubmit.pSubmits[0].pNext<VkProtectedSubmitInfo>.pNext<"),
        "{text}"
    );
    assert!(
        text.ends_with(".pNext<VkProtectedSubmitInfo>.pNext: pNext chain length is 4097, the limit is 4096"),
        "{text}"
    );
    assert!(text.contains('…') && text.len() < 700, "{text}");
    assert_eq!(e.kind(), Kind::Limit);
}

#[test]
fn lengths_beyond_the_bytes() {
    let mut w = ParamWriter::new();
    w.u64(1).u32(1).preamble(ARRAY | STRUCT | DATA, Some(u64::MAX));
    let e = error("vkQueueSubmit", w.as_bytes());
    assert_eq!(e.kind(), Kind::Truncated);
    assert_eq!(
        e.to_string(),
        "offset 0x20: vkQueueSubmit.pSubmits: data: expected 18446744073709551615 more bytes, found 0"
    );
}

/// What a block adds: its index, and an offset in the file.
#[test]
fn in_a_block() {
    let c = command_named("vkDeviceWaitIdle").expect("a command");
    let mut w = ParamWriter::new();
    w.u64(1).u32(0).u64(5);
    let mut file = Vec::new();
    for params in [&w.as_bytes()[..12], w.as_bytes()] {
        FunctionCall { call_id: c.id, thread: 1, payload: Payload::plain(params) }.write(&mut file);
    }
    let mut verifier = Verifier::new();
    let mut blocks = Blocks::new(&file, 24, Compression::None);
    verifier.block(&blocks.next().expect("the good one")).expect("good");
    let e = verifier.block(&blocks.next().expect("the bad one")).expect_err("bad");
    assert_eq!(
        e.to_string(),
        "block 1, offset 0x60: vkDeviceWaitIdle: 8 bytes are left over after the last parameter"
    );
    let mut file = Vec::new();
    FunctionCall { call_id: 0x1_10C1, thread: 1, payload: Payload::plain(&[]) }.write(&mut file);
    FunctionCall { call_id: 0x1_1FFF, thread: 1, payload: Payload::plain(&[]) }.write(&mut file);
    FunctionCall { call_id: 0x2_1000, thread: 1, payload: Payload::plain(&[]) }.write(&mut file);
    let texts: Vec<String> = Blocks::new(&file, 0, Compression::None)
        .map(|b| verifier.block(&b).expect_err("unknown").to_string())
        .collect();
    assert_eq!(
        texts,
        [
            "block 0, offset 0x0: vkCreateMirSurfaceKHR cannot be decoded: VK_KHR_mir_surface was removed from the \
             registry",
            "block 1, offset 0x18: call id 0x11fff is not known to this build",
            "block 2, offset 0x30: call id 0x21000 is of another API than Vulkan",
        ]
    );
}
