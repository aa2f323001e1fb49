//! The bytes of uniform blocks and push constants at a draw.
//!
//! Guarantees: bytes that did not change since they were read last are not read again; words of which a byte is not known are
//! absent from `content_words`. Refuses nothing.

use super::device::Device;
use super::intern::{Numbers, digest};
use super::program::Facts;
use super::reads::{self, Found, Read};
use crate::hooks::put::Put;
use replay::error::Result;
use std::collections::HashMap;
use trace::Value::{Text, U64};
use trace::tables::{CONTENT_WORDS, INVOCATION_BLOCKS};
use world::bytes::Hole;
use world::{Invocation, World};

/// Contents by number, and how much of them is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbered {
    /// Rows of `content_words`; 0 if nothing is known.
    pub number: u64,
    /// Known bytes.
    pub known: u64,
    /// All of them.
    pub bytes: u64,
    /// Why others are not.
    pub why: &'static str,
}

/// See the module's header.
#[derive(Default)]
pub struct Blocks {
    contents: Numbers<u128>,
    /// By buffer, first byte and size: when it was read, and what it was.
    cache: HashMap<(u64, u64, u64), (u64, Numbered)>,
    pushed: HashMap<(u64, u64), Numbered>,
    bytes: Vec<u8>,
    key: Vec<u8>,
    /// Those of the last draw that lie in buffers.
    pub read: Vec<Read>,
    /// Rows that wait for what a device will say.
    held: Option<Vec<Held>>,
    /// Uniform blocks that were read.
    pub blocks: u64,
    /// Of these, those of which some byte is not known.
    pub unknown_blocks: u64,
    /// Push constants and inline blocks of draws: calls hold their bytes, no memory does.
    pub by_calls: u64,
}

/// A row of `invocation_blocks`.
struct Held {
    invocation: u64,
    space: &'static str,
    place: (u32, u32, u32),
    n: Numbered,
    from: Origin,
}

/// Where a row's bytes are.
#[derive(Clone, Copy, Default)]
struct Origin {
    buffer: u64,
    offset: u64,
    /// When they changed last; 0 if nothing of them is to be had from the device's memory behind the call.
    stamp: u64,
    /// Its number among those of the draw that lie in buffers.
    read: Option<usize>,
    /// What the device is asked for.
    pending: Option<usize>,
    /// A shader declares more than the descriptor has.
    beyond: bool,
}

/// Why bytes behind a descriptor's range are not known.
const BEYOND: &str = "beyond the descriptor's range";

impl Blocks {
    /// Contents of which some bytes are not known.
    fn number(&mut self, put: &mut Put, holes: &[Hole]) -> Result<Numbered> {
        let bytes = self.bytes.len() as u64;
        let unknown: u64 = holes.iter().map(|h| h.to - h.from).sum();
        let why = holes.first().map_or("", |h| h.why.reason.words());
        if unknown >= bytes {
            return Ok(Numbered { number: 0, known: 0, bytes, why });
        }
        self.key.clear();
        self.key.extend_from_slice(&self.bytes);
        for h in holes {
            self.key.extend(h.from.to_le_bytes());
            self.key.extend(h.to.to_le_bytes());
        }
        self.key.extend((holes.len() as u64).to_le_bytes());
        let (number, new) = self.contents.of(digest(&self.key));
        if new {
            let mut left = holes;
            for (i, word) in self.bytes.chunks(4).enumerate() {
                let (from, to) = (i as u64 * 4, (i as u64 * 4 + 4).min(bytes));
                while left.first().is_some_and(|h| h.to <= from) {
                    left = &left[1..];
                }
                if left.first().is_some_and(|h| h.from < to) {
                    continue;
                }
                let mut four = [0; 4];
                four[..word.len()].copy_from_slice(word);
                put(&CONTENT_WORDS, &[U64(number), U64(from), U64(u32::from_le_bytes(four).into())])?;
            }
        }
        Ok(Numbered { number, known: bytes - unknown, bytes, why })
    }

    /// Bytes of which those are known that were written.
    pub fn masked(&mut self, put: &mut Put, bytes: &[u8], written: &[bool]) -> Result<Numbered> {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        let mut holes: Vec<Hole> = Vec::new();
        for (i, _) in written.iter().enumerate().filter(|w| !*w.1) {
            let i = i as u64;
            match holes.last_mut() {
                Some(last) if last.to == i => last.to += 1,
                _ => holes.push(Hole { from: i, to: i + 1, why: Default::default() }),
            }
        }
        self.number(put, &holes)
    }

    fn of_buffer(&mut self, put: &mut Put, w: &World, buffer: u64, at: u64, size: u64) -> Result<Numbered> {
        let stamp = w.stamp_of(buffer, at, size);
        if let Some((then, found)) = self.cache.get(&(buffer, at, size))
            && *then == stamp
        {
            return Ok(*found);
        }
        self.bytes.clear();
        let known = w.read_buffer(buffer, at, size, &mut self.bytes);
        let numbered = self.number(put, &known.holes)?;
        self.cache.insert((buffer, at, size), (stamp, numbered));
        Ok(numbered)
    }

