//! Passes `uniformity` and `values` on scenes whose every number follows from their shaders (`closed_compute`,
//! `closed_fragment`, `vm`): what is proven, what never differed, what did; which values were read how often, and how
//! often they changed. On others, too: nothing that was proven uniform is seen to differ.
//!
//! Where fragments share a subgroup is the driver's affair; that two columns, or two rows, of a quad are in one is not.

use crate::measured::{measured, number, tables};
use serde_json::Value;
use std::collections::BTreeMap;

/// What one place came to, over all frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    proven: bool,
    executions: u64,
    diverged: u64,
}

/// A proven place that so many subgroups came by.
fn proven(executions: u64) -> Place {
    Place { proven: true, executions, diverged: 0 }
}

/// One that is not proven.
fn seen(executions: u64, diverged: u64) -> Place {
    Place { proven: false, executions, diverged }
}

/// What pass `uniformity` found in a scene.
struct Found {
    /// Invocations in a subgroup.
    n: u64,
    frames: u64,
    /// Entry points by their pipeline's name and their place in it.
    entries: BTreeMap<(String, u64), u64>,
    /// Kind and name of each entry point's places, in the order of the module.
    places: BTreeMap<u64, Vec<(String, String, Place)>>,
}

fn words(record: &Value, column: &str) -> String {
    record[column].as_str().unwrap_or_else(|| panic!("no words {column}: {record}")).to_owned()
}

/// Entry points by their pipeline's name and their place in it.
fn by_pipeline(pipelines: &[Value], entries: &[Value]) -> BTreeMap<(String, u64), u64> {
    let names: BTreeMap<u64, String> =
        pipelines.iter().map(|p| (number(p, "pipeline"), words(p, "name"))).collect();
    let key = |e: &Value| (names[&number(e, "pipeline")].clone(), number(e, "index"));
    entries.iter().map(|e| (key(e), number(e, "entry"))).collect()
}

fn found(scene: &str, pass: &str, options: &[&str]) -> Option<Found> {
    let names = ["frames", "pipelines", "entries", "uniformity_sites", "uniformity"];
    let [frames, pipelines, entries, sites, counts] = tables(scene, pass, options, names)?;
    let mut sums: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    for c in &counts {
        let sum = sums.entry((number(c, "entry"), number(c, "site"))).or_default();
        *sum = (sum.0 + number(c, "executions"), sum.1 + number(c, "diverged"));
    }
    let mut places: BTreeMap<u64, Vec<(String, String, Place)>> = BTreeMap::new();
    for s in &sites {
        let entry = number(s, "entry");
        let (executions, diverged) = sums.get(&(entry, number(s, "site"))).copied().unwrap_or_default();
        let place = Place { proven: number(s, "static") == 1, executions, diverged };
        places.entry(entry).or_default().push((words(s, "kind"), words(s, "name"), place));
    }
    Some(Found {
        n: number(&frames[0], "subgroup_size"),
        frames: frames.len() as u64,
        entries: by_pipeline(&pipelines, &entries),
        places,
    })
}

impl Found {
    /// The places of an entry point of this kind and, if one is given, this name.
    fn of(&self, pipeline: &str, index: u64, kind: &str, name: &str) -> Vec<Place> {
        let entry = self.entries[&(pipeline.to_owned(), index)];
        let is = |p: &&(String, String, Place)| p.0 == kind && (name.is_empty() || p.1 == name);
        self.places[&entry].iter().filter(is).map(|p| p.2).collect()
    }
}

#[test]
fn loads_of_known_addresses_and_values() {
    let Some(f) = found("closed_compute", "uniformity", &[]) else { return };
    // Four dispatches of four workgroups of 64.
    let all = f.frames * 4 * 4 * 64 / f.n;
    let of = |kind, name: &str| f.of("loads", 0, kind, name);
    for member in ["zero", "constant", "alternating", "counting"] {
        let name = format!("Numbers.{member}");
        // A constant address is known without a probe.
        assert_eq!(
            (of("address", &name), of("value", &name)),
            (vec![proven(0)], vec![proven(all)]),
            "{name}"
        );
    }
    assert_eq!(of("value", "Push.trips"), [proven(all)]);
    // equal[LOCAL], twice; the results are in a buffer too, so that what is read from one is never proven.
    assert_eq!(of("address", "Given.equal[?]"), [seen(all, all); 2]);
    assert_eq!(of("value", "Given.equal[?]"), [seen(all, 0); 2]);
    // distinct[LOCAL], distinct[equal[LOCAL]].
    assert_eq!(of("address", "Given.distinct[?]"), [seen(all, all), seen(all, 0)]);
    assert_eq!(of("value", "Given.distinct[?]"), [seen(all, all), seen(all, 0)]);
    assert_eq!(of("address", "Given.shuffled[?]"), [proven(all)]);
    assert_eq!(of("value", "Given.shuffled[?]"), [seen(all, 0)]);
    // A row of texels; then one for each eight invocations: alike in a subgroup of eight.
    let eighths = if f.n <= 8 { 0 } else { all };
    assert_eq!(of("address", "ImageFetch texels"), [seen(all, all), seen(all, eighths)]);
    assert_eq!(of("value", "ImageFetch texels"), [seen(all, all), seen(all, eighths)]);
}

