//! A page of memory: its bytes, as far as they are known, held as briefly as they can be.
//!
//! Guarantees: a page nobody wrote and one that repeats a word take no memory of their own; bytes that are not known carry
//! their reason. Refuses nothing; ranges are the caller's to keep inside the page.

use super::cause::Why;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Bytes that are not known: from, behind the last, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hole {
    /// The first byte.
    pub from: u64,
    /// Behind the last one.
    pub to: u64,
    /// Why.
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Small {
    from: u16,
    to: u16,
    why: Why,
}

#[derive(Clone, Debug)]
pub struct Mixed {
    data: [u8; PAGE],
    /// In order, apart; neighbours have other reasons.
    holes: Vec<Small>,
}

/// See the module's header.
#[derive(Clone, Debug)]
pub enum Page {
    /// Nothing is known.
    Unknown(Why),
    /// One word again and again, little-endian, from the page's first byte on.
    Word(u32),
    /// All of it.
    Known(Box<[u8; PAGE]>),
    /// Some of it.
    Mixed(Box<Mixed>),
}

impl Page {
    /// Bytes on the heap.
    pub fn held(&self) -> u64 {
        match self {
            Page::Unknown(_) | Page::Word(_) => 0,
            Page::Known(_) => PAGE as u64,
            Page::Mixed(m) => {
                (PAGE + m.holes.capacity() * size_of::<Small>() + size_of::<Vec<Small>>()) as u64
            }
        }
    }

    /// Writes bytes from `at` on; how many of them were there already.
    pub fn write(&mut self, at: usize, data: &[u8]) -> u64 {
        let whole = data.len() == PAGE;
        match self {
            Page::Known(bytes) => {
                let there = &mut bytes[at..at + data.len()];
                let same = equal(there, data);
                if same < data.len() as u64 {
                    there.copy_from_slice(data);
                }
                same
            }
            Page::Word(word) => {
                let old = *word;
                if repeats(at, data) == Some(old) {
                    return data.len() as u64;
                }
                let mut bytes = words(old);
                let same = equal(&bytes[at..at + data.len()], data);
                bytes[at..at + data.len()].copy_from_slice(data);
                *self = Page::Known(bytes);
                same
            }
            Page::Unknown(_) if whole => {
                *self = match repeats(0, data) {
                    Some(word) => Page::Word(word),
                    None => Page::Known(boxed(data)),
                };
                0
            }
            Page::Unknown(why) => {
                let mut m = Box::new(Mixed {
                    data: [0; PAGE],
                    holes: vec![Small { from: 0, to: PAGE as u16, why: *why }],
                });
                m.write(at, data);
                *self = Page::Mixed(m);
                0
            }
            Page::Mixed(m) => {
                let same = m.write(at, data);
                if m.holes.is_empty() {
                    *self = Page::Known(boxed(&m.data));
                }
                same
            }
        }
    }

    /// The page repeats a word from `at` to `to`; how many of the bytes were there already.
    pub fn fill(&mut self, at: usize, to: usize, word: u32) -> u64 {
        if at == 0 && to == PAGE {
            let same = match self {
                Page::Word(old) if *old == word => PAGE as u64,
                Page::Unknown(_) => 0,
                _ => self.same(0, &*words(word)),
            };
            *self = Page::Word(word);
            return same;
        }
        let bytes = words(word);
        self.write(at, &bytes[at..to])
    }

    /// How many bytes from `at` on are known and equal.
    fn same(&self, at: usize, data: &[u8]) -> u64 {
        match self {
            Page::Unknown(_) => 0,
            Page::Word(w) => equal(&words(*w)[at..at + data.len()], data),
            Page::Known(b) => equal(&b[at..at + data.len()], data),
            Page::Mixed(m) => m.same(at, data),
        }
    }

    /// Bytes from `at` to `to` are known no longer.
    pub fn forget(&mut self, at: usize, to: usize, why: Why) {
        if at == 0 && to == PAGE {
            *self = Page::Unknown(why);
            return;
        }
        if let Page::Unknown(old) = self
            && *old == why
        {
            return;
        }
        if !matches!(self, Page::Mixed(_)) {
            let (data, holes) = match std::mem::replace(self, Page::Word(0)) {
                Page::Unknown(old) => ([0; PAGE], vec![Small { from: 0, to: PAGE as u16, why: old }]),
                Page::Word(w) => (*words(w), Vec::new()),
                Page::Known(b) => (*b, Vec::new()),
                Page::Mixed(m) => (m.data, m.holes),
            };
            *self = Page::Mixed(Box::new(Mixed { data, holes }));
        }
        if let Page::Mixed(m) = self {
            m.forget(at, to, why);
            if let [only] = m.holes[..]
                && (only.from, only.to) == (0, PAGE as u16)
            {
                *self = Page::Unknown(only.why);
            }
        }
    }

    /// Puts the bytes from `at` to `to` behind `into` (0 where nothing is known), and what is not known to `holes`, as
    /// places in a range whose first byte this page's byte `at` is number `base` of.
    pub fn read(&self, at: usize, to: usize, base: u64, into: &mut Vec<u8>, holes: &mut Vec<Hole>) {
        match self {
            Page::Unknown(why) => {
                into.resize(into.len() + to - at, 0);
                push(holes, Hole { from: base, to: base + (to - at) as u64, why: *why });
            }
            Page::Word(0) => into.resize(into.len() + to - at, 0),
            Page::Word(w) => into.extend((at..to).map(|i| w.to_le_bytes()[i % 4])),
            Page::Known(b) => into.extend_from_slice(&b[at..to]),
            Page::Mixed(m) => {
                into.extend_from_slice(&m.data[at..to]);
                for h in &m.holes {
                    let (from, end) = (usize::from(h.from).max(at), usize::from(h.to).min(to));
                    if from < end {
                        let place = |i: usize| base + (i - at) as u64;
                        push(holes, Hole { from: place(from), to: place(end), why: h.why });
                        // What was there before says nothing.
                        let begin = into.len() - (to - from);
                        into[begin..begin + (end - from)].fill(0);
                    }
                }
            }
        }
    }
}

/// Adds a hole, which may go on where the last one ends.
pub fn push(holes: &mut Vec<Hole>, new: Hole) {
    match holes.last_mut() {
        Some(last) if last.to == new.from && last.why == new.why => last.to = new.to,
        _ => holes.push(new),
    }
}

impl Mixed {
    fn same(&self, at: usize, data: &[u8]) -> u64 {
        let mut same = equal(&self.data[at..at + data.len()], data);
        for h in &self.holes {
            let (from, to) = (usize::from(h.from).max(at), usize::from(h.to).min(at + data.len()));
            if from < to {
                same -= equal(&self.data[from..to], &data[from - at..to - at]);
            }
        }
        same
    }

    fn write(&mut self, at: usize, data: &[u8]) -> u64 {
        let same = self.same(at, data);
        self.data[at..at + data.len()].copy_from_slice(data);
        self.cut(at, at + data.len());
        same
    }

    /// No hole is left from `at` to `to`.
    fn cut(&mut self, at: usize, to: usize) {
        let first = self.holes.partition_point(|h| usize::from(h.to) <= at);
        let last = self.holes.partition_point(|h| usize::from(h.from) < to);
        if first >= last {
            return;
        }
        let (a, b) = (self.holes[first], self.holes[last - 1]);
        let left = (usize::from(a.from) < at).then_some(Small { to: at as u16, ..a });
        let right = (usize::from(b.to) > to).then_some(Small { from: to as u16, ..b });
        self.holes.splice(first..last, left.into_iter().chain(right));
    }

    fn forget(&mut self, at: usize, to: usize, why: Why) {
        self.cut(at, to);
        let mut new = Small { from: at as u16, to: to as u16, why };
        let place = self.holes.partition_point(|h| usize::from(h.to) <= at);
        let mut replaced = place..place;
        if let Some(next) = self.holes.get(place).filter(|h| h.from == new.to && h.why == why) {
            new.to = next.to;
            replaced.end += 1;
        }
        if place > 0
            && let Some(before) = self.holes.get(place - 1).filter(|h| h.to == new.from && h.why == why)
        {
            new.from = before.from;
            replaced.start -= 1;
        }
        self.holes.splice(replaced, [new]);
    }
}

fn equal(a: &[u8], b: &[u8]) -> u64 {
    if a == b { a.len() as u64 } else { a.iter().zip(b).filter(|(a, b)| a == b).count() as u64 }
}

fn boxed(data: &[u8]) -> Box<[u8; PAGE]> {
    let all: Box<[u8]> = data.into();
    all.try_into().expect("a page")
}

/// A page that repeats a word.
fn words(word: u32) -> Box<[u8; PAGE]> {
    let mut page = Box::new([0; PAGE]);
    if word != 0 {
        page.chunks_exact_mut(4).for_each(|c| c.copy_from_slice(&word.to_le_bytes()));
    }
    page
}

/// The word that bytes at this place of a page repeat, if they do: as it would stand from the page's first byte on.
fn repeats(at: usize, data: &[u8]) -> Option<u32> {
    let first: [u8; 4] = data.get(..4)?.try_into().ok()?;
    // Every byte is the one four before it.
    (data[4..] == data[..data.len() - 4]).then(|| u32::from_le_bytes(first).rotate_left(8 * (at % 4) as u32))
}
