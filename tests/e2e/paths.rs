//! The report `paths` on a scene whose rays are plain arithmetic: 64x32 places, of which four rows return at once; the others
//! trace, every second column twice; the plane's first rows trace once more where they are hit.

use crate::measured::{measured, summed, tables, together};
use serde_json::Value;

#[test]
fn paths_and_compaction_of_rays() {
    let Some(m) = measured("closed_rays", "paths") else { return };
    assert!(m.notes().is_empty(), "{:?}", m.notes());
    let number = |v: &Value| v.as_u64().expect("a number");
    let stage = |rows: Vec<std::collections::BTreeMap<String, Value>>, of: &str| -> Vec<_> {
        rows.into_iter().filter(|r| r["stage"] == of).collect()
    };
    // (of the two columns "entered" the last stays: invocations)
    let launched = stage(m.table("paths"), "ray-generation").pop().expect("there is one");
    assert_eq!(number(&launched["entered"]), m.frames * 2048);
    assert_eq!(number(&launched["rays"]), m.frames * (28 * 64 + 28 * 32));
    let unbounded = |of: &str| {
        let rows = stage(m.table("compaction"), of);
        rows.into_iter().find(|r| r["window"] == "unbounded").expect("it is there")
    };
    let (ran, needed) =
        (unbounded("ray-generation"), m.frames * (1792u64.div_ceil(m.n) + 896u64.div_ceil(m.n)));
    assert!(number(&ran["ran"]) >= needed);
    // A device that splits subgroups makes more calls of one; joined, they are what they were.
    if m.n == 8 {
        assert_eq!(number(&ran["needed"]), needed);
        let paths = stage(m.table("frequent_paths"), "ray-generation");
        let shares: Vec<_> =
            paths.iter().map(|p| (p["path"].as_str().expect("bits"), p["took it %"].clone())).collect();
        assert_eq!(shares, [("1", 43.75.into()), ("11", 43.75.into()), ("none", 12.5.into())]);
        assert_eq!(number(&launched["paths"]), 3);
    }
    // Four rows of which three columns of four are hit, each place once.
    let hit: u64 = stage(m.table("paths"), "closest-hit").iter().map(|r| number(&r["rays"])).sum();
    assert_eq!(hit, m.frames * 4 * 48);
}

/// Subgroups and calls of two windows are those of one run: each subgroup with all of its calls is in one window.
#[test]
fn windows_add_up_to_the_whole() {
    for (table, alike) in [
        ("path_subgroups", vec!["frame", "entry", "first", "mask"]),
        ("path_calls", vec!["frame", "entry", "call", "function", "block", "word_offset", "mask"]),
    ] {
        let of = |options: &[&str]| summed("closed_rays", "paths", options, table, &alike, &[]);
        let (Some(whole), Some(a), Some(b)) =
            (of(&[]), of(&["--window", "0-1003"]), of(&["--window", "1003-4294967295"]))
        else {
            return;
        };
        assert!(
            !a.is_empty() && !b.is_empty() && (table != "path_subgroups" || a.len() + b.len() == whole.len())
        );
        assert!(together(a, b) == whole, "{table}: two windows are not the whole");
    }
}

/// A trimmed capture's first frame has no frame before it but its snapshot: its records are there whether it is chosen or
/// all are.
#[test]
fn the_first_frame_of_a_trimmed_capture_is_recorded() {
    let names = ["path_subgroups", "path_calls"];
    let frame = |options: &[&str]| -> Option<[usize; 2]> {
        let all = tables("rays_frames_4_5", "paths", options, names)?;
        Some(all.map(|t| t.iter().filter(|r| r["frame"] == 4).count()))
    };
    let (Some(all), Some(chosen)) = (frame(&[]), frame(&["--frames", "4"])) else { return };
    assert!(all.iter().all(|n| *n > 100), "{all:?}");
    assert_eq!(chosen, all);
}
