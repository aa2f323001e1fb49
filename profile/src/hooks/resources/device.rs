//! What is followed against what a device has: compared, or read where a shader wrote.
//!
//! The point that is looked at is the edge of a submit call. A uniform block that nothing of the call writes before the invocation
//! reads it is compared with the device's memory directly before the call, once the device has finished everything else; one that
//! is written by the call, but not behind the invocation, directly after it has run. One that the call writes before *and*
//! behind the invocation is at no edge what the invocation read: it is counted ([`Checked::between`]), not compared. What runs
//! later than the call that submitted it (it waits for a value that nobody has signalled) is counted too. Guarantees: of
//! bytes that are not known nothing is claimed; addresses count as equal to where they are translated to. Refuses nothing;
//! a device that does not finish ends the replay as hangs do.

use super::blocks::Read;
use crate::hooks::screenshot::read::buffer as read_buffer;
use replay::error::Result;
use replay::exec::{Call, Executor};
use replay::follow::bytes::{Cause, Hole, Writer};
use replay::follow::{At, World};
use replay::vulkan::Vulkan;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;

/// Submit calls.
const SUBMITS: [&str; 2] = ["vkQueueSubmit", "vkQueueSubmit2"];
/// VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT.
const UNIFORM: u64 = 0x10;
/// Most bytes that are read at a time.
const AT_ONCE: u64 = 64 << 20;
/// Differences that are kept.
const KEPT: usize = 16;

/// What is asked of the device.
#[derive(Clone, Default)]
pub struct OnDevice {
    /// Compare.
    pub check: bool,
    /// Read what shaders wrote into uniform buffers.
    pub read_back: bool,
    /// For tests: follow one byte wrongly.
    pub spoil: bool,
    /// What came of it.
    pub done: Rc<RefCell<Checked>>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Uniform blocks of invocations that were compared.
    pub blocks: u64,
    /// Bytes of them that are known.
    pub bytes: u64,
    /// Bytes of them that are not.
    pub unknown: u64,
    /// Blocks that were compared at the edge before their submit call; the others were behind it.
    pub before: u64,
    /// Blocks that their submit call writes before and behind the invocation.
    pub between: u64,
    /// Blocks of invocations that run later than their submit call.
    pub later: u64,
    /// Blocks whose buffer cannot be read, the first reason.
    pub unreadable: (u64, String),
    /// Blocks with a difference.
    pub different: u64,
    /// The first of them.
    pub differences: Vec<Difference>,
    /// Bytes that were read back.
    pub read_back: u64,
}

/// A byte that is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The frame.
    pub frame: u64,
    /// The block of the submit call.
    pub submit: u64,
    /// The block that recorded the invocation.
    pub block: u64,
    /// Set, binding, element.
    pub place: (u32, u32, u32),
    /// The buffer, and the byte in it.
    pub at: (u64, u64),
    /// The byte as it is followed, and as the device has it.
    pub bytes: (u8, u8),
    /// Who wrote it last, as it is followed.
    pub cause: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (set, binding, element) = self.place;
        write!(
            f,
            "frame {}, submit in block {}, invocation recorded in block {}, set {set} binding {binding}[{element}], byte {} of \
             VkBuffer {}: followed {:#04x}, on the device {:#04x}; {}",
            self.frame, self.submit, self.block, self.at.1, self.at.0, self.bytes.0, self.bytes.1, self.cause
        )
    }
}

/// A block that is to be compared.
struct Pending {
    at: At,
    read: Read,
    bytes: Vec<u8>,
    holes: Vec<Hole>,
    stamp: u64,
    /// How many invocations have it.
    count: u64,
}

/// See the module's header.
pub struct Device {
    on: OnDevice,
    /// The follower's clock when the submit call began.
    began: u64,
    before: Vec<Pending>,
    after: Vec<Pending>,
    /// By buffer, first byte, size and stamp: which of the pending (those before, then those after).
    known: HashMap<(u64, u64, u64, u64), (bool, usize)>,
}

