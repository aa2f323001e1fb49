//! The tables of `blocks`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{BLOCK, ENTRY, FRAME, SHADER};
use crate::report::Unit::{Count, Executions, Instructions, Percent, Pixels, Ratio, Text};
use crate::report::sheet::{Sheet, m, sheet};

pub const SHADERS: Sheet = sheet(
    "shaders",
    "an entry point of a module, over all pipelines that use it",
    &[
        &[m("pipelines", Count, "pipelines and shader objects that use it")],
        SHADER,
        &[
            m("entries", Executions, "how often it was begun"),
            m("blocks", Count, "basic blocks that a way leads to"),
            m("hot", Count, "of these, hot ones"),
            m("warm", Count, "warm ones"),
            m("cold", Count, "cold ones"),
            m("unused", Count, "blocks that never ran though the shader did"),
            m("nearly unused", Count, "blocks that ran in less than 0.001 % of the entries"),
            m("size", Instructions, "instructions that do something"),
            m("unused", Instructions, "of these, instructions of unused blocks"),
            m("unused", Percent, "their share"),
            m("executed", Instructions, "executions of its blocks times their instructions"),
        ],
    ],
);

pub const UNUSED_BLOCKS: Sheet = sheet(
    "unused_blocks",
    "a block that never ran though its shader did",
    &[
        ENTRY,
        BLOCK,
        &[
            m("size", Instructions, "its instructions that do something"),
            m("entries", Executions, "how often its shader was begun"),
        ],
    ],
);

pub const HOTTEST_BLOCKS: Sheet = sheet(
    "hottest_blocks",
    "one of the blocks with the most work",
    &[
        ENTRY,
        BLOCK,
        &[
            m("executions", Executions, "how often it was begun"),
            m("an entry", Ratio, "executions for each entry of its shader"),
            m("size", Instructions, "its instructions that do something"),
            m("of all", Percent, "share of executions times instructions of all blocks"),
            m("heat", Text, "hot, warm or cold"),
        ],
    ],
);

pub const FRAMES: Sheet = sheet(
    "frames",
    "a frame",
    &[
        FRAME,
        &[
            m("pixels", Pixels, "of what it presented"),
            m("blocks", Executions, "executions of basic blocks"),
            m("instructions", Instructions, "executions of blocks times their instructions"),
            m("instructions a pixel", Ratio, "the same over the pixels"),
        ],
    ],
);

pub const A_FRAME: Sheet = sheet(
    "a_frame",
    "a power of two",
    &[&[
        m("executions a frame", Executions, "where the bucket begins"),
        m("blocks", Count, "blocks that ran so often in a frame, on average"),
    ]],
);

pub const A_PIXEL: Sheet = sheet(
    "a_pixel",
    "a power of two",
    &[&[
        m("executions a frame and pixel", Executions, "where the bucket begins"),
        m("blocks", Count, "blocks that ran so often for each pixel presented"),
    ]],
);

pub const SHEETS: &[Sheet] = &[SHADERS, UNUSED_BLOCKS, HOTTEST_BLOCKS, FRAMES, A_FRAME, A_PIXEL];
