//! What the structures are made of that a frame's launches trace rays through: each bottom level as a Wavefront OBJ, top levels as rows of the index.
//!
//! *Input.* Records of `profile::hooks::geometry`, of one more replay. Guarantees: corners are those that the build read, its transforms applied; boxes
//! are drawn as six faces. Refuses nothing: what could not be read of a structure is said in its row.

use crate::failure::Failure;
use crate::files::output;
use crate::readback::{Asked, once};
use gfxr_parse::container::Capture;
use profile::hooks::geometry::GeometryHook;
use serde::Serialize;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;
use trace::{Table, Value};

/// An acceleration structure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Structure {
    /// Its number here.
    pub structure: u64,
    /// Its captured id.
    pub id: u64,
    /// top or bottom.
    pub kind: String,
    /// build, update or snapshot.
    pub built: String,
    /// The block of its build; 0 for snapshots.
    pub block: u64,
    /// Primitives or instances.
    pub primitives: u64,
    /// What is not known of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub missing: String,
    /// Of bottom levels, their corners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Of top levels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<Instance>,
    /// Blocks of the launches that can reach it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<u64>,
}

/// An instance of a top level.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Instance {
    /// Number of the bottom level here; none where that is not known.
    pub structure: Option<u64>,
    /// InstanceCustomIndex.
    pub custom_index: u64,
    /// Which rays see it.
    pub mask: u64,
    /// instanceShaderBindingTableRecordOffset.
    pub sbt_offset: u64,
    /// VkGeometryInstanceFlagsKHR.
    pub flags: u64,
    /// Three rows of four.
    pub transform: Vec<f64>,
}

/// What comes of the records.
#[derive(Default)]
struct Found {
    all: BTreeMap<u64, Structure>,
    /// By structure.
    objects: BTreeMap<u64, Object>,
}

/// A file that is being made.
#[derive(Default)]
struct Object {
    text: String,
    vertices: u64,
    /// The geometry that was begun last.
    geometry: Option<u64>,
}

/// Reads them, and writes their files; says each. Whether the replay kept to the capture comes with them.
pub fn write(
    capture: &Capture,
    asked: &Asked<'_>,
    folder: &Path,
    said: impl Fn(&str) -> Result<(), Failure>,
) -> Result<(Vec<Structure>, bool), Failure> {
    let found = Rc::new(RefCell::new(Found::default()));
    let into = found.clone();
    let put = Box::new(move |table: &'static Table, row: &[Value<'_>]| {
        into.borrow_mut().row(table, row);
        Ok(())
    });
    let wanted = asked.frame;
    let hook = GeometryHook::new(put, Box::new(move |frame| frame == wanted));
    let (kept, _) = once(capture, asked, &[], Box::new(hook), false)?;
    let mut found = found.take();
    for (structure, object) in std::mem::take(&mut found.objects) {
        let file = format!("frame_{}_structure_{structure}.obj", asked.frame);
        let path = folder.join(&file);
        output::write_file(&path, object.text.as_bytes())?;
        said(&path.display().to_string())?;
        found.of(structure).file = Some(file);
    }
    Ok((found.all.into_values().collect(), kept))
}

impl Found {
    fn of(&mut self, structure: u64) -> &mut Structure {
        self.all.entry(structure).or_insert_with(|| Structure { structure, ..Structure::default() })
    }

