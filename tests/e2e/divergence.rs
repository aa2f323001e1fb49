//! The report `divergence` on scenes whose causes are plain arithmetic: slots are subgroups times their size, so that the
//! numbers are the same whatever the size.

use crate::measured::{Measured, measured, summed, together};
use std::collections::BTreeMap;

fn number(row: &BTreeMap<String, serde_json::Value>, column: &str) -> u64 {
    row[column].as_u64().unwrap_or_else(|| panic!("{column}: {:?}", row[column]))
}

/// Slots, early return, indirect call, control flow, helper.
fn of(m: &Measured, pipeline: &str) -> [u64; 5] {
    let row = m.of("shaders", pipeline);
    ["slots", "early return", "indirect call", "control flow", "helper"].map(|c| number(&row, c))
}

#[test]
fn causes_of_compute_shaders() {
    let Some(m) = measured("closed_compute", "divergence") else { return };
    let all = m.frames * 256;
    // Four blocks; the two ways are taken by a half each.
    assert_eq!(of(&m, "half"), [4 * all, 0, 0, all, 0]);
    // Three; one of them by a quarter.
    assert_eq!(of(&m, "quarter"), [3 * all, 0, 0, all * 3 / 4, 0]);
    // Half return from block 1; until the third trip's return of half of the rest 19 blocks are executed, then 11 more:
    // 19/2 + 11·3/4 of a subgroup's slots. Block 1 is executed by a half, block 8 by half of a half.
    assert_eq!(of(&m, "returns")[1..], [all * 71 / 4, 0, all * 3 / 4, 0]);
    assert!(m.notes().is_empty(), "{:?}", m.notes());
}

/// What left ray generation for good is no indirect call in what the others call; and nothing is unattributed.
#[test]
fn causes_of_rays() {
    let Some(m) = measured("closed_rays", "divergence") else { return };
    assert!(m.notes().is_empty(), "{:?}", m.notes());
    let stage = |of: &str| m.table("stages").into_iter().find(|s| s["stage"] == of).expect("it is there");
    let called = stage("closest-hit");
    assert!(number(&called, "indirect call") > 0, "{called:?}");
    let launched = stage("ray-generation");
    assert_eq!(number(&launched, "indirect call"), 0, "2048 places fill every subgroup: {launched:?}");
}

/// Along the edge of a triangle 16 quads have three fragments and a helper, in each of the three blocks that their subgroups
/// execute. No other stage has this cause. (Other triangles may have helpers where a driver clips them into several.)
#[test]
fn helpers_are_a_cause_of_their_own() {
    let Some(m) = measured("closed_fragment", "divergence") else { return };
    let edge = m.id("edge");
    for row in m.table("shaders") {
        match row["stage"].as_str() {
            Some("fragment") if row["pipeline"] == edge => {
                assert_eq!(number(&row, "helper"), 3 * 16 * m.frames)
            }
            Some("fragment") => {}
            _ => assert_eq!(number(&row, "helper"), 0, "{row:?}"),
        }
    }
}

/// Records taken in two runs, each of a part of the work, are those of one run, also where the parts cut through subgroups.
#[test]
fn windows_add_up_to_the_whole() {
    let place = ["frame", "entry", "function", "block"];
    let slots = [
        "executions",
        "active",
        "early_return",
        "indirect_call",
        "not_launched",
        "control_flow",
        "helper",
        "unattributed",
    ];
    for (scene, first, second) in [
        ("closed_compute", "0-100", "100-4294967295"),
        ("closed_rays", "0-1003", "1003-4294967295"),
        ("closed_fragment", "0-2031616", "2031616-4294967295"),
    ] {
        let of = |options: &[&str]| summed(scene, "divergence", options, "divergence", &place, &slots);
        let (Some(whole), Some(a), Some(b)) = (of(&[]), of(&["--window", first]), of(&["--window", second]))
        else {
            return;
        };
        assert!(!a.is_empty() && a != whole && b != whole, "{scene}: both have a part");
        let plain = |all: std::collections::BTreeMap<Vec<u64>, Vec<u64>>| -> Vec<_> {
            all.into_iter().map(|(place, of)| (place, of[..slots.len()].to_vec())).collect()
        };
        assert!(plain(together(a, b)) == plain(whole), "{scene}: two windows are not the whole");
    }
}

/// Where it is proven that nobody has left, nobody had.
#[test]
fn what_is_proven_of_who_has_left_is_what_is_read() {
    let place = ["frame", "entry", "function", "block"];
    let slots = ["executions", "active", "early_return", "not_launched", "control_flow", "helper"];
    for scene in ["cubes", "closed_compute", "closed_fragment", "feedback"] {
        let of = |pass: &str| summed(scene, pass, &[], "divergence", &place, &slots);
        let (Some(proven), Some(read)) = (of("divergence:leaving=proven"), of("divergence:leaving=read"))
        else {
            return;
        };
        assert!(!read.is_empty() && proven == read, "{scene}: {proven:?} is not {read:?}");
    }
}
