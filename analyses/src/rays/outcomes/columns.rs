//! The tables of `rays`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{ENTRY, LAUNCH};
use crate::report::Unit::{Count, Invocations, Percent, Ratio, Text};
use crate::report::sheet::{Meaning, Sheet, Thing, m, sheet};

pub const LAUNCHES: Sheet = sheet(
    "launches",
    "a launch",
    &[
        LAUNCH,
        &[
            m("pipeline", Text, "its pipeline").names(Thing::Pipeline),
            m("size", Text, "invocations by width, height and depth"),
            m("events", Count, "events of its rays"),
            m("rays", Count, "rays that began"),
            m("fewest of an invocation", Count, "rays of the invocation that began the fewest"),
            m("mean", Ratio, "rays of an invocation, on average"),
            m("most", Count, "rays of the invocation that began the most"),
            m("no events of", Text, "geometry whose tests leave no events, as no shader runs for them"),
        ],
    ],
);

const OUTCOMES: &[Meaning] = &[
    m("rays", Count, "rays that began"),
    m("missed", Count, "of these, rays that ended in a miss"),
    m("closest hit", Count, "in a closest hit"),
    m(
        "implicit hit",
        Count,
        "without miss or closest hit, and surely with a hit (occlusion rays, hit groups without such a shader)",
    ),
    m("not known", Count, "of which the trace does not say how they ended"),
    m("hit", Percent, "closest and implicit hits of rays whose end is known"),
    m("intersections of a ray", Ratio, "intersection shaders entered, a ray"),
    m("any-hits of a ray", Ratio, "any-hit shaders entered, a ray"),
];

pub const DEPTHS: Sheet = sheet(
    "depths",
    "a depth of rays",
    &[&[m("depth", Count, "calls that a ray lies in; 0 from ray generation")], OUTCOMES],
);

pub const CALLS: Sheet = sheet(
    "calls",
    "a call that begins rays",
    &[
        ENTRY,
        &[
            m("word offset", Count, "where the call stands in the module, in words"),
            m("event", Text, "begin of a ray, of an occlusion ray, of a ray query"),
        ],
        OUTCOMES,
    ],
);

pub const EVENTS: Sheet =
    sheet("events", "a kind of event", &[&[m("event", Text, "the kind"), m("count", Count, "how many")]]);

pub const DISTANCES: Sheet = sheet(
    "distances",
    "a kind of event with a distance",
    &[&[
        m("event", Text, "the kind"),
        m("finite", Count, "events whose distance is finite"),
        m("least", Ratio, "the least of these, in lengths of the ray's direction"),
        m("mean", Ratio, "their mean"),
        m("greatest", Ratio, "the greatest"),
        m("not finite", Count, "events whose distance is not: they are in no mean"),
    ]],
);

pub const OBJECTS: Sheet = sheet(
    "objects",
    "an object, by instance, geometry and primitive",
    &[&[
        m("instance", Text, "the instance's number"),
        m("geometry", Text, "the geometry's number in its bottom level"),
        m("primitive", Text, "the primitive's number in its geometry"),
        m("tested", Count, "intersection shaders entered for it"),
        m("reported", Count, "of these, those that reported a hit at least once"),
        m("box hit ratio", Percent, "reported over tested; low where its box is much larger than it"),
        m("any-hits", Count, "any-hit shaders entered for it"),
        m("closest hits", Count, "rays that ended at it"),
    ]],
);

pub const LAWS: Sheet = sheet(
    "laws",
    "a law that every trace of rays must keep",
    &[&[
        m("law", Text, "what has to be equal, or at least as much"),
        m("of", Text, "of which launch, shader or kind"),
        m("left", Text, "what stands on its left side"),
        m("left", Count, "that, counted"),
        m("right", Text, "what stands on its right side"),
        m("right", Count, "that, counted"),
        m("holds", Text, "whether it does; no is a failed check"),
    ]],
);

pub const RAYS_OF_INVOCATIONS: Sheet = sheet(
    "rays_of_invocations",
    "a number of rays",
    &[&[
        m("rays", Count, "rays of an invocation"),
        m("invocations", Invocations, "invocations with so many"),
    ]],
);

pub const DISTANCES_OF_HITS: Sheet = sheet(
    "distances_of_hits",
    "a bucket of distances",
    &[&[
        m("distance", Ratio, "where the bucket begins, in lengths of the ray's direction"),
        m("rays", Count, "closest hits in it"),
    ]],
);

pub const SHEETS: &[Sheet] =
    &[LAUNCHES, DEPTHS, CALLS, EVENTS, DISTANCES, OBJECTS, LAWS, RAYS_OF_INVOCATIONS, DISTANCES_OF_HITS];
