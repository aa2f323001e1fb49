//! The tables of what acceleration structures hold, as hierarchies: a bottom level's primitives, a top level's instances.
//!
//! Refuses rows that are of nothing, with the table and what to do. Instances whose transform has no inverse hold nothing.

use super::bvh::{Bounds, Bvh, join};
use super::place::V;
use std::collections::HashMap;
use trace::tables::{BOXES, GEOMETRIES, INSTANCES, LAUNCH_STRUCTURES, NOT_KNOWN, STRUCTURES, TRIANGLES};
use trace::{Columns, Source, Table, Unreadable};

/// What a primitive is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The application's box.
    Box,
    /// Its corners.
    Triangle([V; 3]),
}

/// A primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    /// Which geometry.
    pub geometry: u32,
    /// Which of its primitives.
    pub primitive: u32,
    /// Its box.
    pub bounds: (V, V),
    /// What is in it.
    pub shape: Shape,
}

/// A geometry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Without any-hit shaders, unless instances or rays say otherwise.
    pub opaque: bool,
}

/// A bottom level.
#[derive(Default)]
pub struct Bottom {
    /// By index.
    pub geometries: Vec<Geometry>,
    /// Sorted by geometry and primitive.
    pub leaves: Vec<Leaf>,
    /// Something of it is not known.
    pub missing: bool,
    /// All that is in it are triangles.
    triangles: bool,
    pub(super) bvh: Bvh,
}

impl Bottom {
    /// Whether all that is in it are triangles.
    pub fn meshes(&self) -> bool {
        self.triangles
    }

    /// The leaf of a primitive.
    pub fn leaf(&self, geometry: u32, primitive: u32) -> Option<&Leaf> {
        let at = self.leaves.binary_search_by_key(&(geometry, primitive), |l| (l.geometry, l.primitive));
        at.ok().map(|at| &self.leaves[at])
    }

    /// Everything is in; the hierarchy is made.
    pub fn close(&mut self) {
        self.leaves.sort_unstable_by_key(|l| (l.geometry, l.primitive));
        self.triangles = self.leaves.iter().all(|l| matches!(l.shape, Shape::Triangle(_)));
        let boxes: Vec<Bounds> = self.leaves.iter().map(|l| l.bounds).collect();
        self.bvh = Bvh::new(&boxes);
    }
}

/// An instance.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// InstanceId.
    pub index: u32,
    /// Rays with none of these bits pass it by.
    pub mask: u32,
    /// VkGeometryInstanceFlagsKHR.
    pub flags: u32,
    /// Its bottom level, in [`Scenes::bottoms`].
    pub bottom: usize,
    /// From the world to the bottom level, without what it moves by.
    pub inverse: [V; 3],
    /// What it moves by.
    pub by: V,
}

/// A top level.
#[derive(Default)]
pub struct Top {
    /// Its number in the trace.
    pub structure: u64,
    /// Active ones that are known, by index.
    pub instances: Vec<Instance>,
    /// Active ones whose bottom level is not known.
    pub unknown: u64,
    pub(super) bvh: Bvh,
}

impl Top {
    /// One of these instances (rows of three by four from bottom level to world): its hierarchy is over their boxes there.
    pub fn new(structure: u64, instances: &[(Instance, [f64; 12])], bottoms: &[Bottom]) -> Top {
        let mut top = Top { structure, ..Top::default() };
        let mut boxes = vec![];
        for (i, m) in instances {
            let Some((low, high)) = bottoms[i.bottom].bvh.bounds() else { continue };
            let Some(inverse) = inverse(m) else { continue };
            let corner = |n: usize| -> Bounds {
                let p: V = std::array::from_fn(|k| if n >> k & 1 == 0 { low[k] } else { high[k] });
                let at: V = std::array::from_fn(|r| {
                    m[r * 4] * p[0] + m[r * 4 + 1] * p[1] + m[r * 4 + 2] * p[2] + m[r * 4 + 3]
                });
                (at, at)
            };
            boxes.push((1..8).fold(corner(0), |all, n| join(&all, &corner(n))));
            top.instances.push(Instance { inverse, by: [m[3], m[7], m[11]], ..*i });
        }
        top.bvh = Bvh::new(&boxes);
        top
    }

