//! Pass `rays` on scenes whose rays are plain arithmetic: every event of every invocation, in order; windows; launches.

use crate::measured::{summed, tables, together};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn number(row: &Value, column: &str) -> u64 {
    row[column].as_u64().unwrap_or_else(|| panic!("{column} of {row}"))
}

/// An event: kind, distance, flags, instance, and how many hit kinds it has.
type Event = (u64, f64, u64, u64);

const NONE: u64 = u32::MAX as u64;
const BEGIN: u64 = 0;
const OCCLUSION: u64 = 1;
const INTERSECTION: u64 = 2;
const REPORT: u64 = 3;
const ANY_HIT: u64 = 4;
const IGNORE: u64 = 5;
const TERMINATE: u64 = 6;
const MISS: u64 = 7;
const CLOSEST_HIT: u64 = 8;
const CALLABLE: u64 = 9;
const END: u64 = 10;

/// What the scene `closed_rays` does at a place: see its shaders.
fn expected(x: u64, y: u64) -> Vec<Event> {
    let mut all = vec![];
    if y >= 28 {
        return all;
    }
    let mut trace = |flags: u64| {
        let occlusion = flags & 8 != 0;
        all.push((if occlusion { OCCLUSION } else { BEGIN }, 10.0, flags, NONE));
        let mut hit = None;
        if y < 16 {
            all.push((ANY_HIT, 2.0, flags, 0));
            match x & 3 {
                0 => all.push((IGNORE, 0.0, 0, NONE)),
                1 => all.push((TERMINATE, 0.0, 0, NONE)),
                _ => {}
            }
            hit = (x & 3 != 0).then_some((2.0, 0));
        } else if x < 32 {
            all.push((INTERSECTION, 10.0, flags, 1));
            if x & 7 < 4 {
                all.push((REPORT, 3.5, 0, NONE));
                hit = Some((3.5, 1));
            }
        }
        match hit {
            None => all.push((MISS, 10.0, flags, NONE)),
            Some(_) if occlusion => {}
            Some((t, instance)) => {
                all.push((CLOSEST_HIT, t, flags, instance));
                if instance == 0 && y < 4 {
                    all.extend([(BEGIN, 10.0, 0, NONE), (MISS, 10.0, 0, NONE), (END, 0.0, 0, NONE)]);
                }
            }
        }
        all.push((END, 0.0, 0, NONE));
    };
    trace(0);
    if x & 1 == 0 {
        trace(12);
    }
    if y < 8 {
        all.push((CALLABLE, 0.0, 0, NONE));
    }
    all
}

