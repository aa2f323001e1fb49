//! One invocation of ray generation, run on the CPU: predicts its events, or holds recorded ones against the prediction.
//!
//! A scene's shaders are functions ([`Shaders`]); this is the machine that calls them as the specification says. The one
//! thing that the specification leaves to the driver is the order in which a traversal comes to what a ray meets, and
//! whether it still comes to boxes that are farther than a hit. To predict, an order is chosen. To check, the recorded events say
//! which it was: each must be one that may come next, exactly as predicted for the order so far; nothing may come twice; and
//! what begins nearer than the final hit must have come. Opaque triangles, and those whose hit group has no any-hit shader,
//! are taken in silence: the driver may have come to them at any time.

use super::event::{Call, Event};
use super::geometry::{Candidate, Instance, Margin, Met, Object, Ray, met};
use trace::tables::{NOT_KNOWN, RayEvent};

/// Ray flags.
pub const OPAQUE: u64 = 1;
pub const NO_OPAQUE: u64 = 2;
pub const TERMINATE_ON_FIRST_HIT: u64 = 4;
pub const SKIP_CLOSEST_HIT: u64 = 8;

/// The least margin at which the order of two distances is not in doubt.
const CLEAR: f64 = 1e-4;

/// A stage of a pipeline and its group.
pub type Shader = (u64, u64);

/// The shaders of a hit group.
#[derive(Clone, Copy, Debug)]
pub struct HitGroup {
    pub closest: Option<Shader>,
    pub any: Option<Shader>,
    pub intersection: Option<Shader>,
}

/// A pipeline: which shader is which.
#[derive(Clone, Debug)]
pub struct Pipeline {
    pub miss: Vec<Shader>,
    pub callable: Vec<Shader>,
    pub hit: Vec<HitGroup>,
}

impl Pipeline {
    /// Stages and groups in the order that the scenes give them: ray generation, `miss` and `callable` many, then those of
    /// the hit groups (by name: the same name is the same shader, an empty one is none).
    pub fn new(miss: u64, callable: u64, hit: &[[&'static str; 3]]) -> Self {
        let general = 1 + miss + callable;
        let (mut names, mut shared) = (vec![], vec![]);
        for name in hit.iter().flatten().filter(|name| !name.is_empty()) {
            match names.iter().position(|n| n == name) {
                Some(at) => shared.push(at as u64 + general),
                None => names.push(*name),
            }
        }
        let shader = |name: &str, group: usize| {
            let stage = names.iter().position(|n| *n == name)? as u64 + general;
            let group = if shared.contains(&stage) { NOT_KNOWN } else { general + group as u64 };
            Some((stage, group))
        };
        let groups = hit.iter().enumerate().map(|(g, [closest, any, intersection])| HitGroup {
            closest: shader(closest, g),
            any: shader(any, g),
            intersection: shader(intersection, g),
        });
        let several = |from: u64, count: u64| (from..from + count).map(|n| (n, n)).collect();
        let hit = groups.collect();
        Pipeline { miss: several(1, miss), callable: several(1 + miss, callable), hit }
    }
}

/// What shaders hand to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Payload {
    pub sum: i64,
    pub depth: u64,
    pub colour: [f64; 4],
}

/// Where a ray hit.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    pub object: Object,
    pub t: f64,
    pub kind: u64,
    group: usize,
}

/// What an any-hit shader says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Accept,
    Ignore,
    Terminate,
}

/// A pipeline's shaders as functions. Shaders are named by their stage.
pub trait Shaders {
    /// What is written to the picture: a number, or a colour.
    fn raygen(&self, run: &mut Run) -> Payload;
    fn miss(&self, run: &mut Run, stage: u64, ray: &Ray, payload: &mut Payload);
    fn closest(&self, run: &mut Run, stage: u64, ray: &Ray, hit: &Hit, payload: &mut Payload);
    fn any(&self, run: &Run, ray: &Ray, seen: &Ray, hit: &Hit) -> Answer;
    /// `report` reports an intersection and says whether it was taken.
    fn intersection(&self, run: &Run, seen: &Ray, object: &Object, report: &mut dyn FnMut(f64, u64) -> bool);
    fn callable(&self, run: &mut Run, stage: u64, data: &mut i64);
}

