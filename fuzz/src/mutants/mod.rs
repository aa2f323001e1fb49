//! Mutants that are replayed: captures with one thing wrong, or a few, as a driver would get to see them.
//!
//! A mutant is a whole capture, so that what is wrong is met where it matters: behind an instance, a device and objects
//! that are there. [`mix`] says what is done and how often, [`process`] runs a program on it, and [`outcome`] says what
//! became of that.
//!
//! Guarantees: a seed, an index and the captures' files name a mutant for ever. Refuses nothing: a change that a capture
//! has no place for gives way to another of its class, and in the end to a changed number.

pub mod call;
pub mod meta;
pub mod mix;
pub mod outcome;
pub mod places;
pub mod process;
pub mod report;
pub mod run;
pub mod seed;
pub mod spirv;

use std::borrow::Cow;

use gfxr_parse::container::{BlockKind, Blocks, Scratch};
use gfxr_parse::decode::decode_call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;

use super::blocks::call_block;
use super::calls::{LONGEST, apply};
use super::fields::Fields;
use super::files::Files;
use super::rng::Rng;
use call::{Call, one};
use mix::{CLASSES, Class, WAYS, Way};
use seed::Seed;

/// How often a change is tried elsewhere before another class takes its place.
const TRIES: usize = 30;

/// Only so many of a capture's first frames are looped: what is before them takes its time.
const FIRST: usize = 4;

/// A capture with something wrong.
pub struct Mutant {
    /// Its number.
    pub index: u64,
    /// The capture it was made of: its place in the list of seeds.
    pub seed: usize,
    /// What was done, in one word.
    pub class: Class,
    /// The same in detail, block by block.
    pub changes: Vec<String>,
    /// The command that was changed first, or the metadata block.
    pub command: String,
    /// How it is replayed.
    pub way: Way,
    /// The frame that is looped, if one is.
    pub frame: u64,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Makes mutants; holds memory that is used again.
#[derive(Default)]
pub struct Maker {
    files: Files,
    scratch: Scratch,
    image: Image,
}

/// A capture's blocks while they are changed: each with its number in the seed.
type List<'s> = Vec<(usize, Cow<'s, [u8]>)>;

impl Maker {
    /// Mutant number `index`.
    pub fn make(&mut self, seeds: &[Seed], seed: u64, index: u64) -> Mutant {
        let mut rng = Rng::new(seed ^ 0x6D75_7461_6E74_0000, index);
        let rng = &mut rng;
        let weights: Vec<u32> = seeds.iter().map(|s| s.weight).collect();
        let which = weighted(&weights, rng);
        let from = &seeds[which];
        let class = CLASSES[weighted(&CLASSES.map(|c| c.1), rng)].0;
        let way = WAYS[weighted(&WAYS.map(|w| w.1), rng)].0;
        let frame = one(&from.frames[..from.frames.len().min(FIRST)], rng).copied().unwrap_or(1);
        let mut mutant = Mutant {
            index,
            seed: which,
            class,
            changes: vec![],
            command: String::new(),
            way,
            frame,
            bytes: vec![],
        };
        let mut header = from.bytes[..from.header].to_vec();
        let mut list: List = (0..from.blocks.len()).map(|i| (i, Cow::Borrowed(from.block(i)))).collect();
        let times = if class == Class::Several { 2 + rng.below(3) } else { 1 };
        for _ in 0..times {
            let class = match class {
                Class::Several => CLASSES[weighted(&CLASSES.map(|c| c.1), rng)].0,
                class => class,
            };
            self.change(class, from, &mut header, &mut list, &mut mutant, rng);
        }
        mutant.bytes = header;
        list.iter().for_each(|b| mutant.bytes.extend_from_slice(&b.1));
        if class == Class::Cut {
            let end = from.header + rng.below(mutant.bytes.len() - from.header);
            mutant.bytes.truncate(end);
            mutant.changes.push(format!("ends after {end} bytes"));
        }
        mutant
    }

    fn change(
        &mut self,
        class: Class,
        from: &Seed,
        header: &mut [u8],
        list: &mut List,
        mutant: &mut Mutant,
        rng: &mut Rng,
    ) {
        let changed = match class {
            Class::Cut => return,
            Class::Order => order(list, rng),
            Class::Bytes => bytes(header, list, rng),
            Class::Meta => metas(from, list, rng),
            Class::Spirv => (0..TRIES).find_map(|_| {
                let &i = one(&from.shaders, rng)?;
                self.call(class, from, i, list, rng)
            }),
            Class::Several => (0..TRIES).find_map(|_| self.any_call(Class::Null, from, list, rng)),
            class => (0..TRIES).find_map(|_| self.any_call(class, from, list, rng)),
        };
        let changed =
            changed.or_else(|| (0..TRIES).find_map(|_| self.any_call(Class::Value, from, list, rng)));
        if let Some((command, text)) = changed {
            if mutant.command.is_empty() {
                mutant.command = command;
            }
            mutant.changes.push(text);
        }
    }

