//! The tables of `uniformity`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, Invocations, Percent, Subgroups, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

const BY_CLASS: &[Meaning] = &[
    m("places", Count, "branch conditions, addresses and loaded values of executed entry points"),
    m("static", Count, "places that are proven uniform"),
    m("dynamic", Count, "not proven, and never seen to differ"),
    m("divergent", Count, "seen to differ"),
    m("not executed", Count, "not proven, and never executed"),
    m("not measured", Count, "not proven, and cannot be measured"),
    m("static", Percent, "of static, dynamic and divergent places together"),
    m("dynamic", Percent, "of these"),
    m("divergent", Percent, "of these"),
    m("executed", Subgroups, "executions of the places by subgroups"),
    m("diverged", Percent, "of these, executions in which active invocations differed"),
];

pub const CLASSES: Sheet = sheet(
    "classes",
    "a kind of place",
    &[&[m("kind", Text, "branch condition, address or loaded value")], BY_CLASS],
);

pub const MEMORY: Sheet = sheet(
    "memory",
    "a kind of place, by the memory that is read",
    &[&[m("kind, memory", Text, "kind, and memory")], BY_CLASS],
);

pub const SHADERS: Sheet = sheet(
    "shaders",
    "an entry point of a module",
    &[&[m("shader", Text, "the entry point in words")], BY_CLASS],
);

pub const DIVERGENT: Sheet = sheet(
    "divergent",
    "a place where invocations differed; those that did most often first",
    &[&[
        m("divergent", Text, "kind of place"),
        m("name", Text, "what is read or decided, where the module says names"),
        m("executed", Subgroups, "executions by subgroups"),
        m("diverged", Percent, "of these, executions in which active invocations differed"),
        m("active then", Invocations, "invocations active in those, on average"),
        m("place", Text, "shader, function, block, source line, and offset in the module in words"),
    ]],
);

pub const DYNAMIC: Sheet = sheet(
    "dynamic",
    "a place that is not proven and never differed: where a test at run time would pay",
    &[&[
        m("dynamic uniform", Text, "kind of place"),
        m("name", Text, "what is read or decided, where the module says names"),
        m("executed", Subgroups, "executions by subgroups"),
        m("place", Text, "shader, function, block, source line, and offset in the module in words"),
    ]],
);

pub const SOUNDNESS: Sheet = sheet(
    "soundness",
    "everything: whether what was proven held",
    &[&[
        m("static places", Count, "places that are proven uniform"),
        m("checked", Count, "of these, places that were executed and measured"),
        m("executions checked", Subgroups, "their executions by subgroups"),
        m("seen to differ", Count, "places that differed all the same: each is a failed check"),
    ]],
);

pub const SHEETS: &[Sheet] = &[CLASSES, MEMORY, SHADERS, DIVERGENT, DYNAMIC, SOUNDNESS];
