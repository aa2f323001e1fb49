//! Event-level efficiency of every sample that traces rays: counted by two passes, and held against what the model of ideal
//! execution makes of the same rays.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn json(args: &[&str]) -> Value {
    let out = run(args.iter().copied().chain(["--json"].into_iter().filter(|_| args[0] == "info")));
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

/// The samples that have pipelines for rays.
fn samples() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("captures/samples")).expect("the samples");
    let files =
        folder.map(|f| f.expect("a file").path()).filter(|f| f.extension().is_some_and(|e| e == "gfxr"));
    let rays = |f: &PathBuf| {
        json(&["info", f.to_str().expect("a path")])["pipelines"]["ray_tracing"].as_u64().expect("a number")
            > 0
    };
    let mut all: Vec<PathBuf> = files.filter(rays).collect();
    all.sort();
    all
}

/// Events and active invocations under columns of these names, by the words in the first `keys` columns.
fn rows(report: &Value, table: &str, keys: usize, columns: [&str; 2]) -> BTreeMap<Vec<String>, [u64; 2]> {
    let tables = report["reports"][0]["tables"].as_array().expect("tables");
    let table = tables.iter().find(|t| t["name"] == table).expect("the table");
    let at = columns.map(|name| {
        let is = |c: &Value| c["name"] == name && c["unit"] != "percent";
        table["columns"].as_array().expect("columns").iter().position(is).expect("the column")
    });
    let row = |r: &Value| {
        let key = (0..keys).map(|k| r[k].to_string().trim_matches('"').to_owned()).collect();
        (key, at.map(|c| r[c].as_u64().expect("a number")))
    };
    table["rows"].as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn no_device_exceeds_the_model_and_two_passes_count_the_same() {
    if !device("no_device_exceeds_the_model") {
        return;
    }
    let samples = samples();
    assert!(samples.len() > 8, "{samples:?}");
    let mut with_callables = 0;
    for capture in samples {
        let name = capture.file_stem().expect("a name").to_str().expect("words").to_owned();
        let scratch = Scratch::new(&format!("ray-efficiency-{name}"));
        let trace = scratch.path("trace").to_str().expect("a path").to_owned();
        let mut args =
            vec!["profile", capture.to_str().expect("a path"), "--passes", "rays,simt", "-o", &trace];
        args.extend(["--assume-subgroups", "--no-cache"]);
        // (eight frames of it are as many as all others' together)
        args.extend(if name == "rays" { &["--frames", "1"][..] } else { &[] });
        let out = run(args);
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        let report = json(&["analyze", &trace, "ray-simt", "--format", "json"]);
        let notes = report["reports"][0]["notes"].to_string();
        assert!(!notes.contains("other subgroups"), "{name}: {notes}");
        for (table, keys) in [("whole", 1), ("shaders", 5)] {
            let of = |columns| rows(&report, table, keys, columns);
            let actual = of(["actual", "actual active"]);
            let synthetic = of(["synthetic", "synthetic active"]);
            let bound = of(["bound", "synthetic active"]);
            for (key, [events, active]) in &actual {
                assert_eq!(*active, synthetic[key][1], "{name}, {key:?}");
                assert!(
                    *events >= bound[key][0],
                    "{name}, {key:?}: {events} events, {:?} at least",
                    bound[key]
                );
                assert!(synthetic[key][0] >= bound[key][0], "{name}, {key:?}");
            }
            // (of one shader, a better order of all may have more events than the device's)
            let sum = |of: &BTreeMap<Vec<String>, [u64; 2]>| of.values().map(|e| e[0]).sum::<u64>();
            assert!(sum(&synthetic) <= sum(&actual), "{name}, {table}: {synthetic:?}, {actual:?}");
            if table == "whole" {
                let all = vec!["all".to_owned()];
                assert!(synthetic[&all][0] <= actual[&all][0], "{name}: {synthetic:?}, {actual:?}");
            }
        }
        let whole = rows(&report, "whole", 1, ["actual", "actual active"]);
        let simt = json(&["analyze", &trace, "simt", "--format", "json"]);
        let simt = rows(&simt, "events", 1, ["executed", "active"]);
        let word = |w: &str| vec![w.to_owned()];
        assert_eq!(simt.get(&word("all")).unwrap_or(&[0; 2]), &whole[&word("all")], "{name}");
        assert_eq!(simt.get(&word("callable entered")), whole.get(&word("callable")), "{name}");
        with_callables += usize::from(whole.contains_key(&word("callable")));
    }
    assert!(with_callables >= 3, "{with_callables} samples have callables");
}
