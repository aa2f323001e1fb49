//! Against what needs no hierarchy: every primitive against every ray, and rays made by hand.

use super::place::{Line, ROUNDING};
use super::*;
use crate::context::Context;
use crate::rays::events::model::Model;
use crate::rays::events::{Object, Walk, Wants, hash, read};
use crate::report::text;
use trace::Value::{F64, Text, U64};
use trace::tables::{
    BOXES, FRAMES, GEOMETRIES, INSTANCES, LAUNCH_STRUCTURES, NOT_KNOWN, RAY_LAUNCHES, RAYS, RayEvent,
    STRUCTURES, TRIANGLES,
};
use trace::{Memory, Value};

/// Numbers that look random.
struct Dice(u64, u64);

impl Dice {
    /// From `a` to `b`.
    fn from(&mut self, a: f64, b: f64) -> f64 {
        self.1 += 1;
        // (few bits, so that 32-bit numbers hold it)
        let share = (hash(self.0, self.1) >> 48) as f64 / 65536.0;
        f64::from((a + (b - a) * share) as f32)
    }

    fn point(&mut self, size: f64) -> [f64; 3] {
        [(); 3].map(|()| self.from(-size, size))
    }

    fn chance(&mut self, share: f64) -> bool {
        self.from(0.0, 1.0) < share
    }
}

/// What a shape is in tables.
#[derive(Clone)]
enum Made {
    Box([f64; 6]),
    Triangle([f64; 9]),
}

/// A trace that is being made: bottom levels with geometries, instances of them, rays.
struct Trace(Memory);

impl Trace {
    fn new(bottoms: &[Vec<(bool, Vec<Made>)>], instances: &[(usize, [f64; 12])]) -> Trace {
        let mut m = Memory::default();
        let structure = |m: &mut Memory, n: u64, kind: &'static str, geometries: u64| {
            let row =
                [[U64(n), U64(n), Text(kind), Text("build")], [U64(0), U64(0), U64(geometries), U64(0)]];
            m.put(&STRUCTURES, &[row.concat().as_slice(), &[Text("")]].concat());
        };
        for (n, geometries) in bottoms.iter().enumerate() {
            let n = n as u64 + 1;
            structure(&mut m, n, "bottom", geometries.len() as u64);
            for (g, (opaque, all)) in geometries.iter().enumerate() {
                let kind = if matches!(all[0], Made::Box(_)) { "boxes" } else { "triangles" };
                let row =
                    [U64(n), U64(g as u64), Text(kind), U64((*opaque).into()), U64(0), U64(all.len() as u64)];
                m.put(&GEOMETRIES, &row);
                for (p, shape) in all.iter().enumerate() {
                    let head = [n, g as u64, p as u64].map(U64);
                    match shape {
                        Made::Box(b) => m.put(&BOXES, &[&head[..], &b.map(F64)].concat()),
                        Made::Triangle(t) => m.put(&TRIANGLES, &[&head[..], &t.map(F64)].concat()),
                    }
                }
            }
        }
        structure(&mut m, 0, "top", 0);
        for (i, (bottom, transform)) in instances.iter().enumerate() {
            let numbers = [0, i as u64, 0, 0xFF, 0, 0, *bottom as u64 + 1, 7].map(U64);
            m.put(&INSTANCES, &[&numbers[..], &transform.map(F64)].concat());
        }
        m.put(&LAUNCH_STRUCTURES, &[1, 40, 0, 0].map(U64));
        Trace(m)
    }

    /// A launch of so many invocations.
    fn launch(&mut self, threads: u64) {
        self.0.put(&FRAMES, &[1, 8, threads, 1, 0, 0].map(U64));
        let row = [1, 0, 8, 40, threads, 1, 1, 1, 0, 0].map(U64);
        self.0.put(&RAY_LAUNCHES, &[&row[..], &[Text("")]].concat());
    }

    fn event(&mut self, thread: u64, kind: RayEvent, object: Option<Object>, t: f64, ray: Option<&Ray>) {
        let head = [1, 0, thread, thread / 8, thread % 8, kind as u64, kind as u64, 0].map(U64);
        let (mut places, mut flags) = ([0.0; 7], 0);
        if let Some(r) = ray {
            let [x, y, z] = r.origin;
            let [dx, dy, dz] = r.direction;
            (places, flags) = ([r.tmin, x, y, z, dx, dy, dz], u64::from(r.flags));
        }
        let o = object.map_or([NOT_KNOWN; 4], |o| [o.instance, 0, o.geometry, o.primitive].map(u64::from));
        let tail = [NOT_KNOWN, NOT_KNOWN, 0, NOT_KNOWN, NOT_KNOWN];
        let row: Vec<Value<'_>> = head
            .into_iter()
            .chain([F64(t)])
            .chain(places.map(F64))
            .chain([flags, 0xFF, 0, 0, 0].map(U64))
            .chain(o.map(U64))
            .chain(tail.map(U64))
            .collect();
        self.0.put(&RAYS, &row);
    }

    fn judged(&self) -> Judged {
        let context = Context::read(&self.0).unwrap();
        let events = read(&self.0, &context, Wants::default()).unwrap();
        judge(&self.0, &events).unwrap()
    }
}

