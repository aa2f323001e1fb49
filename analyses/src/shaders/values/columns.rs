//! The tables of `values`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, Invocations, Percent, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

const READ: Meaning = m("read", Invocations, "executions by invocations");

const OF_MEMORY: Meaning = m("memory", Text, "the kind of memory");

pub const MEMORY: Sheet = sheet(
    "memory",
    "a kind of memory",
    &[&[
        OF_MEMORY,
        m("places", Count, "32-bit words that loads give"),
        READ,
        m("zeros", Percent, "of these, zeros (all bits 0)"),
        m("always zero", Count, "places that only ever gave zero"),
        m("constant", Count, "places that gave one value in all frames"),
        m(
            "estimated",
            Count,
            "places with more values than found room: their distinct values are an estimate",
        ),
    ]],
);

const PLACE: Meaning =
    m("place", Text, "pipeline, shader, function, block, and offset in the module in words");

pub const ZEROS: Sheet = sheet(
    "zeros",
    "a place that reads zeros; most zeros first",
    &[&[
        m("zeros in", Text, "what is read, where the module says names"),
        OF_MEMORY,
        READ,
        m("zeros", Invocations, "of these, zeros"),
        m("zeros", Percent, "their share"),
        PLACE,
    ]],
);

pub const CONSTANT: Sheet = sheet(
    "constant",
    "a place that saw one value in all frames; those read most first",
    &[&[
        m("constant", Text, "what is read"),
        OF_MEMORY,
        m("value", Text, "the value, by its type"),
        READ,
        m("frames", Count, "frames that read it"),
        PLACE,
    ]],
);

pub const CHANGES: Sheet = sheet(
    "changes",
    "a place of a uniform block or push constants that is followed from action to action",
    &[&[
        m("changes of", Text, "what is read"),
        m("actions", Count, "draws, dispatches and traces that read it"),
        m("pairs", Count, "consecutive ones of which both values are known"),
        m("changed", Percent, "of these pairs"),
        m("not known", Count, "pairs of which one saw several values"),
        m("frame to frame", Percent, "pairs of consecutive measured frames whose sets of values differ"),
        PLACE,
    ]],
);

pub const PLACES: Sheet = sheet(
    "places",
    "a place; those read most first",
    &[&[
        m("read", Text, "what is read"),
        OF_MEMORY,
        READ,
        m("zeros", Percent, "of these"),
        m("distinct", Text, "how many values there were; behind `~` an estimate"),
        m("most frequent", Text, "the value that was read most often, by its type"),
        m("share", Percent, "of reads that gave it"),
        PLACE,
    ]],
);

pub const TOP: Sheet = sheet(
    "top",
    "one of the most frequent values of a place",
    &[&[
        m("most frequent values of", Text, "what is read"),
        m("value", Text, "the value, by its type"),
        READ,
        m("share", Percent, "of all reads of the place"),
    ]],
);

pub const SHEETS: &[Sheet] = &[MEMORY, ZEROS, CONSTANT, CHANGES, PLACES, TOP];
