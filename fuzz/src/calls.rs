//! Mutations of one call's parameters (or of the structs in a metadata block, which are encoded alike).
//!
//! [`Care::Gentle`] ones keep lengths and contents together, so most results decode and test the round trip;
//! [`Care::Rough`] ones change anything: attributes, lengths, bytes, where the end is. Guarantees: the same random
//! numbers give the same bytes. Refuses nothing.

use gfxr_parse::image::attrib;

use super::fields::{Fields, Place, Pointer, What};
use super::rng::Rng;
use super::synth;

/// How much a mutation may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Values, texts, whole elements and whole structs, with the lengths that go with them.
    Gentle,
    /// Anything.
    Rough,
}

/// Bytes to be put where others are.
pub struct Edit {
    /// The first of those.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
    /// What comes there.
    pub bytes: Vec<u8>,
}

/// Longest result; what grows beyond is cut, so that one input costs little.
pub const LONGEST: usize = 1 << 16;

/// A mutation of `params`, whose places are `fields`.
pub fn mutate(params: &[u8], fields: &Fields, care: Care, rng: &mut Rng) -> Vec<u8> {
    let mut edits = Vec::new();
    let n = 1 + rng.below(3) + if rng.chance(1, 10) { rng.below(12) } else { 0 };
    for _ in 0..n {
        if care == Care::Gentle || rng.chance(1, 2) {
            gentle(params, fields, rng, &mut edits);
        } else {
            rough(params, fields, rng, &mut edits);
        }
    }
    let mut out = apply(params, edits);
    if care == Care::Rough && rng.chance(1, 8) {
        mutate_bytes(&mut out, rng);
    }
    out.truncate(LONGEST);
    out
}

/// Applies those edits that do not overlap an earlier one of the list.
pub fn apply(params: &[u8], edits: Vec<Edit>) -> Vec<u8> {
    let mut kept: Vec<Edit> = Vec::with_capacity(edits.len());
    for e in edits {
        let apart = |k: &Edit| e.end <= k.start || k.end <= e.start;
        if e.end <= params.len() && kept.iter().all(apart) {
            kept.push(e);
        }
    }
    kept.sort_by_key(|e| (e.start, e.end));
    let mut out = Vec::with_capacity(params.len() + 64);
    let mut at = 0;
    for e in kept {
        out.extend_from_slice(&params[at..e.start]);
        out.extend_from_slice(&e.bytes);
        at = e.end;
    }
    out.extend_from_slice(&params[at..]);
    out
}

fn place(fields: &Fields, what: What, rng: &mut Rng) -> Option<Place> {
    // A few tries instead of a list: most places are values, and most calls have some of each.
    let n = fields.places.len();
    (0..8).filter_map(|_| fields.places.get(rng.below(n))).find(|p| p.what == what).copied()
}

/// Some bytes of `start..end`, aligned to their number, with a new value.
fn value(params: &[u8], start: usize, end: usize, rng: &mut Rng) -> Edit {
    let len = end - start;
    let width =
        [1, 2, 4, 8].into_iter().filter(|&w| w <= len && (w >= 4 || len < 4 || w == 1)).collect::<Vec<_>>();
    let width = if rng.chance(1, 6) {
        1
    } else {
        *width.last().unwrap_or(&1).min(&if len.is_multiple_of(8) { 8 } else { 4 })
    };
    let at = start + rng.below(len / width) * width;
    let mut bytes = params[at..at + width].to_vec();
    if rng.chance(1, 3) {
        bytes[rng.below(width)] ^= 1 << rng.below(8);
    } else {
        bytes.copy_from_slice(&rng.edge().to_le_bytes()[..width]);
    }
    Edit { start: at, end: at + width, bytes }
}

fn gentle(params: &[u8], fields: &Fields, rng: &mut Rng, edits: &mut Vec<Edit>) {
    match rng.below(10) {
        0 => {
            if let Some(p) = place(fields, What::Address, rng) {
                edits.push(value(params, p.start, p.end, rng));
            }
        }
        1 => {
            if let Some(p) = place(fields, What::Text, rng) {
                edits.push(value(params, p.start, p.end, rng));
            }
        }
        2 | 3 => elements(params, fields, rng, edits),
        4 => link(fields, rng, edits),
        5 if !fields.structs.is_empty() => {
            let &(def, start, end) = rng.pick(&fields.structs);
            edits.extend(synth::structure(def, rng).map(|bytes| Edit { start, end, bytes }));
        }
        _ => {
            if let Some(p) = place(fields, What::Value, rng) {
                edits.push(value(params, p.start, p.end, rng));
            }
        }
    }
}

/// Takes an element of an array away, or puts one there twice; the length says so.
fn elements(params: &[u8], fields: &Fields, rng: &mut Rng, edits: &mut Vec<Edit>) {
    if fields.arrays.is_empty() {
        return;
    }
    let array = rng.pick(&fields.arrays);
    let n = array.elements.len() - 1;
    let Some(length) = array.length.filter(|_| n > 0) else { return };
    let i = rng.below(n);
    let (start, end) = (array.elements[i], array.elements[i + 1]);
    let (bytes, more) = if rng.chance(1, 3) {
        (vec![], n - 1)
    } else {
        let times = if rng.chance(1, 20) { 300 } else { 1 + rng.below(3) };
        (params[start..end].repeat(times + 1), n + times)
    };
    edits.push(Edit { start: length, end: length + 8, bytes: (more as u64).to_le_bytes().to_vec() });
    edits.push(Edit { start, end, bytes });
}