const STILL: [f64; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

fn object(instance: u32, geometry: u32, primitive: u32) -> Object {
    Object { instance, geometry, primitive }
}

fn ray(origin: [f64; 3], direction: [f64; 3]) -> Ray {
    Ray { origin, direction, tmin: 0.0, tmax: 1000.0, flags: 0, mask: 0xFF }
}

/// A ray along x through boxes made for each class.
fn by_hand(flags: u32) -> Trace {
    let along = |from: f64, to: f64| Made::Box([from, -1.0, -1.0, to, 1.0, 1.0]);
    let aside = Made::Box([1.0, 5.0, -1.0, 2.0, 6.0, 1.0]);
    // Entered at 2, 4, 7 and 1; one beside the ray.
    let boxes = vec![along(1.0, 5.0), along(3.0, 10.0), along(6.0, 9.0), along(0.0, 0.5), aside];
    let mut t = Trace::new(&[vec![(false, boxes)]], &[(0, STILL)]);
    t.launch(1);
    let r = Ray { flags, ..ray([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]) };
    use RayEvent::*;
    t.event(0, Begin, None, 1000.0, Some(&r));
    let mut test = |primitive: u32, hit: Option<f64>| {
        t.event(0, Intersection, Some(object(0, 0, primitive)), 1000.0, None);
        if let Some(hit) = hit {
            t.event(0, ReportIntersection, None, hit, None);
        }
    };
    test(2, Some(7.5));
    test(4, None);
    test(1, Some(7.25));
    test(3, None);
    test(0, Some(5.0));
    test(0, Some(5.0));
    t.event(0, ClosestHit, Some(object(0, 0, 0)), 5.0, None);
    t.event(0, End, None, 0.0, None);
    t
}

/// The final hit is box 0's, at 5. Box 1 begins at 4 and was hit at 7.25: it overlaps (R1). Box 2 begins at 7: nobody who goes
/// in order comes to it. Box 3 lies on the way, and nothing of it was hit (R1); box 4 lies beside the ray. Box 0 was tested
/// twice.
#[test]
fn classes_by_hand() {
    let judged = by_hand(0).judged();
    let expected = Sums {
        tests: 6,
        hit: 4,
        judged: 6,
        needed: 1,
        farther: [1, 1],
        missed: [1, 1],
        repeated: 1,
        ..Sums::default()
    };
    let l = &judged.launches[0];
    assert_eq!(l.sums, expected);
    assert_eq!((l.ideal, l.ideal_only, l.judged_rays, &l.maps[..]), (3, 0, 1, &[[2, 3]][..]));
    assert_eq!((l.sums.r1(), l.sums.r23(), l.sums.unnecessary()), (2, 3, 5));
    let top = l.tops.values().next().unwrap();
    assert_eq!((top.1.explained, top.1.of), (1, 1));
    // A ray that may end at its first hit is not judged.
    let l = by_hand(4).judged().launches.remove(0);
    assert_eq!((l.sums.tests, l.sums.judged, l.judged_rays, l.rays), (6, 0, 0, 1));
}

/// Without geometry the same tests are unnecessary, and of no class.
#[test]
fn without_geometry() {
    let full = by_hand(0).0;
    let mut bare = Memory::default();
    for table in [&FRAMES, &RAY_LAUNCHES, &RAYS] {
        use trace::{ColumnData, Source};
        let t = full.read(table).unwrap();
        for row in 0..t.len() {
            let value = |c: &ColumnData| match c {
                ColumnData::U64(c) => U64(c[row]),
                ColumnData::F64(c) => F64(c[row]),
                ColumnData::Text(_) => Text(""),
            };
            bare.put(table, &t.columns().iter().map(value).collect::<Vec<_>>());
        }
    }
    let report = QUESTION.answer(&bare).unwrap();
    assert!(report.notes[0].contains("holds no geometry"), "{:?}", report.notes);
    let judged = Trace(bare).judged();
    let s = judged.launches[0].sums;
    assert_eq!((s.farther_open, s.missed_open, s.repeated, s.unnecessary()), (2, 2, 1, 5));
    assert!(judged.launches[0].maps.is_empty());
}

/// Bottom levels, instances and rays without any order in them.
fn random(seed: u64, triangles: bool) -> (Trace, Vec<Ray>) {
    let mut d = Dice(seed, 0);
    let bottoms: Vec<Vec<(bool, Vec<Made>)>> = (0..3)
        .map(|n| {
            let shape = |d: &mut Dice, triangle: bool| match triangle {
                true => {
                    let (a, b, c) = (d.point(4.0), d.point(2.0), d.point(2.0));
                    let at =
                        |by: [f64; 3]| std::array::from_fn::<f64, 3, _>(|k| f64::from((a[k] + by[k]) as f32));
                    Made::Triangle([a, at(b), at(c)].concat().try_into().unwrap())
                }
                false => {
                    let (at, size) = (d.point(4.0), d.point(1.5));
                    let end: [f64; 3] = std::array::from_fn(|k| f64::from((at[k] + size[k].abs()) as f32));
                    Made::Box([at, end].concat().try_into().unwrap())
                }
            };
            let geometry = |d: &mut Dice, triangle, opaque| {
                let count = 5 + d.from(0.0, 20.0) as usize;
                (opaque, (0..count).map(|_| shape(d, triangle)).collect())
            };
            // (a bottom level is of one kind)
            match triangles && n > 0 {
                true => vec![geometry(&mut d, true, false), geometry(&mut d, true, true)],
                false => vec![geometry(&mut d, false, false)],
            }
        })
        .collect();
    let instances: Vec<(usize, [f64; 12])> = (0..7)
        .map(|n| {
            let mut m = STILL.map(|x| x + d.from(-0.4, 0.4));
            for (k, x) in d.point(5.0).into_iter().enumerate() {
                m[k * 4 + 3] = x;
            }
            (n % 3, m)
        })
        .collect();
    let rays = (0..200)
        .map(|n| {
            // (some along an axis, some with a direction that is not of length 1)
            let (mut origin, to) = (d.point(12.0), d.point(5.0));
            let length = d.from(0.1, 2.0);
            let mut direction = std::array::from_fn(|k| f64::from(((to[k] - origin[k]) * length) as f32));
            if n % 5 == 0 {
                (origin, direction) = ([to[0], to[1], -12.0], [0.0, 0.0, 1.0]);
            }
            Ray { tmin: 0.0625, ..ray(origin, direction) }
        })
        .collect();
    (Trace::new(&bottoms, &instances), rays)
}

/// Where a ray enters a box, whose, and of triangles distance and opacity.
type Along = (f64, Object, Option<(f64, bool)>);

/// Everything that a ray comes to, without a hierarchy.
fn all_along(scenes: &Scenes, r: &Ray, most: f64) -> Vec<Along> {
    let mut all = vec![];
    for i in &scenes.tops[0].instances {
        let line = Line::moved(r, &i.inverse, &i.by);
        let bottom = &scenes.bottoms[i.bottom];
        // The box around all triangles, where there are no boxes of the application's.
        let whole = bottom.leaves.iter().fold(([f64::INFINITY; 3], [-f64::INFINITY; 3]), |(low, high), l| {
            (
                std::array::from_fn(|k| low[k].min(l.bounds.0[k])),
                std::array::from_fn(|k| high[k].max(l.bounds.1[k])),
            )
        });
        for leaf in &bottom.leaves {
            let of = if leaf.shape == Shape::Box { leaf.bounds } else { whole };
            let Some(entry) = line.enters(&of.0, &of.1, most, ROUNDING) else { continue };
            let o = object(i.index, leaf.geometry, leaf.primitive);
            match &leaf.shape {
                Shape::Box => all.push((entry, o, None)),
                Shape::Triangle(corners) => {
                    let hit =
                        line.meets(corners, ROUNDING).map(|h| h.0).filter(|t| (r.tmin..=r.tmax).contains(t));
                    let opaque = bottom.geometries[leaf.geometry as usize].opaque;
                    all.extend(hit.map(|t| (entry, o, Some((t, opaque)))));
                }
            }
        }
    }
    let key = |a: &Along| (a.1.instance, a.2.map_or(0.0, |t| t.0));
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| key(a).partial_cmp(&key(b)).unwrap()));
    all
}

