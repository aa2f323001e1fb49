//! Closed forms: what passes must have counted in the scenes `closed_compute`, `closed_fragment` and `closed_rays`.
//!
//! [`machine`] goes through the shaders by the book, for subgroups of the size that the trace names; [`check`] holds what a
//! trace says against that, number by number, and says what differs. Tables that are empty are not compared; how many numbers
//! were is part of the answer, so that a caller may insist.
//!
//! Used by the end-to-end tests and by the example `closed-forms`, which wants the built program and the captures alone.

pub mod compute;
pub mod fragment;
pub mod machine;
pub mod measure;
pub mod rays;
pub mod tables;
pub mod trace_checks;

use machine::Tally;
use std::collections::BTreeMap;
use tables::Trace;
use trace::Source;

/// What of an entry point's numbers is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Everything: which invocations share a subgroup is known.
    Subgroup,
    /// What invocations do; the subgroups are the driver's affair.
    Invocation,
}

/// An entry point and what it does in one frame.
pub struct Entry {
    /// The pipeline's debug name.
    pub pipeline: &'static str,
    /// Which of its stages.
    pub index: u64,
    pub unit: Unit,
    pub tally: Tally,
    /// What it may do instead, where the device may choose: all of this, or all of `tally`.
    pub other: Option<Tally>,
}

/// The scenes.
pub const SCENES: [&str; 3] = ["closed_compute", "closed_fragment", "closed_rays"];

/// Everything that the scene's entry points do in a frame.
pub fn entries(scene: &str, n: u32, frame: u32) -> Vec<Entry> {
    match scene {
        "closed_compute" => compute::entries(n, frame),
        "closed_fragment" => fragment::entries(),
        "closed_rays" => rays::entries(),
        _ => panic!("no closed forms are known of {scene}"),
    }
}

/// How many numbers of each table were compared, and what is not as it should be.
#[derive(Debug, Default)]
pub struct Verdict {
    pub compared: BTreeMap<&'static str, usize>,
    pub wrong: Vec<String>,
}

impl Verdict {
    fn add(&mut self, other: Verdict) {
        for (table, n) in other.compared {
            *self.compared.entry(table).or_default() += n;
        }
        self.wrong.extend(other.wrong);
    }

    /// Compares one number, or more.
    pub fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        table: &'static str,
        what: impl FnOnce() -> String,
        is: T,
        should: T,
    ) {
        *self.compared.entry(table).or_default() += 1;
        if is != should {
            self.wrong.push(format!("{table}: {}: is {is:?}, should be {should:?}", what()));
        }
    }
}

