//! What each member of each block was, over the draws that there were.

use crate::bindings::resources::{Lanes, Model, NOTHING};
use crate::rays::events::Fast;
use std::collections::HashMap;
use std::sync::Arc;

/// How often a member changes: over the longest stretch in which it has one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rate {
    /// No shader reads it (in reports: its values are measured all the same).
    Unused,
    /// One value wherever the same block is declared.
    Capture,
    /// One value for this pipeline, and others for others.
    Pipeline,
    /// One value in each frame.
    Frame,
    /// One value in each pass; outside of passes, in each submission.
    Pass,
    /// It changes within a pass.
    Invocation,
    /// Bytes of it are not known at some draw.
    Unknown,
}

impl Rate {
    /// As reports say it.
    pub fn words(self) -> &'static str {
        match self {
            Rate::Unused => "unused",
            Rate::Capture => "constant over the capture",
            Rate::Pipeline => "constant over the pipeline",
            Rate::Frame => "constant over a frame",
            Rate::Pass => "constant over a pass",
            Rate::Invocation => "changes",
            Rate::Unknown => "not known",
        }
    }
}

/// All of them.
pub const RATES: [Rate; 7] =
    [Rate::Unused, Rate::Capture, Rate::Pipeline, Rate::Frame, Rate::Pass, Rate::Invocation, Rate::Unknown];

/// A member of a pipeline's block, measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The pipeline's index.
    pub pipeline: u32,
    /// The member's index there.
    pub member: usize,
    /// Equal for members of the same name, type and place in blocks of the same name.
    pub group: u32,
    /// Whether a shader reads it.
    pub used: bool,
    /// Without padding.
    pub bytes: u64,
    /// How often a block that has it was there: by draw and array element.
    pub executions: u64,
    /// Of these, where bytes of it are not known.
    pub unknown: u64,
    /// Where all its bytes are 0.
    pub zeros: u64,
    /// Pairs of consecutive draws where it is known.
    pub pairs: u64,
    /// Of these, where it changed.
    pub changes: u64,
    /// Frames.
    pub frames: u64,
    /// How often it had each value, most first: contents that have it, and how often.
    pub values: Vec<(u32, u64)>,
    /// See [`Rate`].
    pub rate: Rate,
}

/// A block as a pipeline declares it.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The pipeline's index.
    pub pipeline: u32,
    /// Whether push constants.
    pub push: bool,
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// Indices in [`Members::all`].
    pub members: Vec<usize>,
    /// Bytes that shaders read, as ranges, without padding.
    pub used: Vec<(u64, u64)>,
    /// Bytes of the block.
    pub bytes: u64,
}

impl Layout {
    /// How many bytes shaders read.
    pub fn used_bytes(&self) -> u64 {
        self.used.iter().map(|(a, b)| b - a).sum()
    }
}

/// All members.
#[derive(Default)]
pub struct Members {
    /// By pipeline, block and offset.
    pub all: Vec<Measured>,
    /// Where each lies.
    pub lanes: Vec<Lanes>,
    /// By pipeline, set and binding.
    pub layouts: Vec<Layout>,
    /// The layout of each row of [`Model::blocks`], or [`NOTHING`].
    pub layout_of: Vec<u32>,
}

/// What a value was in the stretch that runs.
#[derive(Clone, Copy)]
struct Stretch {
    of: u64,
    value: u32,
    varied: bool,
    seen: bool,
}

const FRESH: Stretch = Stretch { of: 0, value: 0, varied: false, seen: false };

impl Stretch {
    /// Whether this stretch has one value so far; `varied` stays once any had more.
    fn take(&mut self, of: u64, value: u32) {
        if self.seen && self.of == of {
            self.varied |= self.value != value;
        } else {
            (self.of, self.value, self.seen) = (of, value, true);
        }
    }
}

#[derive(Clone)]
struct State {
    counts: HashMap<u32, u64, Fast>,
    frame: Stretch,
    pass: Stretch,
    last: Option<(u32, u32, u32)>,
}