/// Where the ray meets a box that a transform has moved, by the box's six planes in the world: the same places.
#[test]
fn boxes_are_entered_where_their_planes_are() {
    let mut checked = 0;
    for seed in 0..20 {
        let (t, rays) = random(seed, false);
        let scenes = Scenes::read(&t.0).unwrap().unwrap();
        for r in &rays {
            for (entry, o, _) in all_along(&scenes, r, r.tmax) {
                let i = scenes.tops[0].instance(o.instance).unwrap();
                let leaf = scenes.bottoms[i.bottom].leaf(o.geometry, o.primitive).unwrap();
                let inside = |t: f64, off: f64| {
                    let at: [f64; 3] = std::array::from_fn(|k| r.origin[k] + t * r.direction[k] - i.by[k]);
                    let here: [f64; 3] =
                        std::array::from_fn(|k| (0..3).map(|c| i.inverse[k][c] * at[c]).sum());
                    let (low, high) = &leaf.bounds;
                    let within = (0..3).all(|k| here[k] > low[k] - off && here[k] < high[k] + off);
                    let planes = (0..3).map(|k| (here[k] - low[k]).abs().min((here[k] - high[k]).abs()));
                    within.then(|| planes.fold(f64::INFINITY, f64::min))
                };
                checked += 1;
                assert!(inside(entry, 1e-3).is_some(), "{entry} of {o:?}");
                // (it lies on one of the planes, but for where the ray begins)
                let on_a_plane = inside(entry, 1e-3).is_some_and(|planes| planes < 2e-3);
                assert!(entry <= r.tmin || on_a_plane, "{entry} of {o:?}");
            }
        }
    }
    assert!(checked > 2000, "{checked}");
}