impl Device {
    /// Nothing was compared yet.
    pub fn new(on: OnDevice) -> Self {
        Device { on, began: 0, before: vec![], after: vec![], known: HashMap::new() }
    }

    /// Whether a call runs command buffers.
    pub fn is_submit(call: &Call) -> bool {
        SUBMITS.contains(&call.command.canonical)
    }

    /// Whether what shaders wrote is read.
    pub fn reads_back(&self) -> bool {
        self.on.read_back
    }

    /// A submit call is about to be followed.
    pub fn begins(&mut self, w: &World) {
        self.began = w.bytes.now();
        self.before.clear();
        self.after.clear();
        self.known.clear();
    }

    /// An invocation reads these blocks.
    pub fn invocation(&mut self, w: &World, at: &At, in_call: bool, all: &[Read]) {
        if !self.on.check {
            return;
        }
        if !in_call {
            self.on.done.borrow_mut().later += all.len() as u64;
            return;
        }
        for r in all {
            let stamp = w.stamp_of(r.buffer, r.offset, r.bytes);
            let before = stamp <= self.began;
            let list = if before { &mut self.before } else { &mut self.after };
            let key = (r.buffer, r.offset, r.bytes, stamp);
            let (_, i) = *self.known.entry(key).or_insert((before, list.len()));
            if let Some(p) = list.get_mut(i) {
                p.count += 1;
                continue;
            }
            let mut bytes = Vec::new();
            let holes = w.read_buffer(r.buffer, r.offset, r.bytes, &mut bytes).holes;
            if holes.is_empty() && std::mem::take(&mut self.on.spoil) {
                bytes[0] ^= 1;
            }
            list.push(Pending { at: *at, read: r.clone(), bytes, holes, stamp, count: 1 });
        }
    }

    /// The submit call is about to run.
    pub fn before(&mut self, cx: &mut Executor, w: &World) -> Result<()> {
        let pending = std::mem::take(&mut self.before);
        self.compare(cx, w, pending, true)
    }

    /// It has been made.
    pub fn after(&mut self, cx: &mut Executor, call: &Call, w: &mut World) -> Result<()> {
        let pending = std::mem::take(&mut self.after);
        let (still, gone): (Vec<_>, Vec<_>) = pending
            .into_iter()
            .partition(|p| w.stamp_of(p.read.buffer, p.read.offset, p.read.bytes) == p.stamp);
        self.on.done.borrow_mut().between += gone.iter().map(|p| p.count).sum::<u64>();
        self.compare(cx, w, still, false)?;
        if self.on.read_back { self.read_back(cx, call, w) } else { Ok(()) }
    }

