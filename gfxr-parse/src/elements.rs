//! Arrays of structs among a call's parameters, element by element, as they lie in a capture: so that some can be left out.
//!
//! Guarantees: without some, the call says how many are left; all else is, byte for byte, as it was. Refuses nothing: arrays are found whose number
//! of elements a member beside them gives that gives no other's.

use crate::encode::Encoder;
use crate::image::{Image, Ptr};
use crate::schema::{Len, Member, Shape, StructDef, Ty};
use crate::walk::{Pointee, Visitor, walk_call};
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
}

/// Appends the parameters of a call to `out`, and says which arrays they have.
pub fn encode_arrays(image: &Image, out: &mut Vec<u8>) -> Vec<Array> {
    let params = image.command.map_or(&[][..], |c| c.params);
    let mut finder = Finder {
        encoder: Encoder { out },
        frames: vec![Frame::of(params)],
        length: 0,
        open: vec![],
        found: vec![],
    };
    walk_call(image, &mut finder);
    finder.found
}

/// Parameters without the elements that `gone` names, by array and element.
pub fn without(parameters: &[u8], arrays: &[Array], gone: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let mut bytes = parameters.to_vec();
    let mut cut: Vec<Range<usize>> = vec![];
    for (n, array) in arrays.iter().enumerate() {
        let before = cut.len();
        cut.extend(
            array.elements.iter().enumerate().filter(|(e, _)| gone(n, *e)).map(|(_, range)| range.clone()),
        );
        let left = (array.elements.len() - (cut.len() - before)) as u64;
        let [count, length] = array.counts;
        bytes[count..count + 4].copy_from_slice(&(left as u32).to_le_bytes());
        bytes[length..length + 8].copy_from_slice(&left.to_le_bytes());
    }
    cut.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let (mut left, mut at) = (vec![], 0);
    for range in cut {
        // (an element of one that is gone, too)
        if range.start >= at {
            left.extend_from_slice(&bytes[at..range.start]);
            at = range.end;
        }
    }
    left.extend_from_slice(&bytes[at..]);
    left
}

/// Members of a struct, or parameters, and where each lies.
struct Frame {
    members: &'static [Member],
    at: Vec<Option<usize>>,
    /// The one that comes.
    now: Option<usize>,
}

impl Frame {
    fn of(members: &'static [Member]) -> Frame {
        Frame { members, at: vec![None; members.len()], now: None }
    }

    /// The array that begins, if its elements can be left out.
    fn array(&self, n: u64, length: usize, written: &[u8]) -> Option<Array> {
        let m = &self.members[self.now?];
        let Len::Member(count) = m.len else { return None };
        let plain = matches!(m.ty, Ty::Struct(_)) && m.shape == Shape::Array && !m.out;
        let shared = self.members.iter().filter(|o| counted(o) == Some(count)).count() > 1;
        let of = &self.members[usize::from(count)];
        let counts = [self.at[usize::from(count)]?, length];
        // (what says another number than there are stays as it is)
        let says =
            || written[counts[0]..].first_chunk().is_some_and(|b| u64::from(u32::from_le_bytes(*b)) == n);
        (plain && !shared && of.ty == Ty::U32 && of.shape == Shape::Value && says()).then(|| Array {
            name: m.name,
            elements: vec![],
            counts,
        })
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
        self.encoder.values(image, ty, at, n);
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

    fn begin_struct(&mut self, _image: &Image, def: &'static StructDef, _at: u32) {
        self.frames.push(Frame::of(def.members));
    }

    fn end_struct(&mut self, _def: &'static StructDef) {
        self.frames.pop();
    }

    fn begin_array(&mut self, n: u64) {
        let array = self.frames.last().and_then(|frame| frame.array(n, self.length, self.encoder.out));
        self.open.push(array);
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