/// The hierarchy finds what every primitive against every ray finds: equal sets.
#[test]
fn hierarchies_lose_nothing_and_add_nothing() {
    let (mut found, mut rays_checked) = (0, 0);
    for seed in 0..60 {
        let (t, rays) = random(seed, true);
        let scenes = Scenes::read(&t.0).unwrap().unwrap();
        let mut ideal = Ideal::default();
        for (n, r) in rays.iter().enumerate() {
            // (nothing is known to have been accepted: opaque triangles alone end a ray)
            let last = (n % 3 == 0).then(|| 0.5 + n as f64 / 20.0);
            let all = all_along(&scenes, r, last.unwrap_or(r.tmax));
            let known: Vec<Known> = {
                let of = all.iter().map(|(_, o, t)| Known { object: *o, t: t.map(|t| t.0), ignored: true });
                let mut of: Vec<_> =
                    of.filter(|k| all.iter().any(|a| a.1 == k.object && !a.2.is_some_and(|t| t.1))).collect();
                of.sort_by_key(|k| k.object);
                of
            };
            ideal.run(&scenes, &scenes.tops[0], r, last, &known);
            let mut closest = f64::INFINITY;
            let mut expected = vec![];
            for (entry, o, hit) in &all {
                if *entry > closest {
                    break;
                }
                match hit {
                    Some((t, true)) => closest = closest.min(last.map_or(*t, |l| t.max(l))),
                    Some((t, false)) if *t > closest => {}
                    _ => expected.push(*o),
                }
            }
            let tests: Vec<Object> = ideal.tests.iter().map(|t| t.0).collect();
            assert_eq!(tests, expected, "seed {seed}, ray {n}");
            (found, rays_checked) = (found + expected.len(), rays_checked + 1);
        }
    }
    assert!(found > 5_000 && rays_checked == 12_000, "{found}");
}

