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
pub fn check(scene: &str, source: &dyn Source) -> Result<Verdict, String> {
    let trace = Trace::read(source)?;
    let mut verdict = Verdict::default();
    for (frame, n) in &trace.frames {
        let n = u32::try_from(*n).map_err(|e| e.to_string())?;
        for entry in entries(scene, n, *frame as u32) {
            // What a plan did not ask for, or a device cannot, has no row.
            let Some(number) = trace.entry(entry.pipeline, entry.index) else { continue };
            let compare = |tally: &Tally| {
                let mut verdict = Verdict::default();
                trace_checks::all(&trace, *frame, n.into(), number, &entry, tally, &mut verdict);
                verdict
            };
            let mut here = compare(&entry.tally);
            if let (false, Some(other)) = (here.wrong.is_empty(), &entry.other) {
                let there = compare(other);
                if there.wrong.is_empty() {
                    here = there;
                }
            }
            verdict.add(here);
        }
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
}