#[test]
fn branches_of_every_compute_shader() {
    let Some(f) = found("closed_compute", "uniformity", &[]) else { return };
    let n = f.n;
    // Subgroups of a dispatch of four workgroups of 64, over all frames; of each workgroup.
    let all = f.frames * 256 / n;
    let half = all / 2;
    // In how many subgroups the local index reaches from below to above a number.
    let across = |at: u64| if at.is_multiple_of(n) { 0 } else { f.frames * 4 };
    let expected: [(&str, Vec<Place>); 9] = [
        ("half", vec![seen(all, all)]),
        ("quarter", vec![seen(all, all)]),
        ("one", vec![seen(all, all)]),
        (
            "loops",
            vec![
                // k < trips: five times and once more.
                proven(6 * all),
                // k < LOCAL % 8: as often as the longest, seven, and once more; at the last all are alike (one is left).
                seen(8 * all, 7 * all),
                // a < 3.
                proven(4 * all),
                // b < LOCAL % 2 + a: with 1, 2 and 3 trips, and once more each; the even ones leave a trip earlier.
                seen(9 * all, 3 * all),
            ],
        ),
        (
            "returns",
            vec![
                seen(all, all),
                // k < 4: four times and once more; the rest of them is there at every time.
                proven(5 * all),
                // `k == 2 &&`: each trip.
                proven(4 * all),
                // `(LOCAL & 3) == 2` where k is 2; else false for all.
                seen(4 * all, all),
            ],
        ),
        ("cases", vec![seen(all, all)]),
        (
            "calls",
            vec![
                // LOCAL >= 32, then half of these, then n > 40 of n = LOCAL + 3 of the even ones.
                seen(all, across(32)),
                seen(if n <= 32 { half } else { all }, if n <= 32 { half } else { all }),
                seen(if n <= 32 { half } else { all }, across(38)),
            ],
        ),
        (
            "jumps",
            vec![
                // k < 8: seven trips, in the last of which all that are left leave.
                proven(7 * all),
                // k == LOCAL % 4 + 3: from 3 on somebody is it; at 6 only those are left.
                seen(7 * all, 3 * all),
                // k & 1: one trip less.
                proven(6 * all),
                // k < trips.
                proven(6 * all),
                // never != 0.
                proven(all),
            ],
        ),
        (
            "branches",
            vec![
                proven(all),
                proven(all),
                proven(all),
                // equal[LOCAL] == 7: from a buffer that is written.
                seen(all, 0),
                seen(all, across(16)),
                seen(all, all),
            ],
        ),
    ];
    for (pipeline, branches) in &expected {
        assert_eq!(f.of(pipeline, 0, "branch", ""), *branches, "{pipeline}, subgroups of {n}");
    }
    // The report says the same of all of them together.
    let Some(m) = measured("closed_compute", "uniformity") else { return };
    let is = |p: &&Place, class: &str| match class {
        "static" => p.proven,
        "dynamic" => !p.proven && p.diverged == 0,
        _ => !p.proven && p.diverged > 0,
    };
    let classes = m.table("classes");
    let row = classes.iter().find(|r| r["kind"] == "branch").expect("branches have a row");
    for class in ["static", "dynamic", "divergent"] {
        let places = expected.iter().flat_map(|e| &e.1).filter(|p| is(p, class)).count();
        assert_eq!(row[class], places, "{class}");
    }
    let executed: u64 = expected.iter().flat_map(|e| &e.1).map(|p| p.executions).sum();
    assert_eq!(row["executed"], executed);
}