    /// Rows for what a draw's shaders use.
    pub fn invocation(&mut self, put: &mut Put, w: &World, i: &Invocation<'_>, f: &Facts) -> Result<()> {
        self.read.clear();
        reads::each(w, i.invoke, &f.blocks, &mut |found| match found {
            Found::Buffer(read) => self.in_buffer(put, w, i.number, read),
            Found::Inline(set, binding, bytes, written) => {
                self.by_calls += 1;
                let n = self.masked(put, bytes, written)?;
                self.row(put, i.number, "block", (set, binding, 0), n, Origin::default())
            }
            Found::Unknown(place, bytes, why) => {
                let n = Numbered { bytes, why, ..Numbered::default() };
                self.row(put, i.number, "block", place, n, Origin::default())
            }
        })?;
        if f.push_bytes > 0 {
            let push = &i.invoke.bindings.push;
            let key = (push.version, f.push_bytes);
            let known = match self.pushed.get(&key) {
                // (version 0 stands for nothing pushed yet)
                Some(n) => *n,
                None => {
                    let size = f.push_bytes as usize;
                    let mut bytes = push.bytes.clone();
                    let mut written = push.pushed.clone();
                    bytes.resize(size, 0);
                    written.resize(size, false);
                    let n = self.masked(put, &bytes, &written)?;
                    self.pushed.insert(key, n);
                    n
                }
            };
            self.by_calls += 1;
            self.row(put, i.number, "push", (0, 0, 0), known, Origin::default())?;
        }
        Ok(())
    }

    fn in_buffer(&mut self, put: &mut Put, w: &World, number: u64, r: Read) -> Result<()> {
        let n = self.of_buffer(put, w, r.buffer, r.offset, r.bytes)?;
        let stamp = if n.known < n.bytes { w.stamp_of(r.buffer, r.offset, r.bytes) } else { 0 };
        let read = Some(self.read.len());
        let from =
            Origin { buffer: r.buffer, offset: r.offset, stamp, read, pending: None, beyond: r.beyond };
        let place = (r.set, r.binding, r.element);
        self.read.push(r);
        self.row(put, number, "block", place, n, from)
    }

    fn row(
        &mut self,
        put: &mut Put,
        invocation: u64,
        space: &'static str,
        place: (u32, u32, u32),
        n: Numbered,
        from: Origin,
    ) -> Result<()> {
        let row = Held { invocation, space, place, n, from };
        match &mut self.held {
            Some(held) => {
                held.push(row);
                Ok(())
            }
            None => self.write(put, &row),
        }
    }

    /// Rows wait from now on.
    pub fn hold(&mut self) {
        self.held = Some(Vec::new());
    }

    /// What is written behind the draws is not what they read: only the others may be read from the device.
    pub fn settle(&mut self, w: &World) {
        for h in self.held.iter_mut().flatten().filter(|h| h.from.stamp != 0) {
            if w.stamp_of(h.from.buffer, h.from.offset, h.n.bytes) != h.from.stamp {
                h.from.stamp = 0;
            }
        }
    }

    /// What the device is asked for, for each of the last draw's reads.
    pub fn pending(&mut self, invocation: u64, of: &[Option<usize>]) {
        let Some(held) = &mut self.held else { return };
        for h in held.iter_mut().rev().take_while(|h| h.invocation == invocation) {
            h.from.pending = h.from.read.and_then(|read| of.get(read).copied().flatten());
        }
    }

    /// The device has said what it knows: rows wait no longer.
    pub fn release(&mut self, put: &mut Put, w: &World, device: &Device) -> Result<()> {
        for mut h in self.held.take().unwrap_or_default() {
            if h.n.known < h.n.bytes {
                if let Some((bytes, holes)) = h.from.pending.and_then(|p| device.filled(p)) {
                    self.bytes = bytes;
                    h.n = self.number(put, &holes)?;
                } else if h.from.stamp != 0 {
                    h.n = self.of_buffer(put, w, h.from.buffer, h.from.offset, h.n.bytes)?;
                }
            }
            self.write(put, &h)?;
        }
        Ok(())
    }

    fn write(&mut self, put: &mut Put, row: &Held) -> Result<()> {
        let (n, from) = (row.n, row.from);
        self.blocks += 1;
        self.unknown_blocks += u64::from(n.known < n.bytes || from.beyond);
        let why = if n.why.is_empty() && from.beyond { BEYOND } else { n.why };
        put(
            &INVOCATION_BLOCKS,
            &[
                U64(row.invocation),
                Text(row.space),
                U64(row.place.0.into()),
                U64(row.place.1.into()),
                U64(row.place.2.into()),
                U64(n.number),
                U64(n.known),
                Text(why),
                U64(from.buffer),
                U64(from.offset),
            ],
        )
    }
}
