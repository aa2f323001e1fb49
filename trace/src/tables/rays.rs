//! What pass `rays` records: launches of ray-tracing pipelines, and the events of their rays and subgroups.

use crate::Table;
use crate::table::{Column, Kind, count, text};

/// A number's column.
const fn number(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::F64, unit, about, since: 1 }
}

/// The number that stands for an object, a group or a place that an event does not have, or that was not asked for.
pub const NOT_KNOWN: u64 = u32::MAX as u64;

/// What an event of a ray is; its number stands in column `kind` of [`RAYS`] and [`WARPS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RayEvent {
    /// Before a call that traces a ray.
    Begin = 0,
    /// The same, where the call's flags skip closest-hit shaders.
    OcclusionBegin = 1,
    /// An intersection shader was entered.
    Intersection = 2,
    /// Before an intersection shader reports one.
    ReportIntersection = 3,
    /// An any-hit shader was entered.
    AnyHit = 4,
    /// Before an any-hit shader ignores its intersection.
    IgnoreIntersection = 5,
    /// Before an any-hit shader ends the ray.
    TerminateRay = 6,
    /// A miss shader was entered.
    Miss = 7,
    /// A closest-hit shader was entered.
    ClosestHit = 8,
    /// A callable shader was entered.
    Callable = 9,
    /// After a call that traced a ray.
    End = 10,
    /// A ray query was initialised.
    QueryBegin = 11,
    /// A ray query's committed intersection was asked for, after it had been traversed.
    QueryCommitted = 12,
}

impl RayEvent {
    /// All, by number.
    pub const ALL: [RayEvent; 13] = [
        RayEvent::Begin,
        RayEvent::OcclusionBegin,
        RayEvent::Intersection,
        RayEvent::ReportIntersection,
        RayEvent::AnyHit,
        RayEvent::IgnoreIntersection,
        RayEvent::TerminateRay,
        RayEvent::Miss,
        RayEvent::ClosestHit,
        RayEvent::Callable,
        RayEvent::End,
        RayEvent::QueryBegin,
        RayEvent::QueryCommitted,
    ];

    /// The event of this number.
    pub fn of(number: u64) -> Option<RayEvent> {
        usize::try_from(number).ok().and_then(|n| RayEvent::ALL.get(n)).copied()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            RayEvent::Begin => "begin",
            RayEvent::OcclusionBegin => "occlusion-begin",
            RayEvent::Intersection => "intersection",
            RayEvent::ReportIntersection => "report-intersection",
            RayEvent::AnyHit => "any-hit",
            RayEvent::IgnoreIntersection => "ignore-intersection",
            RayEvent::TerminateRay => "terminate-ray",
            RayEvent::Miss => "miss",
            RayEvent::ClosestHit => "closest-hit",
            RayEvent::Callable => "callable",
            RayEvent::End => "end",
            RayEvent::QueryBegin => "query-begin",
            RayEvent::QueryCommitted => "query-committed",
        }
    }

    /// Whether a subgroup's event stands in [`WARPS`] as well.
    pub fn of_warps(self) -> bool {
        matches!(
            self,
            RayEvent::Begin
                | RayEvent::OcclusionBegin
                | RayEvent::Intersection
                | RayEvent::AnyHit
                | RayEvent::Miss
                | RayEvent::ClosestHit
                | RayEvent::Callable
        )
    }

    /// Whether it is a call that traces a ray.
    pub fn begins(self) -> bool {
        matches!(self, RayEvent::Begin | RayEvent::OcclusionBegin)
    }
}

const KIND: &str = "0 begin, 1 occlusion-begin, 2 intersection, 3 report-intersection, 4 any-hit, 5 ignore-intersection, \
     6 terminate-ray, 7 miss, 8 closest-hit, 9 callable, 10 end, 11 query-begin, 12 query-committed";

/// Launches of ray-tracing pipelines.
pub static RAY_LAUNCHES: Table = Table {
    name: "ray_launches",
    about: "a command that launched a ray-tracing pipeline, or a shader with ray queries",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("launch", "index", "which of the frame's, from 0, in the order of submission"),
        count("pipeline", "id", "a row of `pipelines`"),
        count("command", "number", "the capture's number of the command's call"),
        count("width", "invocations", "of the launch"),
        count("height", "invocations", "of the launch"),
        count("depth", "invocations", "of the launch"),
        count("hit_groups", "groups", "the pipeline's hit groups"),
        count(
            "no_closest_hit",
            "groups",
            "hit groups of it without closest-hit shader: hits of these leave no event",
        ),
        count(
            "no_any_hit",
            "groups",
            "hit groups of it without any-hit shader: intersections with their triangles leave no event",
        ),
        text("missing", "which geometry's events are missing, in words; empty where none is known to be"),
    ],
};