#[test]
fn branches_and_loads_of_every_fragment_shader() {
    let Some(f) = found("closed_fragment", "uniformity:sites=all", &[]) else { return };
    let branches = |pipeline| f.of(pipeline, 1, "branch", "");
    // What a column's or a row's number decides differs in every quad.
    for (pipeline, first) in [("half", 0), ("loops", 0), ("kills", 0), ("demotes", 0), ("edge", 0)] {
        let b = branches(pipeline)[first];
        assert!(!b.proven && b.diverged > 0 && b.diverged <= b.executions, "{pipeline}: {b:?}");
    }
    // Regions are measured, whatever comes of it: they end where quads do.
    assert_eq!(branches("regions").iter().map(|b| b.proven).collect::<Vec<_>>(), [false, false]);
    // Two draws go two ways, each as one.
    let ways = branches("ways")[0];
    assert!(ways.executions > 0);
    assert_eq!(branches("ways"), [proven(ways.executions)]);
    assert_eq!(f.of("ways", 1, "value", "Push.way"), [proven(ways.executions)]);
    // The trip's number is the same for all, how many trips is not.
    let k = f.of("loops", 1, "value", "k");
    assert!(k.len() == 2 && k.iter().all(|p| p.proven && p.executions > 0 && p.diverged == 0), "{k:?}");
    let loops = branches("loops")[0];
    let entered = f.of("loops", 1, "value", "sum")[1].executions;
    // Each subgroup tests once more than it goes round.
    assert_eq!(loops.executions, k[1].executions + entered);
    for pipeline in ["half", "regions", "ways", "loops", "kills", "demotes", "edge"] {
        let shape = f.of(pipeline, 0, "value", "Push.shape")[0];
        assert_eq!(f.of(pipeline, 0, "branch", ""), [proven(shape.executions)], "{pipeline}");
        let draws = if pipeline == "ways" { 2 } else { 1 };
        assert!(shape.proven && shape.executions >= f.frames * draws, "{pipeline}: {shape:?}");
        // Three vertices of a draw have three numbers.
        let vertices = f.of(pipeline, 0, "value", "gl_VertexIndex");
        assert!(vertices.iter().all(|v| !v.proven && v.executions == shape.executions), "{vertices:?}");
        let place = f.of(pipeline, 1, "value", "gl_FragCoord.x");
        assert!(place.iter().all(|p| !p.proven && p.diverged > 0), "{pipeline}: {place:?}");
    }
}

/// The machine's program is the same for all, what it computes is not: everything follows from how many subgroups ran it.
#[test]
fn a_machine_for_byte_code_goes_one_way() {
    let Some(f) = found("vm", "uniformity:sites=all", &[]) else { return };
    let of = |kind, name: &str| f.of("machine", 1, kind, name);
    let starts = of("value", "gl_FragCoord.x")[0].executions;
    assert!(starts >= f.frames * 64 * 48 / f.n);
    // Two runs of 128 instructions; each loop tests once more than it goes round.
    let steps = 2 * 128 * starts;
    let branches = of("branch", "");
    // (some cases have a choice of their own; the program comes by none of those)
    let met: Vec<Place> = branches.iter().copied().filter(|b| b.executions > 0).collect();
    assert_eq!(met, [proven(3 * starts), proven(2 * 129 * starts), proven(steps)]);
    // The instruction, its address; then the constant.
    for code in ["Program.code[?]", "Program.code[?].x"] {
        assert_eq!(
            (of("value", code), of("address", code)),
            (vec![proven(steps)], vec![proven(steps)]),
            "{code}"
        );
    }
    // registers[what.z & 3], registers[what.w & 3]: the same register for all, with another value each.
    assert_eq!(of("address", "registers[?]"), [proven(steps); 2]);
    let registers = of("value", "registers[?]");
    assert_eq!(registers.len(), 2);
    for register in registers {
        assert!(!register.proven && register.executions == steps, "{register:?}");
        assert!(register.diverged > 0 && register.diverged <= steps, "{register:?}");
    }
}

