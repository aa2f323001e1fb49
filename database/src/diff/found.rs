//! What differs: frames, calls, commands, objects and written bytes that have no equal partner, before anybody looks into them.
//!
//! Frames are aligned by all that is in them and by their numbers; what follows the end of the last one is compared with its like, and no
//! frame. Within a pair of frames are aligned calls that record nothing, command by command, recordings in the order of their submission,
//! and within those single commands. Guarantees: equal parts are never looked into; what a recording differs in is found once, however
//! often it is submitted. Refuses nothing.

use super::align::{align, by_tiers, gaps};
use super::keys::{Matched, mix};
use super::programs::{Element, Programs, Role, role};
use super::rows::{Rows, Written};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// What kind of thing differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A frame as a whole.
    Frame,
    /// A command that the device runs.
    Command,
    /// A call that records nothing.
    Call,
    /// An object.
    Object,
    /// Bytes of a buffer or an image that the program writes.
    Contents,
}

/// Of which elements: calls by their place in the rows, objects by theirs, frames by number.
pub type Key = (Kind, Option<u64>, Option<u64>);

/// Of what only one side has.
fn alone(kind: Kind, side: usize, of: u64) -> Key {
    if side == 0 { (kind, Some(of), None) } else { (kind, None, Some(of)) }
}

/// Where something differs.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Frames of either side.
    pub frames: [BTreeSet<u64>; 2],
    /// How often on either side.
    pub times: [u64; 2],
    /// Of commands: the labels around it, and which of its name it is there.
    pub place: Option<(Rc<str>, u32)>,
    /// Of contents: what was written.
    pub writes: [Vec<Written>; 2],
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Commands as often as the device ran them.
    pub commands: [u64; 2],
    /// Frames.
    pub frames: [u64; 2],
    /// Objects.
    pub objects: [u64; 2],
    /// Calls that only a driver answers for, and which differ.
    pub answers: u64,
    /// The numbers of what follows the end of the last frame, where something does: these are no frames.
    pub tails: [Option<u64>; 2],
}

/// All that was found.
#[derive(Default)]
pub struct All {
    /// By what it is.
    pub found: BTreeMap<Key, Found>,
    /// How much was compared.
    pub counts: Counts,
    /// Pairs of frames with a difference in them.
    pub frames: BTreeSet<u64>,
    /// Something was too long to be aligned well.
    pub coarse: bool,
}

/// The commands that two recordings differ in: places in their elements.
type Edits = Rc<Vec<(Option<Element>, Option<Element>)>>;

/// Both captures.
pub struct Pair<'r> {
    /// Their rows.
    pub rows: [&'r Rows; 2],
    /// Their objects.
    pub matched: &'r Matched,
    programs: [Programs<'r>; 2],
    recordings: HashMap<(u64, u64), Edits>,
    /// Frames that have a partner.
    paired: [BTreeSet<u64>; 2],
    all: All,
}

/// Finds what differs in frames that are wanted.
pub fn find<'r>(rows: [&'r Rows; 2], matched: &'r Matched, wanted: &dyn Fn(u64) -> bool) -> All {
    let programs = [0, 1].map(|side| Programs::new(rows[side], &matched.ids[side]));
    let (recordings, paired) = (HashMap::new(), [BTreeSet::new(), BTreeSet::new()]);
    let mut pair = Pair { rows, matched, programs, recordings, paired, all: All::default() };
    pair.all.coarse = matched.coarse;
    pair.all.counts.tails = rows.map(|r| r.tail);
    pair.frames(wanted);
    pair.objects();
    pair.answers();
    pair.all
}

/// What was written to one object in a frame.
type Writes = BTreeMap<(u64, u64), Vec<Written>>;

