//! The report `simt` on scenes whose efficiencies are plain arithmetic, whatever the subgroup's size.

use crate::measured::{measured, tables};
use crate::support::{Scratch, root, run, text};
use std::collections::BTreeSet;

#[test]
fn halves_quarters_and_single_invocations() {
    let Some(m) = measured("closed_compute", "simt") else { return };
    // Subgroups of all frames; each executes the block before, one or two on the way, and the one behind.
    let subgroups = m.frames * 256 / m.n;
    let n = m.n as f64;
    for (pipeline, blocks, efficiency) in [
        ("half", 4, (1.0 + 0.5 + 0.5 + 1.0) / 4.0),
        ("quarter", 3, (1.0 + 0.25 + 1.0) / 3.0),
        ("one", 3, (1.0 + 1.0 / n + 1.0) / 3.0),
    ] {
        let row = m.of("shaders", pipeline);
        assert_eq!(row["executed"], subgroups * blocks, "{pipeline}");
        let is = row["efficiency %"].as_f64().expect("a share");
        assert!((is - 100.0 * efficiency).abs() < 1e-9, "{pipeline}: {is}");
        assert_eq!(row["helpers"], 0, "{pipeline}");
    }
    assert!(m.table("events").is_empty(), "nothing traces");
    assert!(m.notes().is_empty(), "{:?}", m.notes());
    let frames = m.table("frames");
    assert_eq!(frames.len() as u64, m.frames);
    assert!(frames.iter().all(|f| f["efficiency %"] == frames[0]["efficiency %"]), "frames are alike");
}

/// A fifth of memory, and the same efficiencies; a histogram that ends in "more".
#[test]
fn without_histograms_efficiencies_are_the_same() {
    let (Some(exact), Some(sums)) =
        (measured("closed_compute", "simt"), measured("closed_compute", "simt:exact=0"))
    else {
        return;
    };
    for table in ["whole", "shaders", "blocks"] {
        assert_eq!(exact.table(table), sums.table(table), "{table}");
    }
    assert!(sums.notes()[0].as_str().expect("words").contains("than the histograms tell apart"));
}

/// Counts that follow from those of a few places are what every block counts by itself: executions, invocations, helpers.
#[test]
fn what_follows_is_what_every_block_counts() {
    for scene in ["closed_compute", "closed_fragment", "cubes", "stages", "vm"] {
        let rows = |placement: &str| {
            let pass = format!("simt:placement={placement}");
            let of_each = tables(scene, &pass, &[], ["simt", "simt_helpers"])?;
            Some(of_each.map(|rows| rows.iter().map(ToString::to_string).collect::<BTreeSet<_>>()))
        };
        let (Some(flow), Some(direct)) = (rows("flow"), rows("direct")) else { return };
        assert!(direct[0].len() > 4, "{scene}: {direct:?}");
        assert_eq!(flow, direct, "{scene}");
    }
}

/// What is spread over several replays is what one replay counts; and where nothing is asked for, several are made where shaders are
/// large, and it is said.
#[test]
fn several_replays_count_what_one_does() {
    let passes = [
        ("simt", "simt"),
        ("divergence", "divergence"),
        ("blocks", "block_counts"),
        ("blocks:mode=lane", "block_counts"),
        ("blocks", "edge_counts"),
    ];
    for (pass, table) in passes {
        for scene in ["vm", "closed_fragment"] {
            let rows = |replays: &[&str]| {
                let [rows, frames] = tables(scene, pass, replays, [table, "frames"])?;
                Some([rows, frames].map(|t| t.iter().map(ToString::to_string).collect::<Vec<_>>()))
            };
            let Some(one) = rows(&["--replays", "1"]) else { return };
            assert!(one[0].len() > 4 && !one[1].is_empty(), "{scene}, {pass}: {one:?}");
            for replays in [&["--replays", "3"][..], &[]] {
                assert_eq!(rows(replays), Some(one.clone()), "{scene}, {pass}, {replays:?}");
            }
        }
    }
    let scratch = Scratch::new("several-replays");
    let said = |options: &[&str], name: &str| {
        let capture = root().join("captures/samples/vm.gfxr");
        let mut args = vec!["profile".into(), capture.into_os_string()];
        args.extend(["--passes", "simt", "--assume-subgroups", "-o"].map(Into::into));
        args.push(scratch.path(name).into_os_string());
        let out = run(args.iter().chain(&options.iter().map(Into::into).collect::<Vec<_>>()));
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout).contains("is spread over")
    };
    assert!(said(&[], "several") && !said(&["--replays", "1"], "one"));
    let capture = root().join("captures/samples/vm.gfxr");
    let capture = capture.to_str().expect("a path");
    let refused = run(["profile", capture, "--passes", "simt,rays", "--replays", "2", "-o", "never-made"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("pass rays measures in one replay"), "{}", text(&refused.stderr));
}

/// Rays: 1,792 of 2,048 places trace, half of these again; entries of shaders that rays call are events too.
#[test]
fn events_of_rays() {
    let Some(m) = measured("closed_rays", "simt") else { return };
    let events = m.table("events");
    let active = |of: &str| events.iter().find(|e| e["event"] == of).expect("it is there")["active"].clone();
    // Each frame's; closest hits of the plane's first rows trace once more each.
    assert_eq!(active("ray traced"), m.frames * (1792 + 896 + 48 * 4));
    // The plane's 768 less the first of every four columns, and 12 rows of 16 solid columns of the box.
    assert_eq!(active("closest-hit entered"), m.frames * (1024 * 3 / 4 + 12 * 16));
    // The sum is of the thesis's kinds (§3.1.2); callables have a row of their own beside it.
    let beside = ["all", "callable entered"];
    let summed = events.iter().filter(|e| !beside.iter().any(|n| e["event"] == *n));
    let all: u64 = summed.map(|e| e["active"].as_u64().expect("a number")).sum();
    assert!(active("callable entered").as_u64() > Some(0) && active("all") == all);
}

/// Helpers are never active: what is active are the fragments, whose number is known.
#[test]
fn helpers_are_not_active() {
    let Some(m) = measured("closed_fragment", "simt") else { return };
    let edge = m.id("edge");
    let blocks = m.table("blocks");
    let entry = blocks.iter().find(|b| b["pipeline"] == edge && b["stage"] == "fragment" && b["block"] == 0);
    // The half of a square: 32 + 31 + … + 1 fragments.
    assert_eq!(entry.expect("it was executed")["active"], 528 * m.frames);
}
