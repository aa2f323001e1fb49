//! The bytes of uniform blocks and push constants at an invocation.
//!
//! Guarantees: bytes that did not change since they were read last are not read again; words of which a byte is not known are
//! absent from `content_words`. Refuses nothing.

use super::Put;
use super::intern::{Numbers, digest};
use super::program::{Facts, UsedBlock};
use super::rows::Rows;
use replay::error::Result;
use replay::follow::bytes::Hole;
use replay::follow::sets::{Contents, Descriptor};
use replay::follow::{AtSet, Invocation, World};
use std::collections::HashMap;
use trace::Value::{Text, U64};
use trace::tables::{CONTENT_WORDS, INVOCATION_BLOCKS};

/// A uniform block that lies in a buffer, as it is followed.
#[derive(Clone, Debug)]
pub struct Read {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The array element.
    pub element: u32,
    /// The buffer.
    pub buffer: u64,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
}

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
    /// Those of the last invocation that lie in buffers.
    pub read: Vec<Read>,
    /// Rows that wait for what a device will say.
    held: Option<Vec<Held>>,
}

/// A row of `invocation_blocks`.
struct Held {
    invocation: u64,
    space: &'static str,
    place: (u32, u32, u32),
    n: Numbered,
    /// The buffer, the first byte, and when it changed last.
    at: (u64, u64, u64),
}

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

    /// Rows for what an invocation's shaders use.
    pub fn invocation(&mut self, rows: &mut Rows, w: &World, i: &Invocation<'_>, f: &Facts) -> Result<()> {
        self.read.clear();
        for block in &f.blocks {
            match w.set(i.invoke, block.set as usize) {
                AtSet::Set { contents, offsets, .. } => self.set(rows, w, i, block, contents, offsets)?,
                AtSet::Push { contents } => self.set(rows, w, i, block, contents, &[])?,
                AtSet::Buffer { address, layout } => {
                    let all = layout.binding(block.binding).map_or(0, |b| b.slots());
                    for e in (0..all).filter(|e| block.elements.as_ref().is_none_or(|all| all.contains(e))) {
                        let d = w.in_descriptor_buffer(address, layout, block.binding, e);
                        self.one(rows, w, i, block, e, d, 0)?;
                    }
                }
                AtSet::Nothing | AtSet::Embedded { .. } => {}
            }
        }
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
                    let n = self.masked(&mut rows.put, &bytes, &written)?;
                    self.pushed.insert(key, n);
                    n
                }
            };
            self.row(rows, i.number, "push", (0, 0, 0), known, (0, 0, 0))?;
        }
        Ok(())
    }

    fn set(
        &mut self,
        rows: &mut Rows,
        w: &World,
        i: &Invocation<'_>,
        block: &UsedBlock,
        contents: &Contents,
        offsets: &[u32],
    ) -> Result<()> {
        let Some(b) = contents.layout.binding(block.binding) else { return Ok(()) };
        for (e, d) in contents.written(block.binding) {
            if block.elements.as_ref().is_some_and(|all| !all.contains(&e)) {
                continue;
            }
            if d == Descriptor::Inline {
                let (bytes, written) = contents.inline_bytes(block.binding);
                let n = self.masked(&mut rows.put, bytes, written)?;
                self.row(rows, i.number, "block", (block.set, block.binding, e), n, (0, 0, 0))?;
                continue;
            }
            let dynamic = match b.is_dynamic() {
                true => offsets.get((b.dynamic_start + e) as usize).copied().unwrap_or(0),
                false => 0,
            };
            self.one(rows, w, i, block, e, d, dynamic.into())?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a block's place")]
    fn one(
        &mut self,
        rows: &mut Rows,
        w: &World,
        i: &Invocation<'_>,
        block: &UsedBlock,
        element: u32,
        d: Descriptor,
        dynamic: u64,
    ) -> Result<()> {
        let (buffer, offset, range) = match d {
            Descriptor::Buffer { buffer, offset, range, .. } if buffer != 0 => {
                (buffer, offset + dynamic, w.range_of(buffer, offset, range))
            }
            Descriptor::Address { address, range, .. } => match w.at_address(address) {
                Some((buffer, offset)) => (buffer, offset, range),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let bytes = range.min(block.bytes);
        let n = self.of_buffer(&mut rows.put, w, buffer, offset, bytes)?;
        let (set, binding) = (block.set, block.binding);
        self.read.push(Read { set, binding, element, buffer, offset, bytes });
        let stamp = if n.known < n.bytes { w.stamp_of(buffer, offset, bytes) } else { 0 };
        self.row(rows, i.number, "block", (set, binding, element), n, (buffer, offset, stamp))
    }

    fn row(
        &mut self,
        rows: &mut Rows,
        invocation: u64,
        space: &'static str,
        place: (u32, u32, u32),
        n: Numbered,
        at: (u64, u64, u64),
    ) -> Result<()> {
        let row = Held { invocation, space, place, n, at };
        match &mut self.held {
            Some(held) => {
                held.push(row);
                Ok(())
            }
            None => row.write(rows),
        }
    }

    /// Rows wait from now on.
    pub fn hold(&mut self) {
        self.held = Some(Vec::new());
    }

    /// What is written behind the invocations is not what they read: only the others may be read from the device.
    pub fn settle(&mut self, w: &World) {
        for h in self.held.iter_mut().flatten().filter(|h| h.at.2 != 0) {
            if w.stamp_of(h.at.0, h.at.1, h.n.bytes) != h.at.2 {
                h.at.2 = 0;
            }
        }
    }

    /// The device has said what it knows: rows wait no longer.
    pub fn release(&mut self, rows: &mut Rows, w: &World) -> Result<()> {
        for mut h in self.held.take().unwrap_or_default() {
            if h.at.2 != 0 {
                h.n = self.of_buffer(&mut rows.put, w, h.at.0, h.at.1, h.n.bytes)?;
            }
            h.write(rows)?;
        }
        Ok(())
    }
}

impl Held {
    fn write(&self, rows: &mut Rows) -> Result<()> {
        let n = self.n;
        rows.blocks += 1;
        rows.unknown_blocks += u64::from(n.known < n.bytes);
        (rows.put)(
            &INVOCATION_BLOCKS,
            &[
                U64(self.invocation),
                Text(self.space),
                U64(self.place.0.into()),
                U64(self.place.1.into()),
                U64(self.place.2.into()),
                U64(n.number),
                U64(n.known),
                Text(n.why),
                U64(self.at.0),
                U64(self.at.1),
            ],
        )
    }
}
