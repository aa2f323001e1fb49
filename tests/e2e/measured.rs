//! What the tests of passes' reports share: a closed-form scene measured with one pass, and the report on it.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// A scene's report.
pub struct Measured {
    /// Invocations in a subgroup.
    pub n: u64,
    /// Frames.
    pub frames: u64,
    /// Pipelines' ids by name.
    pipelines: BTreeMap<String, u64>,
    report: Value,
}

/// A folder that no other test has: several may measure the same.
fn scratch(name: &str) -> Scratch {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    Scratch::new(&format!("measured-{n}-{}", name.replace([':', '='], "-")))
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    text(bytes).lines().map(|l| serde_json::from_str(l).expect("a line of JSON")).collect()
}

/// Profiles `captures/samples/SCENE.gfxr` with these passes and options, into a folder of the scratch; the trace's path.
fn profiled(scratch: &Scratch, scene: &str, pass: &str, options: &[&str]) -> String {
    let capture = root().join("captures/samples").join(format!("{scene}.gfxr"));
    let capture = capture.to_str().expect("a plain path").to_owned();
    let trace = scratch.path("trace").to_str().expect("a plain path").to_owned();
    let args = ["profile", &capture, "--passes", pass, "--assume-subgroups", "--no-cache", "-o", &trace];
    let out = run(args.iter().chain(options));
    assert!(out.status.success(), "{scene}, {pass}: {}{}", text(&out.stdout), text(&out.stderr));
    trace
}

fn records(trace: &str, table: &str) -> Vec<Value> {
    let out = run(["analyze", trace, "--table", table, "--format", "json"]);
    assert!(out.status.success(), "{trace}, {table}: {}", text(&out.stderr));
    lines(&out.stdout)
}

/// Whole tables of a trace, record by record. None where there is no device.
pub fn tables<const N: usize>(
    scene: &str,
    pass: &str,
    options: &[&str],
    names: [&str; N],
) -> Option<[Vec<Value>; N]> {
    if !device(&format!("{scene} with pass {pass}")) {
        return None;
    }
    let scratch = scratch(&format!("{scene}-{}", pass.split(':').next().expect("a name")));
    let trace = profiled(&scratch, scene, pass, options);
    Some(names.map(|name| records(&trace, name)))
}

/// A number of a record.
pub fn number(record: &Value, column: &str) -> u64 {
    record[column].as_u64().unwrap_or_else(|| panic!("no number {column}: {record}"))
}

/// A table's records, summed over those that are alike in some columns; the last number is how many were. None where there is no device.
pub fn summed(
    scene: &str,
    pass: &str,
    options: &[&str],
    table: &str,
    alike: &[&str],
    sum: &[&str],
) -> Option<BTreeMap<Vec<u64>, Vec<u64>>> {
    if !device(&format!("{scene} with pass {pass}")) {
        return None;
    }
    let scratch = scratch(&format!("{scene}-{pass}"));
    let trace = profiled(&scratch, scene, pass, options);
    let mut all: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
    for record in records(&trace, table) {
        let of = |columns: &[&str]| -> Vec<u64> { columns.iter().map(|c| number(&record, c)).collect() };
        let into = all.entry(of(alike)).or_insert_with(|| vec![0; sum.len() + 1]);
        into.iter_mut().zip(of(sum).into_iter().chain([1])).for_each(|(into, n)| *into += n);
    }
    Some(all)
}

/// The sums of two such.
pub fn together(
    mut a: BTreeMap<Vec<u64>, Vec<u64>>,
    b: BTreeMap<Vec<u64>, Vec<u64>>,
) -> BTreeMap<Vec<u64>, Vec<u64>> {
    for (key, of) in b {
        let into = a.entry(key).or_insert_with(|| vec![0; of.len()]);
        into.iter_mut().zip(of).for_each(|(into, n)| *into += n);
    }
    a
}

/// Profiles `captures/samples/SCENE.gfxr` with a pass, and asks the question of the pass's name. None where there is no device.
pub fn measured(scene: &str, pass: &str) -> Option<Measured> {
    measured_with(scene, pass, &[])
}

/// The same with more options.
pub fn measured_with(scene: &str, pass: &str, options: &[&str]) -> Option<Measured> {
    let what = format!("{scene} with pass {pass}");
    if !device(&what) {
        return None;
    }
    let scratch = scratch(&format!("{scene}-{pass}"));
    let trace = profiled(&scratch, scene, pass, options);
    let question = pass.split(':').next().expect("a name");
    let out = run(["analyze", &trace, question, "--format", "json"]);
    assert!(out.status.success(), "{what}: {}", text(&out.stderr));
    let all: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let frames = records(&trace, "frames");
    let name =
        |p: &Value| (p["name"].as_str().expect("words").to_owned(), p["pipeline"].as_u64().expect("an id"));
    Some(Measured {
        n: frames[0]["subgroup_size"].as_u64().expect("a number"),
        frames: frames.len() as u64,
        pipelines: records(&trace, "pipelines").iter().map(name).collect(),
        report: all["reports"][0].clone(),
    })
}

impl Measured {
    /// The rows of a table, each by its columns' names.
    pub fn table(&self, name: &str) -> Vec<BTreeMap<String, Value>> {
        let tables = self.report["tables"].as_array().expect("tables");
        let table = tables.iter().find(|t| t["name"] == name).unwrap_or_else(|| panic!("no table {name}"));
        let columns: Vec<_> = table["columns"].as_array().expect("columns").iter().collect();
        let key = |c: &Value| {
            let (name, unit) = (c["name"].as_str().expect("a name"), c["unit"].as_str().expect("a unit"));
            if unit == "percent" { format!("{name} %") } else { name.to_owned() }
        };
        let row = |r: &Value| {
            let cells = r.as_array().expect("cells").iter().cloned();
            columns.iter().map(|c| key(c)).zip(cells).collect()
        };
        table["rows"].as_array().expect("rows").iter().map(row).collect()
    }

    /// A pipeline's id.
    pub fn id(&self, pipeline: &str) -> u64 {
        self.pipelines[pipeline]
    }

    /// The row of a pipeline that has one.
    pub fn of(&self, table: &str, pipeline: &str) -> BTreeMap<String, Value> {
        let id = self.pipelines[pipeline];
        let mut rows = self.table(table);
        rows.retain(|r| {
            r["pipeline"] == id
                || r["pipeline"].as_str().is_some_and(|w| {
                    let words = format!("pipeline {id}");
                    w == words || w.starts_with(&format!("{words} "))
                })
        });
        assert_eq!(rows.len(), 1, "{table} of {pipeline}");
        rows.pop().expect("there is one")
    }

    /// What a reader is told.
    pub fn notes(&self) -> &[Value] {
        self.report["notes"].as_array().expect("notes")
    }
}
