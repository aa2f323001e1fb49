//! Every test of every recorded ray, judged: needed, farther, missed, repeated; in the ideal traversal or not.
//!
//! Sums are of whole numbers: they are the same on any number of threads.

use super::choose::{ASKED, Share, Witness, choose};
use super::ideal::{Ideal, Known};
use super::rays::{self, Begin, Begins};
use super::scene::Scenes;
use crate::rays::events::{CHUNK, Events, Launch, NO, Object, Outcome, Ray, Walk};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use trace::tables::{NOT_KNOWN, RayEvent};
use trace::{Source, Unreadable};

/// The ray ends at its first hit.
const FIRST_HIT: u32 = 0x4;

/// Tests. Of two numbers: class R1, class {R2, R3}.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// All of them.
    pub tests: u64,
    /// Those that reported a hit, or are of a triangle.
    pub hit: u64,
    /// Of rays that are judged.
    pub judged: u64,
    /// Hit, no farther than the final hit.
    pub needed: u64,
    /// Hit, farther.
    pub farther: [u64; 2],
    /// Not hit.
    pub missed: [u64; 2],
    /// Tested before.
    pub repeated: u64,
    /// Farther ones that are of no class.
    pub farther_open: u64,
    /// Missed ones that are of no class.
    pub missed_open: u64,
}

impl Sums {
    /// Both together.
    pub fn add(&mut self, o: &Sums) {
        let ([f1, f23], [m1, m23]) = (&mut self.farther, &mut self.missed);
        for (a, b) in [
            (&mut self.tests, o.tests),
            (&mut self.hit, o.hit),
            (&mut self.judged, o.judged),
            (&mut self.needed, o.needed),
            (f1, o.farther[0]),
            (f23, o.farther[1]),
            (m1, o.missed[0]),
            (m23, o.missed[1]),
            (&mut self.repeated, o.repeated),
            (&mut self.farther_open, o.farther_open),
            (&mut self.missed_open, o.missed_open),
        ] {
            *a += b;
        }
    }

    /// Of class R1.
    pub fn r1(&self) -> u64 {
        self.farther[0] + self.missed[0]
    }

    /// Of class {R2, R3}.
    pub fn r23(&self) -> u64 {
        self.farther[1] + self.missed[1] + self.repeated
    }

    /// All that are unnecessary.
    pub fn unnecessary(&self) -> u64 {
        self.r1() + self.r23() + self.farther_open + self.missed_open
    }
}

/// What a launch comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchSums {
    /// Its tests.
    pub sums: Sums,
    /// Rays traced.
    pub rays: u64,
    /// Rays that are judged.
    pub judged_rays: u64,
    /// Tests that the ideal traversal of these has; of triangles, those of hit groups that have any-hit shaders.
    pub ideal: u64,
    /// Those of them that were not recorded, however numbers are rounded: a device that is right has none.
    pub ideal_only: u64,
    /// Any-hit shaders whose answer was guessed.
    pub guessed: u64,
    /// Class R1 and {R2, R3} of each invocation; empty where nothing is known of geometry.
    pub maps: Vec<[u32; 2]>,
    /// Calls that begin rays, by code: the top level that explains their hits best, and how well.
    pub tops: BTreeMap<u16, (usize, Share)>,
    /// How many top levels there were to choose from.
    pub candidates: usize,
}

/// Everything.
#[derive(Default)]
pub struct Judged {
    /// In the order of launches.
    pub launches: Vec<LaunchSums>,
    /// By object.
    pub objects: Vec<Sums>,
    /// By the code of the test.
    pub codes: Vec<Sums>,
    /// The structures; none where no geometry was recorded.
    pub scenes: Option<Scenes>,
}

/// A test of a ray.
#[derive(Clone, Copy, Debug)]
struct Test {
    /// What it happened in.
    code: u16,
    object: u32,
    /// Of a box.
    of_box: bool,
    /// The nearest hit of it that was not ignored, else the nearest.
    t: Option<f32>,
    ignored: bool,
    repeated: bool,
}

