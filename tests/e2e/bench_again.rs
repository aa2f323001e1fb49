//! `study rays` twice with one seed: both folders hold the same files, and these the same bytes, but for what is declared here.
//!
//! | file | what may differ |
//! |---|---|
//! | [`TIMED`], `times_*`, `histogram_*` | everything: they are times and pictures of times |
//! | `run/` but for `made/` | everything: times, when it began, what the machine did |
//! | `turns.csv` | its last column, the time |
//! | `report.txt`, `report.json` | their tables and series of times, and the sentences of [`is_of_times`]; others, efficiency and everything else is compared |
//! | traces' `manifest.json` | times (`cost`, `other_costs`), sizes of files, the folder that swizzles lay in meanwhile |
//! | `rays.table`, `warps.table` | the order of rows, and the numbers of subgroups: a device runs subgroups in any order |

use crate::bench::{bench, read, tiled};
use crate::device::device;
use crate::support::{Scratch, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use trace::dir::Dir;
use trace::tables::{RAYS, WARPS};
use trace::{ColumnData, Source};

/// Tables and figures of times.
const TIMED: [&str; 10] = [
    "verdicts.csv",
    "times.csv",
    "percentiles.csv",
    "bands.csv",
    "plans_violins.svg",
    "plans_violins.png",
    "plans_in_order.svg",
    "plans_in_order.png",
    "plans_histogram.svg",
    "plans_histogram.png",
];
/// Tables of times in a report.
const TIMES: [&str; 4] = ["verdicts", "times", "percentiles", "bands"];

/// Whether it is a run's own, and no file that its plans read.
fn is_of_run(name: &str) -> bool {
    name.strip_prefix("run/").is_some_and(|rest| !rest.starts_with("made/"))
}

fn files(folder: &Path, under: &Path, into: &mut BTreeSet<PathBuf>) {
    for entry in folder.join(under).read_dir().expect("a folder") {
        let entry = entry.expect("an entry");
        let name = under.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => files(folder, &name, into),
            false => {
                into.insert(name);
            }
        }
    }
}

/// A trace's manifest without times, sizes, and where swizzles lay.
fn manifest(bytes: &[u8]) -> Value {
    let mut all: Value = serde_json::from_slice(bytes).expect("JSON");
    let object = all.as_object_mut().expect("an object");
    assert!(object.remove("cost").is_some() && object.contains_key("tables"), "{object:?}");
    object.remove("other_costs");
    for table in object["tables"].as_array_mut().expect("tables") {
        table.as_object_mut().expect("a table").remove("size_bytes").expect("its size");
    }
    for pass in object["passes"].as_array_mut().expect("passes") {
        if let Some(options) = pass["options"].as_str() {
            let names = options.split('+').map(|o| o.rsplit('/').next().unwrap_or(o));
            pass["options"] = names.collect::<Vec<_>>().join("+").into();
        }
    }
    all
}

/// Whether a sentence says how long all took, or where times gather.
fn is_of_times(note: &str) -> bool {
    (note.starts_with("All processes ran. ") && note.ends_with(" s."))
        || note.contains(": bands at ")
        || note.starts_with("Medians against ")
}

/// A report without tables, series and sentences of times.
fn report(bytes: &[u8]) -> Value {
    let mut all: Value = serde_json::from_slice(bytes).expect("JSON");
    let tables = all["tables"].as_array_mut().expect("tables");
    let before = tables.len();
    tables.retain(|t| !TIMES.contains(&t["name"].as_str().unwrap_or_default()));
    assert!(!tables.is_empty() && tables.len() < before, "{tables:?}");
    all["series"] = Value::Null;
    for sentences in ["headlines", "notes"] {
        let all = all[sentences].as_array_mut().expect(sentences);
        let before = all.len();
        all.retain(|n| !is_of_times(n.as_str().unwrap_or_default()));
        assert!(before > 0 && (sentences == "headlines" || !all.is_empty()));
    }
    all
}

