//! Which pipeline, shader and basic block of one trace is which of another, though the shader was edited or the application recorded
//! again.
//!
//! *Pipelines* belong together by kind, debug name and their shaders' hashes, in the order in which they were made; then those that
//! are left by kind, name and stages. *Entry points* of two pipelines belong together by stage, name and hash; then by stage, the two
//! with most blocks in common first. *Functions* belong together by their name and contents, then by name, then in their order;
//! *blocks* by a longest common subsequence of what they do (instructions without ids), and blocks that were replaced by as many
//! others, in their order.
//!
//! Guarantees: each belongs to one at most; a trace and itself are matched whole. Refuses nothing: what has no other is left out.

use crate::context::{Context, Entry, Function};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use trace::tables::SPIRV_TEXT;
use trace::{Source, Unreadable};

/// What was instrumented, and a hash of each instruction's text without its ids.
pub(super) struct Shaders {
    pub context: Context,
    lines: HashMap<String, Vec<(u64, u64)>>,
}

impl Shaders {
    /// Reads them.
    pub fn read(trace: &dyn Source) -> Result<Shaders, Unreadable> {
        let mut lines: HashMap<String, Vec<(u64, u64)>> = HashMap::new();
        trace.each(&SPIRV_TEXT, &mut |t| {
            for row in 0..t.len() {
                let text = &t.text("text")[row];
                let of = lines.entry(t.text("shader")[row].to_string()).or_default();
                of.push((t.u64("word_offset")[row], hash(&without_ids(text))));
            }
            Ok(())
        })?;
        Ok(Shaders { context: Context::read(trace)?, lines })
    }

    /// What each block of an entry point's functions does.
    fn contents(&self, entry: &Entry) -> Vec<Vec<u64>> {
        let functions = self.context.functions_of_variant(entry.variant);
        let lines = self.lines.get(&*entry.shader).map_or(&[][..], Vec::as_slice);
        let mut starts: Vec<u64> = functions.iter().flat_map(|f| &f.blocks).map(|b| b.word_offset).collect();
        starts.sort_unstable();
        let block = |b: &crate::context::Block| {
            let end = starts.partition_point(|s| *s <= b.word_offset);
            let end = starts.get(end).copied().unwrap_or(u64::MAX);
            let from = lines.partition_point(|l| l.0 < b.word_offset);
            let text: Vec<u64> = lines[from..].iter().take_while(|l| l.0 < end).map(|l| l.1).collect();
            // (a module whose text is not there is told by its shape)
            hash(&(text, b.instructions, b.depth))
        };
        functions.iter().map(|f| f.blocks.iter().map(block).collect()).collect()
    }
}

/// See the module's header: the new one's number of each of the base's.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Identity {
    pub pipelines: BTreeMap<u64, u64>,
    pub entries: BTreeMap<u64, u64>,
    /// Entry, function and block.
    pub blocks: BTreeMap<(u64, u64, u64), (u64, u64, u64)>,
}

impl Identity {
    /// Of two traces.
    pub fn of(base: &Shaders, new: &Shaders) -> Identity {
        let mut all = Identity::default();
        let sides = [base, new];
        let ids = sides.map(|s| s.context.pipelines().map(|p| p.id).collect::<Vec<_>>());
        let of = sides.map(|s| {
            let mut of: BTreeMap<u64, Vec<&Entry>> = BTreeMap::new();
            s.context.entries().for_each(|e| of.entry(e.pipeline).or_default().push(e));
            of.values_mut().for_each(|e| e.sort_by_key(|e| e.index));
            of
        });
        let key = |side: usize, id: u64, exact: bool| {
            let p = sides[side].context.pipeline(id);
            let entries = of[side].get(&id).into_iter().flatten();
            let shaders: Vec<_> = entries
                .map(|e| (e.stage.clone(), exact.then(|| (e.name.clone(), e.shader.clone()))))
                .collect();
            hash(&(p.map(|p| (p.kind.clone(), p.name.clone())), shaders))
        };
        let rounds: [&dyn Fn(usize, u64) -> u64; 2] = [&|s, id| key(s, id, true), &|s, id| key(s, id, false)];
        all.pipelines = matched(&ids, &rounds).into_iter().collect();
        for (b, n) in all.pipelines.clone() {
            let none = vec![];
            let [b, n] = [of[0].get(&b), of[1].get(&n)].map(|e| e.unwrap_or(&none));
            for (b, n) in entries(base, new, b, n) {
                all.entries.insert(b.entry, n.entry);
                let functions = [base.context.functions(b.entry), new.context.functions(n.entry)];
                for (at, to) in blocks(functions, &[base.contents(b), new.contents(n)]) {
                    all.blocks.insert((b.entry, at.0, at.1), (n.entry, to.0, to.1));
                }
            }
        }
        all
    }
}

