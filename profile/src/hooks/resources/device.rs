//! What is followed against what a device has: compared, or read where a shader wrote.
//!
//! Of every block that a draw reads there is a copy from the last place before the draw where one may stand
//! (`trail.rs`, `copies.rs`, `again.rs`); after the submit call it is compared with the bytes as they are followed at that
//! draw, or says what a shader wrote. Inside a render pass only its own shaders can change memory: a block that one
//! of them may have written since the pass began is counted ([`Checked::in_pass`]). What has no copy is looked at at the
//! edges of the submit call: before it if nothing of the call writes it before the draw, once the device has finished
//! everything else; behind it if nothing writes it behind the draw; else it is counted ([`Checked::between`]), not
//! compared. Guarantees: of bytes that are not known nothing is claimed; addresses count as equal to where they are
//! translated to; while a batch waits for what nobody has signalled, nothing waits for the device. Refuses nothing; a device
//! that does not finish ends the replay as hangs do.

use super::again::Again;
use super::checked::{Checked, Difference, When};
use super::copies::Copies;
use super::plan::{self, Plan};
use super::reads::Read;
use super::trail::{Base, By, Spot, Trail};
use crate::hooks::screenshot::read::buffer as read_buffer;
use gfxr_parse::ahead::Call;
use replay::error::Result;
use replay::exec::Executor;
use replay::link::Linked;
use replay::vulkan::Vulkan;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use world::bytes::{Cause, Hole, Writer};
use world::commands::Command;
use world::recording::Recording;
use world::{At, Invocation, World};

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
    /// The copies to be made; with none everything is looked at at the edges of submit calls.
    pub plan: Rc<Plan>,
    /// For tests: follow one byte wrongly.
    pub spoil: bool,
    /// For tests: follow nothing that shaders write.
    pub spoil_writes: bool,
    /// What came of it.
    pub done: Rc<RefCell<Checked>>,
}

/// Bytes as they are followed, and what is not known of them.
type Expected = Rc<(Vec<u8>, Vec<Hole>)>;

/// A block that is to be looked at.
struct Pending {
    at: At,
    kind: &'static str,
    read: Read,
    expected: Expected,
    stamp: u64,
    /// The follower's clock at the draw.
    time: u64,
    /// Nothing of the submit call wrote it before the draw.
    before: bool,
    /// Its copy: where, how many bytes, and whether it is from before the render pass.
    copy: Option<(Base, u64, bool)>,
    /// The submit call that runs is its own.
    in_call: bool,
    /// It is to be compared, and not only to be read.
    compare: bool,
    /// Draws that have it.
    who: Vec<u64>,
}

/// What is pending already: the buffer, first byte, size and stamp, and where the copy is.
type Known = (u64, u64, u64, u64, Option<Base>);

/// See the module's header.
pub struct Device {
    on: OnDevice,
    /// Copies in the application's command buffers.
    pub copies: Copies,
    again: Again,
    trail: Trail,
    /// The follower's clock when the submit call began.
    began: u64,
    pending: Vec<Pending>,
    known: HashMap<Known, usize>,
    expected: HashMap<(u64, u64, u64, u64), Expected>,
    /// Blocks that a draw has left to be compared at their point.
    left: HashMap<u64, usize>,
    /// The device has finished what was copied: its bytes can be read.
    settled: bool,
}

impl Device {
    /// Nothing was compared yet.
    pub fn new(on: OnDevice) -> Self {
        Device {
            copies: Copies::new(on.plan.clone()),
            on,
            again: Again::default(),
            trail: Trail::default(),
            began: 0,
            pending: vec![],
            known: HashMap::new(),
            expected: HashMap::new(),
            left: HashMap::new(),
            settled: false,
        }
    }

    /// Whether a call runs command buffers.
    pub fn is_submit(call: &Call) -> bool {
        SUBMITS.contains(&call.command.canonical)
    }

    /// A call is about to run.
    pub fn before_any(&mut self, cx: &mut Executor, call: &Call, w: &World) -> Result<()> {
        if call.command.canonical == "vkDestroyDevice" {
            self.again.destroy(Some(call.image.u64(0)));
        }
        self.copies.before(cx, call, w)
    }

    /// Whether what shaders wrote is read.
    pub fn reads_back(&self) -> bool {
        self.on.read_back
    }