/// Ends a pNext chain early, or puts another struct at its end; rarely very many.
fn link(fields: &Fields, rng: &mut Rng, edits: &mut Vec<Edit>) {
    if fields.links.is_empty() {
        return;
    }
    let &(start, end) = rng.pick(&fields.links);
    let null = (attrib::STRUCT | attrib::SINGLE | attrib::NULL).to_le_bytes().to_vec();
    let bytes = if rng.chance(1, 3) { null } else { synth::chain(rng) };
    edits.push(Edit { start, end, bytes });
}

fn rough(params: &[u8], fields: &Fields, rng: &mut Rng, edits: &mut Vec<Edit>) {
    match rng.below(10) {
        8 | 9 => pointer(params, fields, rng, edits),
        0..=2 => {
            let Some(p) = place(fields, What::Attributes, rng) else { return };
            let old = u32::from_le_bytes(params[p.start..p.end].try_into().expect("4 bytes"));
            let new = match rng.below(4) {
                0 => old ^ (1 << rng.below(9)),
                1 => old | attrib::NULL,
                2 => rng.u64() as u32 & attrib::ALL,
                _ => (old & !attrib::KINDS) | *rng.pick(&[2, 4, 8, 0x10, 0x100, 0xA, 0xC, 6]),
            };
            edits.push(Edit { start: p.start, end: p.end, bytes: new.to_le_bytes().to_vec() });
        }
        3 | 4 => {
            let Some(p) = place(fields, What::Length, rng) else { return };
            let old = u64::from_le_bytes(params[p.start..p.end].try_into().expect("8 bytes"));
            let new = match rng.below(5) {
                0 => old.wrapping_add(1),
                1 => old.wrapping_sub(1),
                2 => old.wrapping_mul(1 << rng.below(64)),
                3 => rng.below(params.len() * 2 + 1) as u64,
                _ => rng.edge(),
            };
            edits.push(Edit { start: p.start, end: p.end, bytes: new.to_le_bytes().to_vec() });
        }
        5 => {
            if !fields.places.is_empty() {
                let p = *rng.pick(&fields.places);
                edits.push(Edit { start: p.start, end: p.end, bytes: vec![] });
            }
        }
        6 => {
            let (start, end) = rng.range(params.len());
            let (from, to) = rng.range(params.len());
            edits.push(Edit { start, end, bytes: params[from..to].to_vec() });
        }
        _ => {
            if !params.is_empty() {
                let at = rng.below(params.len());
                edits.push(Edit { start: at, end: at + 1, bytes: vec![params[at] ^ (1 << rng.below(8))] });
            }
        }
    }
}

/// Writes a pointer in another form: an array of one, of none or of many for a single one; a single one for an array; a
/// null one; one without data.
fn pointer(params: &[u8], fields: &Fields, rng: &mut Rng, edits: &mut Vec<Edit>) {
    if fields.pointers.is_empty() {
        return;
    }
    let &Pointer { start, data, end, .. } = rng.pick(&fields.pointers);
    let old = u32::from_le_bytes(params[start..start + 4].try_into().expect("4 bytes"));
    let (kinds, rest) = (old & attrib::KINDS, old & !attrib::KINDS);
    let form = rng.below(6);
    let new = match form {
        0 => kinds | rest & !attrib::ADDRESS & !attrib::DATA | attrib::NULL,
        1 => old & !attrib::DATA,
        2 => rest | attrib::SINGLE,
        _ => rest | attrib::ARRAY | kinds & attrib::STRING,
    };
    let mut bytes = new.to_le_bytes().to_vec();
    if form != 0 && new & attrib::ADDRESS != 0 {
        bytes.extend_from_slice(&params[start + 4..start + 12]);
    }
    let n = [0, 0, 1, 1, 2, rng.u64() & 0xFF][rng.below(6)];
    if form != 0 && new & attrib::KINDS != attrib::SINGLE {
        bytes.extend_from_slice(&n.to_le_bytes());
    }
    if form > 1 && (n > 0 || form == 2) {
        let times = if form == 2 { 1 } else { n.min(300) as usize };
        bytes.extend_from_slice(&params[data..end].repeat(times));
    }
    edits.push(Edit { start, end, bytes });
}

/// Mutates bytes of which nothing is known.
pub fn mutate_bytes(bytes: &mut Vec<u8>, rng: &mut Rng) {
    match rng.below(6) {
        0 => bytes.truncate(rng.below(bytes.len() + 1)),
        1 => {
            let n = 1 + rng.below(12);
            bytes.extend(rng.bytes(n));
        }
        2 => {
            let (start, end) = rng.range(bytes.len());
            bytes.drain(start..end);
        }
        3 => {
            let at = rng.below(bytes.len() + 1);
            let n = rng.below(9);
            let more = rng.bytes(n);
            bytes.splice(at..at, more);
        }
        4 => {
            let width = [1, 2, 4, 8][rng.below(4)];
            if bytes.len() >= width {
                let at = rng.below(bytes.len() - width + 1);
                bytes[at..at + width].copy_from_slice(&rng.edge().to_le_bytes()[..width]);
            }
        }
        _ => {
            if !bytes.is_empty() {
                let at = rng.below(bytes.len());
                bytes[at] ^= 1 << rng.below(8);
            }
        }
    }
}