/// The values of a group: the words' hash, contents that have them, and their number.
#[derive(Default)]
struct Values {
    by_hash: HashMap<u64, Vec<(u32, u32)>, Fast>,
    /// Contents by number.
    first: Vec<u32>,
    zero: Vec<bool>,
}

impl Values {
    /// The number of what a member is in these contents; [`NOTHING`] if it is not known.
    fn number(&mut self, model: &Model, lanes: &Lanes, contents: u32) -> u32 {
        let (mut hash, mut any) = (0u64, 0);
        let known = lanes.read(&model.words, contents, |w| {
            hash = (hash.rotate_left(23) ^ u64::from(w)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            any |= w;
        });
        if !known || contents == NOTHING {
            return NOTHING;
        }
        let like = self.by_hash.entry(hash).or_default();
        let same = |other: u32| {
            lanes.words.iter().all(|(offset, mask)| {
                let [a, b] = [contents, other].map(|c| model.words.word(c, *offset).map(|w| w & mask));
                a == b
            })
        };
        if let Some((_, number)) = like.iter().find(|(other, _)| same(*other)) {
            return *number;
        }
        let number = self.first.len() as u32;
        like.push((contents, number));
        self.first.push(contents);
        self.zero.push(any == 0);
        number
    }
}

impl Members {
    /// Measures all.
    pub fn of(model: &Model) -> Members {
        let mut m = Members::default();
        let groups = m.declare(model);
        let mut values: Vec<Values> = (0..groups).map(|_| Values::default()).collect();
        let fresh = State { counts: HashMap::default(), frame: FRESH, pass: FRESH, last: None };
        let mut states = vec![fresh; m.all.len()];
        let by_place: HashMap<(u32, bool, u32, u32), u32> =
            (0..).zip(&m.layouts).map(|(n, l)| ((l.pipeline, l.push, l.set, l.binding), n)).collect();
        // (what members are in contents that were met already)
        let mut known: HashMap<(u32, u32), Box<[u32]>, Fast> = HashMap::default();
        let mut frame_of: Vec<u64> = vec![u64::MAX; m.all.len()];
        m.layout_of = vec![NOTHING; model.blocks.len()];
        for (row, b) in model.blocks.iter().enumerate() {
            let i = &model.invocations[b.invocation as usize];
            let Some(&layout) = by_place.get(&(i.pipeline, b.push, b.set, b.binding)) else { continue };
            m.layout_of[row] = layout;
            let members = &m.layouts[layout as usize].members;
            let numbers = known.entry((layout, b.contents)).or_insert_with(|| {
                let of = |n: &usize| values[m.all[*n].group as usize].number(model, &m.lanes[*n], b.contents);
                members.iter().map(of).collect()
            });
            // (passes count from 1; what runs outside of one is told apart by its submission)
            let pass = if i.pass != 0 { i.pass } else { i.submission | 1 << 63 };
            for (&n, &value) in members.iter().zip(numbers.iter()) {
                let (one, state) = (&mut m.all[n], &mut states[n]);
                one.executions += 1;
                if frame_of[n] != i.frame {
                    frame_of[n] = i.frame;
                    one.frames += 1;
                }
                if value == NOTHING {
                    one.unknown += 1;
                    state.last = None;
                    continue;
                }
                one.zeros += u64::from(values[one.group as usize].zero[value as usize]);
                *state.counts.entry(value).or_default() += 1;
                state.frame.take(i.frame, value);
                state.pass.take(pass, value);
                if let Some((before, element, was)) = state.last {
                    let follows = before + 1 == b.invocation && model.consecutive(before as usize);
                    if follows && element == b.element {
                        one.pairs += 1;
                        one.changes += u64::from(was != value);
                    }
                }
                state.last = Some((b.invocation, b.element, value));
            }
        }
        m.judge(&states, &values, groups);
        m
    }

