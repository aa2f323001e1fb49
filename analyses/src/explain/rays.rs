//! Columns of questions about rays and about sorting them.

use super::common::{ENTRY, LAUNCH};
use super::meaning::{Meaning, Sheet, m};
use crate::report::Unit::{Count, Invocations, Percent, Ratio, Subgroups, Text};

const EVENTS: &[Meaning] = &[
    m("subgroups' events", Subgroups, "events that invocations of a subgroup had together"),
    m("active", Invocations, "invocations active in these, summed"),
    m("efficiency", Percent, "active over subgroups' events times the subgroup size"),
];

pub const RAY_COUNTS: &[Sheet] = &[
    Sheet {
        table: "whole",
        about: "everything",
        columns: &[
            &[m("events", Count, "events of rays"), m("rays", Count, "of these, begins of rays")],
            EVENTS,
        ],
    },
    Sheet {
        table: "shaders",
        about: "a kind of event in an entry point",
        columns: &[
            &[m("event", Text, "begin, intersection, any-hit, miss, closest hit …")],
            ENTRY,
            &[m("events", Count, "events of this kind there")],
            EVENTS,
        ],
    },
    Sheet {
        table: "launches",
        about: "a launch",
        columns: &[
            LAUNCH,
            &[m("events", Count, "events of its rays"), m("rays", Count, "rays that began")],
            EVENTS,
        ],
    },
];

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

pub const RAYS: &[Sheet] = &[
    Sheet {
        table: "launches",
        about: "a launch",
        columns: &[
            LAUNCH,
            &[
                m("pipeline", Text, "its pipeline"),
                m("size", Text, "invocations by width, height and depth"),
                m("events", Count, "events of its rays"),
                m("rays", Count, "rays that began"),
                m("fewest of an invocation", Count, "rays of the invocation that began the fewest"),
                m("mean", Ratio, "rays of an invocation, on average"),
                m("most", Count, "rays of the invocation that began the most"),
                m("no events of", Text, "geometry whose tests leave no events, as no shader runs for them"),
            ],
        ],
    },
    Sheet {
        table: "depths",
        about: "a depth of rays",
        columns: &[&[m("depth", Count, "calls that a ray lies in; 0 from ray generation")], OUTCOMES],
    },
    Sheet {
        table: "calls",
        about: "a call that begins rays",
        columns: &[
            ENTRY,
            &[
                m("word offset", Count, "where the call stands in the module, in words"),
                m("event", Text, "begin of a ray, of an occlusion ray, of a ray query"),
            ],
            OUTCOMES,
        ],
    },
    Sheet {
        table: "events",
        about: "a kind of event",
        columns: &[&[m("event", Text, "the kind"), m("count", Count, "how many")]],
    },
    Sheet {
        table: "distances",
        about: "a kind of event with a distance",
        columns: &[&[
            m("event", Text, "the kind"),
            m("finite", Count, "events whose distance is finite"),
            m("least", Ratio, "the least of these, in lengths of the ray's direction"),
            m("mean", Ratio, "their mean"),
            m("greatest", Ratio, "the greatest"),
            m("not finite", Count, "events whose distance is not: they are in no mean"),
        ]],
    },
    Sheet {
        table: "objects",
        about: "an object, by instance, geometry and primitive",
        columns: &[&[
            m("instance", Text, "the instance's number"),
            m("geometry", Text, "the geometry's number in its bottom level"),
            m("primitive", Text, "the primitive's number in its geometry"),
            m("tested", Count, "intersection shaders entered for it"),
            m("reported", Count, "of these, those that reported a hit at least once"),
            m("box hit ratio", Percent, "reported over tested; low where its box is much larger than it"),
            m("any-hits", Count, "any-hit shaders entered for it"),
            m("closest hits", Count, "rays that ended at it"),
        ]],
    },
    Sheet {
        table: "laws",
        about: "a law that every trace of rays must keep",
        columns: &[&[
            m("law", Text, "what has to be equal, or at least as much"),
            m("of", Text, "of which launch, shader or kind"),
            m("left", Text, "what stands on its left side"),
            m("left", Count, "that, counted"),
            m("right", Text, "what stands on its right side"),
            m("right", Count, "that, counted"),
            m("holds", Text, "whether it does; no is a failed check"),
        ]],
    },
    Sheet {
        table: "rays_of_invocations",
        about: "a number of rays",
        columns: &[&[
            m("rays", Count, "rays of an invocation"),
            m("invocations", Invocations, "invocations with so many"),
        ]],
    },
    Sheet {
        table: "distances_of_hits",
        about: "a bucket of distances",
        columns: &[&[
            m("distance", Ratio, "where the bucket begins, in lengths of the ray's direction"),
            m("rays", Count, "closest hits in it"),
        ]],
    },
];

