//! Samples: what a part of the subgroups counted, as estimates of everything, and how far these may be off.

use crate::device::device;
use crate::measured::{measured, measured_with, tables};
use crate::support::{root, run, text};
use serde_json::Value;
use std::collections::BTreeMap;

const CHOSEN: [&str; 5] = ["--frames", "2", "--no-verify-image", "--stages", "fragment"];

fn of(row: &BTreeMap<String, Value>, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("no number {column}: {row:?}"))
}

/// The truth is what everything counts. Of eight choices of the sample at most one interval at 99 % misses it, and the choices
/// differ.
#[test]
fn intervals_hold_what_everything_counts() {
    let everything = [&CHOSEN[..], &["--sample", "1"]].concat();
    for (pass, table, columns) in [
        ("simt", "whole", &["executed", "efficiency %", "weighted %"][..]),
        ("divergence", "stages", &["slots", "inactive", "helper"]),
    ] {
        let Some(exact) = measured_with("cubes", pass, &everything) else { return };
        let exact = exact.table(table).swap_remove(0);
        assert!(!exact.contains_key(&format!("± {}", columns[0])), "nothing is estimated: {exact:?}");
        let (mut missed, mut seen) = (vec![0; columns.len()], std::collections::BTreeSet::new());
        for seed in ["0", "1", "2", "3", "4", "5", "6", "7"] {
            let options = [&CHOSEN[..], &["--sample", "4", "--sample-seed", seed]].concat();
            let m = measured_with("cubes", pass, &options).expect("there was a device");
            assert!(m.notes().iter().any(|n| text(n.to_string().as_bytes()).contains("a sample counted")));
            let row = m.table(table).swap_remove(0);
            seen.insert(row[columns[0]].to_string());
            for (missed, column) in missed.iter_mut().zip(columns) {
                let half = of(&row, &format!("± {column}"));
                assert!(half > 0.0, "{column}: {row:?}");
                *missed += usize::from((of(&row, column) - of(&exact, column)).abs() > half);
            }
        }
        assert!(missed.iter().all(|n| *n <= 1), "{pass}: {columns:?} missed {missed:?} times");
        assert!(seen.len() > 4, "{pass}: seeds choose alike: {seen:?}");
    }
}

/// All of a subgroup's invocations are counted, or none.
#[test]
fn who_counts_is_whole_subgroups() {
    let Some(exact) = measured("closed_compute", "simt") else { return };
    let part = measured_with("closed_compute", "simt", &["--sample", "2"]).expect("there was a device");
    // Half of each subgroup's invocations take a way: that is so of any of them.
    let efficiency = |m: &crate::measured::Measured| of(&m.of("shaders", "half"), "efficiency %");
    assert!((efficiency(&exact) - efficiency(&part)).abs() < 1e-9);
    assert!(part.of("shaders", "half").contains_key("± efficiency %"));
}

/// The trace says who counted a sample, and nobody does unless that was asked for.
#[test]
fn samples_are_named() {
    let sampled = ["--frames", "2", "--sample", "16"];
    let Some([samples]) = tables("vm", "simt", &sampled, ["samples"]) else { return };
    assert!(
        !samples.is_empty() && samples.iter().all(|s| s["every"] == 16 && s["groups"] == 16),
        "{samples:?}"
    );
    let [none] = tables("vm", "simt", &["--frames", "2"], ["samples"]).expect("a device");
    assert!(none.is_empty());
}

#[test]
fn passes_that_take_all_of_the_work_refuse_a_sample() {
    if !device("samples") {
        return;
    }
    let capture = root().join("captures/samples/cubes.gfxr");
    let capture = capture.to_str().expect("a plain path");
    let out = run(["profile", capture, "--passes", "simt,its", "--sample", "16", "-o", "/nonexistent/trace"]);
    assert_eq!(out.status.code(), Some(2));
    let said = text(&out.stderr);
    assert!(said.contains("--sample: pass its takes all of the work"), "{said}");
}