    /// Changes a call: half the time of any command, so that rare ones are met, else any call.
    fn any_call(
        &mut self,
        class: Class,
        from: &Seed,
        list: &mut List,
        rng: &mut Rng,
    ) -> Option<(String, String)> {
        let &i = if rng.chance(2, 3) {
            one(&one(&from.calls, rng)?.1, rng)?
        } else {
            let n = from.calls.iter().map(|c| c.1.len()).sum();
            let which = rng.below(n);
            from.calls.iter().flat_map(|c| &c.1).nth(which)?
        };
        self.call(class, from, i, list, rng)
    }

    fn call(
        &mut self,
        class: Class,
        from: &Seed,
        i: usize,
        list: &mut List,
        rng: &mut Rng,
    ) -> Option<(String, String)> {
        let at = list.iter().position(|b| b.0 == i)?;
        let parsed = Blocks::new(&list[at].1, 0, from.codec).next()?;
        let compressed = parsed.is_compressed();
        let BlockKind::Call(call) = parsed.kind().ok()? else { return None };
        let def = command(call.call_id)?;
        let params = call.payload.bytes(&mut self.scratch).ok()?;
        if params.len() > LONGEST * 16 || decode_call(def, params, &mut self.image).is_err() {
            return None;
        }
        let fields = Fields::of_call(&self.image);
        let (edits, text) = match class {
            Class::Spirv => spirv::change(params, &fields, rng)?,
            class => Call { params, fields: &fields, seed: from }.change(class, rng)?,
        };
        let mut block = vec![];
        call_block(call.call_id, &apply(params, edits), &mut block);
        if compressed {
            block = self.files.recompressed(&block, from.codec);
        }
        list[at].1 = Cow::Owned(block);
        Some((def.name.to_string(), format!("block {i}, {}: {text}", def.name)))
    }
}

/// One of several, by weight.
fn weighted(weights: &[u32], rng: &mut Rng) -> usize {
    let mut left = rng.below(weights.iter().sum::<u32>() as usize) as u32;
    for (i, &w) in weights.iter().enumerate() {
        if left < w {
            return i;
        }
        left -= w;
    }
    0
}

/// What a block is, in words.
fn name(block: &[u8]) -> String {
    let Some(parsed) = Blocks::new(block, 0, Default::default()).next() else {
        return "no block".to_string();
    };
    match (parsed.call_id().and_then(command), parsed.meta_type()) {
        (Some(c), _) => c.name.to_string(),
        (_, Some(ty)) => gfxr_parse::meta::name(ty).unwrap_or("metadata").to_string(),
        _ => format!("a block of type {}", parsed.base_type()),
    }
}

fn order(list: &mut List, rng: &mut Rng) -> Option<(String, String)> {
    let (i, j) = (rng.below(list.len()), rng.below(list.len()));
    let (n, block) = list.get(i)?.clone();
    let name = name(&block);
    let to = list[j].0;
    let text = match rng.below(5) {
        0 | 1 => {
            list.remove(i);
            format!("block {n}, {name}: dropped")
        }
        2 => {
            // At once, and later: what was made is made again, what was destroyed is destroyed again.
            let j = if rng.chance(1, 2) { i + 1 } else { j };
            list.insert(j, (n, block));
            format!("block {n}, {name}: once more as block {j}")
        }
        3 => {
            let piece = list.remove(i);
            list.insert(j.min(list.len()), piece);
            format!("block {n}, {name}: moved to {to}")
        }
        _ => {
            list.swap(i, j);
            format!("block {n}, {name}: swapped with {to}")
        }
    };
    Some((name, text))
}

fn bytes(header: &mut [u8], list: &mut List, rng: &mut Rng) -> Option<(String, String)> {
    if rng.chance(1, 20) {
        let at = rng.below(header.len());
        header[at] ^= 1 << rng.below(8);
        return Some(("file header".to_string(), format!("byte {at} of the file header has another bit")));
    }
    let i = rng.below(list.len());
    let (n, block) = list.get_mut(i)?;
    let name = name(block);
    let block = block.to_mut();
    let head = rng.chance(1, 3);
    let times = 1 + rng.below(4);
    for _ in 0..times {
        let at = rng.below(if head { block.len().min(40) } else { block.len() });
        block[at] = if rng.chance(1, 2) { block[at] ^ 1 << rng.below(8) } else { rng.u64() as u8 };
    }
    let text =
        format!("block {n}, {name}: {times} bytes changed{}", if head { " near its head" } else { "" });
    Some((name, text))
}

fn metas(from: &Seed, list: &mut List, rng: &mut Rng) -> Option<(String, String)> {
    if rng.chance(1, 10) {
        let (block, text) = meta::made_up(rng);
        let at = rng.below(list.len());
        let name = name(&block);
        list.insert(at, (usize::MAX, Cow::Owned(block)));
        return Some((name.clone(), format!("before block {at}, {name}: {text}")));
    }
    (0..TRIES).find_map(|_| {
        let &i = one(&one(&from.metas, rng)?.1, rng)?;
        let at = list.iter().position(|b| b.0 == i)?;
        let (block, text) = meta::change(&list[at].1, from, rng)?;
        let name = name(&block);
        list[at].1 = Cow::Owned(block);
        Some((name, format!("block {i}, {text}")))
    })
}