    /// An instance by its InstanceId.
    pub fn instance(&self, index: u32) -> Option<&Instance> {
        self.instances.binary_search_by_key(&index, |i| i.index).ok().map(|at| &self.instances[at])
    }
}

/// The inverse of a transform's first three columns.
fn inverse(m: &[f64; 12]) -> Option<[V; 3]> {
    let a = |r: usize, c: usize| m[(r % 3) * 4 + c % 3];
    let minor = |r: usize, c: usize| a(r + 1, c + 1) * a(r + 2, c + 2) - a(r + 1, c + 2) * a(r + 2, c + 1);
    let det: f64 = (0..3).map(|c| a(0, c) * minor(0, c)).sum();
    let inverse: [V; 3] = std::array::from_fn(|r| std::array::from_fn(|c| minor(c, r) / det));
    inverse.iter().flatten().all(|x| x.is_finite()).then_some(inverse)
}

/// Everything of a trace.
#[derive(Default)]
pub struct Scenes {
    /// Bottom levels.
    pub bottoms: Vec<Bottom>,
    /// Top levels.
    pub tops: Vec<Top>,
    /// Frame, command, run: which of [`Scenes::tops`] were there.
    pub of_launches: HashMap<(u64, u64, u64), Vec<usize>>,
    /// What structures are missing, a sentence each.
    pub missing: Vec<String>,
}

fn refused(table: &Table, row: usize, what: &str) -> Unreadable {
    Unreadable(format!("table {}, row {row}: {what}; record the trace again", table.name))
}

/// What primitives of a table are: a row's leaf, but for where it is.
type Read<'r> = &'r dyn Fn(&Columns, usize) -> (Bounds, Shape);

impl Scenes {
    /// Reads them; none where no geometry was recorded.
    pub fn read(trace: &dyn Source) -> Result<Option<Scenes>, Unreadable> {
        let t = trace.read(&STRUCTURES)?;
        if t.is_empty() {
            return Ok(None);
        }
        let mut scenes = Scenes::default();
        let (mut bottoms, mut tops) = (HashMap::new(), HashMap::new());
        for row in 0..t.len() {
            let (number, missing) = (t.u64("structure")[row], &t.text("missing")[row]);
            if &*t.text("kind")[row] == "top" {
                tops.insert(number, tops.len());
            } else {
                bottoms.insert(number, scenes.bottoms.len());
                scenes.bottoms.push(Bottom { missing: !missing.is_empty(), ..Bottom::default() });
            }
            if !missing.is_empty() {
                scenes.missing.push(format!("structure {number}: {missing}"));
            }
        }
        scenes.read_bottoms(trace, &bottoms)?;
        scenes.read_tops(trace, &bottoms, &tops)?;
        let t = trace.read(&LAUNCH_STRUCTURES)?;
        for row in 0..t.len() {
            let key = (t.u64("frame")[row], t.u64("command")[row], t.u64("run")[row]);
            let top = tops.get(&t.u64("structure")[row]);
            let top = *top.ok_or_else(|| refused(&LAUNCH_STRUCTURES, row, "there is no such top level"))?;
            scenes.of_launches.entry(key).or_default().push(top);
        }
        Ok(Some(scenes))
    }