/// A device that goes through what a ray comes to in this order; its events are those of a sound traversal.
fn traverse(t: &mut Trace, scenes: &Scenes, rays: &[Ray], in_order: bool, d: &mut Dice) {
    use RayEvent::*;
    t.launch(rays.len() as u64);
    for (thread, r) in rays.iter().enumerate() {
        let thread = thread as u64;
        t.event(thread, Begin, None, r.tmax, Some(r));
        let mut all = all_along(scenes, r, r.tmax);
        if !in_order {
            all.sort_by_key(|a| hash(a.1.primitive.into(), u64::from(a.1.instance) + thread));
        }
        let (mut closest, mut last) = (r.tmax, None);
        for (entry, o, hit) in all {
            if entry > closest {
                continue;
            }
            let ignored = d.chance(0.3);
            match hit {
                None => {
                    t.event(thread, Intersection, Some(o), closest, None);
                    if d.chance(0.6) {
                        let at = f64::from((entry + d.from(0.001, 2.0)) as f32);
                        t.event(thread, ReportIntersection, None, at, None);
                        if at < closest {
                            t.event(thread, AnyHit, Some(o), at, None);
                            if ignored {
                                t.event(thread, IgnoreIntersection, None, 0.0, None);
                            } else {
                                (closest, last) = (at, Some(o));
                            }
                        }
                    }
                }
                Some((at, opaque)) => {
                    let at = f64::from(at as f32);
                    if at >= closest {
                        continue;
                    }
                    if !opaque {
                        t.event(thread, AnyHit, Some(o), at, None);
                        if ignored {
                            t.event(thread, IgnoreIntersection, None, 0.0, None);
                            continue;
                        }
                    }
                    (closest, last) = (at, Some(o));
                }
            }
        }
        match last {
            Some(_) => t.event(thread, ClosestHit, last, closest, None),
            None => t.event(thread, Miss, None, r.tmax, None),
        }
        t.event(thread, End, None, 0.0, None);
    }
}

/// Where the recorded traversal is the ideal one, nothing is of {R2, R3}, and nothing was left out.
#[test]
fn an_ideal_device_has_no_r2_and_r3() {
    let mut sums = Sums::default();
    for seed in 0..60 {
        for triangles in [false, true] {
            let (mut t, rays) = random(seed, triangles);
            let scenes = Scenes::read(&t.0).unwrap().unwrap();
            traverse(&mut t, &scenes, &rays, true, &mut Dice(seed, 0));
            let l = t.judged().launches.remove(0);
            assert_eq!((l.sums.r23(), l.ideal_only, l.guessed), (0, 0, 0), "seed {seed}: {:?}", l.sums);
            assert_eq!((l.judged_rays, l.sums.judged, l.ideal), (200, l.sums.tests, l.sums.tests));
            sums.add(&l.sums);
        }
    }
    assert!(sums.farther[0] > 500 && sums.missed[0] > 1000 && sums.needed > 1000, "{sums:?}");
}