impl Pair<'_> {
    fn writes(&self, side: usize, frame: u64) -> Writes {
        let mut all = Writes::new();
        let wrote = self.rows[side].frames.get(&frame).into_iter().flat_map(|f| &f.writes);
        for w in wrote.filter(|w| !w.object.is_some_and(|o| self.left_out(side, o))) {
            let id = w.object.map_or(0, |o| self.matched.ids[side][o as usize]);
            all.entry((id, w.aspect)).or_default().push(*w);
        }
        all
    }

    /// Keys of a frame: all that is in it with its number, without it; what the device runs, of what kinds it is; its number.
    fn keys(&mut self, side: usize, frame: u64) -> Vec<u64> {
        let mut calls: Vec<(u32, Vec<Element>)> = self.programs[side].calls(frame).into_iter().collect();
        calls.sort_by_key(|c| c.1.first().map(|e| e.kind));
        let (mut all, mut kinds, mut run) = (11, 13, 17);
        for e in calls.iter().flat_map(|c| &c.1) {
            all = mix(all, e.hash);
            kinds = mix(kinds, e.kind);
        }
        let submissions = self.rows[side].frames.get(&frame).map(|f| f.submissions.clone());
        for number in submissions.unwrap_or_default().into_iter().flatten() {
            run = mix(run, self.programs[side].recording_hash(number));
            kinds = mix(kinds, self.programs[side].recording(number).len() as u64);
        }
        for ((id, aspect), writes) in self.writes(side, frame) {
            all = mix(all, mix(id, aspect));
            all = writes.iter().fold(all, |h, w| mix(mix(h, w.offset), mix(w.bytes, w.hash)));
        }
        all = mix(all, run);
        vec![mix(all, frame), all, mix(run, frame), mix(kinds, frame), kinds, mix(19, frame), 1]
    }

    fn frames(&mut self, wanted: &dyn Fn(u64) -> bool) {
        let both = self.rows.iter().all(|r| r.begins_with_state());
        let numbers = [0, 1].map(|side| {
            let all = self.rows[side].frames.keys().copied();
            // (the state at the head of a trimmed capture has its like only in another trimmed one)
            let all = all.filter(|n| Some(*n) != self.rows[side].tail);
            all.filter(|n| (*n != 0 || both) && !self.is_empty(side, *n)).collect::<Vec<u64>>()
        });
        let keys = [0, 1].map(|side| {
            let of = numbers[side].clone();
            of.into_iter().map(|f| self.keys(side, f)).collect::<Vec<_>>()
        });
        let (pairs, coarse) = by_tiers(&keys[0], &keys[1]);
        self.all.coarse |= coarse;
        let tails = self.rows[0].tail.zip(self.rows[1].tail);
        let all = pairs.iter().map(|p| (numbers[0][p.0], numbers[1][p.1])).chain(tails);
        let (of_a, of_b): (BTreeSet<u64>, BTreeSet<u64>) = all.unzip();
        self.paired = [of_a, of_b];
        for &(i, j, tier) in &pairs {
            let (a, b) = (numbers[0][i], numbers[1][j]);
            if !wanted(a) {
                continue;
            }
            self.count(0, a);
            self.count(1, b);
            if tier > 1 {
                self.frame(a, b);
            }
        }
        // (a tail ends lives, as a rule, and what else it has is compared where both captures have one)
        if let Some((a, b)) = tails.filter(|t| wanted(t.0)) {
            self.count(0, a);
            self.count(1, b);
            self.frame(a, b);
        }
        let plain: Vec<(usize, usize)> = pairs.iter().map(|p| (p.0, p.1)).collect();
        for (of_a, of_b) in gaps(&plain, numbers[0].len(), numbers[1].len()) {
            let alone_a = of_a.map(|i| (0, numbers[0][i]));
            for (side, frame) in alone_a.chain(of_b.map(|j| (1, numbers[1][j]))) {
                if wanted(frame) {
                    self.count(side, frame);
                }
                if frame != 0 && wanted(frame) {
                    let times = self.commands_of(side, frame);
                    let found = self.all.found.entry(alone(Kind::Frame, side, frame)).or_default();
                    _ = found.frames[side].insert(frame);
                    found.times[side] = times;
                }
            }
        }
    }

    /// A frame is one that was looked at.
    fn count(&mut self, side: usize, frame: u64) {
        let is_one = frame != 0 && Some(frame) != self.rows[side].tail;
        self.all.counts.frames[side] += u64::from(is_one);
        self.all.counts.commands[side] += self.commands_of(side, frame);
    }

    /// Nothing in a frame is compared: it only ends lives, say.
    fn is_empty(&self, side: usize, frame: u64) -> bool {
        let f = self.rows[side].frames.get(&frame);
        f.is_none_or(|f| f.submissions.is_empty() && f.writes.is_empty())
            && self.programs[side].calls(frame).is_empty()
    }

    fn commands_of(&mut self, side: usize, frame: u64) -> u64 {
        let all = self.rows[side].frames.get(&frame).map(|f| f.submissions.clone()).unwrap_or_default();
        all.into_iter().flatten().map(|r| self.programs[side].recording(r).len() as u64).sum()
    }

    fn frame(&mut self, a: u64, b: u64) {
        let [mut of_a, mut of_b] = [self.programs[0].calls(a), self.programs[1].calls(b)];
        let name = |side: usize, n: u32| self.rows[side].names[n as usize].clone();
        let mut names: BTreeMap<String, [Vec<Element>; 2]> = BTreeMap::new();
        for (n, all) in of_a.drain() {
            names.entry(name(0, n)).or_default()[0] = all;
        }
        for (n, all) in of_b.drain() {
            names.entry(name(1, n)).or_default()[1] = all;
        }
        for [of_a, of_b] in names.into_values() {
            for (x, y) in self.edits(&of_a, &of_b).iter() {
                self.note(Kind::Call, x.as_ref(), y.as_ref(), (a, b));
            }
        }
        self.commands(a, b);
        let (of_a, mut of_b) = (self.writes(0, a), self.writes(1, b));
        for (key, wrote) in of_a {
            let there = of_b.remove(&key).unwrap_or_default();
            self.contents(wrote, there, (a, b));
        }
        of_b.into_values().for_each(|there| self.contents(vec![], there, (a, b)));
    }

    fn commands(&mut self, a: u64, b: u64) {
        let of = |rows: &Rows, frame: u64| -> Vec<u64> {
            rows.frames.get(&frame).map(|f| f.submissions.concat()).unwrap_or_default()
        };
        let [of_a, of_b] = [of(self.rows[0], a), of(self.rows[1], b)];
        let hashes = |p: &mut Programs<'_>, all: &[u64]| -> Vec<u64> {
            all.iter().map(|r| p.recording_hash(*r)).collect()
        };
        let (ka, kb) = (hashes(&mut self.programs[0], &of_a), hashes(&mut self.programs[1], &of_b));
        let aligned = align(&ka, &kb);
        self.all.coarse |= aligned.coarse;
        for (ra, rb) in gaps(&aligned.pairs, of_a.len(), of_b.len()) {
            let (ra, rb) = (&of_a[ra], &of_b[rb]);
            if ra.len() == rb.len() {
                for (x, y) in ra.iter().zip(rb) {
                    let edits = self.recordings(*x, *y);
                    edits.iter().for_each(|(x, y)| self.note(Kind::Command, x.as_ref(), y.as_ref(), (a, b)));
                }
                continue;
            }
            let all = |p: &mut Programs<'_>, of: &[u64]| -> Vec<Element> {
                of.iter().flat_map(|r| p.recording(*r).to_vec()).collect()
            };
            let (x, y) = (all(&mut self.programs[0], ra), all(&mut self.programs[1], rb));
            let edits = self.edits(&x, &y);
            edits.iter().for_each(|(x, y)| self.note(Kind::Command, x.as_ref(), y.as_ref(), (a, b)));
        }
    }

    fn recordings(&mut self, a: u64, b: u64) -> Edits {
        if let Some(there) = self.recordings.get(&(a, b)) {
            return Rc::clone(there);
        }
        let (x, y) = (self.programs[0].recording(a), self.programs[1].recording(b));
        let edits = self.edits(&x, &y);
        _ = self.recordings.insert((a, b), Rc::clone(&edits));
        edits
    }

    fn edits(&mut self, a: &[Element], b: &[Element]) -> Edits {
        let keys =
            |of: &[Element]| -> Vec<Vec<u64>> { of.iter().map(|e| vec![e.hash, e.place, e.kind]).collect() };
        let (pairs, coarse) = by_tiers(&keys(a), &keys(b));
        self.all.coarse |= coarse;
        let changed = pairs.iter().filter(|p| p.2 > 0);
        let mut all: Vec<_> = changed.map(|p| (Some(a[p.0].clone()), Some(b[p.1].clone()))).collect();
        let plain: Vec<(usize, usize)> = pairs.iter().map(|p| (p.0, p.1)).collect();
        for (of_a, of_b) in gaps(&plain, a.len(), b.len()) {
            all.extend(of_a.map(|i| (Some(a[i].clone()), None)));
            all.extend(of_b.map(|j| (None, Some(b[j].clone()))));
        }
        Rc::new(all)
    }

    fn note(&mut self, kind: Kind, a: Option<&Element>, b: Option<&Element>, frames: (u64, u64)) {
        let call = |e: Option<&Element>| e.map(|e| u64::from(e.call));
        let found = self.all.found.entry((kind, call(a), call(b))).or_default();
        _ = self.all.frames.insert(frames.0);
        if a.is_some() {
            _ = found.frames[0].insert(frames.0);
            found.times[0] += 1;
        }
        if b.is_some() {
            _ = found.frames[1].insert(frames.1);
            found.times[1] += 1;
        }
        if let (None, Some(e)) = (&found.place, a.or(b)) {
            found.place = Some((Rc::clone(&e.path), e.nth));
        }
    }

    fn contents(&mut self, a: Vec<Written>, b: Vec<Written>, frames: (u64, u64)) {
        let plain = |of: &[Written]| of.iter().map(|w| (w.offset, w.bytes, w.hash)).collect::<Vec<_>>();
        if plain(&a) == plain(&b) {
            return;
        }
        // (blocks of either side: what is written in each frame is a thing of its own)
        let first = |of: &[Written]| of.first().map(|w| w.block);
        let whole = |of: &[Written]| first(of).map(|n| mix(n, of.first().map_or(0, |w| w.offset)));
        let found = self.all.found.entry((Kind::Contents, whole(&a), whole(&b))).or_default();
        if !a.is_empty() {
            _ = found.frames[0].insert(frames.0);
            found.times[0] += 1;
        }
        if !b.is_empty() {
            _ = found.frames[1].insert(frames.1);
            found.times[1] += 1;
        }
        found.writes = [a, b];
    }

    fn objects(&mut self) {
        let is_told = |side: usize, i: u32| {
            let o = &self.rows[side].objects[i as usize];
            let made = self.rows[side].call_at(o.created_by).map(|c| &self.rows[side].calls[c]);
            let asked = made.is_none_or(|c| super::keys::is_answer(self.rows[side].name(c)));
            !asked && !super::keys::is_means(&o.ty)
        };
        for side in 0..2 {
            let all = 0..self.rows[side].objects.len() as u32;
            self.all.counts.objects[side] = all.filter(|i| is_told(side, *i)).count() as u64;
        }
        let made = |side: usize, i: u32| {
            let o = &self.rows[side].objects[i as usize];
            self.rows[side].call_at(o.created_by).map(|c| self.rows[side].calls[c])
        };
        for &(i, j) in &self.matched.pairs {
            if !is_told(0, i) || !is_told(1, j) {
                continue;
            }
            let (Some(a), Some(b)) = (made(0, i), made(1, j)) else { continue };
            let named = self.rows[0].objects[i as usize].name != self.rows[1].objects[j as usize].name;
            let differs = self.programs[0].hash(&a) != self.programs[1].hash(&b);
            if named || differs {
                let key = (Kind::Object, Some(u64::from(i)), Some(u64::from(j)));
                let found = self.all.found.entry(key).or_default();
                found.frames = [BTreeSet::from([a.frame]), BTreeSet::from([b.frame])];
                found.times = [1, 1];
            }
        }
        for side in 0..2 {
            let told = self.matched.alone[side].iter().copied();
            let told = told.filter(|i| is_told(side, *i) && !self.left_out(side, *i));
            for i in told.collect::<Vec<u32>>() {
                let found = self.all.found.entry(alone(Kind::Object, side, i.into())).or_default();
                found.times[side] = 1;
                found.frames[side].extend(made(side, i).map(|c| c.frame));
            }
        }
    }

    /// Only this side has the object, and the other begins with a state, which has only those objects of before that its frames use.
    fn left_out(&self, side: usize, object: u32) -> bool {
        let rows = self.rows[side];
        let states = self.rows.map(Rows::begins_with_state);
        let made = rows.call_at(rows.objects[object as usize].created_by).map(|c| rows.calls[c].frame);
        !states[side]
            && states[1 - side]
            && made.is_some_and(|frame| !self.paired[side].contains(&frame))
            && self.matched.alone[side].binary_search(&object).is_ok()
    }

    /// How many answers of a driver have no equal on the other side.
    fn answers(&mut self) {
        let mut all: HashMap<&str, HashMap<(u64, u64), [u64; 2]>> = HashMap::new();
        for side in 0..2 {
            for call in &self.rows[side].calls {
                let name = self.rows[side].name(call);
                if role(name) == Role::Answer {
                    all.entry(name).or_default().entry((call.given, call.answered)).or_default()[side] += 1;
                }
            }
        }
        for of in all.into_values() {
            let alone = |f: &dyn Fn(&[u64; 2]) -> u64| of.values().map(f).sum::<u64>();
            let a = alone(&|n| n[0].saturating_sub(n[1]));
            let b = alone(&|n| n[1].saturating_sub(n[0]));
            self.all.counts.answers += a.max(b);
        }
    }
}