    fn read_bottoms(&mut self, trace: &dyn Source, bottoms: &HashMap<u64, usize>) -> Result<(), Unreadable> {
        let t = trace.read(&GEOMETRIES)?;
        for row in 0..t.len() {
            let bottom = bottoms.get(&t.u64("structure")[row]).map(|b| &mut self.bottoms[*b]);
            let bottom = bottom.ok_or_else(|| refused(&GEOMETRIES, row, "there is no such bottom level"))?;
            if t.u64("geometry")[row] != bottom.geometries.len() as u64 {
                return Err(refused(&GEOMETRIES, row, "another geometry follows"));
            }
            bottom.geometries.push(Geometry { opaque: t.u64("opaque")[row] != 0 });
        }
        let numbers = |t: &Columns, row: usize, names: [&str; 3]| names.map(|n| t.f64(n)[row]);
        self.read_leaves(trace, &BOXES, bottoms, &|t, row| {
            let low = numbers(t, row, ["low_x", "low_y", "low_z"]);
            ((low, numbers(t, row, ["high_x", "high_y", "high_z"])), Shape::Box)
        })?;
        self.read_leaves(trace, &TRIANGLES, bottoms, &|t, row| {
            let corners = [["a_x", "a_y", "a_z"], ["b_x", "b_y", "b_z"], ["c_x", "c_y", "c_z"]];
            let [a, b, c] = corners.map(|names| numbers(t, row, names));
            (join(&(a, a), &join(&(b, b), &(c, c))), Shape::Triangle([a, b, c]))
        })?;
        self.bottoms.iter_mut().for_each(Bottom::close);
        Ok(())
    }

    fn read_leaves(
        &mut self,
        trace: &dyn Source,
        table: &'static Table,
        bottoms: &HashMap<u64, usize>,
        read: Read<'_>,
    ) -> Result<(), Unreadable> {
        trace.each(table, &mut |t| {
            let (structures, geometries) = (t.u64("structure"), t.u64("geometry"));
            let primitives = t.u64("primitive");
            for row in 0..t.len() {
                let bottom = bottoms.get(&structures[row]).map(|b| &mut self.bottoms[*b]);
                let known = bottom.filter(|b| geometries[row] < b.geometries.len() as u64);
                let bottom = known.ok_or_else(|| refused(table, row, "there is no such geometry"))?;
                let (bounds, shape) = read(t, row);
                let (geometry, primitive) = (geometries[row] as u32, primitives[row] as u32);
                bottom.leaves.push(Leaf { geometry, primitive, bounds, shape });
            }
            Ok(())
        })
    }

    fn read_tops(
        &mut self,
        trace: &dyn Source,
        bottoms: &HashMap<u64, usize>,
        tops: &HashMap<u64, usize>,
    ) -> Result<(), Unreadable> {
        let mut instances: Vec<Vec<(Instance, [f64; 12])>> = tops.iter().map(|_| vec![]).collect();
        let mut unknown = vec![0; tops.len()];
        let t = trace.read(&INSTANCES)?;
        let names = ["m00", "m01", "m02", "m03", "m10", "m11", "m12", "m13", "m20", "m21", "m22", "m23"];
        let columns = names.map(|n| t.f64(n));
        for row in 0..t.len() {
            let top = tops.get(&t.u64("structure")[row]);
            let top = *top.ok_or_else(|| refused(&INSTANCES, row, "there is no such top level"))?;
            if t.u64("reference")[row] == 0 {
                continue;
            }
            let bottom = t.u64("bottom")[row];
            if bottom == NOT_KNOWN {
                unknown[top] += 1;
                continue;
            }
            let bottom = bottoms.get(&bottom);
            let bottom = *bottom.ok_or_else(|| refused(&INSTANCES, row, "there is no such bottom level"))?;
            let instance = Instance {
                index: t.u64("instance")[row] as u32,
                mask: t.u64("mask")[row] as u32,
                flags: t.u64("flags")[row] as u32,
                bottom,
                inverse: [[0.0; 3]; 3],
                by: [0.0; 3],
            };
            instances[top].push((instance, columns.map(|c| c[row])));
        }
        let mut numbers: Vec<(u64, usize)> = tops.iter().map(|(n, t)| (*n, *t)).collect();
        numbers.sort_unstable_by_key(|n| n.1);
        for (number, top) in numbers {
            instances[top].sort_by_key(|i| i.0.index);
            let made = Top::new(number, &instances[top], &self.bottoms);
            self.tops.push(Top { unknown: unknown[top], ..made });
        }
        Ok(())
    }
}
