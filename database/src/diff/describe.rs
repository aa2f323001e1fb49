//! What differs, member by member, in words.
//!
//! Guarantees: ids of objects are compared by what they name, never as numbers. What turns out to be equal when it is looked into
//! (as bytes that are written in other portions) is no change. Refuses nothing: a call that cannot be read again is said to differ.

use super::bytes::{self, Run};
use super::change::{Change, Member, Side, What};
use super::clears::Clears;
use super::found::{All, Found, Key, Kind};
use super::keys::Matched;
use super::rows::{Object, Rows};
use super::uniforms::Uniforms;
use gfxr_parse::blocks::Blocks;
use gfxr_parse::leaves::Leaf;
use std::collections::{BTreeSet, HashMap};

/// Ranges of bytes that are members of a change, at most; all are counted.
const RANGES: usize = 8;

/// Describes single differences.
pub struct Describer<'d> {
    /// The rows of both captures.
    pub rows: [&'d Rows; 2],
    /// Their objects.
    pub matched: &'d Matched,
    /// What is read again of them.
    pub blocks: [Blocks<'d>; 2],
    /// Names of members of uniform blocks.
    pub uniforms: Uniforms<'d>,
    /// One of the captures begins with a state, and the other does not.
    pub of_state: bool,
    /// What passes clear.
    pub clears: [Clears; 2],
    /// SPIR-V as text.
    pub text: &'d dyn Fn(&[u8]) -> Option<String>,
}

/// The blocks that describing needs.
pub fn wanted(rows: [&Rows; 2], all: &All) -> [BTreeSet<u64>; 2] {
    let mut wanted = [BTreeSet::new(), BTreeSet::new()];
    for (key, found) in &all.found {
        for side in 0..2 {
            let of = if side == 0 { key.1 } else { key.2 };
            let block = match (key.0, of) {
                (Kind::Command | Kind::Call, Some(call)) => Some(rows[side].calls[call as usize].block),
                (Kind::Object, Some(o)) => Some(rows[side].objects[o as usize].created_by),
                _ => None,
            };
            wanted[side].extend(block);
            wanted[side].extend(found.writes[side].iter().map(|w| w.block));
        }
    }
    wanted
}

impl<'d> Describer<'d> {
    /// For both sides.
    pub fn new(
        sides: [&Side<'d>; 2],
        rows: [&'d Rows; 2],
        matched: &'d Matched,
        wanted: &[BTreeSet<u64>; 2],
        of_state: bool,
        text: &'d dyn Fn(&[u8]) -> Option<String>,
    ) -> Self {
        let blocks = [0, 1].map(|i| Blocks::of(sides[i].capture, &wanted[i]));
        let clears = sides.map(|s| Clears::of(s.db));
        Describer { rows, matched, blocks, uniforms: Uniforms::new(sides[0].db), clears, of_state, text }
    }

    /// One of them; none where it is no change.
    pub fn change(&self, key: &Key, found: &Found) -> Option<Change> {
        let (kind, a, b) = *key;
        let what = match (a, b) {
            (Some(_), Some(_)) => What::Changed,
            (None, _) => What::Added,
            (_, None) => What::Removed,
        };
        let mut change = Change {
            what,
            kind,
            subject: String::new(),
            place: String::new(),
            members: vec![],
            shader: None,
            frames: found.frames.clone(),
            times: found.times,
            blocks: [None, None],
            time_ns: [None, None],
            reaches: None,
        };
        match kind {
            Kind::Frame => change.subject = "frame".into(),
            Kind::Command | Kind::Call => self.call(&mut change, a, b, found)?,
            Kind::Object => self.object(&mut change, a, b)?,
            Kind::Contents => self.contents(&mut change, found)?,
        }
        Some(change)
    }

    fn call(&self, change: &mut Change, a: Option<u64>, b: Option<u64>, found: &Found) -> Option<()> {
        let of = |side: usize, i: Option<u64>| i.map(|i| self.rows[side].calls[i as usize]);
        let (a, b) = (of(0, a), of(1, b));
        change.blocks = [a.map(|c| c.block), b.map(|c| c.block)];
        change.time_ns =
            [0, 1].map(|side| self.rows[side].times.get(&change.blocks[side].unwrap_or(u64::MAX)).copied());
        let (side, call) = match (a, b) {
            (Some(a), _) => (0, a),
            (None, b) => (1, b?),
        };
        let rows = self.rows[side];
        let name = rows.name(&call);
        change.subject = name.to_owned();
        if let Some((path, nth)) = found.place.as_ref().filter(|_| change.kind == Kind::Command) {
            change.subject = format!("{name} {nth}");
            change.place = path.to_string();
        } else {
            let of = rows.about(&call);
            change.place = of.map(|o| rows.called(o)).unwrap_or_default();
        }
        if let (Some(a), Some(b)) = (a, b) {
            let read = [self.blocks[0].leaves(a.block), self.blocks[1].leaves(b.block)];
            change.members = self.differing(&read, [a.block, b.block]);
            if read.iter().any(Vec::is_empty) {
                // (a call that cannot be read again is said to differ)
                change.members.push(Member::new("arguments", "", ""));
            }
            let rubbish = |m: &Member| {
                (0..2).all(|s| self.clears[s].is_rubbish(change.blocks[s].unwrap_or(0), &m.path, &read[s]))
            };
            change.members.retain(|m| !rubbish(m));
            if change.members.is_empty() {
                return None;
            }
        } else if change.place.is_empty() {
            change.place = rows.about(&call).map(|o| rows.called(o)).unwrap_or_default();
        }
        Some(())
    }

    fn object(&self, change: &mut Change, a: Option<u64>, b: Option<u64>) -> Option<()> {
        let of = |side: usize, i: Option<u64>| i.map(|i| &self.rows[side].objects[i as usize]);
        let (x, y) = (of(0, a), of(1, b));
        change.blocks = [x.map(|o| o.created_by), y.map(|o| o.created_by)];
        change.subject = match (a, b) {
            (Some(a), _) => self.rows[0].called(a as u32),
            (None, b) => self.rows[1].called(b? as u32),
        };
        if let (Some(x), Some(y)) = (x, y) {
            // (the state at the head of a trimmed capture may have no names)
            let lost = self.of_state && (x.name.is_none() || y.name.is_none());
            if x.name != y.name && !lost {
                let name = |o: &Object| o.name.as_ref().map_or_else(|| "none".into(), |n| format!("{n:?}"));
                change.members.push(Member::new("name", &name(x), &name(y)));
            }
            let blocks = [x.created_by, y.created_by];
            change.members.extend(self.members(blocks, Some([x.index, y.index])));
            if change.members.iter().any(|m| m.path.contains("pCode")) {
                change.shader = self.shader(blocks);
            }
            if change.members.is_empty() {
                return None;
            }
        }
        Some(())
    }

    /// The members that two calls differ in; of calls that make several objects, those of one.
    fn members(&self, blocks: [u64; 2], index: Option<[u64; 2]>) -> Vec<Member> {
        let mut all = [0, 1].map(|side| self.blocks[side].leaves(blocks[side]));
        if let Some(index) = index {
            for side in 0..2 {
                for leaf in &mut all[side] {
                    leaf.0 = own(&leaf.0, index[side]);
                }
                all[side].retain(|l| !l.0.is_empty());
            }
        }
        self.differing(&all, blocks)
    }

    fn differing(&self, [of_a, of_b]: &[Vec<(String, Leaf)>; 2], blocks: [u64; 2]) -> Vec<Member> {
        let mut there: HashMap<&str, &Leaf> = of_b.iter().map(|l| (l.0.as_str(), &l.1)).collect();
        let mut members = vec![];
        for (path, a) in of_a {
            match there.remove(path.as_str()) {
                Some(b) => self.leaf(path, a, b, blocks, &mut members),
                None => members.push(Member::new(path, &self.shown(0, a, blocks[0]), "")),
            }
        }
        let more = of_b.iter().filter(|l| there.contains_key(l.0.as_str()));
        members.extend(more.map(|(path, b)| Member::new(path, "", &self.shown(1, b, blocks[1]))));
        members
    }

    fn leaf(&self, path: &str, a: &Leaf, b: &Leaf, blocks: [u64; 2], members: &mut Vec<Member>) {
        let equal = match (a, b) {
            (Leaf::Object(x), Leaf::Object(y)) => self.is_same(*x, *y, blocks),
            (Leaf::Bytes(x), Leaf::Bytes(y)) if x != y => {
                let runs = bytes::of_plain(x, y, &|x, y| self.same_address(x, y));
                if path.ends_with("pCode") || x.len() != y.len() {
                    let n: usize = runs.iter().map(|r| r.a.len().max(r.b.len())).sum();
                    let [x, y] = [x.len(), y.len()].map(|n| format!("{n} bytes"));
                    members.push(Member::new(path, &x, &format!("{y}, {n} of them different")));
                } else {
                    ranges(path, &runs, members);
                }
                return;
            }
            (a, b) => a == b,
        };
        if !equal {
            let [a, b] = [self.shown(0, a, blocks[0]), self.shown(1, b, blocks[1])];
            // (a format that is another is told as a change of its own)
            let [x, y] = [0, 1].map(|s| self.clears[s].format(blocks[s], path));
            let read = self.clears[0].read(blocks[0], path, [&a, &b]).filter(|_| x == y);
            let [a, b] = read.unwrap_or([a, b]);
            members.push(Member::new(path, &a, &b));
        }
    }

    fn is_same(&self, a: u64, b: u64, blocks: [u64; 2]) -> bool {
        let found = [self.rows[0].object(a, blocks[0]), self.rows[1].object(b, blocks[1])];
        match found {
            [Some(x), Some(y)] => {
                let means =
                    |side: usize, o: u32| super::keys::is_means(&self.rows[side].objects[o as usize].ty);
                self.matched.ids[0][x as usize] == self.matched.ids[1][y as usize]
                    || (means(0, x) && means(1, y))
            }
            // (what was never made is rubbish)
            _ => (a == 0) == (b == 0),
        }
    }

    fn shown(&self, side: usize, leaf: &Leaf, block: u64) -> String {
        match leaf {
            Leaf::Plain(text) => text.clone(),
            Leaf::Object(0) => "none".into(),
            Leaf::Object(o) => match self.rows[side].object(*o, block) {
                Some(o) => self.rows[side].called(o),
                None => format!("{o} (nothing made it)"),
            },
            Leaf::Bytes(b) if b.len() <= 16 => bytes::shown(b),
            Leaf::Bytes(b) => format!("{} bytes", b.len()),
            Leaf::Address => "an address".into(),
        }
    }

    /// Both are device addresses, and lead to the same place of the same object.
    fn same_address(&self, a: u64, b: u64) -> bool {
        const FAR: u64 = 1 << 32;
        let place = |side: usize, address: u64| {
            let all = &self.rows[side].addresses;
            let behind = all.partition_point(|x| x.0 <= address);
            let (base, object) = all.get(behind.checked_sub(1)?)?;
            (address - base < FAR).then(|| (self.matched.ids[side][*object as usize], address - base))
        };
        a != b && place(0, a).is_some_and(|p| Some(p) == place(1, b))
    }

    /// What differs in the text of shaders.
    fn shader(&self, blocks: [u64; 2]) -> Option<String> {
        let [a, b] = [0, 1].map(|side| self.blocks[side].shaders(blocks[side]));
        let mut out = String::new();
        for (a, b) in a.iter().zip(&b).filter(|(a, b)| a != b) {
            let (a, b) = ((self.text)(a)?, (self.text)(b)?);
            let diff = similar::TextDiff::from_lines(&a, &b);
            out.push_str(&diff.unified_diff().context_radius(2).to_string());
        }
        Some(out).filter(|o| !o.is_empty())
    }

    fn contents(&self, change: &mut Change, found: &Found) -> Option<()> {
        let side = usize::from(found.writes[0].is_empty());
        let first = found.writes[side].first()?;
        change.blocks = [0, 1].map(|s| found.writes[s].first().map(|w| w.block));
        change.subject = match first.object {
            Some(o) => self.rows[side].called(o),
            None => "memory that nothing is bound to".into(),
        };
        let [Some(a), Some(b)] = [0, 1].map(|s| bytes::lay(&self.blocks[s], &found.writes[s])) else {
            change.members.push(Member::new("contents", "", ""));
            return Some(());
        };
        if change.what != What::Changed {
            let n = if side == 0 { a.written() } else { b.written() };
            let text = format!("{n} bytes from {} on", first.offset);
            let (x, y) = if side == 0 { (text.as_str(), "") } else { ("", text.as_str()) };
            change.members.push(Member::new("contents", x, y));
            return Some(());
        }
        let (runs, alone) = bytes::compare(&a, &b, &|x, y| self.same_address(x, y));
        let buffer = first.object.map(|o| &self.rows[side].objects[o as usize]);
        let named = buffer.filter(|o| o.ty == "VkBuffer" && side == 0);
        let mut left = vec![];
        for run in runs {
            match named.and_then(|o| self.uniforms.member(o.handle, run.at)).filter(|_| run.a.len() <= 64) {
                Some(member) => {
                    let path = format!("{member}, bytes {}–{}", run.at, run.at + run.a.len() as u64 - 1);
                    change.members.push(Member::new(&path, &bytes::shown(&run.a), &bytes::shown(&run.b)));
                }
                None => left.push(run),
            }
        }
        ranges("", &left, &mut change.members);
        if alone > 0 {
            let [x, y] = [a.written(), b.written()].map(|n| format!("{n} bytes"));
            change.members.push(Member::new("written", &x, &y));
        }
        (!change.members.is_empty()).then_some(())
    }
}

/// The path within what one object is made of; empty for that of others.
fn own(path: &str, index: u64) -> String {
    let Some((head, rest)) = path.split_once('[') else { return path.to_owned() };
    let several = ["pCreateInfos", "pSetLayouts", "pAllocateInfo.pSetLayouts"].contains(&head);
    match rest.split_once(']') {
        Some((i, rest)) if several => {
            if i.parse() == Ok(index) {
                format!("{head}{rest}")
            } else {
                String::new()
            }
        }
        _ => path.to_owned(),
    }
}

fn ranges(path: &str, runs: &[Run], members: &mut Vec<Member>) {
    for run in runs.iter().take(RANGES) {
        let (from, to) = (run.at, run.at + run.a.len().max(run.b.len()) as u64);
        let place = if path.is_empty() {
            format!("bytes {from}–{}", to - 1)
        } else {
            format!("{path}, bytes {from}–{}", to - 1)
        };
        members.push(Member::new(&place, &bytes::shown(&run.a), &bytes::shown(&run.b)));
    }
    if runs.len() > RANGES {
        let n: usize = runs[RANGES..].iter().map(|r| r.a.len()).sum();
        let text = format!("{n} more bytes in {} ranges", runs.len() - RANGES);
        members.push(Member::new(&text, "", ""));
    }
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn of_several_objects_a_path_is_one_ones() {
        assert_eq!(own("pCreateInfos[1].flags", 1), "pCreateInfos.flags");
        assert_eq!(own("pCreateInfos[0].flags", 1), "");
        assert_eq!(
            own("pCreateInfo.pQueueCreateInfos[0].flags", 1),
            "pCreateInfo.pQueueCreateInfos[0].flags"
        );
        assert_eq!(own("device", 3), "device");
    }
}
