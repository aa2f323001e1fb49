//! What an event is and what it is about, as numbers: millions of rows are looked up, and most are what one of the last was. And
//! numbers that look random.
//!
//! Guarantees: what is found is what was put in, whatever was looked up before.

use super::data::{Code, Object};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use trace::tables::{NOT_KNOWN, RAYS, RayEvent};
use trace::{Table, Unreadable};

/// Three numbers of a row, and what they are: a kind, a shader and a place, or an object; `None` where they are nothing.
type Made<T> = Result<Option<T>, Unreadable>;

/// The kind of a row.
pub fn kind(table: &Table, number: u64) -> Result<RayEvent, Unreadable> {
    RayEvent::of(number).ok_or_else(|| {
        Unreadable(format!(
            "table {}: kind {number} is not known; read it with the program that wrote it",
            table.name
        ))
    })
}

/// Kind, entry and place.
pub fn code(row: [u64; 3]) -> Made<Code> {
    let short = |n: u64, name: &str| {
        u32::try_from(n).map_err(|_| Unreadable(format!("table rays: {name} {n} is too large")))
    };
    let kind = kind(&RAYS, row[0])?;
    Ok(Some(Code { kind, entry: short(row[1], "entry")?, place: short(row[2], "word_offset")? }))
}

/// Instance, primitive and geometry; none where there is no object.
pub fn object(row: [u64; 3]) -> Option<Object> {
    let [instance, primitive, geometry] = row.map(|n| n.min(NOT_KNOWN) as u32);
    (row[0] != NOT_KNOWN || row[1] != NOT_KNOWN).then_some(Object { instance, primitive, geometry })
}

/// Numbers that look random (SplitMix64's), the same on every machine.
pub fn hash(seed: u64, of: u64) -> u64 {
    let mut z = seed.wrapping_add(of.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of few numbers that nobody chose to collide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixed(u64);

/// Maps by it.
pub type Fast = BuildHasherDefault<Mixed>;

fn mix(before: u64, n: u64) -> u64 {
    (before.rotate_left(23) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }
    fn write_u8(&mut self, n: u8) {
        self.write_u64(n.into());
    }
    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = mix(self.0, n);
    }
    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }
}

/// Rows that were looked up last.
const LATELY: usize = 1024;

/// Things that were met in rows.
pub struct Met<T> {
    all: HashSet<T, Fast>,
    /// By the rows' hash.
    lately: Vec<Option<[u64; 3]>>,
}

impl<T> Default for Met<T> {
    fn default() -> Self {
        Met { all: HashSet::default(), lately: vec![None; LATELY] }
    }
}

fn slot(row: [u64; 3]) -> usize {
    (row.iter().fold(0, |h, n| mix(h, *n)) >> 48) as usize % LATELY
}

impl<T: Hash + Eq + Ord> Met<T> {
    /// Takes a row's thing in.
    pub fn see(&mut self, row: [u64; 3], make: impl Fn([u64; 3]) -> Made<T>) -> Result<(), Unreadable> {
        let lately = &mut self.lately[slot(row)];
        if *lately != Some(row) {
            self.all.extend(make(row)?);
            *lately = Some(row);
        }
        Ok(())
    }

    /// Takes another's things in.
    pub fn add(&mut self, other: Self) {
        self.all.extend(other.all);
    }

    /// All things in order.
    pub fn sorted(self) -> Vec<T> {
        let mut all: Vec<T> = self.all.into_iter().collect();
        all.sort_unstable();
        all
    }
}

/// Numbers of things, by rows.
pub struct Numbers<'a, T, N> {
    all: &'a HashMap<T, N, Fast>,
    lately: Vec<Option<([u64; 3], Option<N>)>>,
}

impl<'a, T: Hash + Eq, N: Copy> Numbers<'a, T, N> {
    /// Over these.
    pub fn of(all: &'a HashMap<T, N, Fast>) -> Self {
        Numbers { all, lately: vec![None; LATELY] }
    }

    /// The number of a row's thing; none where it is nothing, or is not known.
    pub fn find(
        &mut self,
        row: [u64; 3],
        make: impl Fn([u64; 3]) -> Made<T>,
    ) -> Result<Option<N>, Unreadable> {
        let lately = &mut self.lately[slot(row)];
        if let Some((of, number)) = lately
            && *of == row
        {
            return Ok(*number);
        }
        let number = make(row)?.and_then(|m| self.all.get(&m).copied());
        *lately = Some((row, number));
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many more than are remembered, in an order that comes by each again and again.
    #[test]
    fn what_is_seen_is_found() {
        let mut seen = Met::<Object>::default();
        let row = |n: u64| [n % 7, n * n % 5003, 0];
        for n in 0..20_000 {
            seen.see(row(n), |r| Ok(object(r))).unwrap();
        }
        seen.see([NOT_KNOWN, NOT_KNOWN, 3], |r| Ok(object(r))).unwrap();
        let all = seen.sorted();
        assert!(all.is_sorted() && all.len() > 10 * LATELY, "{}", all.len());
        let numbers: HashMap<Object, u32, Fast> = all.iter().zip(0..).map(|(o, n)| (*o, n)).collect();
        let mut found = Numbers::of(&numbers);
        for n in (0..20_000).rev() {
            let number = found.find(row(n), |r| Ok(object(r))).unwrap().unwrap();
            assert_eq!(Some(all[number as usize]), object(row(n)));
        }
        assert_eq!(found.find([NOT_KNOWN, NOT_KNOWN, 3], |r| Ok(object(r))).unwrap(), None);
        assert_eq!(found.find([900, 0, 0], |r| Ok(object(r))).unwrap(), None);
        assert!(code([13, 0, 0]).is_err() && code([0, 1 << 32, 0]).is_err());
    }
}