/// Entry points of two pipelines.
fn entries<'c>(
    base: &Shaders,
    new: &Shaders,
    b: &[&'c Entry],
    n: &[&'c Entry],
) -> Vec<(&'c Entry, &'c Entry)> {
    let sides = [b, n];
    let numbers = sides.map(|s| (0..s.len() as u64).collect::<Vec<_>>());
    let exact = |s: usize, at: u64| {
        let e = sides[s][at as usize];
        hash(&(&e.stage, &e.name, &e.shader))
    };
    let mut all = matched(&numbers, &[&exact]);
    let left = |s: usize, all: &[(u64, u64)]| -> Vec<u64> {
        let there = |at: &u64| all.iter().any(|p| [p.0, p.1][s] == *at);
        numbers[s].iter().copied().filter(|at| !there(at)).collect()
    };
    let (mine, theirs) = (left(0, &all), left(1, &all));
    let flat = |s: &Shaders, e: &Entry| -> Vec<u64> { s.contents(e).concat() };
    let mut alike: Vec<(usize, u64, u64)> = vec![];
    for &x in &mine {
        for &y in theirs.iter().filter(|y| b[x as usize].stage == n[**y as usize].stage) {
            let common = common(&flat(base, b[x as usize]), &flat(new, n[y as usize]));
            alike.push((common.len(), x, y));
        }
    }
    alike.sort_by_key(|a| (std::cmp::Reverse(a.0), a.1, a.2));
    for (_, x, y) in alike {
        if all.iter().all(|p| p.0 != x && p.1 != y) {
            all.push((x, y));
        }
    }
    all.into_iter().map(|(x, y)| (b[x as usize], n[y as usize])).collect()
}

/// Blocks of two entry points, by function and index.
fn blocks(functions: [&[Function]; 2], contents: &[Vec<Vec<u64>>; 2]) -> Vec<((u64, u64), (u64, u64))> {
    // (function 0 is the entry point's own, whatever it is called)
    let numbers = [0, 1].map(|s: usize| (1..functions[s].len() as u64).collect::<Vec<_>>());
    let whole = |s: usize, at: u64| hash(&(&functions[s][at as usize].name, &contents[s][at as usize]));
    let named = |s: usize, at: u64| {
        let name = &functions[s][at as usize].name;
        if name.is_empty() { hash(&(s, at)) } else { hash(name) }
    };
    let in_order = |_: usize, _: u64| 0;
    let mut of = matched(&numbers, &[&whole, &named, &in_order]);
    if functions.iter().all(|f| !f.is_empty()) {
        of.push((0, 0));
    }
    let mut all = vec![];
    for (f, g) in of {
        let (a, b) = (&contents[0][f as usize], &contents[1][g as usize]);
        for op in capture_diff_slices(Algorithm::Myers, a, b) {
            let (from, to) = match op {
                DiffOp::Equal { .. } | DiffOp::Replace { .. } => (op.old_range(), op.new_range()),
                DiffOp::Delete { .. } | DiffOp::Insert { .. } => continue,
            };
            // (of those that were replaced by more or fewer nobody knows which is which)
            if from.len() == to.len() {
                all.extend(from.zip(to).map(|(x, y)| ((f, x as u64), (g, y as u64))));
            }
        }
    }
    all
}

/// What two sequences have in common: the places of a longest common subsequence.
fn common(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut all = vec![];
    for op in capture_diff_slices(Algorithm::Myers, a, b) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            all.extend((0..len).map(|n| (old_index + n, new_index + n)));
        }
    }
    all
}

