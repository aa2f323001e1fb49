//! Arrays of structs among a call's parameters, element by element, as they lie in a capture: so that some can be left out. Of descriptor writes,
//! descriptors can be left out one by one: what is left of a write is one write for each run of descriptors that follow each other.
//!
//! Guarantees: without some, the call says how many are left; all else is, byte for byte, as it was. Refuses nothing: arrays are found whose number
//! of elements a member beside them gives that gives no other's, and of a descriptor write the array that its descriptor type reads.

#[cfg(test)]
mod tests;

use crate::decode::special::descriptor;
use crate::image::Image;
use crate::parts::{Encoded, Part, Struct};
use crate::schema::{Len, Shape, Special, Ty};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The member or parameter that it is.
    pub name: &'static str,
    /// Bytes of its elements, in order.
    pub elements: Vec<Range<usize>>,
    /// Where their number stands, in 32 bits, and the array's length, in 64.
    counts: [usize; 2],
    /// If it has the descriptors of an array's descriptor write, that one.
    write: Option<Write>,
}

/// A descriptor write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Write {
    begins: usize,
    /// Where `dstArrayElement` stands, in 32 bits.
    first: usize,
}

/// The parameters of a call, and the arrays that they have.
pub fn encode_arrays(image: &Image) -> (Vec<u8>, Vec<Array>) {
    let call = Encoded::of(image);
    let mut parts: Vec<&Part> = call.parts.iter().filter(|p| p.elements() > 0).collect();
    // (what lies in another's elements is before it)
    parts.sort_by_key(|p| (p.end, Reverse(p.head)));
    let candidates: Vec<Array> = parts.into_iter().filter_map(|p| array(&call, p)).collect();
    // A descriptor write can be several if it is an element itself: others can stand beside it.
    let alone: HashSet<usize> = candidates
        .iter()
        .filter(|a| a.write.is_none())
        .flat_map(|a| a.elements.iter().map(|e| e.start))
        .collect();
    let stands = |a: &Array| a.write.is_none_or(|w| alone.contains(&w.begins));
    let arrays = candidates.into_iter().filter(stands).collect();
    (call.bytes, arrays)
}

/// What of the array `of` can be left out by itself, by its elements: the element, or each descriptor of a descriptor write. Array and element, as
/// [`without`] wants them; nothing for an array of descriptors, which are their write's.
pub fn units(arrays: &[Array], of: usize) -> Vec<Vec<(usize, usize)>> {
    if arrays[of].write.is_some() {
        return vec![];
    }
    let writes = writes(arrays);
    let unit = |(e, element): (usize, &Range<usize>)| match writes.get(&element.start) {
        Some(array) => (0..arrays[*array].elements.len()).map(|d| (*array, d)).collect(),
        None => vec![(of, e)],
    };
    arrays[of].elements.iter().enumerate().map(unit).collect()
}

/// Parameters without the elements that `gone` names, by array and element. A write whose descriptors are all gone is gone, too. Of a write that goes on in the next
/// binding, what is left of the descriptors there is still counted from the first binding's first element.
pub fn without(parameters: &[u8], arrays: &[Array], gone: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let writes = writes(arrays);
    let mut bytes = parameters.to_vec();
    // Elements, and what stands in their place.
    let mut others: Vec<(&Range<usize>, Vec<u8>)> = vec![];
    for (n, array) in arrays.iter().enumerate().filter(|(_, a)| a.write.is_none()) {
        let mut left = 0;
        for (e, element) in array.elements.iter().enumerate() {
            let descriptors = writes.get(&element.start).copied();
            let some = descriptors.filter(|d| (0..arrays[*d].elements.len()).any(|i| gone(*d, i)));
            match some {
                _ if gone(n, e) => others.push((element, vec![])),
                Some(d) => {
                    let runs = runs(arrays[d].elements.len(), |i| gone(d, i));
                    left += runs.len();
                    let runs = runs.into_iter().flat_map(|run| part(parameters, element, &arrays[d], run));
                    others.push((element, runs.collect()));
                }
                None => left += 1,
            }
        }
        say_count(&mut bytes, array.counts, left);
    }
    others.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
    let (mut left, mut at) = (vec![], 0);
    for (range, other) in others {
        // (an element of one that is gone, too)
        if range.start >= at {
            left.extend_from_slice(&bytes[at..range.start]);
            left.extend(other);
            at = range.end;
        }
    }
    left.extend_from_slice(&bytes[at..]);
    left
}

