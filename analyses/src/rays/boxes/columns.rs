//! The tables of `unnecessary-tests`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{ENTRY, LAUNCH};
use crate::report::Unit::{Count, Percent, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

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

pub const LAUNCHES: Sheet = sheet(
    "launches",
    "a launch",
    &[
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
            m("guessed", Count, "any-hit shaders that the recorded traversal never entered, taken to accept"),
        ],
    ],
);

pub const SHADERS: Sheet = sheet("shaders", "an entry point that tests", &[ENTRY, TESTS]);

pub const OBJECTS: Sheet = sheet(
    "objects",
    "an object; those with the most unnecessary tests",
    &[
        &[
            m("instance", Count, "the instance's number"),
            m("geometry", Count, "the geometry's number in its bottom level"),
            m("primitive", Count, "the primitive's number in its geometry"),
            m("hit ratio", Percent, "tests that hit it"),
        ],
        TESTS,
    ],
);

pub const CALLS: Sheet = sheet(
    "calls",
    "a call that begins rays, in a launch",
    &[
        LAUNCH,
        &[
            m("call", Text, "the entry point that it is in"),
            m("word offset", Count, "where it stands in the module, in words"),
            m("top level", Count, "the top level that its rays are taken to go through"),
            m("to choose from", Count, "top levels that were there"),
            m("hits looked at", Count, "hits of its rays"),
            m("in their boxes", Percent, "of these, hits that lie in their object's box in this top level"),
        ],
    ],
);

pub const SHEETS: &[Sheet] = &[LAUNCHES, SHADERS, OBJECTS, CALLS];