/// A table's rows in order, subgroups numbered by the first invocation that they have.
fn rows(trace: &Path, table: &'static trace::Table, first: &BTreeMap<u64, u64>) -> Vec<Vec<String>> {
    let dir = Dir::open(trace).expect("a trace");
    let t = dir.read(table).expect("it is readable");
    let cell = |row: usize, (data, column): (&ColumnData, &trace::table::Column)| match data {
        ColumnData::U64(v) if column.name == "subgroup" => first[&v[row]].to_string(),
        ColumnData::U64(v) => v[row].to_string(),
        ColumnData::F64(v) => v[row].to_bits().to_string(),
        ColumnData::Text(v) => v[row].to_string(),
    };
    let row = |n: usize| t.columns().iter().zip(table.columns).map(|c| cell(n, c)).collect();
    let mut all: Vec<Vec<String>> = (0..t.len()).map(row).collect();
    all.sort();
    all
}

fn first(trace: &Path) -> BTreeMap<u64, u64> {
    let t = Dir::open(trace).expect("a trace").read(&RAYS).expect("it is readable");
    let mut first = BTreeMap::new();
    for (subgroup, invocation) in t.u64("subgroup").iter().zip(t.u64("invocation")) {
        let at = first.entry(*subgroup).or_insert(*invocation);
        *at = (*at).min(*invocation);
    }
    first
}

#[test]
fn one_seed_gives_the_same_folder_but_for_times() {
    if !device("bench") {
        return;
    }
    let scratch = Scratch::new("bench-again");
    // (in which order subgroups begin is another in each recording, and theirs follows it)
    let methods = tiled();
    let methods = methods.split(',').filter(|m| !m.contains("-longest")).collect::<Vec<_>>().join(",");
    let more = ["--iterations", "2", "--warmup", "1", "--seed", "7", "--method", &methods];
    let runs = ["a", "b"].map(|name| {
        let (folder, out) = bench(&scratch, name, &more);
        assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
        folder
    });
    let [a, b] = [&runs[0], &runs[1]];
    let all = |folder: &Path| {
        let mut of = BTreeSet::new();
        files(folder, Path::new(""), &mut of);
        of
    };
    assert_eq!(all(a), all(b));
    let (mut equal, mut masked) = (0, 0);
    for file in all(a) {
        let name = file.to_string_lossy().replace('\\', "/");
        let (x, y) = (read(a, &name), read(b, &name));
        if TIMED.contains(&&*name)
            || name.starts_with("times_")
            || name.starts_with("histogram_")
            || is_of_run(&name)
        {
            masked += 1;
            continue;
        }
        match &*name {
            "turns.csv" => {
                let plain = |bytes: &[u8]| -> Vec<String> {
                    text(bytes).lines().filter_map(|l| Some(l.rsplit_once(',')?.0.to_owned())).collect()
                };
                assert_eq!(plain(&x), plain(&y), "{name}");
            }
            "report.txt" => {
                // (tables stand in it as well as in report.json; here it is its sentences)
                let notes = |bytes: &[u8]| -> Vec<String> {
                    let sentence = |l: &&str| {
                        (l.ends_with('.') || l.starts_with("Cost of measuring")) && !is_of_times(l)
                    };
                    text(bytes).lines().filter(sentence).map(str::to_owned).collect()
                };
                assert!(notes(&x).len() > 2, "{}", text(&x));
                assert_eq!(notes(&x), notes(&y), "{name}");
            }
            "report.json" => assert_eq!(report(&x), report(&y), "{name}"),
            "rays/rays.table" | "rays/warps.table" => {
                let table = if name.contains("rays.table") { &RAYS } else { &WARPS };
                let of = |folder: &Path| {
                    let trace = folder.join("rays");
                    rows(&trace, table, &first(&trace))
                };
                let (x, y) = (of(a), of(b));
                assert!(x.len() > 1000, "{}", x.len());
                assert!(x == y, "{name}: rows differ");
            }
            _ if name.ends_with("/manifest.json") => assert_eq!(manifest(&x), manifest(&y), "{name}"),
            _ => {
                equal += 1;
                assert!(x == y, "{name} differs");
            }
        }
    }
    // Swizzles, order, efficiency as table and figure, manifest, and all other tables of nine traces.
    assert!(equal > 100 && masked < equal, "{equal} equal, {masked} are times");
}