    /// Whether it compares.
    pub fn checks(&self) -> bool {
        self.on.check
    }

    /// Whether what shaders write is not followed.
    pub fn spoils_writes(&self) -> bool {
        self.on.spoil_writes
    }

    /// Whether anything waits to be looked at.
    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// A call is about to be followed.
    pub fn begins(&mut self, w: &World) {
        self.began = w.bytes.now();
        self.pending.clear();
        self.known.clear();
        self.expected.clear();
        self.left.clear();
        // (what ran for the last one is done: it was read)
        self.again.begins(&mut self.copies.landings, self.settled);
        self.settled = false;
    }

    /// A command buffer begins to be executed.
    pub fn enters(&mut self, at: &At, recording: &Recording, in_call: bool) -> Result<()> {
        let copies = &self.copies;
        let mut own = None;
        self.trail.enters(at, recording.block, |by, serial| {
            let base = copies.base(by, at.holder, recording.number, serial);
            own = base.filter(|_| matches!(by, By::Queue));
            base
        });
        let Some(own) = own else { return Ok(()) };
        // What it copied before has not been read.
        let other = match in_call {
            true => self.again.executes(&mut self.copies.landings, at.holder, own.landing)?,
            false => None,
        };
        let mut done = self.on.done.borrow_mut();
        for p in &mut self.pending {
            let Some((base, ..)) = p.copy.as_mut().filter(|c| c.0.landing == own.landing) else { continue };
            match other {
                Some(other) if p.in_call => base.landing = other,
                _ => {
                    done.again += p.who.len() as u64 * u64::from(p.compare);
                    p.copy = None;
                }
            }
        }
        Ok(())
    }

    /// The submit call is about to reach the driver.
    pub fn submitting(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        let landings = &self.copies.landings;
        if !self.again.submitting(cx, call, linked, landings)? {
            let mut done = self.on.done.borrow_mut();
            for p in &mut self.pending {
                if p.copy.take_if(|c| self.again.keeps(c.0.landing)).is_some() {
                    done.again += p.who.len() as u64 * u64::from(p.compare);
                }
            }
        }
        Ok(())
    }

    /// It has been.
    pub fn leaves(&mut self) {
        self.trail.leaves();
    }

    /// A command that is no draw.
    pub fn command(&mut self, w: &World, at: &At, command: &Command) {
        self.trail.command(w, at, command);
    }

    /// A draw reads these blocks; for each, what is pending of it.
    pub fn invocation(
        &mut self,
        w: &World,
        at: &At,
        i: &Invocation<'_>,
        in_call: bool,
        all: &[Read],
    ) -> Vec<Option<usize>> {
        let spot = self.trail.spot(w, at);
        let reads = all.iter().filter(|r| r.bytes > 0).count();
        if self.on.check {
            let mut done = self.on.done.borrow_mut();
            done.invocations += 1;
            done.with_blocks += u64::from(reads > 0);
            self.left.insert(i.number, reads);
        }
        all.iter().map(|r| self.read(w, at, i, in_call, r, spot.as_ref())).collect()
    }

    fn read(
        &mut self,
        w: &World,
        at: &At,
        i: &Invocation<'_>,
        in_call: bool,
        r: &Read,
        spot: Option<&Spot>,
    ) -> Option<usize> {
        let stamp = w.stamp_of(r.buffer, r.offset, r.bytes);
        let range = plan::range(w, r);
        let mut expected = self.expected(w, r, range.2, stamp);
        let compare = self.on.check && r.bytes > 0;
        if !compare && expected.1.is_empty() {
            return None;
        }
        let copy = spot.and_then(|s| {
            let to = self.copies.has(s.block, &range)?;
            let base = s.base?;
            Some((Base { offset: base.offset + to, ..base }, range.2, s.pass))
        });
        let written = spot.is_some_and(|s| stamp > s.time);
        if compare {
            let mut done = self.on.done.borrow_mut();
            done.in_pass += u64::from(written);
            done.uncopied += u64::from(!written && copy.is_none());
            done.beyond += if r.storage { r.bytes.saturating_sub(range.2) } else { 0 };
        }
        let copy = copy.filter(|_| !written);
        let key = (r.buffer, r.offset, r.bytes, stamp, copy.map(|c| c.0));
        if let Some(&n) = self.known.get(&key) {
            self.pending[n].who.push(i.number);
            return Some(n);
        }
        if compare && expected.1.is_empty() && std::mem::take(&mut self.on.spoil) {
            Rc::make_mut(&mut expected).0[0] ^= 1;
        }
        self.pending.push(Pending {
            at: *at,
            kind: i.invoke.kind(),
            read: r.clone(),
            expected,
            stamp,
            time: w.bytes.now(),
            before: stamp <= self.began,
            copy,
            in_call,
            compare,
            who: vec![i.number],
        });
        self.known.insert(key, self.pending.len() - 1);
        Some(self.pending.len() - 1)
    }