/// What the tests of a ray are, from its events.
fn tests(events: &Events, launch: &Launch, ray: &Ray, end: usize, out: &mut Vec<Test>) {
    out.clear();
    let kind = |at: usize| events.codes[usize::from(launch.code[at])].kind;
    let last = ray.shader.unwrap_or(end);
    let mut at = ray.begin + 1;
    while at < last {
        let (code, object, t) = (launch.code[at], launch.object[at], launch.t[at]);
        let next = |n: usize| (at + n < last).then(|| kind(at + n));
        let hit = |test: &mut Test, t: f32, ignored: bool| {
            let better = match test.t {
                None => true,
                Some(_) if test.ignored != ignored => test.ignored,
                Some(before) => t < before,
            };
            if better {
                (test.t, test.ignored) = (Some(t), ignored);
            }
        };
        match kind(at) {
            RayEvent::Intersection => {
                out.push(Test { code, object, of_box: true, t: None, ignored: false, repeated: false });
            }
            RayEvent::ReportIntersection => {
                // (an any-hit of something else is a triangle's: this report was too far to be looked at)
                let of = out.last().map_or(NO, |test| test.object);
                let looked_at = next(1) == Some(RayEvent::AnyHit) && launch.object[at + 1] == of;
                let ignored = looked_at && next(2) == Some(RayEvent::IgnoreIntersection);
                if let Some(test) = out.last_mut().filter(|test| test.of_box) {
                    hit(test, t, ignored);
                }
                at += usize::from(looked_at) + usize::from(ignored);
            }
            RayEvent::AnyHit => {
                let ignored = next(1) == Some(RayEvent::IgnoreIntersection);
                out.push(Test { code, object, of_box: false, t: Some(t), ignored, repeated: false });
            }
            RayEvent::End => break,
            _ => {}
        }
        at += 1;
    }
    for n in 1..out.len() {
        out[n].repeated = out[..n].iter().any(|t| t.object == out[n].object && t.object != NO);
    }
}

/// Of a geometry that the device does not name, there is one.
fn named(o: &Object) -> Object {
    let geometry = if u64::from(o.geometry) == NOT_KNOWN { 0 } else { o.geometry };
    Object { geometry, ..*o }
}

/// Distance of the final hit of a ray that can be judged; none inside where it missed.
fn final_hit(ray: &Ray, flags: u32) -> Option<Option<f32>> {
    match ray.outcome {
        Outcome::Miss => Some(None),
        Outcome::ClosestHit if flags & FIRST_HIT == 0 && !ray.terminated => Some(ray.t),
        Outcome::ImplicitHit if flags & FIRST_HIT == 0 && !ray.terminated && !ray.occlusion => {
            ray.t.map(Some)
        }
        _ => None,
    }
}

/// Sums of some invocations.
#[derive(Default)]
struct Part {
    launch: LaunchSums,
    objects: Vec<Sums>,
    codes: Vec<Sums>,
}

/// What judges, with its memory.
#[derive(Default)]
struct Judge {
    walk: Walk,
    tests: Vec<Test>,
    known: Vec<Known>,
    ideal: Ideal,
}

/// A launch, and what is known of its geometry.
struct Of<'a> {
    events: &'a Events,
    launch: &'a Launch,
    begins: &'a Begins,
    scenes: Option<&'a Scenes>,
    tops: &'a BTreeMap<u16, (usize, Share)>,
    /// Call, instance, geometry: any-hit shaders of its triangles were seen.
    any_hits: &'a HashSet<(u16, u32, u32)>,
}

