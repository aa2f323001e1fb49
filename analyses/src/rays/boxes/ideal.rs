//! The ideal traversal of one ray: boxes in the order in which it enters them (the module's header in `mod.rs` has the rules).

use super::place::{Entry, Line, ROUNDING, Ray};
use super::scene::{Instance, Leaf, Scenes, Shape, Top};
use crate::rays::events::Object;

/// The hierarchy over instances is as wide as what is in them may have become.
const TOP_ROUNDING: f64 = ROUNDING * 16.0;

/// Ray flags.
const OPAQUE: u32 = 0x1;
const NO_OPAQUE: u32 = 0x2;
const CULL_BACK: u32 = 0x10;
const CULL_FRONT: u32 = 0x20;
const CULL_OPAQUE: u32 = 0x40;
const CULL_NO_OPAQUE: u32 = 0x80;
const SKIP_TRIANGLES: u32 = 0x100;
const SKIP_BOXES: u32 = 0x200;
/// Instance flags.
const NO_CULLING: u32 = 1;
const FLIPPED: u32 = 2;
const FORCE_OPAQUE: u32 = 4;
const FORCE_NO_OPAQUE: u32 = 8;

/// What is known of a test that was recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Of what.
    pub object: Object,
    /// Where it was hit, if it was.
    pub t: Option<f64>,
    /// The hit was ignored.
    pub ignored: bool,
}

/// What a ray comes to in its order.
struct Met {
    entry: Entry,
    object: Object,
    /// Where a triangle is met; none for a box.
    t: Option<f64>,
    opaque: bool,
    /// However it is rounded.
    sure: bool,
}

/// The traversal; its memory is used again for the next ray.
#[derive(Default)]
pub struct Ideal {
    /// What is tested, in order; and whether it would be, however numbers are rounded.
    pub tests: Vec<(Object, bool)>,
    /// Any-hit shaders that nobody has seen run.
    pub guessed: u64,
    met: Vec<Met>,
}

/// Whether something of a geometry is opaque to a ray.
fn opaque(geometry: bool, instance: u32, ray: u32) -> bool {
    let mut opaque = geometry;
    if instance & (FORCE_OPAQUE | FORCE_NO_OPAQUE) != 0 {
        opaque = instance & FORCE_OPAQUE != 0;
    }
    if ray & (OPAQUE | NO_OPAQUE) != 0 {
        opaque = ray & OPAQUE != 0;
    }
    opaque
}

/// What of a leaf a ray comes to before `most`, if anything; `within`: where it entered the box around all triangles of the instance.
fn comes_to(
    line: &Line,
    ray: &Ray,
    i: &Instance,
    geometry: bool,
    leaf: &Leaf,
    most: f64,
    within: Option<Entry>,
) -> Option<Met> {
    let opaque = opaque(geometry, i.flags, ray.flags);
    if ray.flags & if opaque { CULL_OPAQUE } else { CULL_NO_OPAQUE } != 0 {
        return None;
    }
    let entry = line.enters(&leaf.bounds.0, &leaf.bounds.1, most, ROUNDING)?;
    let object = Object { instance: i.index, primitive: leaf.primitive, geometry: leaf.geometry };
    let mut sure = line.enters(&leaf.bounds.0, &leaf.bounds.1, most, -ROUNDING).is_some();
    let t = match &leaf.shape {
        Shape::Box if ray.flags & SKIP_BOXES != 0 => return None,
        Shape::Triangle(_) if ray.flags & SKIP_TRIANGLES != 0 => return None,
        Shape::Box => None,
        Shape::Triangle(corners) => {
            let (t, front) = line.meets(corners, ROUNDING)?;
            sure &= line.meets(corners, -ROUNDING).is_some();
            let front = front != (i.flags & FLIPPED != 0);
            let culled = ray.flags & if front { CULL_FRONT } else { CULL_BACK } != 0;
            if culled && i.flags & NO_CULLING == 0 || t < ray.tmin || t > ray.tmax {
                return None;
            }
            Some(t)
        }
    };
    Some(Met { entry: within.unwrap_or(entry), object, t, opaque, sure })
}

impl Ideal {
    /// Goes along a ray that ended with a hit at `last`, if it hit anything. `known` is sorted by object, each once.
    pub fn run(&mut self, scenes: &Scenes, top: &Top, ray: &Ray, last: Option<f64>, known: &[Known]) {
        self.tests.clear();
        self.met.clear();
        let most = last.unwrap_or(ray.tmax).min(ray.tmax);
        let met = &mut self.met;
        top.bvh.along(&Line::new(ray), most, TOP_ROUNDING, |n| {
            let i = &top.instances[n as usize];
            if i.mask & ray.mask & 0xFF == 0 {
                return;
            }
            let bottom = &scenes.bottoms[i.bottom];
            let line = Line::moved(ray, &i.inverse, &i.by);
            // What lies behind the final hit may be met before that is known, if the box of all triangles begins before it.
            let whole = bottom.bvh.bounds().filter(|_| bottom.meshes());
            let within = whole.map(|(low, high)| line.enters(&low, &high, most, ROUNDING));
            let most = match within {
                Some(None) => return,
                Some(Some(_)) => ray.tmax,
                None => most,
            };
            bottom.bvh.along(&line, most, ROUNDING, |l| {
                let leaf = &bottom.leaves[l as usize];
                let geometry = bottom.geometries[leaf.geometry as usize];
                met.extend(comes_to(&line, ray, i, geometry.opaque, leaf, most, within.flatten()));
            });
        });
        met.sort_unstable_by(|a, b| {
            let distance = |m: &Met| m.t.unwrap_or(0.0);
            let own = || distance(a).total_cmp(&distance(b)).then_with(|| order(&a.object, &b.object));
            let instance = || a.object.instance.cmp(&b.object.instance).then_with(own);
            a.entry.total_cmp(&b.entry).then_with(instance)
        });
        self.order(last, known);
    }

    /// Tests what was met, in order, until the closest hit ends it.
    fn order(&mut self, last: Option<f64>, known: &[Known]) {
        let mut closest = f64::INFINITY;
        for m in &self.met {
            if m.entry > closest {
                break;
            }
            let of = known.binary_search_by(|k| k.object.cmp(&m.object)).ok().map(|k| known[k]);
            // (no accepted hit is nearer than the last; that our triangles are met a little elsewhere must not make one so)
            let no_nearer = |t: f64| last.map_or(t, |last| t.max(last));
            match m.t {
                None => {
                    self.tests.push((m.object, m.sure));
                    if let Some(Known { t: Some(t), ignored: false, .. }) = of {
                        closest = closest.min(no_nearer(t));
                    }
                }
                Some(t) => {
                    let t = of.and_then(|k| k.t).unwrap_or(t);
                    if t > closest {
                        continue;
                    }
                    // (one that left an event was not opaque to the ray, whatever its geometry says: `--probe-triangles`)
                    if m.opaque && of.is_none() {
                        closest = closest.min(no_nearer(t));
                        continue;
                    }
                    // (what lies behind the final hit a device need not come to)
                    let sure = m.sure && t < closest.min(last.unwrap_or(f64::INFINITY)) * (1.0 - ROUNDING);
                    self.tests.push((m.object, sure));
                    self.guessed += u64::from(of.is_none());
                    if of.is_none_or(|k| !k.ignored) {
                        closest = closest.min(no_nearer(t));
                    }
                }
            }
        }
    }
}

/// Of equal distances.
fn order(a: &Object, b: &Object) -> std::cmp::Ordering {
    (a.instance, a.geometry, a.primitive).cmp(&(b.instance, b.geometry, b.primitive))
}
