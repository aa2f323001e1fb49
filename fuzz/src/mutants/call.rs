//! Mutations of one call by the schema: a pointer, a length, a number, an enum, a handle, a string, a chain.
//!
//! Guarantees: what is not aimed at stays as it was, so that a mutant gets past everything before. Refuses nothing; a
//! call that has nothing of the kind gives nothing.

use gfxr_parse::image::attrib;
use gfxr_parse::schema::generated::{ENUMS, HANDLES};
use gfxr_parse::schema::{EnumId, Ty};

use super::super::calls::Edit;
use super::super::fields::{Array, Fields, Name, Place, Pointer, What};
use super::super::rng::Rng;
use super::super::synth;
use super::mix::Class;
use super::seed::Seed;

/// Bytes that an array is made no longer than.
const LONGEST: usize = 1 << 16;

/// Edits, and what they do in words.
pub type Change = (Vec<Edit>, String);

/// A call's parameters, and where everything lies in them.
pub struct Call<'a> {
    /// The parameters.
    pub params: &'a [u8],
    /// Where everything lies.
    pub fields: &'a Fields,
    /// Whose handles may take another's place.
    pub seed: &'a Seed,
}

impl Call<'_> {
    /// A change of this class; none if there is nothing to change.
    pub fn change(&self, class: Class, rng: &mut Rng) -> Option<Change> {
        match class {
            Class::Null => self.null(rng),
            Class::Length => self.length(rng),
            Class::Count => self.count(rng),
            Class::Value => self.value(rng),
            Class::Enum => self.enumerant(rng),
            Class::Handle => self.handle(rng),
            Class::Text => self.text(rng),
            Class::Chain => self.chain(rng),
            _ => None,
        }
    }

    fn null(&self, rng: &mut Rng) -> Option<Change> {
        // Pointers inside of structs are many times as many as parameters, and no less interesting.
        let pointers: Vec<&Pointer> = self.fields.pointers.iter().filter(|p| p.real).collect();
        let p = *one(&pointers, rng)?;
        let old = self.number(p.start, 4) as u32;
        let new = old & !(attrib::ADDRESS | attrib::DATA) | attrib::NULL;
        let mut bytes = new.to_le_bytes().to_vec();
        if p.null_has_length {
            bytes.extend_from_slice(&[0; 8]);
        }
        Some((vec![Edit { start: p.start, end: p.end, bytes }], format!("{} is null", said(p.name))))
    }

    /// Arrays that have elements and a length on the wire.
    fn arrays(&self) -> Vec<&Array> {
        self.fields.arrays.iter().filter(|a| a.length.is_some() && a.elements.len() > 1).collect()
    }

    fn length(&self, rng: &mut Rng) -> Option<Change> {
        let arrays = self.arrays();
        let array = *one(&arrays, rng)?;
        let n = array.elements.len() - 1;
        let more = other_length(n, array, rng);
        // What the same member counts gets as long, so that they agree.
        let same = |a: &&&Array| array.count.is_some() && a.count == array.count;
        let alike: Vec<&Array> = match array.count {
            Some(_) => arrays.iter().filter(same).copied().collect(),
            None => vec![array],
        };
        let mut edits: Vec<Edit> = vec![];
        alike.iter().for_each(|a| edits.extend(self.resized(a, more)));
        if let Some(place) = array.count.and_then(|at| self.fields.value_at(at)) {
            edits.push(set(place, 0, more as u64));
        }
        Some((edits, format!("{} has {more} elements instead of {n}, as counted", said(array.name))))
    }

    fn count(&self, rng: &mut Rng) -> Option<Change> {
        let arrays = self.arrays();
        let array = *one(&arrays, rng)?;
        let n = array.elements.len() - 1;
        let place = array.count.and_then(|at| self.fields.value_at(at));
        if let Some(place) = place.filter(|_| rng.chance(1, 2)) {
            let old = self.number(place.start, place.end - place.start);
            let new = other_number(old, place.end - place.start, rng);
            let text = format!("{} is {new} instead of {old}, the array stays", said(place.name));
            return Some((vec![set(place, 0, new)], text));
        }
        let more = other_length(n, array, rng);
        Some((self.resized(array, more), format!("{} has {more} elements instead of {n}", said(array.name))))
    }

    /// The array with so many elements: the first ones, and the last again and again.
    fn resized(&self, array: &Array, n: usize) -> Vec<Edit> {
        let have = array.elements.len() - 1;
        let (Some(length), Some(&end)) = (array.length, array.elements.last()) else { return vec![] };
        let mut edits =
            vec![Edit { start: length, end: length + 8, bytes: (n as u64).to_le_bytes().to_vec() }];
        if n < have {
            edits.push(Edit { start: array.elements[n], end, bytes: vec![] });
        } else {
            let last = &self.params[array.elements[have - 1]..end];
            edits.push(Edit { start: end, end, bytes: last.repeat(n - have) });
        }
        edits
    }

    /// Values of a type that `want` takes.
    fn places(&self, want: impl Fn(Ty) -> bool) -> Vec<&Place> {
        let of = |p: &&Place| p.what == What::Value && p.ty.is_some_and(&want);
        self.fields.places.iter().filter(of).collect()
    }

    fn value(&self, rng: &mut Rng) -> Option<Change> {
        let places =
            self.places(|ty| !matches!(ty, Ty::Enum(_) | Ty::Flags(_) | Ty::Flags64(_) | Ty::Handle(_)));
        let (place, at, width) = self.element(&places, rng)?;
        let old = self.number(at, width);
        let new = other_number(old, width, rng);
        Some((
            vec![set(place, at - place.start, new)],
            format!("{} is {new:#x} instead of {old:#x}", said(place.name)),
        ))
    }

    fn enumerant(&self, rng: &mut Rng) -> Option<Change> {
        let places = self.places(|ty| matches!(ty, Ty::Enum(_) | Ty::Flags(_) | Ty::Flags64(_)));
        let (place, at, width) = self.element(&places, rng)?;
        let old = self.number(at, width);
        let new = match place.ty {
            Some(Ty::Enum(id)) => other_enumerant(id, old, rng),
            Some(Ty::Flags(id) | Ty::Flags64(id)) => other_bits(id, old, width, rng),
            _ => return None,
        };
        Some((
            vec![set(place, at - place.start, new)],
            format!("{} is {new:#x} instead of {old:#x}", said(place.name)),
        ))
    }

    fn handle(&self, rng: &mut Rng) -> Option<Change> {
        let places = self.places(|ty| matches!(ty, Ty::Handle(_)));
        let (place, at, _) = self.element(&places, rng)?;
        let Some(Ty::Handle(ty)) = place.ty else { return None };
        let old = self.number(at, 8);
        let made = &self.seed.made;
        let same = made.get(&ty).map_or(&[][..], Vec::as_slice);
        let (new, how) = match rng.below(10) {
            0..=3 => (*one(same, rng)?, "another of its type"),
            4 | 5 => {
                let types: Vec<&Vec<u64>> = made.iter().filter(|(t, _)| **t != ty).map(|t| t.1).collect();
                (*one(one(&types, rng)?, rng)?, "one of another type")
            }
            6 => (0, "null"),
            7 => (made.values().flatten().max().copied().unwrap_or(0).wrapping_add(1000), "one never made"),
            _ => (*one(&self.seed.destroyed, rng)?, "one that is destroyed"),
        };
        let ty = HANDLES[usize::from(ty)].name;
        let text = format!("{} ({ty}) is {new} instead of {old}: {how}", said(place.name));
        Some((vec![set(place, at - place.start, new)], text))
    }

    fn text(&self, rng: &mut Rng) -> Option<Change> {
        let texts: Vec<(&Place, &Array)> = self
            .fields
            .places
            .iter()
            .filter(|p| p.what == What::Text)
            .filter_map(|p| {
                Some((p, self.fields.arrays.iter().find(|a| a.elements.first() == Some(&p.start))?))
            })
            .filter(|(_, a)| a.length.is_some())
            .collect();
        let &(place, array) = one(&texts, rng)?;
        let name = said(place.name);
        let (start, end) = (place.start, place.end);
        let length = array.length?;
        let sized = |n: u64| Edit { start: length, end: length + 8, bytes: n.to_le_bytes().to_vec() };
        Some(match rng.below(4) {
            0 => (vec![sized(0), Edit { start, end, bytes: vec![] }], format!("{name} is empty")),
            1 => {
                let bytes = b"A%s\xFF\x1B[31m\n".repeat(1 << rng.below(9));
                (vec![sized(bytes.len() as u64), Edit { start, end, bytes }], format!("{name} is long"))
            }
            2 => {
                let bytes = rng.bytes(end - start);
                (vec![Edit { start, end, bytes }], format!("{name} is other bytes"))
            }
            _ => {
                let at = start + rng.below(end - start);
                let bytes = vec![self.params[at] ^ (1 << rng.below(8))];
                (vec![Edit { start: at, end: at + 1, bytes }], format!("{name} has another letter"))
            }
        })
    }

    fn chain(&self, rng: &mut Rng) -> Option<Change> {
        let &(start, end) = one(&self.fields.links, rng)?;
        let chained = self.fields.pointers.iter().find(|p| p.start == start);
        let null = (attrib::STRUCT | attrib::SINGLE | attrib::NULL).to_le_bytes();
        Some(match (chained, rng.below(3)) {
            (Some(p), 0) => {
                let bytes = null.to_vec();
                (vec![Edit { start, end, bytes }], format!("{} is dropped", said(p.name)))
            }
            (Some(p), 1) => {
                // Its last link leads to the same structs once more.
                let mut last = p.data + 4;
                while let Some(p) = self.fields.pointers.iter().find(|p| p.start == last) {
                    last = p.data + 4;
                }
                let &(at, to) = self.fields.links.iter().find(|l| l.0 == last)?;
                let bytes = self.params[start..end].to_vec();
                (vec![Edit { start: at, end: to, bytes }], format!("{} is doubled", said(p.name)))
            }
            _ => {
                let bytes = synth::chain(rng);
                (vec![Edit { start, end, bytes }], "a pNext leads to another struct".to_string())
            }
        })
    }

    /// One of the places, an element of it, and how wide that is.
    fn element<'p>(&self, places: &[&'p Place], rng: &mut Rng) -> Option<(&'p Place, usize, usize)> {
        let place = *one(places, rng)?;
        let width = place.ty?.c_layout().0;
        let n = (place.end - place.start) / width;
        Some((place, place.start + rng.below(n) * width, width))
    }

    fn number(&self, at: usize, width: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(&self.params[at..at + width]);
        u64::from_le_bytes(bytes)
    }
}