#[test]
fn what_is_proven_holds_wherever_it_is_measured() {
    for (scene, more) in [
        ("closed_compute", &[][..]),
        ("closed_fragment", &[]),
        ("vm", &[]),
        ("feedback", &["--frames", "1-2"]),
        ("cubes", &["--frames", "2-2"]),
        ("stages", &[]),
        ("pointers", &[]),
    ] {
        let Some(f) = found(scene, "uniformity:sites=all", more) else { return };
        let of = f.places.values().flatten().map(|p| p.2).filter(|p| p.proven);
        let (executions, diverged) = of.fold((0, 0), |sum, p| (sum.0 + p.executions, sum.1 + p.diverged));
        assert!(executions > 0, "{scene}: nothing is proven");
        assert_eq!(diverged, 0, "{scene}: proven, and seen to differ");
    }
}

/// Executions, zeros and overflow of a place, then its values other than zero with their counts.
type Values = ([u64; 3], BTreeMap<u64, u64>);

/// Those of a named load of an entry point, in the order of the module, over all frames.
fn values(trace: &[Vec<Value>; 5], pipeline: &str, index: u64, name: &str) -> Vec<Values> {
    let [pipelines, entries, sites, counts, slots] = trace;
    let entry = by_pipeline(pipelines, entries)[&(pipeline.to_owned(), index)];
    let of = |s: &Value| {
        let is = |r: &&Value| number(r, "entry") == entry && number(r, "site") == number(s, "site");
        let sum = |c: &str| counts.iter().filter(is).map(|r| number(r, c)).sum();
        let mut values: BTreeMap<u64, u64> = BTreeMap::new();
        for r in slots.iter().filter(is) {
            *values.entry(number(r, "value")).or_default() += number(r, "executions");
        }
        (["executions", "zeros", "overflow"].map(sum), values)
    };
    let named = sites.iter().filter(|s| number(s, "entry") == entry && s["name"] == name);
    named.map(of).collect()
}

const VALUES: [&str; 5] = ["pipelines", "entries", "value_sites", "values", "values_seen"];

#[test]
fn values_of_known_loads() {
    let Some(trace) = tables("closed_compute", "values:slots=1024", &[], VALUES) else { return };
    let seen = |name: &str| values(&trace, "loads", 0, name);
    // Three frames of four dispatches of 256 invocations.
    let all = 3 * 1024;
    let one = |v: u64| BTreeMap::from([(v, all)]);
    assert_eq!(seen("Numbers.zero"), [([all, all, 0], BTreeMap::new())]);
    assert_eq!(seen("Numbers.constant"), [([all, 0, 0], one(42))]);
    let both = BTreeMap::from([(11, all / 2), (22, all / 2)]);
    assert_eq!(seen("Numbers.alternating"), [([all, 0, 0], both)]);
    // Another in each of twelve dispatches.
    assert_eq!(seen("Numbers.counting"), [([all, 0, 0], (100..112).map(|v| (v, 256)).collect())]);
    assert_eq!(seen("Push.trips"), [([all, 0, 0], one(5))]);
    // Where each dispatch's results begin: those of nine came before.
    let first = (9..13).map(|row| (row * 256, all / 4)).collect();
    assert_eq!(seen("Push.first"), [([all, 0, 0], first)]);
    assert_eq!(seen("Given.equal[?]"), [([all, 0, 0], one(7)), ([all, 0, 0], one(7))]);
    let indices = (1..64).map(|n| (n, all / 64)).collect();
    assert_eq!(seen("Given.distinct[?]"), [([all, all / 64, 0], indices), ([all, 0, 0], one(7))]);
    assert_eq!(seen("Given.shuffled[?]"), [([all, 0, 0], one(58))]);
    // Row 3, each column; column 2, each row: 64 times the row and the column.
    let row = (0..8).map(|x| (64 * 3 + x, all / 8)).collect();
    let column = (0..8).map(|y| (64 * y + 2, all / 8)).collect();
    assert_eq!(seen("ImageFetch texels.x"), [([all, 0, 0], row), ([all, 0, 0], column)]);
    for (component, zero) in [("y", true), ("z", true), ("w", false)] {
        let is = if zero { ([all, all, 0], BTreeMap::new()) } else { ([all, 0, 0], one(1)) };
        assert_eq!(seen(&format!("ImageFetch texels.{component}")), [is.clone(), is], "{component}");
    }
    assert_eq!(values(&trace, "jumps", 0, "Push.never"), [([768, 768, 0], BTreeMap::new())]);
}