const ACTUAL: &[Meaning] = &[
    m("actual", Subgroups, "events that subgroups had, as recorded"),
    m("actual active", Invocations, "invocations active in these, summed"),
    m("actual efficiency", Percent, "active over events times the subgroup size"),
];
const SYNTHETIC: &[Meaning] = &[
    m("synthetic", Subgroups, "events that the same subgroups would have, ideally scheduled"),
    m("synthetic active", Invocations, "invocations active in these, summed"),
    m("synthetic efficiency", Percent, "active over synthetic events times the subgroup size"),
    m("bound", Subgroups, "events that the same subgroups have at least, in whatever order"),
    m("bound efficiency", Percent, "the same invocations over these: no order has a higher efficiency"),
];

pub const RAY_SIMT: &[Sheet] = &[
    Sheet {
        table: "whole",
        about: "all events that count, or the kind that counts by itself: callables",
        columns: &[&[m("events", Text, "which")], ACTUAL, SYNTHETIC],
    },
    Sheet {
        table: "shaders",
        about: "a kind of event in an entry point",
        columns: &[&[m("event", Text, "the kind")], ENTRY, ACTUAL, SYNTHETIC],
    },
    Sheet {
        table: "subgroups_that_wasted_most",
        about: "a subgroup with the most inactive slots at events",
        columns: &[LAUNCH, &[m("subgroup", Count, "the number that ray generation gave it")], ACTUAL],
    },
    Sheet {
        table: "popcounts",
        about: "a number of active invocations",
        columns: &[&[
            m("from", Count, "active invocations of an event"),
            m("how many", Count, "events with so many"),
        ]],
    },
    Sheet {
        table: "efficiencies",
        about: "a percent of efficiency",
        columns: &[&[
            m("from", Count, "efficiency of a subgroup, in percent"),
            m("how many", Count, "subgroups from here to the next"),
        ]],
    },
];

pub const WARP_ORDER: &[Sheet] = &[Sheet {
    table: "orders",
    about: "a launch",
    columns: &[
        LAUNCH,
        &[
            m("size", Text, "pixels, width and height"),
            m("subgroups", Count, "subgroups that left events"),
            m("rectangle", Text, "pixels of a whole subgroup, the most frequent"),
            m("agree", Percent, "subgroups with this rectangle"),
            m("tile", Text, "the tile in which subgroups are executed, one tile after the other"),
            m("agree", Percent, "subgroups whose number is in their tile's range"),
            m(
                "quadrants",
                Text,
                "in which order a tile's quadrants are executed: 1 upper right, 2 upper left, 3 lower left, 4 lower right",
            ),
            m("agree", Percent, "subgroups whose number is in their quadrant's range"),
            m("seen in", Text, "each: in subgroups' numbers; averages: only in the means of quadrants"),
        ],
    ],
}];

pub const RAY_MAPS: &[Sheet] = &[Sheet {
    table: "maps",
    about: "a map of a launch",
    columns: &[
        LAUNCH,
        &[
            m("map", Text, "which: the table above says what a pixel is"),
            m("least", Ratio, "the least value of an invocation"),
            m("mean", Ratio, "the mean over invocations"),
            m("greatest", Ratio, "the greatest"),
            m("sum", Ratio, "over all invocations"),
        ],
    ],
}];