/// One of them, if there is one.
pub fn one<'a, T>(from: &'a [T], rng: &mut Rng) -> Option<&'a T> {
    (!from.is_empty()).then(|| rng.pick(from))
}

fn said((owner, member): Name) -> String {
    format!("{owner}.{member}")
}

/// Another value for an element of `place`, `offset` bytes in.
fn set(place: &Place, offset: usize, value: u64) -> Edit {
    let width = place.ty.map_or(place.end - place.start, |ty| ty.c_layout().0);
    let start = place.start + offset;
    Edit { start, end: start + width, bytes: value.to_le_bytes()[..width].to_vec() }
}

fn other_length(n: usize, array: &Array, rng: &mut Rng) -> usize {
    let size = array.elements[n] - array.elements[n - 1];
    let most = LONGEST / size.max(1);
    let wanted = match rng.below(8) {
        0 | 1 => n + 1,
        2 => n + 2 + rng.below(30),
        3 | 4 => n - 1,
        5 | 6 => 0,
        _ => n + 2000,
    };
    wanted.min(most.max(n + 1))
}

/// Another number than `old`, of so many bytes.
pub fn other_number(old: u64, width: usize, rng: &mut Rng) -> u64 {
    let bits = 8 * width as u32;
    let max = u64::MAX >> (64 - bits);
    let new = match rng.below(12) {
        0 | 1 => 0,
        2 => 1,
        3 => max,
        4 => 1 << (bits - 1),
        5 => max >> 1,
        6 | 7 => old.wrapping_add(1),
        8 => old.wrapping_sub(1),
        9 => old.wrapping_mul(1 + rng.below(1000) as u64),
        10 => rng.edge(),
        _ => rng.u64(),
    };
    new & max
}

fn other_enumerant(id: EnumId, old: u64, rng: &mut Rng) -> u64 {
    let values = ENUMS[usize::from(id)].values;
    let at = values.iter().position(|v| v.0 as u32 == old as u32);
    let new = match (at, rng.below(5)) {
        (Some(at), 0) if at > 0 => values[at - 1].0,
        (Some(at), 1) if at + 1 < values.len() => values[at + 1].0,
        (_, 2) => values.last().map_or(0, |v| v.0) + 1,
        (_, 3) => 0x7FFF_FFFF,
        _ => one(values, rng).map_or(1, |v| v.0),
    };
    new as u32 as u64
}

fn other_bits(id: EnumId, old: u64, width: usize, rng: &mut Rng) -> u64 {
    let values = ENUMS[usize::from(id)].values;
    let new = match rng.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => old ^ 1 << rng.below(8 * width),
        _ => old ^ one(values, rng).map_or(1, |v| v.0 as u64),
    };
    new & (u64::MAX >> (64 - 8 * width as u32))
}