/// Events of rays.
pub static RAYS: Table = Table {
    name: "rays",
    about: "an event of a ray; those of one invocation stand in its program order, others' may stand between",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("launch", "index", "a row of `ray_launches`, with the frame"),
        count("invocation", "index", "linear launch index: x + width * (y + height * z)"),
        count(
            "subgroup",
            "number",
            "what the ray generation shader's subgroup was given when it was entered, from 0 in each launch, whichever \
             subgroup the device runs the event in",
        ),
        count("lane", "index", "the invocation's index in that subgroup"),
        count("kind", "number", KIND),
        count("entry", "number", "the shader that it happened in: a row of `entries`"),
        count(
            "word_offset",
            "words",
            "where the call or instruction stands in the original module; 0 for entries of shaders",
        ),
        number(
            "t",
            "length of the direction",
            "RayTmax at entries of shaders (intersection: the closest hit so far; any-hit, closest-hit: this hit; miss: \
             the ray's), the hit that is reported, the committed hit of a query; tmax of a begin",
        ),
        number("tmin", "length of the direction", "of a begin"),
        number("origin_x", "world", "of a begin"),
        number("origin_y", "world", "of a begin"),
        number("origin_z", "world", "of a begin"),
        number("direction_x", "world", "of a begin"),
        number("direction_y", "world", "of a begin"),
        number("direction_z", "world", "of a begin"),
        count("flags", "bits", "ray flags of a begin; incoming ray flags at entries of shaders"),
        count("cull_mask", "bits", "of a begin"),
        count("sbt_offset", "records", "of a begin"),
        count("sbt_stride", "records", "of a begin"),
        count("miss_index", "records", "of a begin"),
        count("instance", "index", "InstanceId of the object; 4294967295 where there is none"),
        count("custom_index", "number", "InstanceCustomIndex of the object; 4294967295 where there is none"),
        count(
            "geometry",
            "index",
            "geometry of the object in its bottom level; 4294967295 where there is none",
        ),
        count("primitive", "index", "PrimitiveId of the object; 4294967295 where there is none"),
        count(
            "hit_kind",
            "number",
            "of a report, an any-hit or closest-hit; of what a query committed 1 where it is a triangle's, 2 where it is \
             the application's own; 4294967295 where there is none",
        ),
        count(
            "group",
            "index",
            "the shader group of the pipeline that its shader belongs to; 4294967295 where several share it",
        ),
        count("clock", "ticks", "the device's clock; 0 where it was not asked for"),
        count("sm", "number", "the multiprocessor that ran it; 4294967295 where the device was not asked"),
        count("warp", "number", "its place on the multiprocessor; 4294967295 where the device was not asked"),
    ],
};

/// Events of subgroups.
pub static WARPS: Table = Table {
    name: "warps",
    about: "invocations of a subgroup that had an event of their rays together",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("launch", "index", "a row of `ray_launches`, with the frame"),
        count("subgroup", "number", "as in `rays`, of the first active invocation"),
        count("kind", "number", KIND),
        count("entry", "number", "the shader that it happened in: a row of `entries`"),
        count("word_offset", "words", "as in `rays`"),
        count("mask", "bits", "active invocations of the subgroup that ran it, 0 to 63"),
        count("mask_high", "bits", "active invocations, 64 to 127"),
        count("clock", "ticks", "as in `rays`"),
        count("sm", "number", "as in `rays`"),
        count("warp", "number", "as in `rays`"),
    ],
};

#[cfg(test)]
mod tests {
    use super::{KIND, RayEvent};

    #[test]
    fn events_are_found_by_their_numbers_and_the_page_names_them() {
        for (number, event) in RayEvent::ALL.into_iter().enumerate() {
            assert_eq!(event as usize, number);
            assert_eq!(RayEvent::of(number as u64), Some(event));
            assert!(KIND.split(", ").any(|w| w == format!("{number} {}", event.name())), "{KIND}");
        }
        assert_eq!(RayEvent::of(13), None);
        assert!(RayEvent::Begin.begins() && !RayEvent::End.begins() && !RayEvent::End.of_warps());
    }
}
