//! Arrays of structs among a call's parameters, element by element, as they lie in a capture: so that some can be left out. Of descriptor writes,
//! descriptors can be left out one by one: what is left of a write is one write for each run of descriptors that follow each other.
//!
//! Guarantees: without some, the call says how many are left; all else is, byte for byte, as it was. Refuses nothing: arrays are found whose number
//! of elements a member beside them gives that gives no other's, and of a descriptor write the array that its descriptor type reads.

#[cfg(test)]
mod tests;

use crate::decode::special::descriptor;
use crate::encode::Encoder;
use crate::image::{Image, Ptr};
use crate::member;
use crate::schema::{Len, Member, Shape, Special, StructDef, Ty};
use crate::walk::{Pointee, Visitor, walk_call};
use std::cmp::Reverse;
use std::collections::HashMap;
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

/// Appends the parameters of a call to `out`, and says which arrays they have.
pub fn encode_arrays(image: &Image, out: &mut Vec<u8>) -> Vec<Array> {
    let params = image.command.map_or(&[][..], |c| c.params);
    let mut finder = Finder {
        encoder: Encoder { out },
        frames: vec![Frame::of(params, 0)],
        length: 0,
        open: vec![],
        found: vec![],
    };
    walk_call(image, &mut finder);
    finder.found
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

/// Members of a struct, or parameters, and where each lies.
struct Frame {
    members: &'static [Member],
    at: Vec<Option<usize>>,
    /// The one that comes.
    now: Option<usize>,
    begins: usize,
    /// Of a descriptor write: the array that its type reads.
    descriptors: Option<&'static str>,
}

impl Frame {
    fn of(members: &'static [Member], begins: usize) -> Frame {
        Frame { members, at: vec![None; members.len()], now: None, begins, descriptors: None }
    }

    /// The array that begins, if its elements can be left out; `around` is the one that this struct is of.
    fn array(&self, n: u64, length: usize, written: &[u8], around: Option<&Array>) -> Option<Array> {
        let m = &self.members[self.now?];
        let Len::Member(count) = m.len else { return None };
        let of = &self.members[usize::from(count)];
        let counts = [self.at[usize::from(count)]?, length];
        // (what says another number than there are stays as it is)
        let says =
            || written[counts[0]..].first_chunk().is_some_and(|b| u64::from(u32::from_le_bytes(*b)) == n);
        let plain = m.shape == Shape::Array && !m.out && of.ty == Ty::U32 && of.shape == Shape::Value;
        if !plain || !says() {
            return None;
        }
        let write = match self.descriptors {
            Some(name) if name == m.name => Some(self.write(around?)?),
            _ => None,
        };
        // (all arrays of descriptors have one number, of which one is meant)
        let shared = self.members.iter().filter(|o| counted(o) == Some(count)).count() > 1;
        let alone = matches!(m.ty, Ty::Struct(_)) && !shared;
        (alone || write.is_some()).then_some(Array { name: m.name, elements: vec![], counts, write })
    }

    /// This struct, if it is the last element of an array so far: another one can stand beside it.
    fn write(&self, around: &Array) -> Option<Write> {
        let first = self.members.iter().position(|m| m.name == "dstArrayElement")?;
        let is_last = around.elements.last().is_some_and(|e| e.start == self.begins);
        is_last.then_some(Write { begins: self.begins, first: self.at[first]? })
    }
}

/// The member that says how many there are.
fn counted(m: &Member) -> Option<u8> {
    match m.len {
        Len::Member(n) | Len::MemberDiv(n, _) => Some(n),
        Len::None | Len::Field(..) | Len::Const(_) | Len::Other => None,
    }
}

struct Finder<'o> {
    encoder: Encoder<'o>,
    frames: Vec<Frame>,
    /// Where the length of the last array stands.
    length: usize,
    /// Arrays that are being walked; none for those whose elements stay.
    open: Vec<Option<Array>>,
    found: Vec<Array>,
}

impl Finder<'_> {
    fn at(&self) -> usize {
        self.encoder.out.len()
    }

    /// The array that begins, if its elements can be left out.
    fn array(&self, n: u64) -> Option<Array> {
        let around = self.open.last().and_then(Option::as_ref);
        self.frames.last().and_then(|frame| frame.array(n, self.length, self.encoder.out, around))
    }

    /// The last element of the innermost array ends.
    fn end_element(&mut self) {
        let at = self.at();
        if let Some(Some(array)) = self.open.last_mut()
            && let Some(last) = array.elements.last_mut()
        {
            last.end = at;
        }
    }
}

impl Visitor for Finder<'_> {
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        self.encoder.value(image, ty, at);
    }

    fn values(&mut self, image: &Image, ty: Ty, at: u32, n: u64) {
        let array = self.array(n).filter(|_| n > 0);
        let (begins, size) = (self.at(), ty.c_layout().0);
        self.encoder.values(image, ty, at, n);
        self.found.extend(array.map(|array| {
            let elements = (0..n as usize).map(|e| begins + e * size..begins + (e + 1) * size);
            Array { elements: elements.collect(), ..array }
        }));
    }

    fn text(&mut self, image: &Image, at: u32, n: u64, unit: u32) {
        self.encoder.text(image, at, n, unit);
    }

    fn pointer(&mut self, image: &Image, p: &Ptr, what: Pointee) {
        self.encoder.pointer(image, p, what);
        self.length = self.at().saturating_sub(8);
    }

    fn template_counts(&mut self, counts: [u64; 3]) {
        self.encoder.template_counts(counts);
    }

    fn template_tail(&mut self, count: u64, ty: u64) {
        self.encoder.template_tail(count, ty);
    }

    fn member(&mut self, m: &'static Member) {
        let at = self.at();
        let Some(frame) = self.frames.last_mut() else { return };
        frame.now = frame.members.iter().position(|o| std::ptr::eq(o, m));
        if let Some(n) = frame.now {
            frame.at[n] = Some(at);
        }
    }

    fn begin_struct(&mut self, image: &Image, def: &'static StructDef, at: u32) {
        let mut frame = Frame::of(def.members, self.at());
        if def.special == Special::WriteDescriptorSet {
            let ty = image.u32(at + member!("VkWriteDescriptorSet", "descriptorType"));
            frame.descriptors = match descriptor::array_of(ty) {
                descriptor::Array::Image => Some("pImageInfo"),
                descriptor::Array::Buffer => Some("pBufferInfo"),
                descriptor::Array::Texel => Some("pTexelBufferView"),
                descriptor::Array::Neither => None,
            };
        }
        self.frames.push(frame);
    }

    fn end_struct(&mut self, _def: &'static StructDef) {
        self.frames.pop();
    }

    fn begin_array(&mut self, n: u64) {
        self.open.push(self.array(n));
    }

    fn element(&mut self, _i: u32) {
        self.end_element();
        let at = self.at();
        if let Some(Some(array)) = self.open.last_mut() {
            array.elements.push(at..at);
        }
    }

    fn end_array(&mut self) {
        self.end_element();
        self.found.extend(self.open.pop().flatten().filter(|array| !array.elements.is_empty()));
    }
}