/// Two instances of one triangle each, whose boxes overlap: a wide one that begins first and is hit far behind, and one within.
/// Who goes by boxes has to look at the far one first (R1); where the boxes lie apart, there is no reason to.
#[test]
fn overlapping_boxes_of_instances_are_r1() {
    let slanted = Made::Triangle([-8.0, -8.0, 0.0, 8.0, -8.0, 10.0, 0.0, 8.0, 10.0]);
    let upright = Made::Triangle([-8.0, -8.0, 0.0, 8.0, -8.0, 0.0, 0.0, 8.0, 0.0]);
    let moved = |z: f64| {
        let mut m = STILL;
        m[11] = z;
        m
    };
    for (away, expected) in [(0.0, [1, 0]), (3.5, [0, 1])] {
        // The first is met at 3 + 7.5 + away; its box begins at 3 + away. The second is met at 6.
        let mut t = Trace::new(
            &[vec![(false, vec![slanted.clone()])], vec![(false, vec![upright.clone()])]],
            &[(0, moved(3.0 + away)), (1, moved(6.0))],
        );
        let r = ray([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
        let far = {
            let scenes = Scenes::read(&t.0).unwrap().unwrap();
            let all = all_along(&scenes, &r, r.tmax);
            assert_eq!(all.len(), 2);
            all.iter().find(|a| a.1.instance == 0).and_then(|a| a.2).unwrap().0
        };
        assert!(far > 8.0 + away, "{far}");
        t.launch(1);
        use RayEvent::*;
        t.event(0, Begin, None, r.tmax, Some(&r));
        t.event(0, AnyHit, Some(object(0, 0, 0)), far, None);
        t.event(0, AnyHit, Some(object(1, 0, 0)), 6.0, None);
        t.event(0, ClosestHit, Some(object(1, 0, 0)), 6.0, None);
        t.event(0, End, None, 0.0, None);
        let l = t.judged().launches.remove(0);
        assert_eq!([l.sums.r1(), l.sums.r23()], expected, "{away}: {:?}", l.sums);
        assert_eq!((l.sums.needed, l.ideal_only, l.guessed), (1, 0, 0), "{away}");
    }
}

/// Where it goes through boxes in any order, what begins behind the final hit is of {R2, R3}, and nothing else.
#[test]
fn a_device_without_order_has_as_many_as_begin_behind_the_hit() {
    let mut behind = 0;
    for seed in 0..30 {
        let (mut t, rays) = random(seed, false);
        let scenes = Scenes::read(&t.0).unwrap().unwrap();
        traverse(&mut t, &scenes, &rays, false, &mut Dice(seed, 0));
        let context = Context::read(&t.0).unwrap();
        let events = read(&t.0, &context, Wants::default()).unwrap();
        let launch = &events.launches[0];
        let (mut walk, mut expected) = (Walk::default(), [0, 0]);
        for (thread, r) in rays.iter().enumerate() {
            walk.walk(launch, &events.codes, thread);
            let last = walk.rays[0].t.map(f64::from);
            let reach = last.unwrap_or(r.tmax);
            let near: Vec<Object> =
                all_along(&scenes, r, r.tmax).iter().filter(|a| a.0 <= reach).map(|a| a.1).collect();
            let mut hit_at = None;
            let mut events_of: Vec<(Object, Option<f64>)> = vec![];
            for at in launch.events(thread) {
                match events.codes[usize::from(launch.code[at])].kind {
                    RayEvent::Intersection => {
                        events_of.push((events.objects[launch.object[at] as usize], None))
                    }
                    RayEvent::ReportIntersection => {
                        hit_at = Some(f64::from(launch.t[at]));
                        events_of.last_mut().unwrap().1 = hit_at;
                    }
                    _ => {}
                }
            }
            let _ = hit_at;
            for (o, hit) in events_of {
                let unnecessary = hit.is_none_or(|t| last.is_some_and(|last| t > last));
                expected[0] += u64::from(unnecessary && near.contains(&o));
                expected[1] += u64::from(!near.contains(&o));
            }
        }
        let l = &judge(&t.0, &events).unwrap().launches[0];
        assert_eq!([l.sums.r1(), l.sums.r23()], expected, "seed {seed}");
        assert_eq!(l.ideal_only, 0);
        behind += l.sums.r23();
    }
    assert!(behind > 50, "{behind}");
}

/// The model's device goes nearer children first: some boxes are tested too early, none is left out.
#[test]
fn the_report_is_printed_as_it_was() {
    let model = Model { width: 16, height: 8, ..Model::SMALL };
    let mut memory = model.trace(true).memory();
    model.geometry(&mut |table, row| memory.put(table, row));
    let report = QUESTION.answer(&memory).unwrap();
    let text = text::render(&report);
    crate::report::printed::hold("rays/boxes/printed.txt", &text);
}

#[test]
fn the_model_leaves_no_box_out() {
    let model = Model::SMALL;
    let made = model.trace(true);
    let mut memory = made.memory();
    model.geometry(&mut |table, row| memory.put(table, row));
    let judged = judge(&memory, &made.events).unwrap();
    let l = &judged.launches[0];
    assert_eq!(l.sums.tests, made.counts.events[RayEvent::Intersection as usize]);
    assert_eq!((l.ideal_only, l.guessed, l.sums.farther_open + l.sums.missed_open), (0, 0, 0));
    assert!(
        l.sums.farther[0] > 0 && l.sums.farther[1] > l.sums.farther[0] && l.sums.missed[1] < l.sums.missed[0],
        "{:?}",
        l.sums
    );
    // Shadow rays that hit are not judged, and nothing else.
    assert_eq!(l.rays - l.judged_rays, made.counts.occluded);
    let hits: u64 = l.tops.values().map(|t| t.1.of).sum();
    assert!(hits > 1000 && l.tops.values().all(|t| t.1.explained == t.1.of));
    let maps = l.maps.iter().fold([0, 0], |s, m| [s[0] + u64::from(m[0]), s[1] + u64::from(m[1])]);
    assert_eq!(maps, [l.sums.r1(), l.sums.r23()]);
}
