//! A space: pages, and mebibytes of pages that are all alike.
//!
//! Guarantees: a space takes 8 bytes a mebibyte until something is written; what is below is made when it is needed.
//! Ranges are the caller's to keep inside.

use super::cause::Why;
use super::page::{Hole, PAGE, Page, push};

/// Pages of a chunk.
const PAGES: usize = 256;
/// Bytes of a chunk.
const CHUNK: u64 = (PAGES * PAGE) as u64;

#[derive(Clone, Debug)]
struct Pages {
    pages: Vec<Page>,
    stamps: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Chunk {
    /// Nothing is known, since when.
    Unknown(Why, u64),
    /// A word again and again, since when.
    Word(u32, u64),
    /// See below.
    Pages(Box<Pages>),
}

/// See the module's header.
#[derive(Clone, Debug)]
pub struct Space {
    /// Its bytes.
    pub size: u64,
    /// It lies in another, whose bytes count.
    pub inside: bool,
    chunks: Vec<Chunk>,
}

/// A part of a range within one chunk: number, from, to.
fn parts(size: u64, offset: u64, len: u64) -> impl Iterator<Item = (usize, u64, u64)> {
    let end = offset.saturating_add(len).min(size);
    let chunks = if offset < end { offset / CHUNK..end.div_ceil(CHUNK) } else { 0..0 };
    chunks.map(move |n| {
        let base = n * CHUNK;
        (n as usize, offset.max(base) - base, end.min(base + CHUNK) - base)
    })
}

impl Chunk {
    /// Its pages, so many.
    fn pages(&mut self, count: usize) -> &mut Pages {
        let alike = match self {
            Chunk::Pages(_) => None,
            Chunk::Unknown(why, stamp) => Some((Page::Unknown(*why), *stamp)),
            Chunk::Word(word, stamp) => Some((Page::Word(*word), *stamp)),
        };
        if let Some((page, stamp)) = alike {
            *self = Chunk::Pages(Box::new(Pages { pages: vec![page; count], stamps: vec![stamp; count] }));
        }
        match self {
            Chunk::Pages(p) => p,
            _ => unreachable!("made above"),
        }
    }
}

impl Pages {
    /// Does something to each page of a range: the page, from, to, the range's first byte that is this page's.
    fn each(&mut self, from: u64, to: u64, clock: u64, mut f: impl FnMut(&mut Page, usize, usize, u64)) {
        for n in from / PAGE as u64..to.div_ceil(PAGE as u64) {
            let base = n * PAGE as u64;
            let (a, b) = (from.max(base), to.min(base + PAGE as u64));
            f(&mut self.pages[n as usize], (a - base) as usize, (b - base) as usize, a - from);
            self.stamps[n as usize] = clock;
        }
    }
}

/// Bytes of a space, at most.
const MOST_BYTES: u64 = 1 << 40;

impl Space {
    /// One of which nothing is known. No device has memory larger than is kept; a damaged capture may say so.
    pub fn new(size: u64, why: Why, clock: u64) -> Self {
        let size = size.min(MOST_BYTES);
        Space { size, inside: false, chunks: vec![Chunk::Unknown(why, clock); size.div_ceil(CHUNK) as usize] }
    }

    /// Pages of a chunk.
    fn count(&self, chunk: usize) -> usize {
        let left = self.size - chunk as u64 * CHUNK;
        left.min(CHUNK).div_ceil(PAGE as u64) as usize
    }

    /// Bytes on the heap.
    pub fn held(&self) -> u64 {
        let of = |c: &Chunk| match c {
            Chunk::Pages(p) => {
                p.pages.iter().map(Page::held).sum::<u64>()
                    + (p.pages.len() * (size_of::<Page>() + 8) + size_of::<Pages>()) as u64
            }
            _ => 0,
        };
        self.chunks.iter().map(of).sum::<u64>() + (self.chunks.capacity() * size_of::<Chunk>()) as u64
    }

    /// See `Bytes::stamp`.
    pub fn stamp(&self, offset: u64, size: u64) -> u64 {
        let of = |(n, from, to): (usize, u64, u64)| match &self.chunks[n] {
            Chunk::Unknown(_, s) | Chunk::Word(_, s) => *s,
            Chunk::Pages(p) => {
                let range = (from / PAGE as u64) as usize..to.div_ceil(PAGE as u64) as usize;
                p.stamps[range].iter().copied().max().unwrap_or(0)
            }
        };
        parts(self.size, offset, size).map(of).max().unwrap_or(0)
    }

    /// How many of the bytes were there already.
    pub fn write(&mut self, offset: u64, data: &[u8], clock: u64) -> u64 {
        let (mut same, mut at) = (0, 0);
        for (n, from, to) in parts(self.size, offset, data.len() as u64) {
            let here = &data[at..at + (to - from) as usize];
            let count = self.count(n);
            self.chunks[n].pages(count).each(from, to, clock, |page, a, b, done| {
                same += page.write(a, &here[done as usize..done as usize + (b - a)]);
            });
            at += here.len();
        }
        same
    }

    /// How many of the bytes were there already. The word is as it stands at places that four divides.
    pub fn fill(&mut self, offset: u64, size: u64, word: u32, clock: u64) -> u64 {
        let mut same = 0;
        for (n, from, to) in parts(self.size, offset, size) {
            let count = self.count(n);
            let c = &mut self.chunks[n];
            match c {
                Chunk::Word(old, _) if *old == word => same += to - from,
                Chunk::Unknown(..) if to - from == CHUNK => *c = Chunk::Word(word, clock),
                _ => c.pages(count).each(from, to, clock, |page, a, b, _| same += page.fill(a, b, word)),
            }
        }
        same
    }

    /// Nothing is known of a range any more.
    pub fn forget(&mut self, offset: u64, size: u64, why: Why, clock: u64) {
        let all = self.size;
        for (n, from, to) in parts(all, offset, size) {
            let count = self.count(n);
            let c = &mut self.chunks[n];
            let whole = from == 0 && (to == CHUNK || n as u64 * CHUNK + to == all);
            match c {
                Chunk::Unknown(old, _) if *old == why => {}
                _ if whole => *c = Chunk::Unknown(why, clock),
                _ => c.pages(count).each(from, to, clock, |page, a, b, _| page.forget(a, b, why)),
            }
        }
    }

    /// Puts a range behind `into`.
    pub fn read(&self, offset: u64, size: u64, into: &mut Vec<u8>, holes: &mut Vec<Hole>) {
        let mut done = 0;
        for (n, from, to) in parts(self.size, offset, size) {
            let len = to - from;
            match &self.chunks[n] {
                Chunk::Unknown(why, _) => {
                    into.resize(into.len() + len as usize, 0);
                    push(holes, Hole { from: done, to: done + len, why: *why });
                }
                Chunk::Word(word, _) => Page::Word(*word).read(from as usize, to as usize, done, into, holes),
                Chunk::Pages(p) => {
                    for page in from / PAGE as u64..to.div_ceil(PAGE as u64) {
                        let base = page * PAGE as u64;
                        let (a, b) = (from.max(base), to.min(base + PAGE as u64));
                        let (a_in, b_in) = ((a - base) as usize, (b - base) as usize);
                        p.pages[page as usize].read(a_in, b_in, done + (a - from), into, holes);
                    }
                }
            }
            done += len;
        }
    }
}