/// Compares a trace of a scene with what must be in it.
///
/// Where a device may choose, it has to choose alike in all frames and for all numbers of an entry point.
pub fn check(scene: &str, source: &dyn Source) -> Result<Verdict, String> {
    let trace = Trace::read(source)?;
    let mut frames = Vec::new();
    for (frame, n) in &trace.frames {
        let size = u32::try_from(*n).map_err(|e| e.to_string())?;
        frames.push((*frame, *n, entries(scene, size, *frame as u32)));
    }
    let mut verdict = Verdict::default();
    for index in 0..frames.first().map_or(0, |f| f.2.len()) {
        let compare = |other: bool| {
            let mut verdict = Verdict::default();
            for (frame, n, entries) in &frames {
                let entry = &entries[index];
                // What a plan did not ask for, or a device cannot, has no row.
                let Some(number) = trace.entry(entry.pipeline, entry.index) else { continue };
                let tally = if other { entry.other.as_ref() } else { Some(&entry.tally) };
                trace_checks::all(&trace, *frame, *n, number, entry, tally?, &mut verdict);
            }
            Some(verdict)
        };
        let here = compare(false).unwrap_or_default();
        let there = || compare(true).filter(|v| v.wrong.is_empty());
        let better = if here.wrong.is_empty() { None } else { there() };
        verdict.add(better.unwrap_or(here));
    }
    Ok(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The machine itself, where the numbers are plain.
    #[test]
    fn a_half_is_a_half() {
        for n in [8u64, 32] {
            let entries = entries("closed_compute", n as u32, 1);
            let of = |name: &str| &entries.iter().find(|e| e.pipeline == name).expect("it is there").tally;
            let half = of("half");
            assert_eq!(half.subgroups, 256 / n);
            for (block, active) in [(0, n), (1, n / 2), (2, n / 2), (3, n)] {
                assert_eq!(half.blocks[&("main", block)].popcounts, [(active, 256 / n)].into());
            }
            assert_eq!(half.blocks[&("main", 1)].control, 256 / n * n / 2);
            assert_eq!(of("one").blocks[&("main", 1)].popcounts, [(1, 256 / n)].into());
            // 0 + 1 + … + 7 trips for each eight invocations; a subgroup goes round as often as its longest.
            let loops = of("loops");
            assert_eq!(loops.blocks[&("main", 8)].invocations(), 256 / 8 * 28);
            assert_eq!(loops.blocks[&("main", 8)].executions(), 256 / n * 7);
            assert_eq!(loops.blocks[&("main", 3)].popcounts, [(n, 256 / n * 5)].into());
            let returns = of("returns");
            assert_eq!(returns.blocks[&("main", 11)].early, 256 / n * (n / 2 + n / 4));
            assert_eq!(returns.exits.values().map(|e| e.invocations).sum::<u64>(), 256);
            assert!(returns.exits.values().all(|e| e.whole == 0));
            let cases = of("cases");
            let twice = cases.blocks[&("main", 3)].invocations();
            assert_eq!(twice, (0..64).filter(|x| x % 6 < 2).count() as u64 * 4);
            // Who is below 16 shares a subgroup with others only where subgroups are larger.
            let below = &of("branches").branches[&("main", 8)];
            assert_eq!(below.divergent, if n == 8 { 0 } else { 4 });
            let loads = of("loads");
            assert_eq!(loads.loads[&("uniform", 0)].values, [(0, 1024)].into());
            assert_eq!(loads.loads[&("uniform", 2)].values, [(11, 512), (22, 512)].into());
        }
    }

    #[test]
    fn pixels_and_rays_add_up() {
        let fragments = entries("closed_fragment", 8, 1);
        let edge = fragments.iter().find(|e| e.pipeline == "edge" && e.index == 1).expect("it is there");
        // The triangle of 32 rows: 32 + 31 + … + 1 pixels.
        assert_eq!(edge.tally.invocations, 528);
        let rays = entries("closed_rays", 8, 1);
        let count = |index: usize| rays[index].tally.invocations;
        let traced: u64 = rays.iter().flat_map(|e| e.tally.traces.values()).flat_map(|t| t.values()).sum();
        // Every ray ends in a miss, a closest hit, or, where closest hits are skipped, a hit that calls nothing.
        let skipped = 28 * 32 - count(2);
        assert_eq!(traced, count(1) + count(2) + count(3) + count(6) + count(8) + skipped);
        assert_eq!(count(0), 64 * 32);
    }

    /// What an H200 counted (benches/runs/2026-11-22-h200-instrumented/closed-forms.txt) is the other choice, and no mixture is.
    #[test]
    fn who_is_not_resumed_passes_no_exit() {
        let rays = entries("closed_rays", 32, 1);
        let (one, other) = (&rays[9].tally, rays[9].other.as_ref().expect("the driver may choose"));
        let of = |t: &Tally| {
            let exits = t.exits.values().map(|e| e.invocations).sum::<u64>();
            let lives: Vec<(u64, u64)> = t.lifetimes.iter().map(|l| (*l.0, *l.1)).collect();
            (t.invocations, t.blocks[&("main", 2)].invocations(), exits, lives)
        };
        assert_eq!(of(one), (576, 576, 576, vec![(2, 288), (3, 288)]));
        assert_eq!(of(other), (576, 480, 480, vec![(2, 288), (3, 192)]));
        let edges: Vec<_> = other.edges.iter().map(|((_, from, to), n)| (*from, *to, *n)).collect();
        assert_eq!(edges, [(0, 1, 288), (0, 2, 288), (1, 2, 192), (1, u32::MAX, 96), (2, u32::MAX, 480)]);
        assert!(rays[..9].iter().all(|e| e.other.is_none()));
    }

    /// A device's choice is one choice: numbers of one frame do not excuse those of another.
    #[test]
    fn a_choice_holds_for_all_frames() {
        use trace::{Kind, Memory, Value};
        // A record with these values; what a check does not read is empty.
        let put = |t: &mut Memory, table: &str, of: &[(&str, Value<'static>)]| {
            let table = trace::tables::TABLES.iter().find(|t| t.name == table).expect("it is there");
            let empty = |kind| if kind == Kind::Text { Value::Text("") } else { Value::U64(0) };
            let value = |c: &trace::Column| of.iter().find(|v| v.0 == c.name).map_or(empty(c.kind), |v| v.1);
            t.put(table, &table.columns.iter().map(value).collect::<Vec<_>>());
        };
        let n = Value::U64;
        // Two frames of pass `its` in the intersection shader, whose exits are of the one choice or the other.
        let with = |exits: [u64; 2]| {
            let mut t = Memory::default();
            put(&mut t, "pipelines", &[("pipeline", n(7)), ("name", Value::Text("closed"))]);
            put(&mut t, "entries", &[("entry", n(0)), ("pipeline", n(7)), ("index", n(9))]);
            for (frame, left) in (1..).zip(exits) {
                put(&mut t, "frames", &[("frame", n(frame)), ("subgroup_size", n(8))]);
                for (kind, invocations) in [("entry", 576), ("return", left)] {
                    let of =
                        [("frame", n(frame)), ("kind", Value::Text(kind)), ("invocations", n(invocations))];
                    put(&mut t, "its", &of);
                }
            }
            check("closed_rays", &t).expect("it is readable")
        };
        assert_eq!(with([576, 576]).wrong, Vec::<String>::new());
        assert_eq!(with([480, 480]).wrong, Vec::<String>::new());
        for mixed in [[576, 480], [480, 576], [500, 500]] {
            assert!(!with(mixed).wrong.is_empty(), "{mixed:?}");
        }
    }
}
