//! `rays repack` over a trace of the model scene that the test itself wrote: swizzles on disk, and what is refused.

use crate::support::{Scratch, run, text};
use analyses::rays::events::model::Model;
use analyses::rays::repack::{METHODS, Swizzle};
use serde_json::Value as Json;
use std::path::PathBuf;
use trace::dir::{Manifest, Writer};

fn trace(scratch: &Scratch) -> PathBuf {
    let folder = scratch.path("trace");
    let mut w = Writer::create(&folder, Manifest { program: "a test".into(), ..Manifest::default() })
        .expect("a new folder");
    Model::SMALL.trace(true).rows(&mut |table, row| w.put(table, row));
    w.finish().expect("it can be written");
    folder
}

/// All methods: a line each, and two files that hold the same permutation; a second run writes the same bytes.
#[test]
fn swizzles_are_written() {
    let scratch = Scratch::new("repack");
    let folder = trace(&scratch);
    let folder = folder.to_str().expect("a name in UTF-8");
    let once = |name: &str| {
        let out = scratch.path(name);
        let o = out.to_str().expect("a name in UTF-8").to_owned();
        let ran = run(["rays", "repack", folder, "--tile", "16x16", "--seed", "9", "-o", &o, "--json"]);
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        (out, text(&ran.stdout))
    };
    let ((a, report), (b, again)) = (once("a"), once("b"));
    assert_eq!(report, again);
    let report: Json = serde_json::from_str(&report).expect("JSON");
    let rows = report["tables"][0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), METHODS.len());
    let mut efficiencies = std::collections::BTreeMap::new();
    for (row, method) in rows.iter().zip(METHODS) {
        assert_eq!(row[2], method.name());
        efficiencies.insert(method.name(), row[4].as_f64().expect("a number"));
        let read = |folder: &PathBuf, ending: &str| {
            std::fs::read(folder.join(format!("{}_frame1_launch0.{ending}", method.name()))).expect("a file")
        };
        let swizzle = Swizzle::of_bytes(&read(&a, "swizzle")).expect("a swizzle");
        assert_eq!((swizzle.size, swizzle.seed, &*swizzle.method), ([48, 32, 1], 9, method.name()));
        assert_eq!(swizzle.npy(), read(&a, "npy"));
        assert_eq!((read(&a, "swizzle"), read(&a, "npy")), (read(&b, "swizzle"), read(&b, "npy")));
    }
    assert!(efficiencies["numrays"] > efficiencies["identity"], "{efficiencies:?}");
    assert!(efficiencies["random"] < efficiencies["identity"], "{efficiencies:?}");
}

#[test]
fn the_questions_answer_from_disk() {
    let scratch = Scratch::new("repack-questions");
    let folder = trace(&scratch);
    let ran = run(["analyze", folder.to_str().expect("a name in UTF-8"), "rays", "--format", "json"]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let report: Json = serde_json::from_str(&text(&ran.stdout)).expect("JSON");
    let tables = report["reports"][0]["tables"].as_array().expect("tables");
    let laws = tables.iter().find(|t| t["name"] == "laws").expect("table laws");
    assert!(
        laws["rows"].as_array().is_some_and(|r| r.len() > 9 && r.iter().all(|r| r[6] == "yes")),
        "{laws}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let scratch = Scratch::new("repack-refused");
    let folder = trace(&scratch);
    let folder = folder.to_str().expect("a name in UTF-8");
    for (arguments, code, why) in [
        (&["rays", "repack", folder, "--method", "best"][..], 2, "tiled-objects, rounds"),
        (&["rays", "repack", folder, "--tile", "0x4"], 2, "256x256"),
        (&["rays", "repack", "/no/such/trace"], 1, "manifest.json"),
    ] {
        let ran = run(arguments.iter().copied());
        assert_eq!(ran.status.code(), Some(code), "{arguments:?}");
        assert!(text(&ran.stderr).contains(why), "{}", text(&ran.stderr));
    }
}