/// In which order a traversal comes to what a ray meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Near,
    Far,
    /// By a hash of what it meets.
    Mixed,
}

/// Where the order comes from.
enum Source<'a> {
    Chosen(Order),
    Recorded(&'a [Event]),
}

/// A run of an invocation.
pub struct Run<'a> {
    pub at: [u64; 2],
    world: &'a [Instance],
    pipeline: &'a Pipeline,
    shaders: &'a dyn Shaders,
    source: Source<'a>,
    pub margin: &'a Margin,
    /// Events so far.
    events: Vec<Event>,
    wrong: Option<String>,
    /// The largest relative error of a recorded float.
    error: f64,
    /// Boxes that were come to though what was hit before is nearer than they begin.
    beyond: usize,
}

/// What a run came to.
pub struct Outcome {
    pub events: Vec<Event>,
    pub payload: Payload,
    /// The largest relative error of a recorded float.
    pub error: f64,
    /// Boxes that were come to though what was hit before is nearer than they begin: a driver may.
    pub beyond: usize,
}

/// What is run.
pub struct Program<'a> {
    pub world: &'a [Instance],
    pub pipeline: &'a Pipeline,
    pub shaders: &'a dyn Shaders,
    pub margin: &'a Margin,
}

impl<'a> Program<'a> {
    /// The events of the invocation at this place, if traversals come to things in this order.
    pub fn predict(&self, at: [u64; 2], order: Order) -> Outcome {
        self.run(at, Source::Chosen(order)).expect("nothing is recorded that could differ")
    }

    /// Whether these are its events; what differs first, if not.
    pub fn check(&self, at: [u64; 2], recorded: &[Event]) -> Result<Outcome, String> {
        self.run(at, Source::Recorded(recorded))
    }

    fn run(&self, at: [u64; 2], source: Source) -> Result<Outcome, String> {
        let Program { world, pipeline, shaders, margin } = *self;
        let (events, wrong, error, beyond) = (vec![], None, 0.0, 0);
        let mut run = Run { at, world, pipeline, shaders, source, margin, events, wrong, error, beyond };
        let payload = shaders.raygen(&mut run);
        if let Source::Recorded(recorded) = run.source
            && run.wrong.is_none()
            && run.events.len() < recorded.len()
        {
            run.fail(format!("there is more: {:?}", recorded[run.events.len()]));
        }
        match run.wrong {
            Some(wrong) => Err(wrong),
            None => Ok(Outcome { events: run.events, payload, error: run.error, beyond: run.beyond }),
        }
    }
}

/// A traversal on its way.
struct Traversal {
    call: Ray,
    closest: f64,
    hit: Option<Hit>,
    left: Vec<Candidate>,
    over: bool,
}