impl Judge {
    /// Judges the rays of an invocation; how many tests are of class R1 and {R2, R3}.
    fn invocation(&mut self, of: &Of<'_>, thread: usize, part: &mut Part) -> [u32; 2] {
        let launch = of.launch;
        let mut walk = std::mem::take(&mut self.walk);
        walk.walk(launch, &of.events.codes, thread);
        let mut classes = [0; 2];
        for (ray, begin) in walk.rays.iter().zip(of.begins.of(thread)) {
            tests(of.events, launch, ray, launch.starts[thread + 1], &mut self.tests);
            let sums = self.ray(of, ray, begin, part);
            classes[0] += sums.r1() as u32;
            classes[1] += sums.r23() as u32;
        }
        self.walk = walk;
        classes
    }

    /// Judges a ray whose tests are there.
    fn ray(&mut self, of: &Of<'_>, ray: &Ray, begin: &Begin, part: &mut Part) -> Sums {
        part.launch.rays += 1;
        let place = begin.ray();
        let last = final_hit(ray, place.flags);
        let call = of.launch.code[ray.begin];
        let top = of.scenes.zip(of.tops.get(&call).map(|t| t.0)).filter(|_| last.is_some());
        if let Some((scenes, top)) = top {
            self.known.clear();
            for t in self.tests.iter().filter(|t| !t.repeated && t.object != NO) {
                let object = named(&of.events.objects[t.object as usize]);
                self.known.push(Known { object, t: t.t.map(f64::from), ignored: t.ignored });
            }
            self.known.sort_unstable_by_key(|k| k.object);
            let last = last.flatten().map(f64::from);
            let before = self.ideal.guessed;
            self.ideal.run(scenes, &scenes.tops[top], &place, last, &self.known);
            part.launch.guessed += self.ideal.guessed - before;
            self.ideal.tests.sort_unstable();
            self.compare(of, scenes, top, call, part);
        }
        part.launch.judged_rays += u64::from(last.is_some());
        let mut sums = Sums::default();
        for t in &self.tests {
            let of_test = self.test(of, t, last, top);
            sums.add(&of_test);
            if t.object != NO {
                part.objects[t.object as usize].add(&of_test);
            }
            part.codes[usize::from(t.code)].add(&of_test);
        }
        part.launch.sums.add(&sums);
        sums
    }

    /// What the ideal traversal has and the recorded one has not.
    fn compare(&self, of: &Of<'_>, scenes: &Scenes, top: usize, call: u16, part: &mut Part) {
        for (o, sure) in &self.ideal.tests {
            let bottom = scenes.tops[top].instance(o.instance).map(|i| &scenes.bottoms[i.bottom]);
            let leaf = bottom.and_then(|b| b.leaf(o.geometry, o.primitive));
            let of_box = leaf.is_some_and(|l| l.shape == super::Shape::Box);
            if !of_box && !of.any_hits.contains(&(call, o.instance, o.geometry)) {
                continue;
            }
            part.launch.ideal += 1;
            let there = self.known.binary_search_by_key(o, |k| k.object).is_ok();
            part.launch.ideal_only += u64::from(*sure && !there);
        }
    }

    /// Judges a test.
    fn test(&self, of: &Of<'_>, t: &Test, last: Option<Option<f32>>, top: Option<(&Scenes, usize)>) -> Sums {
        let mut s = Sums { tests: 1, hit: u64::from(t.t.is_some()), ..Sums::default() };
        let Some(last) = last else { return s };
        s.judged = 1;
        if t.repeated {
            s.repeated = 1;
            return s;
        }
        let farther = match (t.t, last) {
            (Some(t), Some(last)) => t > last,
            // (a miss: whatever was hit was ignored, and had to be looked at)
            (Some(_), None) => false,
            (None, _) => false,
        };
        if t.t.is_some() && !farther {
            s.needed = 1;
            return s;
        }
        let object = (t.object != NO).then(|| named(&of.events.objects[t.object as usize]));
        let class = top.zip(object).and_then(|((scenes, top), o)| {
            let i = scenes.tops[top].instance(o.instance)?;
            let bottom = &scenes.bottoms[i.bottom];
            bottom.leaf(o.geometry, o.primitive).filter(|_| !bottom.missing)?;
            Some(usize::from(self.ideal.tests.binary_search_by_key(&o, |t| t.0).is_err()))
        });
        match (class, farther) {
            (Some(class), true) => s.farther[class] = 1,
            (Some(class), false) => s.missed[class] = 1,
            (None, true) => s.farther_open = 1,
            (None, false) => s.missed_open = 1,
        }
        s
    }
}