    fn row(&mut self, table: &'static Table, row: &[Value<'_>]) {
        let get = |name: &str| table.columns.iter().position(|c| c.name == name).and_then(|at| row.get(at));
        let count = |name: &str| if let Some(Value::U64(n)) = get(name) { *n } else { 0 };
        let text =
            |name: &str| if let Some(Value::Text(t)) = get(name) { (*t).to_owned() } else { String::new() };
        let numbers: Vec<f64> =
            row.iter().filter_map(|v| if let Value::F64(n) = v { Some(*n) } else { None }).collect();
        let structure = count("structure");
        match table.name {
            "structures" => {
                let of = self.of(structure);
                (of.id, of.kind, of.built) = (count("id"), text("kind"), text("built"));
                (of.block, of.primitives, of.missing) =
                    (count("command"), count("primitives"), text("missing"));
            }
            "instances" => {
                let bottom = count("bottom");
                let instance = Instance {
                    structure: (bottom != trace::tables::NOT_KNOWN).then_some(bottom),
                    custom_index: count("custom_index"),
                    mask: count("mask"),
                    sbt_offset: count("sbt_offset"),
                    flags: count("flags"),
                    transform: numbers,
                };
                self.of(structure).instances.push(instance);
            }
            "triangles" => {
                let corners: Vec<[f64; 3]> = numbers.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
                self.faces(structure, count("geometry"), &corners, &[&[1, 2, 3]]);
            }
            "boxes" => {
                let [low, high] = [&numbers[..3], &numbers[3..6]];
                let corner = |n: usize| {
                    std::array::from_fn(|axis| if n >> axis & 1 == 0 { low[axis] } else { high[axis] })
                };
                let corners: Vec<[f64; 3]> = (0..8).map(corner).collect();
                let faces: [&[u64]; 6] = [
                    &[1, 3, 4, 2],
                    &[5, 6, 8, 7],
                    &[1, 2, 6, 5],
                    &[3, 7, 8, 4],
                    &[1, 5, 7, 3],
                    &[2, 4, 8, 6],
                ];
                self.faces(structure, count("geometry"), &corners, &faces);
            }
            "launch_structures" => {
                let launch = count("command");
                let of = self.of(structure);
                // (ray queries are no launches: 0 stands for the frame's end)
                if launch != 0 && !of.launches.contains(&launch) {
                    of.launches.push(launch);
                }
            }
            _ => {}
        }
    }

    /// Corners, and faces of them, numbered from 1.
    fn faces(&mut self, structure: u64, geometry: u64, corners: &[[f64; 3]], faces: &[&[u64]]) {
        let Object { text, vertices, geometry: begun } = self.objects.entry(structure).or_default();
        if begun.replace(geometry) != Some(geometry) {
            _ = writeln!(text, "g geometry_{geometry}");
        }
        for [x, y, z] in corners {
            _ = writeln!(text, "v {} {} {}", *x as f32, *y as f32, *z as f32);
        }
        for face in faces {
            let of: Vec<String> = face.iter().map(|n| (n + *vertices).to_string()).collect();
            _ = writeln!(text, "f {}", of.join(" "));
        }
        *vertices += corners.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Value::{F64, Text, U64};
    use trace::tables::{BOXES, STRUCTURES, TRIANGLES};

    #[test]
    fn corners_become_faces_and_boxes_have_six() {
        let mut found = Found::default();
        let of = [U64(4), U64(77), Text("bottom"), Text("build"), U64(0), U64(9), U64(1), U64(2), Text("")];
        found.row(&STRUCTURES, &of);
        let triangle = |n| [U64(4), U64(0), U64(n)].into_iter().chain((0..9).map(|n| F64(f64::from(n))));
        found.row(&TRIANGLES, &triangle(0).collect::<Vec<_>>());
        found.row(&TRIANGLES, &triangle(1).collect::<Vec<_>>());
        let boxed: Vec<Value<'_>> =
            [U64(4), U64(1), U64(0)].into_iter().chain([0., 0., 0., 1., 2., 3.].map(F64)).collect();
        found.row(&BOXES, &boxed);
        assert_eq!((found.all[&4].id, found.all[&4].block), (77, 9));
        let text = &found.objects[&4].text;
        assert!(text.starts_with("g geometry_0\nv 0 1 2\nv 3 4 5\nv 6 7 8\nf 1 2 3\nv 0 1 2\n"), "{text}");
        assert_eq!(text.matches("g geometry_").count(), 2);
        assert!(text.contains("f 4 5 6\n") && text.contains("v 1 2 3\nf 7 9 10 8\n"), "{text}");
        assert_eq!(text.matches("\nf ").count(), 8);
    }
}
