//! Descriptor writes without some of their descriptors: each descriptor that is left is written to where it was.

use super::*;
use crate::ahead::Call;
use crate::schema::command_named;
use crate::view::View;
use crate::writer::ParamWriter;

/// VkStructureType of a descriptor write; descriptor types with their arrays.
const WRITE: u32 = 35;
const KINDS: [u32; 3] = [descriptor::COMBINED_IMAGE_SAMPLER, UNIFORM_BUFFER, TEXELS];
const UNIFORM_BUFFER: u32 = 6;
const TEXELS: u32 = 4;

/// A call with a write of four descriptors of each kind, from element 7 on, and one whose data are in its chain.
fn update() -> Call {
    let write = |w: &mut ParamWriter, i: usize| {
        let n = if i < KINDS.len() { 4 } else { 0 };
        let kind = KINDS.get(i).copied().unwrap_or(descriptor::INLINE_UNIFORM_BLOCK);
        w.u32(WRITE).null_struct().u64(50).u32(i as u32).u32(7).u32(n).u32(kind);
        let is = |k| kind == k;
        match is(KINDS[0]) {
            true => w.structures(4, |w, d| {
                w.u64(60).u64(70 + d as u64).u32(5);
            }),
            false => w.null_structs(),
        };
        match is(UNIFORM_BUFFER) {
            true => w.structures(4, |w, d| {
                w.u64(80).u64(256 * d as u64).u64(256);
            }),
            false => w.null_structs(),
        };
        match is(TEXELS) {
            true => w.u64_array(&[90, 91, 92, 93]),
            false => w.null_array(),
        };
    };
    let call = Call::written("vkUpdateDescriptorSets", |w| {
        w.u64(1).u32(4).structures(4, write).u32(0).null_structs();
    });
    call.expect("a call")
}

/// What a call writes: binding, element, and what is there.
fn written(parameters: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    let mut image = Image::default();
    let command = command_named("vkUpdateDescriptorSets").expect("in the schema");
    crate::decode::decode_call(command, parameters, &mut image).expect("a call");
    let mut all = vec![];
    for write in View::call(&image).structs("pDescriptorWrites") {
        let n = |name| write.u64(name).expect("a member");
        assert_eq!((n("sType"), n("dstSet")), (WRITE.into(), 50));
        let sizes = [("pImageInfo", 24), ("pBufferInfo", 24), ("pTexelBufferView", 8)];
        let used = sizes.iter().find_map(|(name, size)| Some((write.array(name)?.0, *size)));
        let Some((at, size)) = used else {
            all.push((n("dstBinding"), n("dstArrayElement"), vec![]));
            continue;
        };
        for d in 0..n("descriptorCount") {
            let from = at as usize + d as usize * size;
            let bytes = image.bytes()[from..from + size].to_vec();
            all.push((n("dstBinding"), n("dstArrayElement") + d, bytes));
        }
    }
    all
}

#[test]
fn elements_of_descriptor_writes_are_descriptors_and_what_is_left_is_written_to_where_it_was() {
    let (bytes, arrays) = encode_arrays(&update().image);
    let all = written(&bytes);
    assert_eq!(all.len(), 4 * KINDS.len() + 1);
    let of = arrays.iter().position(|a| a.name == "pDescriptorWrites").expect("found");
    let writes = units(&arrays, of);
    assert_eq!(writes.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4, 1]);
    let units: Vec<(usize, usize)> = writes.concat();
    for gone in 0..1_u32 << units.len() {
        let is_gone = |i: usize| gone >> i & 1 == 1;
        let less =
            without(&bytes, &arrays, |a, e| units.iter().position(|u| *u == (a, e)).is_some_and(is_gone));
        let left = all.iter().enumerate().filter(|(i, _)| !is_gone(*i)).map(|(_, w)| w.clone());
        assert_eq!(written(&less), left.collect::<Vec<_>>(), "{gone:b}");
        assert!(gone != 0 || less == bytes);
    }
}

#[test]
fn elements_between_others_make_two_writes_of_one_and_nothing_else_is_another() {
    let (bytes, arrays) = encode_arrays(&update().image);
    let images = arrays.iter().position(|a| a.name == "pImageInfo").expect("found");
    let less = without(&bytes, &arrays, |a, e| a == images && e == 1);
    let mut image = Image::default();
    let command = command_named("vkUpdateDescriptorSets").expect("in the schema");
    crate::decode::decode_call(command, &less, &mut image).expect("a call");
    let view = View::call(&image);
    assert_eq!(view.u32("descriptorWriteCount"), Some(5));
    let places = view.structs("pDescriptorWrites").map(|w| {
        ["dstBinding", "dstArrayElement", "descriptorCount"].map(|name| w.u32(name).expect("a member"))
    });
    assert_eq!(places.collect::<Vec<_>>(), [[0, 7, 1], [0, 9, 2], [1, 7, 4], [2, 7, 4], [3, 7, 0]]);
    // (behind the first write's nothing has moved but by what is between)
    let behind = arrays[images].elements[3].end;
    assert!(less.ends_with(&bytes[behind..]));
}