    fn expected(&mut self, w: &World, r: &Read, bytes: u64, stamp: u64) -> Expected {
        // (of a large storage buffer no more than is looked at)
        let bytes = if r.storage { bytes } else { r.bytes };
        let found = self.expected.entry((r.buffer, r.offset, bytes, stamp)).or_insert_with(|| {
            let mut all = Vec::new();
            let holes = w.read_buffer(r.buffer, r.offset, bytes, &mut all).holes;
            Rc::new((all, holes))
        });
        found.clone()
    }

    /// The submit call is about to run.
    pub fn before(&mut self, cx: &mut Executor, w: &World, waiting: bool) -> Result<()> {
        if waiting {
            return Ok(());
        }
        // (what is not this call's may have been copied already)
        let own = self.pending.iter().filter(|p| p.in_call);
        let copies: HashSet<(Base, u64)> = own.filter_map(|p| p.copy.map(|c| (c.0, c.1))).collect();
        if !copies.is_empty()
            && let Some(vk) = cx.backend.vulkan()
        {
            settle(vk)?;
            for (base, bytes) in copies {
                self.copies.landings.spoil(base.landing, base.offset, bytes);
            }
        }
        self.edge(cx, w, |p| p.before, When::Before)
    }

    /// It has been made.
    pub fn after(&mut self, cx: &mut Executor, call: &Call, w: &mut World, waiting: bool) -> Result<()> {
        if waiting {
            let late = self.pending.iter().filter(|p| p.compare).map(|p| p.who.len() as u64);
            self.on.done.borrow_mut().later += late.sum::<u64>();
            return Ok(());
        }
        self.copied(cx, w)?;
        self.edge(cx, w, |p| !p.before, When::Behind)?;
        if self.on.read_back && Self::is_submit(call) { self.read_back(cx, call, w) } else { Ok(()) }
    }

    /// What was copied at the very points.
    fn copied(&mut self, cx: &mut Executor, w: &World) -> Result<()> {
        if self.pending.iter().all(|p| p.copy.is_none()) {
            return Ok(());
        }
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        settle(vk)?;
        self.settled = true;
        let mut done = self.on.done.borrow_mut();
        for p in self.pending.iter().filter(|p| p.compare) {
            let Some((base, bytes, pass)) = p.copy else { continue };
            let Some(there) = self.copies.landings.bytes(base.landing, base.offset, bytes) else { continue };
            done.compared(vk, w, p, there, if pass { When::Pass } else { When::Invocation });
            for invocation in &p.who {
                let left = self.left.entry(*invocation).or_default();
                *left = left.saturating_sub(1);
                done.at_point += u64::from(*left == 0);
            }
        }
        Ok(())
    }

    /// A block's bytes, where those that are not known are the device's; none if it has no copy of them.
    pub fn filled(&self, pending: usize) -> Option<(Vec<u8>, Vec<Hole>)> {
        let p = self.pending.get(pending).filter(|_| self.settled)?;
        let (base, bytes, _) = p.copy?;
        let there = self.copies.landings.bytes(base.landing, base.offset, bytes)?;
        let (mut all, mut holes) = (p.expected.0.clone(), p.expected.1.clone());
        let mut filled = 0;
        for h in &mut holes {
            let (from, to) = (h.from as usize, h.to.min(bytes) as usize);
            if from < to {
                all[from..to].copy_from_slice(&there[from..to]);
                filled += to - from;
                h.from = to as u64;
            }
        }
        holes.retain(|h| h.from < h.to);
        self.on.done.borrow_mut().filled += filled as u64;
        Some((all, holes))
    }

