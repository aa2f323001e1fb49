//! The scenes whose every number is known, measured with every pass: each number is as arithmetic says.

#[path = "../closed_forms/mod.rs"]
mod forms;

use crate::device::device;
use crate::support::{Scratch, root, skip};
use forms::measure::{Measured, Places};
use std::collections::BTreeSet;

/// The tables that are compared, by the pass that fills them.
const TABLES: [(&str, &[&str]); 9] = [
    ("simt", &["simt"]),
    ("divergence", &["divergence"]),
    ("its", &["its"]),
    ("lifetimes", &["lifetimes"]),
    ("paths", &["path_calls"]),
    ("blocks", &["block_counts"]),
    ("uniformity", &["uniformity"]),
    ("values", &["values"]),
    ("counters", &["counters"]),
];

fn places(scratch: &Scratch) -> Places {
    Places {
        program: env!("CARGO_BIN_EXE_reray-replay").into(),
        captures: root().join("captures/samples"),
        scratch: scratch.path(""),
    }
}

/// Measures a scene with these passes at once; gives the tables that were compared.
fn exact(places: &Places, scene: &str, passes: &str) -> BTreeSet<&'static str> {
    // Subgroup operations work in all of llvmpipe's stages, though it names four of them only.
    let options = ["--assume-subgroups".to_owned()];
    match places.measure(scene, passes, &options).expect("it runs") {
        Measured::Compared(verdict) => {
            let wrong = &verdict.wrong;
            let some: Vec<&String> = wrong.iter().take(20).collect();
            assert!(wrong.is_empty(), "{scene}, passes {passes}: {} wrong: {some:#?}", wrong.len());
            verdict.compared.into_keys().collect()
        }
        Measured::Refused(why) => panic!("{scene}, passes {passes}: refused: {why}"),
    }
}

/// The passes of this build whose tables are compared, and the tables.
fn compared(places: &Places) -> (String, BTreeSet<&'static str>) {
    let mut there = places.passes().expect("the program says");
    // The one pass that a build may name and refuse.
    if there.iter().any(|p| p == "counters")
        && let Ok(Measured::Refused(why)) = places.measure("closed_compute", "counters", &[])
    {
        skip("pass counters", why.trim());
        there.retain(|p| p != "counters");
    }
    let known: Vec<_> = TABLES.iter().filter(|(pass, _)| there.iter().any(|p| p == pass)).collect();
    let tables = known.iter().flat_map(|(_, tables)| tables.iter().copied()).collect();
    (known.iter().map(|(pass, _)| *pass).collect::<Vec<_>>().join(","), tables)
}

#[test]
fn every_pass_alone_counts_what_is_known() {
    if !device("closed forms, pass by pass") {
        return;
    }
    let scratch = Scratch::new("closed-forms-alone");
    let places = places(&scratch);
    let (passes, _) = compared(&places);
    for pass in passes.split(',').filter(|p| *p != "paths") {
        let tables = TABLES.iter().find(|(name, _)| *name == pass).expect("it is there").1;
        let seen = exact(&places, "closed_compute", pass);
        assert!(tables.iter().all(|t| seen.contains(t)), "pass {pass}: only {seen:?} were compared");
    }
}

#[test]
fn all_passes_together_count_what_is_known() {
    if !device("closed forms, all passes at once") {
        return;
    }
    let scratch = Scratch::new("closed-forms-together");
    let places = places(&scratch);
    let (passes, tables) = compared(&places);
    // All of its places in one shader with all else are minutes to a compiler for a CPU; alone it has them all.
    let passes = passes.replace("values", "values:sites=uniform|push");
    for scene in forms::SCENES {
        let seen = exact(&places, scene, &passes);
        // Only rays are traced; and their shaders read no memory but handles.
        let without = if scene == "closed_rays" { "values" } else { "path_calls" };
        let missing: Vec<_> = tables.iter().filter(|t| !seen.contains(*t) && **t != without).collect();
        assert!(missing.is_empty(), "{scene}: {missing:?} were not compared");
    }
}
