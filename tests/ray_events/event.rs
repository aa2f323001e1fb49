//! An event of a ray as it is predicted, and as a trace holds it; what differs between the two.

use super::geometry::{Object, V3};
use trace::tables::{NOT_KNOWN, RAYS, RayEvent};
use trace::{Columns, Source};

/// How far a distance or a coordinate may be off, relative to what it is where that is more than 1.
pub const BOUND: f64 = 1e-5;

/// What a call that traces is given, but for its ray's end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    pub origin: V3,
    pub direction: V3,
    pub tmin: f64,
    pub cull_mask: u64,
    pub sbt_offset: u64,
    pub sbt_stride: u64,
    pub miss_index: u64,
}

/// An event. What an event of its kind does not have is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub kind: RayEvent,
    /// Which of the pipeline's stages.
    pub stage: u64,
    pub call: Option<Call>,
    pub t: Option<f64>,
    pub flags: Option<u64>,
    pub object: Option<Object>,
    pub hit_kind: Option<u64>,
    pub group: u64,
}

/// Events of one launch by invocation, in program order.
pub type ByInvocation = Vec<Vec<Event>>;

fn near(is: f64, should: f64) -> bool {
    (is - should).abs() <= BOUND * should.abs().max(1.0)
}

impl Event {
    /// One of a shader that is part of no group or of this one.
    pub fn new(kind: RayEvent, (stage, group): (u64, u64)) -> Self {
        Event { kind, stage, call: None, t: None, flags: None, object: None, hit_kind: None, group }
    }

    /// What of a recorded event is not as it should be; the largest error of its floats.
    pub fn compare(&self, recorded: &Event) -> Result<f64, String> {
        let mut error = 0.0f64;
        let mut same = |name: &str, is: f64, should: f64| {
            error = error.max((is - should).abs() / should.abs().max(1.0));
            if near(is, should) { Ok(()) } else { Err(format!("{name} is {is}, should be {should}")) }
        };
        let fail =
            |name: &str, is: String, should: String| Err(format!("{name} is {is}, should be {should}"));
        if recorded.kind != self.kind {
            return fail("the event", format!("{:?}", recorded.kind), format!("{:?}", self.kind));
        }
        if recorded.stage != self.stage {
            return fail("the shader", recorded.stage.to_string(), self.stage.to_string());
        }
        if recorded.group != self.group {
            return fail("the group", recorded.group.to_string(), self.group.to_string());
        }
        if let Some(t) = self.t {
            same("t", recorded.t.unwrap_or(f64::NAN), t)?;
        }
        if self.flags.is_some() && recorded.flags != self.flags {
            return fail("flags", format!("{:?}", recorded.flags), format!("{:?}", self.flags));
        }
        if self.object.is_some() && recorded.object != self.object {
            return fail("the object", format!("{:?}", recorded.object), format!("{:?}", self.object));
        }
        if self.hit_kind.is_some() && recorded.hit_kind != self.hit_kind {
            return fail(
                "the kind of hit",
                format!("{:?}", recorded.hit_kind),
                format!("{:?}", self.hit_kind),
            );
        }
        if let Some(call) = &self.call {
            let Some(is) = &recorded.call else { return Err("it says nothing of its ray".to_owned()) };
            for axis in 0..3 {
                same("the origin", is.origin[axis], call.origin[axis])?;
                same("the direction", is.direction[axis], call.direction[axis])?;
            }
            same("tmin", is.tmin, call.tmin)?;
            let numbers = |c: &Call| [c.cull_mask, c.sbt_offset, c.sbt_stride, c.miss_index];
            if numbers(is) != numbers(call) {
                let words = |c| format!("{:?}", numbers(c));
                return fail("mask, offset, stride and miss index", words(is), words(call));
            }
        }
        Ok(error)
    }
}

/// Which events have what, so that what is not theirs is not compared.
fn event(t: &Columns, row: usize, stage: u64) -> Result<Event, String> {
    let number = |name: &str| t.u64(name)[row];
    let float = |name: &str| t.f64(name)[row];
    let kind = RayEvent::of(number("kind")).ok_or_else(|| format!("row {row} of rays is of no kind"))?;
    let known = |n: u64| (n != NOT_KNOWN).then_some(n);
    let vector = |x, y, z| [float(x), float(y), float(z)];
    let call = (kind.begins() || kind == RayEvent::QueryBegin).then(|| Call {
        origin: vector("origin_x", "origin_y", "origin_z"),
        direction: vector("direction_x", "direction_y", "direction_z"),
        tmin: float("tmin"),
        cull_mask: number("cull_mask"),
        sbt_offset: number("sbt_offset"),
        sbt_stride: number("sbt_stride"),
        miss_index: number("miss_index"),
    });
    let object = known(number("instance")).map(|instance| Object {
        instance,
        custom_index: number("custom_index"),
        geometry: number("geometry"),
        primitive: number("primitive"),
    });
    Ok(Event {
        kind,
        stage,
        call,
        t: Some(float("t")),
        flags: Some(number("flags")),
        object,
        hit_kind: known(number("hit_kind")),
        group: number("group"),
    })
}

/// A launch as it was recorded.
pub struct Launch {
    pub frame: u64,
    pub pipeline: String,
    pub size: [u64; 3],
    pub events: ByInvocation,
}

/// All launches of a trace.
pub fn read(source: &dyn Source) -> Result<Vec<Launch>, String> {
    let table = |name: &str| {
        let table = trace::tables::TABLES.iter().find(|t| t.name == name).expect("it is registered");
        source.read(table).map_err(|e| e.to_string())
    };
    let (pipelines, entries, launches) = (table("pipelines")?, table("entries")?, table("ray_launches")?);
    let name_of = |id: u64| {
        let row = pipelines.u64("pipeline").iter().position(|p| *p == id);
        row.map(|r| pipelines.text("name")[r].to_string()).ok_or(format!("there is no pipeline {id}"))
    };
    let mut all = vec![];
    let mut keys = vec![];
    for row in 0..launches.len() {
        let number = |name: &str| launches.u64(name)[row];
        let size = ["width", "height", "depth"].map(number);
        keys.push((number("frame"), number("launch"), number("pipeline")));
        let events = vec![vec![]; size.iter().product::<u64>() as usize];
        all.push(Launch { frame: number("frame"), pipeline: name_of(number("pipeline"))?, size, events });
    }
    let rays = source.read(&RAYS).map_err(|e| e.to_string())?;
    for row in 0..rays.len() {
        let number = |name: &str| rays.u64(name)[row];
        let key = (number("frame"), number("launch"));
        let at = keys.iter().position(|k| (k.0, k.1) == key).ok_or(format!("{key:?} is no launch"))?;
        let entry = entries.u64("entry").iter().position(|e| *e == number("entry"));
        let entry = entry.ok_or(format!("there is no entry {}", number("entry")))?;
        if entries.u64("pipeline")[entry] != keys[at].2 {
            return Err(format!("row {row}: entry {entry} is not of the launch's pipeline"));
        }
        let of = all[at].events.get_mut(number("invocation") as usize);
        let of = of.ok_or(format!("row {row}: there is no invocation {}", number("invocation")))?;
        of.push(event(&rays, row, entries.u64("index")[entry])?);
    }
    Ok(all)
}