    /// What has no copy, at an edge of the submit call.
    fn edge(&self, cx: &mut Executor, w: &World, here: impl Fn(&Pending) -> bool, when: When) -> Result<()> {
        let mut done = self.on.done.borrow_mut();
        let mut by_buffer: BTreeMap<u64, Vec<&Pending>> = BTreeMap::new();
        for p in self.pending.iter().filter(|p| p.compare && p.copy.is_none() && here(p)) {
            let stamp = || w.stamp_of(p.read.buffer, p.read.offset, p.read.bytes);
            let count = p.who.len() as u64;
            match p.in_call {
                false => done.later += count,
                true if when == When::Behind && stamp() != p.stamp => done.between += count,
                true => by_buffer.entry(p.read.buffer).or_default().push(p),
            }
        }
        let Some(vk) = cx.backend.vulkan().filter(|_| !by_buffer.is_empty()) else { return Ok(()) };
        settle(vk)?;
        for (buffer, all) in by_buffer {
            let len = |p: &&Pending| p.expected.0.len() as u64;
            let from = all.iter().map(|p| p.read.offset).min().unwrap_or(0);
            let to = all.iter().map(|p| p.read.offset + len(p)).max().unwrap_or(0);
            let at_once = match to - from <= AT_ONCE {
                true => Some(read_buffer(vk, buffer, from, to - from)?),
                false => None,
            };
            for p in all {
                let there = match &at_once {
                    Some(Ok(bytes)) => {
                        let begin = (p.read.offset - from) as usize;
                        Ok(bytes.get(begin..begin + p.expected.0.len()).unwrap_or(&[]).to_vec())
                    }
                    Some(Err(why)) => Err(why.clone()),
                    None => read_buffer(vk, buffer, p.read.offset, len(&p))?,
                };
                match there {
                    Ok(there) => done.compared(vk, w, p, &there, when),
                    Err(why) => {
                        done.unreadable.0 += p.who.len() as u64;
                        if done.unreadable.1.is_empty() {
                            done.unreadable.1 = why;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// What the call's shaders (and others that do not say what) wrote into uniform buffers is read, for what comes later.
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

    /// The replay has ended: what the capture's devices are left with goes before they do.
    pub fn finishes(&mut self, cx: &mut Executor) -> Result<()> {
        if let Some(vk) = cx.backend.vulkan() {
            settle(vk)?;
            self.again.destroy(None);
            self.copies.landings.destroy(None);
        }
        Ok(())
    }

    /// How many push constants and inline blocks there were.
    pub fn by_calls(&self, n: u64) {
        self.on.done.borrow_mut().by_calls = n;
    }
}

/// Everything submitted so far is done.
fn settle(vk: &mut Vulkan) -> Result<()> {
    vk.finish_present()?;
    vk.devices().try_for_each(|d| d.1.wait_idle())
}

impl Checked {
    fn compared(&mut self, vk: &Vulkan, w: &World, p: &Pending, there: &[u8], when: When) {
        let (followed, holes) = (&p.expected.0, &p.expected.1);
        let unknown: u64 = holes.iter().map(|h| h.to - h.from).sum();
        let count = p.who.len() as u64;
        self.blocks += count;
        match when {
            When::Invocation | When::Pass => self.blocks_at_point += count,
            When::Before => self.before += count,
            When::Behind => self.behind += count,
        }
        self.storage += if p.read.storage { count } else { 0 };
        self.bytes += (followed.len() as u64 - unknown) * count;
        self.unknown += unknown * count;
        let known = |i: usize| !holes.iter().any(|h| (h.from..h.to).contains(&(i as u64)));
        let first = match holes.is_empty() && followed == there {
            true => None,
            false => (0..followed.len()).find(|&i| {
                there.get(i) != Some(&followed[i]) && known(i) && !translated(vk, followed, there, i)
            }),
        };
        let Some(i) = first else { return };
        self.different += count;
        if self.differences.len() < KEPT {
            let byte = p.read.offset + i as u64;
            let place = w.buffers.get(&p.read.buffer).and_then(|b| b.bound);
            let last = place.and_then(|b| w.bytes.last_write(b.memory, b.offset + byte, p.time));
            self.differences.push(Difference {
                at: p.at,
                kind: p.kind,
                place: (p.read.set, p.read.binding, p.read.element),
                byte: (p.read.buffer, byte),
                when,
                bytes: (followed[i], there.get(i).copied().unwrap_or(0)),
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