/// What rays of each call met, and which any-hit shaders of triangles were seen.
type Seen = (BTreeMap<u16, Vec<Witness>>, HashSet<(u16, u32, u32)>);

/// Looks at all rays for these; of witnesses, at some in each part of the launch.
fn look(events: &Events, launch: &Launch, begins: &Begins) -> Seen {
    let parts = launch.threads().div_ceil(CHUNK);
    let most = (ASKED * 4).div_ceil(parts.max(1)).max(16);
    let all: Vec<Seen> =
        (0..parts).into_par_iter().map(|p| look_at(events, launch, begins, p, most)).collect();
    let mut seen = Seen::default();
    for (witnesses, any_hits) in all {
        witnesses.into_iter().for_each(|(call, w)| seen.0.entry(call).or_default().extend(w));
        seen.1.extend(any_hits);
    }
    seen
}

fn look_at(events: &Events, launch: &Launch, begins: &Begins, part: usize, most: usize) -> Seen {
    let (mut witnesses, mut any_hits): Seen = Seen::default();
    let (mut walk, mut all) = (Walk::default(), vec![]);
    for thread in part * CHUNK..((part + 1) * CHUNK).min(launch.threads()) {
        walk.walk(launch, &events.codes, thread);
        for (ray, begin) in walk.rays.iter().zip(begins.of(thread)) {
            let call = launch.code[ray.begin];
            let met = witnesses.entry(call).or_default();
            let mut put = |object: u32, t: Option<f32>| {
                if met.len() < most && object != NO {
                    let object = named(&events.objects[object as usize]);
                    met.push(Witness { ray: begin.ray(), object, t: t.map(f64::from) });
                }
            };
            if let (Outcome::ClosestHit, Some(at)) = (ray.outcome, ray.shader) {
                put(launch.object[at], ray.t);
            }
            if ray.intersections + ray.any_hits == 0 {
                continue;
            }
            tests(events, launch, ray, launch.starts[thread + 1], &mut all);
            let mut before = NO;
            for t in &all {
                put(t.object, None);
                if !t.of_box && t.object != NO && t.object != before {
                    before = t.object;
                    let o = named(&events.objects[t.object as usize]);
                    any_hits.insert((call, o.instance, o.geometry));
                }
            }
        }
    }
    (witnesses, any_hits)
}

/// Which of the top levels were there when each launch ran: by its command's number and, of several, its order; by order
/// alone where the numbers are of something else.
fn tops_of(events: &Events, scenes: &Scenes, commands: &HashMap<(u64, u64), u64>) -> Vec<Vec<usize>> {
    let mut runs: HashMap<(u64, u64), u64> = HashMap::new();
    let of = |l: &Launch| {
        let command = commands.get(&(l.frame, l.launch)).copied().unwrap_or(0);
        let run = runs.entry((l.frame, command)).or_default();
        let key = (l.frame, command, *run);
        *run += 1;
        let all = |frame: u64| {
            let of_frame = scenes.of_launches.iter().filter(|k| k.0.0 == frame);
            let mut tops: Vec<usize> = of_frame.flat_map(|k| k.1.iter().copied()).collect();
            tops.sort_unstable();
            tops.dedup();
            tops
        };
        scenes.of_launches.get(&key).cloned().unwrap_or_else(|| all(l.frame))
    };
    events.launches.iter().map(of).collect()
}