const TESTS: &[Meaning] = &[
    m("tests", Count, "tests of rays that are judged"),
    m("needed", Count, "of these, hit and no farther than the final hit"),
    m("farther R1", Count, "hit, farther than the final hit, though an ideal traversal has the test, too"),
    m("farther R2,R3", Count, "hit, farther, and no ideal traversal has the test"),
    m("missed R1", Count, "not hit, though an ideal traversal has the test, too"),
    m("missed R2,R3", Count, "not hit, and no ideal traversal has the test"),
    m("repeated", Count, "tested for this ray before"),
    m("R1", Count, "unnecessary because boxes overlap, or are larger than what is in them"),
    m("R2,R3", Count, "unnecessary because the device's boxes are larger, or it does not go in order"),
    m("not classified", Count, "unnecessary, of objects that the tables do not hold"),
    m("unnecessary", Count, "all that were not needed"),
    m("unnecessary", Percent, "their share of tests"),
];

pub const UNNECESSARY_TESTS: &[Sheet] = &[
    Sheet {
        table: "launches",
        about: "a launch",
        columns: &[
            LAUNCH,
            &[m("rays", Count, "rays that began"), m("judged rays", Count, "rays that are judged")],
            TESTS,
            &[
                m("ideal tests", Count, "tests that an ideal traversal of the same rays makes"),
                m(
                    "not recorded",
                    Count,
                    "of these, tests that the device left out, however numbers are rounded: a sound trace has none",
                ),
                m(
                    "guessed",
                    Count,
                    "any-hit shaders that the recorded traversal never entered, taken to accept",
                ),
            ],
        ],
    },
    Sheet { table: "shaders", about: "an entry point that tests", columns: &[ENTRY, TESTS] },
    Sheet {
        table: "objects",
        about: "an object; those with the most unnecessary tests",
        columns: &[
            &[
                m("instance", Count, "the instance's number"),
                m("geometry", Count, "the geometry's number in its bottom level"),
                m("primitive", Count, "the primitive's number in its geometry"),
                m("hit ratio", Percent, "tests that hit it"),
            ],
            TESTS,
        ],
    },
    Sheet {
        table: "calls",
        about: "a call that begins rays, in a launch",
        columns: &[
            LAUNCH,
            &[
                m("call", Text, "the entry point that it is in"),
                m("word offset", Count, "where it stands in the module, in words"),
                m("top level", Count, "the top level that its rays are taken to go through"),
                m("to choose from", Count, "top levels that were there"),
                m("hits looked at", Count, "hits of its rays"),
                m(
                    "in their boxes",
                    Percent,
                    "of these, hits that lie in their object's box in this top level",
                ),
            ],
        ],
    },
];

pub const REPACK: &[Sheet] = &[Sheet {
    table: "methods",
    about: "a method for a launch",
    columns: &[
        LAUNCH,
        &[
            m("method", Text, "how invocations are sorted"),
            m(
                "synthetic events",
                Subgroups,
                "events that subgroups would have, packed so and ideally scheduled",
            ),
            m("synthetic SIMT efficiency", Percent, "active invocations over these times the subgroup size"),
            m("against identity", Percent, "change of that efficiency against the subgroups as they were"),
            m("spread in pixels", Ratio, "mean distance of a subgroup's work from its centre"),
            m("moved", Percent, "invocations that do another one's work"),
        ],
    ],
}];

pub const REORDER: &[Sheet] = &[Sheet {
    table: "reordering",
    about: "a way of reordering a launch",
    columns: &[
        LAUNCH,
        &[
            m("window", Text, "subgroups whose invocations may mix"),
            m("hints", Text, "low bits of what was hit that are handed over"),
            m("cell", Text, "side of the cubes of space that are told apart"),
            m("stages", Count, "pieces that the longest invocation is cut into"),
            m(
                "synthetic events",
                Subgroups,
                "events that subgroups would have, reordered so and ideally scheduled",
            ),
            m("synthetic SIMT efficiency", Percent, "active invocations over these times the subgroup size"),
            m("against none", Percent, "change of that efficiency against no reordering"),
        ],
    ],
}];