    /// Lists layouts and members; says how many groups there are.
    fn declare(&mut self, model: &Model) -> usize {
        type Key = (bool, Arc<str>, Arc<str>, Arc<str>, u64, u64);
        let mut groups: HashMap<Key, u32> = HashMap::new();
        let used = model.used();
        for (n, p) in model.pipelines.iter().enumerate().filter(|p| used[p.0]) {
            let numbered: Vec<_> = p.members.iter().enumerate().collect();
            let place = |m: &crate::bindings::resources::Member| (m.push, m.set, m.binding);
            for of in numbered.chunk_by(|a, b| place(a.1) == place(b.1)) {
                let first = of[0].1;
                let slot = p.slot(first.set, first.binding).filter(|_| !first.push).map(|s| &p.slots[s]);
                let name: Arc<str> = slot.map_or_else(|| "".into(), |s| s.name.clone());
                let mut ranges: Vec<(u64, u64)> = vec![];
                let mut members = vec![];
                for (member, m) in of {
                    let key = (m.push, name.clone(), m.name.clone(), m.kind.clone(), m.offset, m.bytes);
                    let next = groups.len() as u32;
                    let lanes = Lanes::of(m);
                    if !m.used.is_empty() {
                        let words = lanes.words.iter().map(|w| u64::from(w.0));
                        ranges.extend(words.map(|w| (w, w + 4)));
                    }
                    members.push(self.all.len());
                    self.all.push(Measured {
                        pipeline: n as u32,
                        member: *member,
                        group: *groups.entry(key).or_insert(next),
                        used: !m.used.is_empty(),
                        bytes: lanes.bytes(),
                        executions: 0,
                        unknown: 0,
                        zeros: 0,
                        pairs: 0,
                        changes: 0,
                        frames: 0,
                        values: vec![],
                        rate: Rate::Unused,
                    });
                    self.lanes.push(lanes);
                }
                let end = of.iter().map(|(_, m)| m.offset + m.bytes).max().unwrap_or(0);
                let declared = slot.map_or(p.push_bytes, |s| s.block_bytes);
                self.layouts.push(Layout {
                    pipeline: n as u32,
                    push: first.push,
                    set: first.set,
                    binding: first.binding,
                    members,
                    used: merged(ranges),
                    bytes: declared.max(end),
                });
            }
        }
        groups.len()
    }

    fn judge(&mut self, states: &[State], values: &[Values], groups: usize) {
        // (of a group: its value, as long as there is one in all pipelines)
        let mut one: Vec<Option<Option<u32>>> = vec![None; groups];
        for (m, s) in self.all.iter().zip(states) {
            for value in s.counts.keys() {
                let one = &mut one[m.group as usize];
                *one = Some(one.map_or(Some(*value), |known| known.filter(|k| k == value)));
            }
        }
        for (m, s) in self.all.iter_mut().zip(states) {
            let first = |value: u32| values[m.group as usize].first[value as usize];
            m.values = s.counts.iter().map(|(value, n)| (first(*value), *n)).collect();
            m.values.sort_by_key(|(contents, n)| (std::cmp::Reverse(*n), *contents));
        }
        // (what one pipeline reads unknown bytes of is not said to be constant for another)
        let mut unknown = vec![false; groups];
        self.all.iter().for_each(|m| unknown[m.group as usize] |= m.unknown != 0);
        for (m, s) in self.all.iter_mut().zip(states) {
            m.rate = if m.unknown != 0 {
                Rate::Unknown
            } else if m.values.len() <= 1 {
                let all = matches!(one[m.group as usize], Some(Some(_))) && !unknown[m.group as usize];
                if all { Rate::Capture } else { Rate::Pipeline }
            } else if !s.frame.varied {
                Rate::Frame
            } else if !s.pass.varied {
                Rate::Pass
            } else {
                Rate::Invocation
            };
        }
    }
}

/// Ranges that touch become one.
pub fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut all: Vec<(u64, u64)> = vec![];
    for (begin, end) in ranges {
        match all.last_mut() {
            Some(last) if last.1 >= begin => last.1 = last.1.max(end),
            _ => all.push((begin, end)),
        }
    }
    all
}