/// The numbers of launches' commands.
fn commands(trace: &dyn Source) -> Result<HashMap<(u64, u64), u64>, Unreadable> {
    let t = trace.read(&trace::tables::RAY_LAUNCHES)?;
    let key = |row: usize| (t.u64("frame")[row], t.u64("launch")[row]);
    Ok((0..t.len()).map(|row| (key(row), t.u64("command")[row])).collect())
}

/// Judges every test of a trace.
pub fn judge(trace: &dyn Source, events: &Events) -> Result<Judged, Unreadable> {
    let scenes = Scenes::read(trace)?;
    let begins = rays::read(trace, events)?;
    let tops = match &scenes {
        Some(scenes) => tops_of(events, scenes, &commands(trace)?),
        None => vec![vec![]; events.launches.len()],
    };
    Ok(judge_all(events, &begins, scenes, &tops))
}

/// Class R1 and {R2, R3} of each launch's invocations; empty where nothing is known of geometry.
pub fn maps(trace: &dyn Source, events: &Events) -> Result<Vec<Vec<[u32; 2]>>, Unreadable> {
    if trace.read(&trace::tables::STRUCTURES)?.is_empty() {
        return Ok(vec![vec![]; events.launches.len()]);
    }
    Ok(judge(trace, events)?.launches.into_iter().map(|l| l.maps).collect())
}

/// The same, of what is in memory: with the begins of each launch and the top levels that were there.
pub fn judge_all(events: &Events, begins: &[Begins], scenes: Option<Scenes>, tops: &[Vec<usize>]) -> Judged {
    let mut judged = Judged {
        objects: vec![Sums::default(); events.objects.len()],
        codes: vec![Sums::default(); events.codes.len()],
        ..Judged::default()
    };
    for ((launch, begins), tops) in events.launches.iter().zip(begins).zip(tops) {
        let (mut chosen, mut any_hits) = (BTreeMap::new(), HashSet::new());
        if let Some(scenes) = &scenes {
            let (witnesses, seen) = look(events, launch, begins);
            any_hits = seen;
            let found = witnesses.iter().filter_map(|(call, w)| Some((*call, choose(scenes, tops, w)?)));
            chosen.extend(found);
        }
        let of = Of { events, launch, begins, scenes: scenes.as_ref(), tops: &chosen, any_hits: &any_hits };
        let mut sums = one(&of, &mut judged);
        sums.candidates = tops.len();
        sums.tops = chosen;
        judged.launches.push(sums);
    }
    judged.scenes = scenes;
    judged
}

/// Judges a launch, in as many portions as there are workers (sums of objects may be long).
fn one(of: &Of<'_>, judged: &mut Judged) -> LaunchSums {
    let threads = of.launch.threads();
    let portions = rayon::current_num_threads().max(1) * 4;
    let each = threads.div_ceil(portions).next_multiple_of(CHUNK).max(CHUNK);
    let parts: Vec<Part> = (0..threads.div_ceil(each))
        .into_par_iter()
        .map(|p| {
            let mut judge = Judge::default();
            let mut part = Part {
                objects: vec![Sums::default(); judged.objects.len()],
                codes: vec![Sums::default(); judged.codes.len()],
                ..Part::default()
            };
            for thread in p * each..((p + 1) * each).min(threads) {
                let classes = judge.invocation(of, thread, &mut part);
                part.launch.maps.push(classes);
            }
            part
        })
        .collect();
    let mut all = LaunchSums::default();
    for p in parts {
        let l = p.launch;
        all.sums.add(&l.sums);
        all.rays += l.rays;
        all.judged_rays += l.judged_rays;
        all.ideal += l.ideal;
        all.ideal_only += l.ideal_only;
        all.guessed += l.guessed;
        all.maps.extend(l.maps);
        judged.objects.iter_mut().zip(&p.objects).for_each(|(a, b)| a.add(b));
        judged.codes.iter_mut().zip(&p.codes).for_each(|(a, b)| a.add(b));
    }
    if of.scenes.is_none() {
        all.maps.clear();
    }
    all
}