    fn compare(&mut self, cx: &mut Executor, w: &World, pending: Vec<Pending>, before: bool) -> Result<()> {
        let Some(vk) = cx.backend.vulkan().filter(|_| !pending.is_empty()) else { return Ok(()) };
        settle(vk)?;
        let mut by_buffer: BTreeMap<u64, Vec<Pending>> = BTreeMap::new();
        pending.into_iter().for_each(|p| by_buffer.entry(p.read.buffer).or_default().push(p));
        let mut done = self.on.done.borrow_mut();
        for (buffer, all) in by_buffer {
            let from = all.iter().map(|p| p.read.offset).min().unwrap_or(0);
            let to = all.iter().map(|p| p.read.offset + p.read.bytes).max().unwrap_or(0);
            let at_once = match to - from <= AT_ONCE {
                true => Some(read_buffer(vk, buffer, from, to - from)?),
                false => None,
            };
            for p in all {
                let there = match &at_once {
                    Some(Ok(bytes)) => {
                        let begin = (p.read.offset - from) as usize;
                        Ok(bytes.get(begin..begin + p.bytes.len()).unwrap_or(&[]).to_vec())
                    }
                    Some(Err(why)) => Err(why.clone()),
                    None => read_buffer(vk, buffer, p.read.offset, p.read.bytes)?,
                };
                match there {
                    Ok(there) => done.compared(vk, w, &p, &there, before),
                    Err(why) => {
                        done.unreadable.0 += p.count;
                        if done.unreadable.1.is_empty() {
                            done.unreadable.1 = why;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// What the call's shaders (and others that do not say what) wrote into uniform buffers is read.
    fn read_back(&mut self, cx: &mut Executor, call: &Call, w: &mut World) -> Result<()> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let written: Vec<_> =
            w.bytes.written_since(self.began).filter(|e| e.what.is_err()).copied().collect();
        let mut spans: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for e in &written {
            for r in w.bytes.residents.on(e.space, e.from, e.to).filter(|r| !r.image) {
                if w.buffers.get(&r.id).is_some_and(|b| b.usage & UNIFORM != 0 && b.bound.is_some()) {
                    let (from, to) = (e.from.max(r.from) - r.from, e.to.min(r.to) - r.from);
                    let span = spans.entry(r.id).or_insert((from, to));
                    *span = (span.0.min(from), span.1.max(to));
                }
            }
        }
        if spans.is_empty() {
            return Ok(());
        }
        settle(vk)?;
        for (buffer, (from, to)) in spans {
            let size = (to - from).min(AT_ONCE);
            if let Ok(bytes) = read_buffer(vk, buffer, from, size)?
                && let Some(b) = w.buffers.get(&buffer).and_then(|b| b.bound)
            {
                self.on.done.borrow_mut().read_back += bytes.len() as u64;
                w.bytes.write(
                    b.memory,
                    b.offset + from,
                    &bytes,
                    Cause::new(Writer::ReadBack, call.block, buffer),
                );
            }
        }
        Ok(())
    }
}

/// Everything submitted so far is done.
fn settle(vk: &mut Vulkan) -> Result<()> {
    vk.finish_present()?;
    vk.devices().try_for_each(|d| d.1.wait_idle())
}

impl Checked {
    fn compared(&mut self, vk: &Vulkan, w: &World, p: &Pending, there: &[u8], before: bool) {
        let unknown: u64 = p.holes.iter().map(|h| h.to - h.from).sum();
        self.blocks += p.count;
        self.before += if before { p.count } else { 0 };
        self.bytes += (p.bytes.len() as u64 - unknown) * p.count;
        self.unknown += unknown * p.count;
        let known = |i: usize| !p.holes.iter().any(|h| (h.from..h.to).contains(&(i as u64)));
        let first = (0..p.bytes.len())
            .find(|&i| there.get(i) != Some(&p.bytes[i]) && known(i) && !translated(vk, &p.bytes, there, i));
        let Some(i) = first else { return };
        self.different += p.count;
        if self.differences.len() < KEPT {
            let at = p.read.offset + i as u64;
            let place = w.buffers.get(&p.read.buffer).and_then(|b| b.bound);
            let last = place.and_then(|b| w.bytes.last_write(b.memory, b.offset + at));
            self.differences.push(Difference {
                frame: p.at.frame,
                submit: p.at.submit_block,
                block: p.at.block,
                place: (p.read.set, p.read.binding, p.read.element),
                at: (p.read.buffer, at),
                bytes: (p.bytes[i], there.get(i).copied().unwrap_or(0)),
                cause: match last.map(|e| e.what) {
                    Some(Ok(c)) => format!("followed as written by {} in block {}", c.by.word(), c.block),
                    Some(Err(why)) => format!("{} in block {}", why.reason.words(), why.block),
                    None => "nothing wrote it since the journal begins".into(),
                },
            });
        }
    }
}

/// The byte is part of an address that is another here.
fn translated(vk: &Vulkan, followed: &[u8], there: &[u8], i: usize) -> bool {
    let word = |all: &[u8]| Some(u64::from_le_bytes(all.get(i & !7..(i & !7) + 8)?.try_into().ok()?));
    match (word(followed), word(there)) {
        (Some(a), Some(b)) => a != b && vk.translate(a) == Some(b),
        _ => false,
    }
}
