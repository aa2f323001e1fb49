//! What differs between two captures of one program: what was added, removed and changed.
//!
//! ```text
//! two databases -> rows -> objects aligned -> frames, calls, commands aligned -> members of what differs -> report
//! ```
//!
//! Both captures' rows are aligned: objects by name, by what they are made of, by their order; frames by what is in them; in a pair of
//! frames calls, recordings and commands, each by a longest common subsequence of hashes. Only what has no equal partner is read
//! from the captures again, and compared member by member. Guarantees: ids, addresses, pointers and what a driver answers are no changes;
//! captures that do the same have none, and a capture has none against itself. The same captures give the same report. Refuses nothing of its
//! own; where something is too long to be aligned well, the report says so.

mod align;
mod bytes;
mod change;
mod clears;
mod describe;
mod found;
mod ids;
mod keys;
mod programs;
pub mod report;
mod rows;
mod uniforms;

pub use change::{Change, Member, Side, What};
pub use found::{Counts, Kind};

use crate::error::Error;
use crate::query::Database;
use describe::{Describer, wanted};
use found::find;
use keys::Matched;
use rows::Rows;
use rusqlite::params;
use std::collections::HashMap;

/// Changes that are described, at most; all are counted.
pub const MOST: usize = 100_000;
/// Objects of which it is asked what they reach, at most.
const ASKED: usize = 1000;

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What the captures are called.
    pub names: [String; 2],
    /// How much was compared.
    pub counts: Counts,
    /// What differs.
    pub changes: Vec<Change>,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

impl Difference {
    /// Nothing differs.
    pub fn is_equal(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Finds what differs in frames that are `wanted`; `text` makes text of SPIR-V.
pub fn difference(
    a: &Side<'_>,
    b: &Side<'_>,
    wanted_frames: &dyn Fn(u64) -> bool,
    text: &dyn Fn(&[u8]) -> Option<String>,
) -> Result<Difference, Error> {
    let rows = [Rows::read(a.db)?, Rows::read(b.db)?];
    let of = [&rows[0], &rows[1]];
    let matched = Matched::of(of[0], of[1]);
    let all = find(of, &matched, wanted_frames);
    let there = || of.iter().flat_map(|r| r.frames.keys().copied().filter(|n| Some(*n) != r.tail));
    if let Some(last) = there().max().filter(|_| !there().any(wanted_frames)) {
        return Err(Error::new(format!("neither capture has such a frame; the last is frame {last}")));
    }
    let mut notes = vec![];
    if all.coarse {
        notes.push("A sequence was too long to be aligned well: more may be named than was changed.".into());
    }
    let states = of.map(Rows::begins_with_state);
    if states[0] != states[1] {
        let (with, without) = if states[0] { (a, b) } else { (b, a) };
        let text = "begins with a state in the middle of the program";
        notes.push(format!(
            "{} {text}, {} does not: calls of that state are not compared; objects are, but for those that only {} has \
             and makes outside of frames that both have.",
            with.name, without.name, without.name
        ));
    }
    let blocks = wanted(of, &all);
    let describer = Describer::new([a, b], of, &matched, &blocks, states[0] != states[1], text);
    let mut changes: Vec<Change> = vec![];
    // What is the same change in another frame, or in another recording.
    let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut left_out = 0u64;
    for (key, found) in &all.found {
        // (were it a million, nobody would read them)
        if changes.len() == MOST {
            left_out += 1;
            continue;
        }
        let Some(mut change) = describer.change(key, found) else { continue };
        if change.kind == Kind::Object {
            let asked = changes.len() < ASKED && change.what == What::Changed;
            change.reaches = key.1.filter(|_| asked).and_then(|o| reaches(a.db, of[0], o));
        }
        let same = known.entry(fingerprint(&change)).or_default();
        let twin = same.iter().find(|i| is_same(&changes[**i], &change));
        match twin {
            Some(i) => join(&mut changes[*i], &change),
            None => {
                same.push(changes.len());
                changes.push(change);
            }
        }
    }
    if left_out > 0 {
        notes.push(format!("{left_out} changes beyond the first {MOST} are left out."));
    }
    let order = |c: &Change| match c.kind {
        Kind::Frame => 0,
        Kind::Command => 1,
        Kind::Call => 2,
        Kind::Object => 3,
        Kind::Contents => 4,
    };
    let first = |c: &Change| c.blocks[0].or(c.blocks[1]);
    let frame = |c: &Change| c.frames[0].first().or(c.frames[1].first()).copied();
    changes.sort_by_key(|c| (order(c), frame(c), first(c), c.subject.clone()));
    Ok(Difference { names: [a.name.clone(), b.name.clone()], counts: all.counts, changes, notes })
}

fn fingerprint(c: &Change) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut h = DefaultHasher::new();
    (c.what, c.kind, &c.subject, &c.place, &c.members).hash(&mut h);
    h.finish()
}

fn is_same(x: &Change, y: &Change) -> bool {
    // (objects are each their own, whatever they are called)
    x.kind != Kind::Object
        && (x.what, x.kind, &x.subject, &x.place, &x.members)
            == (y.what, y.kind, &y.subject, &y.place, &y.members)
}

fn join(to: &mut Change, of: &Change) {
    for side in 0..2 {
        to.frames[side].extend(&of.frames[side]);
        let (mine, its) = (to.times[side] as f64, of.times[side] as f64);
        if let (Some(x), Some(y)) = (to.time_ns[side], of.time_ns[side]) {
            to.time_ns[side] = Some((x * mine + y * its) / (mine + its).max(1.0));
        }
        to.times[side] += of.times[side];
    }
}

/// How many draws, dispatches and traces have an object bound: pipelines by themselves, shaders through their pipelines, resources
/// through descriptors and as vertex, index or attachment.
fn reaches(db: &Database, rows: &Rows, object: u64) -> Option<u64> {
    let o = &rows.objects[object as usize];
    let sql = match o.ty.as_str() {
        "VkPipeline" => "SELECT count(*) FROM draws WHERE pipeline = ?1",
        "VkShaderModule" => {
            "SELECT count(*) FROM draws WHERE pipeline IN (SELECT o.handle FROM call_objects c \
             JOIN objects o ON o.created_by = c.call WHERE c.handle = ?1 AND c.made = 0 AND o.type = 'VkPipeline')"
        }
        "VkBuffer" | "VkImage" => "SELECT count(DISTINCT draw_id) FROM resource_uses WHERE handle = ?1",
        "VkDescriptorSet" => "SELECT count(DISTINCT draw_id) FROM draw_sets WHERE handle = ?1",
        "VkSampler" => "SELECT count(DISTINCT draw_id) FROM bound_descriptors WHERE sampler = ?1",
        _ => return None,
    };
    // (without bindings there are no such tables)
    let found = db.connection().query_row(sql, params![o.handle.cast_signed()], |row| row.get::<_, i64>(0));
    found.ok().map(i64::cast_unsigned)
}
