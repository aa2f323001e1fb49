//! What acceleration structures hold, read back from replays, against what the scenes' own programs put there; and the
//! question that is asked of it.
//!
//! The content of scene `rays` is that of its program, byte for byte; of `builds` and `serials` its few numbers stand here
//! again.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};

#[allow(dead_code, reason = "the scene's own; a part of it is compared")]
#[path = "../../captures/src/scenes/rays/content.rs"]
mod content;

/// No row.
const NOT_KNOWN: u64 = u32::MAX as u64;

/// A trace's tables, by name.
struct Traced {
    _scratch: Scratch,
    path: String,
}

impl Traced {
    fn new(sample: &str, more: &[&str]) -> Option<Traced> {
        if !device(&format!("geometry of {sample}")) {
            return None;
        }
        // (several tests measure the same)
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let scratch = Scratch::new(&format!("geometry-{}-{sample}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let path = scratch.path("trace").to_str().expect("a plain path").to_owned();
        let capture = root().join(format!("captures/samples/{sample}.gfxr"));
        let capture = capture.to_str().expect("a plain path").to_owned();
        let args =
            ["profile", &capture, "--assume-subgroups", "--no-cache", "--no-verify-image", "-o", &path];
        let out = run(args.iter().chain(more));
        assert!(out.status.success(), "{sample}: {}{}", text(&out.stdout), text(&out.stderr));
        Some(Traced { _scratch: scratch, path })
    }

    fn table(&self, name: &str) -> Vec<Value> {
        let out = run(["analyze", &self.path, "--table", name, "--format", "json"]);
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        text(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("a line of JSON")).collect()
    }

    /// A question's tables by name: rows by column; of columns that share a name, the first.
    fn question(&self, name: &str) -> BTreeMap<String, Vec<BTreeMap<String, Value>>> {
        let out = run(["analyze", &self.path, name, "--format", "json"]);
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        let report: Value = serde_json::from_str(&text(&out.stdout)).expect("JSON");
        let tables = report["reports"][0]["tables"].as_array().expect("tables").clone();
        let of = |t: &Value| {
            let columns: Vec<String> = t["columns"]
                .as_array()
                .expect("columns")
                .iter()
                .map(|c| c["name"].as_str().expect("a name").to_owned())
                .collect();
            let row = |r: &Value| {
                let cells = r.as_array().expect("cells").iter().cloned();
                columns.iter().cloned().zip(cells).rev().collect()
            };
            let rows = t["rows"].as_array().expect("rows").iter().map(row).collect();
            (t["name"].as_str().expect("a name").to_owned(), rows)
        };
        tables.iter().map(of).collect()
    }
}

fn number(row: &Value, column: &str) -> u64 {
    row[column].as_u64().unwrap_or_else(|| panic!("no number {column}: {row}"))
}

fn floats(row: &Value, columns: &[&str]) -> Vec<f32> {
    let one = |c: &&str| row[*c].as_f64().unwrap_or_else(|| panic!("no number {c}: {row}")) as f32;
    columns.iter().map(one).collect()
}

const CORNERS: [&str; 9] = ["a_x", "a_y", "a_z", "b_x", "b_y", "b_z", "c_x", "c_y", "c_z"];
const SIDES: [&str; 6] = ["low_x", "low_y", "low_z", "high_x", "high_y", "high_z"];
const ROWS: [&str; 12] = ["m00", "m01", "m02", "m03", "m10", "m11", "m12", "m13", "m20", "m21", "m22", "m23"];

/// Primitives of a structure, in order.
fn primitives(rows: &[Value], structure: u64, columns: &[&str]) -> Vec<Vec<f32>> {
    let of: Vec<&Value> = rows.iter().filter(|r| number(r, "structure") == structure).collect();
    assert!(of.iter().enumerate().all(|(n, r)| number(r, "primitive") == n as u64));
    of.into_iter().map(|r| floats(r, columns)).collect()
}

/// Triangles of a mesh of the scene.
fn triangles(mesh: &content::Mesh) -> Vec<Vec<f32>> {
    let corner = |i: &u32| mesh.corners[*i as usize * 6..*i as usize * 6 + 3].to_vec();
    mesh.triangles.chunks_exact(3).map(|t| t.iter().flat_map(corner).collect()).collect()
}

/// The instances of a frame of scene `rays`: those that the host writes, bit for bit; those that a shader writes, as
/// arithmetic says (`move.comp`).
fn check_instances(rows: &[&Value], seconds: f32, bottoms: [u64; 3]) {
    let host = content::instances(seconds, 0, 0);
    assert_eq!(rows.len(), 8);
    for (n, row) in rows.iter().enumerate() {
        assert_eq!((number(row, "instance"), number(row, "mask"), number(row, "flags")), (n as u64, 255, 0));
        let bottom = bottoms[[0, 1, 1, 2, 2, 2, 2, 2][n]];
        assert_eq!(number(row, "bottom"), bottom, "instance {n}");
        let here = floats(row, &ROWS);
        if n >= 3 {
            let size = [0.8f32, 0.62][(n - 3) % 2];
            let records = (number(row, "custom_index"), number(row, "sbt_offset"));
            assert_eq!(records, ((n as u64 - 3) % 4, 2 + (n as u64 - 3) % 2));
            assert!(
                (here[5] - size).abs() < 1e-6 && (here[0].hypot(here[2]) - size).abs() < 1e-5,
                "{here:?}"
            );
            continue;
        }
        let bytes = &host[n * 64..(n + 1) * 64];
        let word = |w: usize| u32::from_le_bytes(bytes[w * 4..w * 4 + 4].try_into().expect("4 bytes"));
        let there: Vec<f32> = (0..12).map(|w| f32::from_bits(word(w))).collect();
        assert_eq!(here, there, "instance {n}");
        assert_eq!(number(row, "custom_index"), u64::from(word(12) & 0xFF_FFFF));
        assert_eq!(number(row, "sbt_offset"), u64::from(word(13) & 0xFF_FFFF));
    }
}

/// Compacted meshes, boxes, instances from the host and from a shader, updates of the top level in every frame; of the
/// whole capture, of its trimmed form (whose snapshot builds), and where builds are replayed as indirect ones.
#[test]
fn rays_hold_what_the_scene_put_there() {
    let whole = ["--passes", "its", "--geometry"];
    let indirect = [&whole[..], &["--rehearse", "indirect"]].concat();
    for (sample, flags, frames) in
        [("rays", &whole[..], 1..=8), ("rays", &indirect[..], 1..=8), ("rays_frames_4_5", &whole[..], 4..=5)]
    {
        let Some(t) = Traced::new(sample, flags) else { return };
        let structures = t.table("structures");
        assert!(structures.iter().all(|s| s["missing"] == ""), "{structures:?}");
        let count = |s: &Value| number(s, "primitives");
        let bottom = |n: u64| {
            let of = structures.iter().find(|s| s["kind"] == "bottom" && count(s) == n);
            number(of.unwrap_or_else(|| panic!("{sample}: no bottom level of {n}")), "structure")
        };
        let meshes = [content::ground(), content::torus()].map(|m| triangles(&m));
        let bottoms = [bottom(2), bottom(meshes[1].len() as u64), bottom(content::SPHERES.into())];
        let rows = t.table("triangles");
        for (mesh, structure) in meshes.iter().zip(bottoms) {
            assert_eq!(&primitives(&rows, structure, &CORNERS), mesh, "{sample}");
        }
        let boxes: Vec<Vec<f32>> = content::boxes().chunks(6).map(<[f32]>::to_vec).collect();
        assert_eq!(primitives(&t.table("boxes"), bottoms[2], &SIDES), boxes);
        let geometries = t.table("geometries");
        let opaque: BTreeSet<(u64, u64)> =
            geometries.iter().map(|g| (number(g, "structure"), number(g, "opaque"))).collect();
        assert_eq!(opaque, BTreeSet::from([(bottoms[0], 1), (bottoms[1], 1), (bottoms[2], 0)]));
        let launches = t.table("launch_structures");
        let seen: Vec<u64> = launches.iter().map(|l| number(l, "frame")).collect();
        assert_eq!(seen, frames.clone().collect::<Vec<u64>>(), "{sample}: a launch and a top level a frame");
        let instances = t.table("instances");
        for l in &launches {
            let top = number(l, "structure");
            let of: Vec<&Value> = instances.iter().filter(|i| number(i, "structure") == top).collect();
            check_instances(&of, (number(l, "frame") - 1) as f32 * 0.25, bottoms);
        }
    }
}

/// Copies, compacted ones, serialised ones, updates from another: all lead to what was built.
#[test]
fn copies_hold_what_was_built() {
    for sample in ["builds", "serials"] {
        let Some(t) = Traced::new(sample, &["--passes", "its", "--geometry"]) else { return };
        let structures = t.table("structures");
        assert!(structures.iter().all(|s| s["missing"] == ""), "{sample}: {structures:?}");
        let rows = t.table("triangles");
        let instances = t.table("instances");
        let launches = t.table("launch_structures");
        let mesh = |left: f32, [from, to]: [f32; 2]| -> Vec<Vec<f32>> {
            let (a, b) = (left, left + 6.0);
            let square = |q: usize| {
                let (top, end) = (q as f32 * 8.0 + from, q as f32 * 8.0 + to);
                [vec![a, top, 0.0, b, top, 0.0, b, end, 0.0], vec![a, top, 0.0, b, end, 0.0, a, end, 0.0]]
            };
            (0..8).flat_map(square).collect()
        };
        let meshes = [mesh(1.0, [1.0, 6.0]), mesh(9.0, [3.0, 7.0])];
        let mut falls: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for l in &launches {
            let (frame, top) = (number(l, "frame"), number(l, "structure"));
            let of: Vec<&Value> = instances.iter().filter(|i| number(i, "structure") == top).collect();
            assert_eq!(of.len(), 2);
            for (n, i) in of.iter().enumerate() {
                assert_eq!((number(i, "custom_index"), number(i, "sbt_offset")), (n as u64 + 1, n as u64));
                assert_ne!(number(i, "bottom"), NOT_KNOWN);
                assert_eq!(primitives(&rows, number(i, "bottom"), &CORNERS), meshes[n], "{sample}");
                let m = floats(i, &ROWS);
                assert_eq!(m, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, m[7], 0.0, 0.0, 1.0, 0.0]);
                falls.entry(frame).or_default().insert(m[7] as u64);
            }
        }
        // Columns 6 and 7 fall by a row a frame; the top level of the frame before is there as well, the others stay.
        assert_eq!(falls.len(), 4);
        for (frame, down) in falls {
            assert!(down.contains(&0) && down.contains(&(frame - 1)), "{sample}, frame {frame}: {down:?}");
            assert!(down.iter().all(|d| *d < frame), "{sample}, frame {frame}: {down:?}");
        }
    }
}

/// The question over a trace of `rays`: every test has a class, no box that the ideal traversal enters was left out, hits lie
/// in their boxes, and the sums are those of the maps.
#[test]
fn unnecessary_tests_of_rays() {
    let Some(t) = Traced::new("rays", &["--passes", "rays", "--frames", "1"]) else { return };
    let tables = t.question("unnecessary-tests");
    let [launch] = &tables["launches"][..] else { panic!("one launch: {:?}", tables["launches"]) };
    let n =
        |column: &str| launch[column].as_u64().unwrap_or_else(|| panic!("no number {column}: {launch:?}"));
    assert!(n("tests") > 10_000 && n("judged rays") > 10_000, "{launch:?}");
    assert_eq!((n("not classified"), n("not recorded"), n("guessed")), (0, 0, 0), "{launch:?}");
    assert!(n("R1") > 0 && n("R1") + n("R2,R3") == n("unnecessary"), "{launch:?}");
    for call in &tables["calls"] {
        assert!(call["in their boxes"].as_f64().is_some_and(|p| p > 99.9), "{call:?}");
    }
    let maps = t.question("ray-maps");
    let sum = |name: &str| {
        let row = maps["maps"].iter().find(|r| r["map"] == name);
        row.map_or(0.0, |r| r["sum"].as_f64().expect("a sum")) as u64
    };
    assert_eq!((sum("unnecessary_r1"), sum("unnecessary_r2r3")), (n("R1"), n("R2,R3")));
}

/// Scene `mesh`: two instances whose boxes overlap, opaque triangles and some that any-hit shaders look at, which the CPU
/// predicts event by event (`ray_events`). Where both boxes are on a ray's way, the far one's triangles come first: R1.
#[test]
fn instances_with_overlapping_boxes_are_r1() {
    let Some(t) = Traced::new("mesh", &["--passes", "rays:probe-triangles", "--frames", "1"]) else { return };
    let tables = t.question("unnecessary-tests");
    let sum = |column: &str| -> u64 {
        tables["launches"]
            .iter()
            .map(|l| l[column].as_u64().unwrap_or_else(|| panic!("{column}: {l:?}")))
            .sum()
    };
    let launches = &tables["launches"];
    assert!(sum("tests") > 1000, "{launches:?}");
    assert_eq!((sum("not classified"), sum("not recorded")), (0, 0), "{launches:?}");
    assert_eq!(sum("R1") + sum("R2,R3"), sum("unnecessary"), "{launches:?}");
    assert!(sum("farther R1") > 0, "{launches:?}");
}