/// Both sides' numbers with equal keys, in order; what is left in the next round, by its keys.
fn matched(sides: &[Vec<u64>; 2], rounds: &[&dyn Fn(usize, u64) -> u64]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = vec![];
    for key in rounds {
        let left = [0, 1].map(|s: usize| -> Vec<u64> {
            let there = |n: &u64| all.iter().any(|p| [p.0, p.1][s] == *n);
            sides[s].iter().copied().filter(|n| !there(n)).collect()
        });
        let keys = [0, 1].map(|s: usize| left[s].iter().map(|n| key(s, *n)).collect::<Vec<_>>());
        all.extend(common(&keys[0], &keys[1]).into_iter().map(|(x, y)| (left[0][x], left[1][y])));
    }
    all.sort_unstable();
    all
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// `%12 = OpFAdd %6 %7 %8` without its ids; nothing of lines that only say where the source stands.
fn without_ids(line: &str) -> String {
    let words = line.split_whitespace().filter(|w| !w.starts_with('%'));
    let text = words.collect::<Vec<_>>().join(" ");
    if text.contains("OpLine") || text.contains("OpNoLine") { String::new() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::sample;
    use trace::Value;

    #[test]
    fn a_trace_and_itself_are_matched_whole() {
        let [a, b] = [sample::trace(), sample::trace()].map(|t| Shaders::read(&t).unwrap());
        let all = Identity::of(&a, &b);
        assert_eq!(all.pipelines, BTreeMap::from([(7, 7), (8, 8)]));
        assert_eq!(all.entries, BTreeMap::from([(0, 0), (1, 1)]));
        assert!(all.blocks.len() == 4 && all.blocks.iter().all(|(a, b)| a == b), "{all:?}");
    }

    #[test]
    fn ids_say_nothing() {
        assert_eq!(without_ids("   %12 = OpFAdd %6 %7 %8"), "= OpFAdd");
        assert_eq!(without_ids("OpLine %3 12 0"), "");
    }

    /// A block that was put in, one that was replaced, and the others where they belong.
    #[test]
    fn blocks_of_an_edited_function() {
        let function = |n: usize| {
            let b = crate::context::Block {
                label: 0,
                word_offset: 0,
                instructions: 1,
                depth: 0,
                reached: true,
                file: "".into(),
                line: 0,
            };
            vec![Function { id: 1, name: "main".into(), blocks: vec![b; n] }]
        };
        let (a, b) = (function(4), function(5));
        let pairs = blocks([&a, &b], &[vec![vec![1, 2, 3, 4]], vec![vec![1, 9, 2, 8, 4]]]);
        let pairs: Vec<(u64, u64)> = pairs.into_iter().map(|(x, y)| (x.1, y.1)).collect();
        assert_eq!(pairs, [(0, 0), (1, 2), (2, 3), (3, 4)]);
    }

    /// Of two pipelines with unlike shaders the edited one is found though another was made before it.
    #[test]
    fn pipelines_are_told_by_what_they_are_made_of() {
        use trace::tables::{ENTRIES, PIPELINES};
        let made = |pipelines: &[(u64, &str, &str)]| {
            let mut m = trace::Memory::default();
            for (n, (id, stage, shader)) in pipelines.iter().enumerate() {
                m.put(&PIPELINES, &[Value::U64(*id), Value::Text("graphics"), Value::Text("")]);
                let numbers = [n as u64, *id, 0, 0].map(Value::U64);
                let row: Vec<_> =
                    numbers.into_iter().chain([shader, "main", stage].map(Value::Text)).collect();
                m.put(&ENTRIES, &row);
            }
            Shaders::read(&m).unwrap()
        };
        let base = made(&[(1, "vertex", "aa"), (2, "fragment", "bb"), (3, "fragment", "cc")]);
        let new =
            made(&[(3, "vertex", "zz"), (5, "vertex", "aa"), (6, "fragment", "b2"), (9, "fragment", "cc")]);
        let all = Identity::of(&base, &new);
        assert_eq!(all.pipelines, BTreeMap::from([(1, 5), (2, 6), (3, 9)]));
    }
}
