//! The tables of `hotspots`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{BLOCK, ENTRY, SHADER};
use crate::report::Unit::{Count, Instructions, Percent, Ratio, Text};
use crate::report::sheet::{Meaning, Sheet, Thing, either, m, sheet};

pub const SHADERS: Sheet = sheet(
    "shaders",
    "an entry point of a module",
    &[
        &[m("number", Count, "its colour in the picture, and its number in the series' names")],
        SHADER,
        &[
            m("size", Instructions, "instructions that do something"),
            m("executed", Instructions, "executions of all of them"),
            m("of all", Percent, "its share of these over all shaders"),
        ],
    ],
);

const RELATIVE: Meaning = m("relative", Ratio, "executed over the greatest of the table");

pub const INSTRUCTIONS: Sheet = sheet(
    "instructions",
    "one of the instructions that were executed most",
    &[
        ENTRY,
        BLOCK,
        &[
            m("word offset", Count, "where it stands in the module, in words from its beginning"),
            m("opcode", Text, "its name in SPIR-V"),
            either("executed", "how often it was executed"),
            RELATIVE,
        ],
    ],
);

pub const BLOCKS: Sheet = sheet(
    "blocks",
    "one of the blocks with the most work",
    &[
        ENTRY,
        BLOCK,
        &[
            either("executed", "how often it was executed"),
            m("work", Instructions, "executions times its instructions"),
            m("relative", Ratio, "work over the greatest of the table"),
        ],
    ],
);

pub const LINES: Sheet = sheet(
    "lines",
    "a source line, of modules that carry lines",
    &[
        SHADER,
        &[
            m("source", Text, "file and line").names(Thing::Line),
            m("size", Instructions, "instructions that come from it"),
            m("executed", Instructions, "executions of these, summed"),
            RELATIVE,
        ],
    ],
);

pub const OPCODES: Sheet = sheet(
    "opcodes",
    "an opcode of SPIR-V",
    &[&[
        m("opcode", Text, "its name"),
        m("size", Instructions, "instructions of it in all shaders"),
        m("executed", Instructions, "executions of these, summed"),
        RELATIVE,
    ]],
);

pub const COURSES: Sheet = sheet(
    "instructions_*",
    "an instruction of the shader with this number, in the module's order",
    &[&[
        m("instruction", Count, "its number among those of shaders that ran at least in part"),
        m("relative", Ratio, "executions over the greatest of all shaders"),
    ]],
);

pub const SHEETS: &[Sheet] = &[SHADERS, INSTRUCTIONS, BLOCKS, LINES, OPCODES, COURSES];