/// By where a descriptor write begins: the array of its descriptors.
fn writes(arrays: &[Array]) -> HashMap<usize, usize> {
    arrays.iter().enumerate().filter_map(|(n, array)| Some((array.write?.begins, n))).collect()
}

/// What is left of so many elements: those that follow each other.
fn runs(elements: usize, gone: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = vec![];
    for e in (0..elements).filter(|e| !gone(*e)) {
        match runs.last_mut() {
            Some(run) if run.end == e => run.end += 1,
            _ => runs.push(e..e + 1),
        }
    }
    runs
}

/// A descriptor write of only these descriptors.
fn part(parameters: &[u8], write: &Range<usize>, array: &Array, run: Range<usize>) -> Vec<u8> {
    let (all, begins) = (&array.elements, write.start);
    let (first, last) = (all[run.start].start, all[run.end - 1].end);
    let mut bytes = parameters[begins..all[0].start].to_vec();
    say_count(&mut bytes, array.counts.map(|at| at - begins), run.len());
    if let Some(place) = array.write
        && let Some(element) = bytes[place.first - begins..].first_chunk_mut()
    {
        *element = u32::from_le_bytes(*element).wrapping_add(run.start as u32).to_le_bytes();
    }
    bytes.extend_from_slice(&parameters[first..last]);
    bytes.extend_from_slice(&parameters[all[all.len() - 1].end..write.end]);
    bytes
}

/// Says how many elements there are, in both places.
fn say_count(bytes: &mut [u8], [count, length]: [usize; 2], elements: usize) {
    bytes[count..count + 4].copy_from_slice(&(elements as u32).to_le_bytes());
    bytes[length..length + 8].copy_from_slice(&(elements as u64).to_le_bytes());
}

/// A part as an array, if its elements can be left out.
fn array(call: &Encoded, part: &Part) -> Option<Array> {
    let (m, of) = (part.member?, &call.structs[part.of]);
    let Len::Member(count) = m.len else { return None };
    let counter = &of.members[usize::from(count)];
    let counts = [call.at(of, usize::from(count))?, part.data - size_of::<u64>()];
    // (what says another number than there are stays as it is)
    let says = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes)) == part.ptr.len;
    let plain = m.shape == Shape::Array && !m.out && counter.ty == Ty::U32 && counter.shape == Shape::Value;
    if !plain || !call.bytes[counts[0]..].first_chunk().is_some_and(says) {
        return None;
    }
    let write = match descriptors(call, of) {
        Some(name) if name == m.name => {
            let first = of.members.iter().position(|m| m.name == "dstArrayElement")?;
            Some(Write { begins: of.begins, first: call.at(of, first)? })
        }
        _ => None,
    };
    // (all arrays of descriptors have one number, of which one is meant)
    let shared = of.members.iter().filter(|o| o.len.counter() == Some(count)).count() > 1;
    let alone = matches!(m.ty, Ty::Struct(_)) && !shared;
    let elements = || (0..part.elements()).map(|i| part.element(i)).collect();
    (alone || write.is_some()).then(|| Array { name: m.name, elements: elements(), counts, write })
}

/// Of a descriptor write: the array that its type reads.
fn descriptors(call: &Encoded, of: &Struct) -> Option<&'static str> {
    if of.special != Special::WriteDescriptorSet {
        return None;
    }
    let ty = call.at(of, of.members.iter().position(|m| m.name == "descriptorType")?)?;
    match descriptor::array_of(u32::from_le_bytes(*call.bytes[ty..].first_chunk()?)) {
        descriptor::Array::Image => Some("pImageInfo"),
        descriptor::Array::Buffer => Some("pBufferInfo"),
        descriptor::Array::Texel => Some("pTexelBufferView"),
        descriptor::Array::Neither => None,
    }
}