#[test]
fn values_of_known_fragments() {
    let Some(trace) = tables("closed_fragment", "values", &[], VALUES) else { return };
    // Two frames, two draws of a tile of 64x64 each, with 0 and 1 pushed; helpers do not count.
    let way = ([2 * 2 * 4096, 2 * 4096, 0], BTreeMap::from([(1, 2 * 4096)]));
    assert_eq!(values(&trace, "ways", 1, "Push.way"), [way]);
    for (pipeline, vertices, shape) in [("half", 6, 0), ("ways", 12, 0), ("demotes", 6, 0), ("edge", 6, 1)] {
        let zeros = if shape == 0 { vertices } else { 0 };
        let others = (shape != 0).then_some((shape, vertices)).into_iter().collect();
        assert_eq!(values(&trace, pipeline, 0, "Push.shape"), [([vertices, zeros, 0], others)], "{pipeline}");
    }
}

/// The program's words, each read by every pixel in each of its runs; with more values than slots the rest is counted.
#[test]
fn values_of_a_known_program() {
    let Some(wide) = tables("vm", "values:slots=1024", &[], VALUES) else { return };
    let pixels = 2 * 64 * 48;
    let (all, each) = (pixels * 2 * 128, pixels * 2);
    let of = |trace, component: &str| values(trace, "machine", 1, &format!("Program.code[?].{component}"));
    let constants: BTreeMap<u64, u64> =
        (1..=128u32).map(|n| (u64::from(n.wrapping_mul(0x9e37_79b1) | 1), each)).collect();
    assert_eq!(constants.len(), 128);
    // The operation of every instruction; the constant of each.
    assert_eq!(
        of(&wide, "x"),
        [([all, 0, 0], BTreeMap::from([(61, all)])), ([all, 0, 0], constants.clone())]
    );
    // Targets and sources go round four registers.
    let quarters = (1..4).map(|r| (r, all / 4)).collect();
    for component in ["y", "z", "w"] {
        assert_eq!(of(&wide, component), [([all, all / 4, 0], BTreeMap::clone(&quarters))], "{component}");
    }
    let Some(narrow) = tables("vm", "values:slots=32", &[], VALUES) else { return };
    let [_, ([executions, zeros, overflow], some)] = &of(&narrow, "x")[..] else { panic!("two loads") };
    assert_eq!((*executions, *zeros), (all, 0));
    // Which found a slot depends on who came first, a frame's on the other's; that all are counted does not.
    assert!(!some.is_empty() && some.keys().all(|v| constants.contains_key(v)), "{some:?}");
    assert!(some.values().all(|n| *n <= each), "{some:?}");
    assert_eq!(some.values().sum::<u64>() + overflow, all);
    assert!(*overflow >= all * 3 / 4, "32 slots of 128 values leave at least three quarters");
}

/// Four dispatches of one pipeline in each frame: three pairs, of which it is known what changed.
#[test]
fn changes_from_action_to_action() {
    let names = ["pipelines", "entries", "value_sites", "value_changes"];
    for (scene, pipeline, index, expected) in [
        (
            "closed_compute",
            "loads",
            0,
            &[
                ("Numbers.zero", 0),
                ("Numbers.constant", 0),
                ("Numbers.alternating", 3),
                ("Numbers.counting", 3),
                ("Push.trips", 0),
                ("Push.first", 3),
            ][..],
        ),
        ("closed_fragment", "ways", 1, &[("Push.way", 1)]),
        ("closed_fragment", "ways", 0, &[("Push.shape", 0)]),
    ] {
        let Some([pipelines, entries, sites, changes]) = tables(scene, "values", &[], names) else {
            return;
        };
        let entry = by_pipeline(&pipelines, &entries)[&(pipeline.to_owned(), index)];
        let ours: Vec<&Value> = sites.iter().filter(|s| number(s, "entry") == entry).collect();
        let pairs = if scene == "closed_compute" { 3 } else { 1 };
        for (name, changed) in expected {
            let site = ours.iter().find(|s| s["name"] == *name).unwrap_or_else(|| panic!("no {name}"));
            let is = |r: &&Value| number(r, "entry") == entry && number(r, "site") == number(site, "site");
            let rows: Vec<[u64; 4]> = changes
                .iter()
                .filter(is)
                .map(|r| ["actions", "pairs", "changes", "unknown"].map(|c| number(r, c)))
                .collect();
            assert!(!rows.is_empty(), "{name}: not followed");
            assert!(rows.iter().all(|r| *r == [pairs + 1, pairs, *changed, 0]), "{name}: {rows:?}");
        }
    }
}