#[test]
fn every_event_of_a_closed_scene_is_as_its_shaders_say() {
    let names = ["rays", "ray_launches", "entries", "warps"];
    let Some([rays, launches, entries, warps]) = tables("closed_rays", "rays", &[], names) else { return };
    let sizes: Vec<_> = launches.iter().map(|l| ["width", "height", "depth"].map(|c| number(l, c))).collect();
    assert_eq!(sizes, [[64, 32, 1]; 2]);
    let stage =
        |row: &Value| entries[number(row, "entry") as usize]["stage"].as_str().expect("text").to_owned();
    let mut seen: BTreeMap<(u64, u64), Vec<Event>> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for r in &rays {
        let [frame, invocation, kind] = ["frame", "invocation", "kind"].map(|c| number(r, c));
        let t = r["t"].as_f64().expect("a number");
        seen.entry((frame, invocation)).or_default().push((
            kind,
            t,
            number(r, "flags"),
            number(r, "instance"),
        ));
        let place = ["subgroup", "lane"].map(|c| number(r, c));
        assert_eq!(
            *places.entry((frame, invocation)).or_insert(place),
            place,
            "an invocation stays where it is"
        );
        let of = match kind {
            INTERSECTION | REPORT => Some("intersection"),
            ANY_HIT | IGNORE | TERMINATE => Some("any-hit"),
            MISS => Some("miss"),
            CLOSEST_HIT => Some("closest-hit"),
            CALLABLE => Some("callable"),
            _ => None,
        };
        assert!(of.is_none_or(|of| stage(r) == of), "{r}");
        if [BEGIN, OCCLUSION].contains(&kind) {
            let (x, y) = ((invocation % 64) as f64, (invocation / 64) as f64);
            let z = if stage(r) == "closest-hit" { -8.0 } else { 1.0 };
            let ray =
                ["origin_x", "origin_y", "origin_z", "direction_x", "direction_y", "direction_z", "tmin"];
            let is = ray.map(|c| r[c].as_f64().expect("a number"));
            assert_eq!(is, [x + 0.5, y + 0.5, z, 0.0, 0.0, -1.0, 0.0], "{r}");
            let miss = if z < 0.0 { 2 } else { u64::from(kind == OCCLUSION) };
            assert_eq!((number(r, "cull_mask"), number(r, "miss_index")), (255, miss), "{r}");
        }
    }
    for frame in [1, 2] {
        for invocation in 0..64 * 32 {
            let is = seen.remove(&(frame, invocation)).unwrap_or_default();
            assert_eq!(
                is,
                expected(invocation % 64, invocation / 64),
                "frame {frame}, invocation {invocation}"
            );
        }
    }
    assert!(seen.is_empty(), "{seen:?}");
    // No two invocations are in one place.
    let all: BTreeSet<_> = places.iter().map(|((frame, _), place)| (frame, place)).collect();
    assert_eq!(all.len(), places.len());
    let kinds: BTreeSet<u64> = warps.iter().map(|w| number(w, "kind")).collect();
    assert_eq!(kinds, BTreeSet::from([BEGIN, OCCLUSION, INTERSECTION, ANY_HIT, MISS, CLOSEST_HIT, CALLABLE]));
}

/// Events in two windows, and in as many as a small log takes, are those of one run.
#[test]
fn windows_add_up_to_the_whole() {
    let of_rays =
        ["frame", "launch", "invocation", "lane", "kind", "entry", "word_offset", "instance", "primitive"];
    let of_warps = ["frame", "launch", "kind", "entry", "word_offset", "mask"];
    for (table, alike) in [("rays", &of_rays[..]), ("warps", &of_warps[..])] {
        let of = |options: &[&str]| summed("closed_rays", "rays", options, table, alike, &[]);
        let (Some(whole), Some(a), Some(b), Some(small)) = (
            of(&[]),
            of(&["--window", "0-1024"]),
            of(&["--window", "1024-4294967295"]),
            of(&["--log-bytes", "65536", "--max-log-bytes", "65536"]),
        ) else {
            return;
        };
        assert!(!a.is_empty() && !b.is_empty() && a != whole);
        assert!(together(a, b) == whole, "{table}: two windows are not the whole");
        assert!(small == whole, "{table}: what did not fit at once is not the whole");
    }
}

/// Eight frames with an indirect trace, two pipelines of which one is a library: each is one launch, whose shaders are in
/// known groups. (Its laws are checked by `profile` itself.)
#[test]
fn launches_of_libraries_have_their_groups() {
    let names = ["ray_launches", "rays"];
    let Some([launches, rays]) = tables("rays", "rays", &["--frames", "2"], names) else { return };
    assert_eq!(launches.len(), 1);
    let l = &launches[0];
    assert_eq!(["width", "height", "depth"].map(|c| number(l, c)), [256, 144, 1]);
    assert!(number(l, "hit_groups") >= 2 && number(l, "command") > 0, "{l}");
    let groups: BTreeSet<u64> =
        rays.iter().filter(|r| number(r, "kind") == MISS).map(|r| number(r, "group")).collect();
    assert!(groups.len() == 2 && !groups.contains(&NONE), "{groups:?}");
}
