//! Pass `rays` on scenes whose rays are plain arithmetic: every event of every invocation, in order; windows; launches.

use crate::measured::tables;
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
const QUERY_BEGIN: u64 = 11;
const QUERY_COMMITTED: u64 = 12;

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

/// How many rows have the same in some columns.
fn counted(rows: &[Value], alike: &[&str]) -> BTreeMap<Vec<u64>, u64> {
    let mut all = BTreeMap::new();
    for r in rows {
        *all.entry(alike.iter().map(|c| number(r, c)).collect()).or_default() += 1;
    }
    all
}

/// Events in two windows, and in as many as a small log takes, are those of one run.
#[test]
fn windows_add_up_to_the_whole() {
    let of_rays =
        ["frame", "launch", "invocation", "lane", "kind", "entry", "word_offset", "instance", "primitive"];
    let of_warps = ["frame", "launch", "kind", "entry", "word_offset", "mask"];
    let of = |options: &[&str]| {
        let all = [options, &["--frames", "1"]].concat();
        let [rays, warps] = tables("closed_rays", "rays", &all, ["rays", "warps"])?;
        Some([counted(&rays, &of_rays), counted(&warps, &of_warps)])
    };
    let (Some(whole), Some(a), Some(b), Some(small)) = (
        of(&[]),
        of(&["--window", "0-1024"]),
        of(&["--window", "1024-4294967295"]),
        of(&["--log-bytes", "65536", "--max-log-bytes", "65536"]),
    ) else {
        return;
    };
    assert!(small == whole, "what did not fit at once is not the whole");
    for ((whole, a), b) in whole.into_iter().zip(a).zip(b) {
        assert!(!a.is_empty() && !b.is_empty() && a != whole);
        let mut both = a;
        b.into_iter().for_each(|(key, n)| *both.entry(key).or_default() += n);
        assert!(both == whole, "two windows are not the whole");
    }
}

/// Eight frames with an indirect trace, two pipelines of which one is a library: each is one launch, whose shaders are in
/// known groups. (Its laws are checked by `profile` itself.)
#[test]
fn launches_of_libraries_have_their_groups() {
    let names = ["ray_launches", "rays"];
    let Some([launches, rays]) = tables("rays", "rays", &["--frames", "2", "--window", "18432-20480"], names)
    else {
        return;
    };
    assert_eq!(launches.len(), 1);
    let l = &launches[0];
    assert_eq!(["width", "height", "depth"].map(|c| number(l, c)), [256, 144, 1]);
    assert!(number(l, "hit_groups") >= 2 && number(l, "command") > 0, "{l}");
    let groups: BTreeSet<u64> =
        rays.iter().filter(|r| number(r, "kind") == MISS).map(|r| number(r, "group")).collect();
    assert!(groups.len() == 2 && !groups.contains(&NONE), "{groups:?}");
}

/// Triangles of a pipeline without any-hit shaders: with the option every hit has its any-hit, whatever the geometry's flags;
/// that no picture changes `profile` checks itself.
#[test]
fn triangles_without_any_hit_shaders_are_probed() {
    let of = |pass: &str| tables("builds", pass, &["--frames", "1-2"], ["rays", "ray_launches", "warps"]);
    let (Some([without, bare, _]), Some([with, probed, warps])) = (of("rays"), of("rays:probe-triangles"))
    else {
        return;
    };
    let count = |rows: &[Value], kind: u64| rows.iter().filter(|r| number(r, "kind") == kind).count();
    assert_eq!(count(&without, ANY_HIT), 0);
    assert!(count(&with, CLOSEST_HIT) > 100 && count(&with, ANY_HIT) >= count(&with, CLOSEST_HIT));
    for kind in [BEGIN, MISS, CLOSEST_HIT, END] {
        assert_eq!(count(&with, kind), count(&without, kind), "kind {kind}");
    }
    assert!(warps.iter().any(|w| number(w, "kind") == ANY_HIT));
    let said = |l: &Value| l["missing"].as_str().expect("text").to_owned();
    let traced = |all: &[Value]| -> Vec<Value> {
        all.iter().filter(|l| number(l, "hit_groups") > 0).cloned().collect()
    };
    let (bare, probed) = (traced(&bare), traced(&probed));
    assert!(bare.len() == 2 && probed.len() == 2, "{bare:?}, {probed:?}");
    assert!(bare.iter().all(|l| said(l).starts_with("intersections with triangles of group")), "{bare:?}");
    assert!(probed.iter().all(|l| said(l).is_empty() && number(l, "no_any_hit") == 0), "{probed:?}");
    // Every closest hit was accepted by an any-hit before it, at its distance.
    let mut last: BTreeMap<(u64, u64, u64), Vec<f64>> = BTreeMap::new();
    for r in &with {
        let key = ["frame", "launch", "invocation"].map(|c| number(r, c));
        let hits = last.entry((key[0], key[1], key[2])).or_default();
        let t = r["t"].as_f64().expect("a number");
        match number(r, "kind") {
            BEGIN => hits.clear(),
            ANY_HIT => hits.push(t),
            CLOSEST_HIT => assert!(hits.contains(&t), "{t} of {hits:?}"),
            _ => {}
        }
    }
}

/// A dispatch is a launch: each of its invocations begins one query, which commits a triangle or nothing.
#[test]
fn queries_of_dispatches_begin_and_commit() {
    let names = ["ray_launches", "rays"];
    let Some([launches, rays]) = tables("builds", "rays", &["--frames", "2"], names) else { return };
    let dispatches: BTreeSet<u64> =
        launches.iter().filter(|l| number(l, "hit_groups") == 0).map(|l| number(l, "launch")).collect();
    assert!(dispatches.len() > 3, "{launches:?}");
    let (mut seen, mut hits) = (BTreeMap::<_, Vec<u64>>::new(), 0);
    for r in rays.iter().filter(|r| dispatches.contains(&number(r, "launch"))) {
        let place = ["launch", "invocation"].map(|c| number(r, c));
        seen.entry(place).or_default().push(number(r, "kind"));
        match number(r, "kind") {
            QUERY_BEGIN => {
                let ray = ["t", "tmin", "direction_z"].map(|c| r[c].as_f64().expect("a number"));
                assert_eq!((ray[0], ray[1], number(r, "flags"), number(r, "cull_mask")), (10.0, 0.0, 1, 255));
                assert!(ray[2] != 0.0, "{r}");
            }
            _ => {
                let hit = number(r, "hit_kind") == 1;
                let known = ["instance", "geometry", "primitive"].iter().all(|c| number(r, c) != NONE);
                let t = r["t"].as_f64().expect("a number");
                assert!(hit == known && (t > 0.0 && t < 10.0) == hit, "{r}");
                hits += usize::from(hit);
            }
        }
    }
    assert_eq!(seen.len(), dispatches.len() * 16 * 64);
    assert!(seen.values().all(|k| *k == [QUERY_BEGIN, QUERY_COMMITTED]));
    assert!(hits > 100 && hits < seen.len(), "{hits}");
}