impl Run<'_> {
    fn fail(&mut self, why: String) {
        if self.wrong.is_none() {
            self.wrong = Some(format!("event {}: {why}", self.events.len()));
        }
    }

    /// The next recorded event, if events are recorded and all was right so far.
    fn next(&self) -> Option<&Event> {
        match &self.source {
            Source::Recorded(events) if self.wrong.is_none() => events.get(self.events.len()),
            _ => None,
        }
    }

    fn event(&mut self, event: Event) {
        if let Source::Recorded(recorded) = &self.source {
            let compared = match recorded.get(self.events.len()) {
                Some(is) => event.compare(is),
                None => Err(format!("there is none; should be {event:?}")),
            };
            match compared {
                Ok(error) => self.error = self.error.max(error),
                Err(why) => self.fail(format!("{why}; should be {event:?}")),
            }
        }
        self.events.push(event);
    }

    /// Calls a callable shader.
    pub fn call(&mut self, index: u64, data: &mut i64) {
        let shader = self.pipeline.callable[index as usize];
        self.event(Event::new(RayEvent::Callable, shader));
        let shaders = self.shaders;
        shaders.callable(self, shader.0, data);
    }

    /// Traces a ray, from a shader.
    pub fn trace(&mut self, from: Shader, call: Call, tmax: f64, flags: u64, payload: &mut Payload) {
        let ray = Ray { origin: call.origin, direction: call.direction, tmin: call.tmin, tmax, flags };
        let skips = flags & SKIP_CLOSEST_HIT != 0;
        let kind = if skips { RayEvent::OcclusionBegin } else { RayEvent::Begin };
        let begin = Event::new(kind, from);
        self.event(Event { call: Some(call), t: Some(tmax), flags: Some(flags), ..begin });
        let left = met(self.world, &ray, self.margin);
        let mut traversal = Traversal { call: ray, closest: tmax, hit: None, left, over: false };
        match self.source {
            Source::Chosen(order) => self.in_order(&mut traversal, order),
            Source::Recorded(_) => self.as_recorded(&mut traversal),
        }
        let shaders = self.shaders;
        match traversal.hit {
            None => {
                let shader = self.pipeline.miss[call.miss_index as usize];
                let miss = Event::new(RayEvent::Miss, shader);
                self.event(Event { t: Some(tmax), flags: Some(flags), ..miss });
                shaders.miss(self, shader.0, &ray, payload);
            }
            Some(hit) => {
                if let Some(shader) = self.pipeline.hit[hit.group].closest.filter(|_| !skips) {
                    self.event(entered(RayEvent::ClosestHit, shader, &ray, hit.t, &hit));
                    shaders.closest(self, shader.0, &ray, &hit, payload);
                }
            }
        }
        self.event(Event::new(RayEvent::End, from));
    }

    fn in_order(&mut self, traversal: &mut Traversal, order: Order) {
        let mut left = std::mem::take(&mut traversal.left);
        let mixed = |o: &Object| (o.instance * 31 + o.geometry * 7 + o.primitive + 1) * 0x9E37_79B9 % 1009;
        left.sort_by(|a, b| match order {
            Order::Near => a.from().total_cmp(&b.from()),
            Order::Far => b.from().total_cmp(&a.from()),
            Order::Mixed => mixed(&a.object).cmp(&mixed(&b.object)),
        });
        for candidate in left {
            if traversal.over {
                break;
            }
            if self.margin.less(candidate.from(), traversal.closest) {
                self.take(traversal, &candidate);
            }
        }
    }

    /// Takes candidates as recorded events name them, then those that are taken in silence.
    fn as_recorded(&mut self, traversal: &mut Traversal) {
        while !traversal.over {
            let Some(next) = self.next() else { break };
            if !matches!(next.kind, RayEvent::Intersection | RayEvent::AnyHit) {
                break;
            }
            let (object, t) = (next.object, next.t.unwrap_or(f64::NAN));
            let found =
                traversal.left.iter().position(|c| Some(c.object) == object && !self.silent(traversal, c));
            let Some(found) = found else {
                self.fail(format!("{next:?}, which the ray does not meet, or not again"));
                return;
            };
            let candidate = traversal.left.remove(found);
            // A silent hit may have come in between: the recorded distance says so.
            if let Met::Box(_) = candidate.met
                && t < traversal.closest - CLEAR
            {
                let silent = traversal
                    .left
                    .iter()
                    .position(|c| self.silent(traversal, c) && (c.from() - t).abs() < CLEAR);
                if let Some(silent) = silent {
                    let silent = traversal.left.remove(silent);
                    self.take(traversal, &silent);
                }
            }
            let farther = candidate.from() > traversal.closest + CLEAR;
            if farther && matches!(candidate.met, Met::Box(_)) {
                self.beyond += 1;
            } else if farther {
                let closest = traversal.closest;
                self.fail(format!("{:?} is met though a hit at {closest} is nearer", candidate.object));
                return;
            }
            self.take(traversal, &candidate);
        }
        if traversal.over {
            return;
        }
        let left = std::mem::take(&mut traversal.left);
        let (silent, asked): (Vec<_>, Vec<_>) = left.into_iter().partition(|c| self.silent(traversal, c));
        for candidate in silent {
            if candidate.from() < traversal.closest {
                self.take(traversal, &candidate);
            }
            if traversal.over {
                return;
            }
        }
        if let Some(missing) = asked.iter().find(|c| c.from() < traversal.closest - CLEAR) {
            let closest = traversal.closest;
            self.fail(format!("{:?} was not met though nothing before {closest} was hit", missing.object));
        }
    }

    fn opaque(&self, traversal: &Traversal, candidate: &Candidate) -> bool {
        let flags = traversal.call.flags;
        flags & OPAQUE != 0 || (candidate.opaque && flags & NO_OPAQUE == 0)
    }

    fn any_hit(&self, traversal: &Traversal, candidate: &Candidate) -> Option<Shader> {
        let any = self.pipeline.hit[candidate.record as usize].any;
        any.filter(|_| !self.opaque(traversal, candidate))
    }

    fn silent(&self, traversal: &Traversal, candidate: &Candidate) -> bool {
        matches!(candidate.met, Met::Triangle(..)) && self.any_hit(traversal, candidate).is_none()
    }

    /// What happens where a traversal comes to a candidate that is not farther than the closest hit so far.
    fn take(&mut self, traversal: &mut Traversal, candidate: &Candidate) {
        let any = self.any_hit(traversal, candidate);
        match candidate.met {
            Met::Triangle(t, kind) => {
                self.decide(traversal, candidate, (t, kind), any);
            }
            Met::Box(_) => {
                let group = self.pipeline.hit[candidate.record as usize];
                let shader = group.intersection.expect("boxes have intersection shaders");
                let entry = Event::new(RayEvent::Intersection, shader);
                let (t, flags) = (Some(traversal.closest), Some(traversal.call.flags));
                self.event(Event { t, flags, object: Some(candidate.object), ..entry });
                let (shaders, margin) = (self.shaders, self.margin);
                // The shader only reads the run; what it reports is gone through with one of its own.
                let reader =
                    Run { source: Source::Chosen(Order::Near), events: vec![], wrong: None, ..*self };
                let mut reported = |t: f64, kind: u64| {
                    if traversal.over {
                        return true;
                    }
                    let report = Event::new(RayEvent::ReportIntersection, shader);
                    self.event(Event { t: Some(t), hit_kind: Some(kind), ..report });
                    let after = !margin.less(t, traversal.call.tmin);
                    let before = margin.less(t, traversal.closest);
                    after && before && self.decide(traversal, candidate, (t, kind), any)
                };
                shaders.intersection(&reader, &candidate.ray, &candidate.object, &mut reported);
            }
        }
    }

    /// Asks the any-hit shader, if there is one; whether the hit was accepted.
    fn decide(
        &mut self,
        traversal: &mut Traversal,
        candidate: &Candidate,
        (t, kind): (f64, u64),
        any: Option<Shader>,
    ) -> bool {
        let hit = Hit { object: candidate.object, t, kind, group: candidate.record as usize };
        if let Some(shader) = any {
            self.event(entered(RayEvent::AnyHit, shader, &traversal.call, t, &hit));
            match self.shaders.any(self, &traversal.call, &candidate.ray, &hit) {
                Answer::Accept => {}
                Answer::Ignore => {
                    self.event(Event::new(RayEvent::IgnoreIntersection, shader));
                    return false;
                }
                Answer::Terminate => {
                    self.event(Event::new(RayEvent::TerminateRay, shader));
                    traversal.over = true;
                }
            }
        }
        traversal.over |= traversal.call.flags & TERMINATE_ON_FIRST_HIT != 0;
        traversal.closest = t;
        traversal.hit = Some(hit);
        true
    }
}

/// A shader was entered about a hit.
fn entered(kind: RayEvent, shader: Shader, ray: &Ray, t: f64, hit: &Hit) -> Event {
    let (flags, object, hit_kind) = (Some(ray.flags), Some(hit.object), Some(hit.kind));
    Event { t: Some(t), flags, object, hit_kind, ..Event::new(kind, shader) }
}
