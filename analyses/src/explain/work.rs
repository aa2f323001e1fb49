//! Columns of questions about what shaders execute: blocks, instructions, counters, registers, uniformity, values.

use super::common::{BLOCK, ENTRY, SHADER};
use super::meaning::{Meaning, OTHERS, Sheet, either, m};
use crate::report::Unit::{
    Bytes, Count, Executions, Instructions, Invocations, Percent, Pixels, Ratio, Subgroups, Text,
};

pub const BLOCKS: &[Sheet] = &[
    Sheet {
        table: "shaders",
        about: "an entry point of a module, over all pipelines that use it",
        columns: &[
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
    },
    Sheet {
        table: "unused_blocks",
        about: "a block that never ran though its shader did",
        columns: &[
            ENTRY,
            BLOCK,
            &[
                m("size", Instructions, "its instructions that do something"),
                m("entries", Executions, "how often its shader was begun"),
            ],
        ],
    },
    Sheet {
        table: "hottest_blocks",
        about: "one of the blocks with the most work",
        columns: &[
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
    },
    Sheet {
        table: "frames",
        about: "a frame",
        columns: &[&[
            m("frame", Count, "the capture's number of the frame, from 1"),
            m("pixels", Pixels, "of what it presented"),
            m("blocks", Executions, "executions of basic blocks"),
            m("instructions", Instructions, "executions of blocks times their instructions"),
            m("instructions a pixel", Ratio, "the same over the pixels"),
        ]],
    },
    Sheet {
        table: "a_frame",
        about: "a power of two",
        columns: &[&[
            m("executions a frame", Executions, "where the bucket begins"),
            m("blocks", Count, "blocks that ran so often in a frame, on average"),
        ]],
    },
    Sheet {
        table: "a_pixel",
        about: "a power of two",
        columns: &[&[
            m("executions a frame and pixel", Executions, "where the bucket begins"),
            m("blocks", Count, "blocks that ran so often for each pixel presented"),
        ]],
    },
];

const RELATIVE: Meaning = m("relative", Ratio, "executed over the greatest of the table");

pub const HOTSPOTS: &[Sheet] = &[
    Sheet {
        table: "shaders",
        about: "an entry point of a module",
        columns: &[
            &[m("number", Count, "its colour in the picture, and its number in the series' names")],
            SHADER,
            &[
                m("size", Instructions, "instructions that do something"),
                m("executed", Instructions, "executions of all of them"),
                m("of all", Percent, "its share of these over all shaders"),
            ],
        ],
    },
    Sheet {
        table: "instructions",
        about: "one of the instructions that were executed most",
        columns: &[
            ENTRY,
            BLOCK,
            &[
                m("word offset", Count, "where it stands in the module, in words from its beginning"),
                m("opcode", Text, "its name in SPIR-V"),
                either("executed", "how often it was executed"),
                RELATIVE,
            ],
        ],
    },
    Sheet {
        table: "blocks",
        about: "one of the blocks with the most work",
        columns: &[
            ENTRY,
            BLOCK,
            &[
                either("executed", "how often it was executed"),
                m("work", Instructions, "executions times its instructions"),
                m("relative", Ratio, "work over the greatest of the table"),
            ],
        ],
    },
    Sheet {
        table: "lines",
        about: "a source line, of modules that carry lines",
        columns: &[
            SHADER,
            &[
                m("source", Text, "file and line"),
                m("size", Instructions, "instructions that come from it"),
                m("executed", Instructions, "executions of these, summed"),
                RELATIVE,
            ],
        ],
    },
    Sheet {
        table: "opcodes",
        about: "an opcode of SPIR-V",
        columns: &[&[
            m("opcode", Text, "its name"),
            m("size", Instructions, "instructions of it in all shaders"),
            m("executed", Instructions, "executions of these, summed"),
            RELATIVE,
        ]],
    },
    Sheet {
        table: "instructions_*",
        about: "an instruction of the shader with this number, in the module's order",
        columns: &[&[
            m("instruction", Count, "its number among those of shaders that ran at least in part"),
            m("relative", Ratio, "executions over the greatest of all shaders"),
        ]],
    },
];

const ACTION: &[Meaning] = &[
    m("frame", Count, "the capture's number of the frame, from 1"),
    m("range", Count, "which recording of a command buffer, from 0"),
    m("result index", Count, "which draw, dispatch or trace of the recording, from 0"),
    m("command", Text, "the command"),
    m("command buffer", Count, "the capture's id of the command buffer"),
    m("index", Count, "which of all commands of the recording"),
    m("pipeline", Text, "the pipeline, or that shader objects were bound"),
    m(
        "executions",
        Executions,
        "how often the frame submitted the recording; counters are the sum over these",
    ),
    m(
        OTHERS,
        Count,
        "a column for each metric of table `metrics`; with shaders of our own the classes fma, cvt, sfu, ls, tex, var, in instructions times invocations",
    ),
    m("not counted", Text, "why nothing is counted, where that is so"),
];

pub const COUNTERS: &[Sheet] = &[
    Sheet {
        table: "metrics",
        about: "a metric",
        columns: &[&[
            m("metric", Text, "its name, and that of its column in the other tables"),
            m("about", Text, "what it counts"),
            m("source", Text, "who counts: portable (shaders of our own) or arm (the driver)"),
            m("all actions", Count, "its sum over all actions of all measured frames"),
        ]],
    },
    Sheet {
        table: "dearest",
        about: "one of the draws, dispatches and traces with the highest counts",
        columns: &[ACTION],
    },
    Sheet {
        table: "actions",
        about: "a draw, dispatch or trace as recorded, in a frame that executed it",
        columns: &[ACTION],
    },
    Sheet {
        table: "values",
        about: "a basic block of an action",
        columns: &[&[
            m("frame", Count, "the capture's number of the frame, from 1"),
            m("range", Count, "which recording of a command buffer, from 0"),
            m("result_index", Count, "which action of the recording, from 0"),
            m("result_sub_index", Count, "the shader group, where rays are traced; else 0"),
            m("stages", Text, "the shader stages"),
            m("basic_block_index", Count, "the basic block's number, as whoever counted numbers them"),
            m(OTHERS, Count, "a column for each metric"),
            m("block", Text, "the block in words, where it is one of the application's module"),
        ]],
    },
];

pub const REGISTERS: &[Sheet] = &[
    Sheet {
        table: "executables",
        about: "a piece of code that a driver compiled for a pipeline",
        columns: &[&[
            m("pipeline", Text, "the pipeline"),
            m("executable", Text, "the driver's name of it"),
            m("stages", Text, "the shader stages that it is of"),
            m("rewritten", Text, "whether its shaders had probes: then numbers are of those"),
            m("subgroup size", Invocations, "the subgroup size that it was compiled for"),
            m("registers", Count, "registers, in the driver's unit"),
            m("spills", Count, "spills, in the driver's unit"),
            m("occupancy", Count, "how many subgroups or threads may run at once, in the driver's unit"),
            m("instructions", Instructions, "instructions of the device"),
            m("code", Bytes, "machine code"),
            m("scratch", Bytes, "memory for spills, stack and private arrays"),
            m("shared memory", Bytes, "memory of a workgroup"),
            m(
                "begun",
                Executions,
                "how often its entry points ran, from passes `blocks` or `simt` of the same trace",
            ),
        ]],
    },
    Sheet {
        table: "statistics",
        about: "a statistic of an executable, as the driver gives it",
        columns: &[&[
            m("pipeline", Text, "the pipeline"),
            m("executable", Text, "the driver's name of it"),
            m("statistic", Text, "the driver's name of the statistic"),
            m("value", Count, "its value"),
            m("about", Text, "the driver's description"),
        ]],
    },
];

const CLASSES: &[Meaning] = &[
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

pub const UNIFORMITY: &[Sheet] = &[
    Sheet {
        table: "classes",
        about: "a kind of place",
        columns: &[&[m("kind", Text, "branch condition, address or loaded value")], CLASSES],
    },
    Sheet {
        table: "memory",
        about: "a kind of place, by the memory that is read",
        columns: &[&[m("kind, memory", Text, "kind, and memory")], CLASSES],
    },
    Sheet {
        table: "shaders",
        about: "an entry point of a module",
        columns: &[&[m("shader", Text, "the entry point in words")], CLASSES],
    },
    Sheet {
        table: "divergent",
        about: "a place where invocations differed; those that did most often first",
        columns: &[&[
            m("divergent", Text, "kind of place"),
            m("name", Text, "what is read or decided, where the module says names"),
            m("executed", Subgroups, "executions by subgroups"),
            m("diverged", Percent, "of these, executions in which active invocations differed"),
            m("active then", Invocations, "invocations active in those, on average"),
            m("place", Text, "shader, function, block, source line, and offset in the module in words"),
        ]],
    },
    Sheet {
        table: "dynamic",
        about: "a place that is not proven and never differed: where a test at run time would pay",
        columns: &[&[
            m("dynamic uniform", Text, "kind of place"),
            m("name", Text, "what is read or decided, where the module says names"),
            m("executed", Subgroups, "executions by subgroups"),
            m("place", Text, "shader, function, block, source line, and offset in the module in words"),
        ]],
    },
    Sheet {
        table: "soundness",
        about: "everything: whether what was proven held",
        columns: &[&[
            m("static places", Count, "places that are proven uniform"),
            m("checked", Count, "of these, places that were executed and measured"),
            m("executions checked", Subgroups, "their executions by subgroups"),
            m("seen to differ", Count, "places that differed all the same: each is a failed check"),
        ]],
    },
];

const READ: Meaning = m("read", Invocations, "executions by invocations");
const MEMORY: Meaning = m("memory", Text, "the kind of memory");
const PLACE: Meaning =
    m("place", Text, "pipeline, shader, function, block, and offset in the module in words");

pub const VALUES: &[Sheet] = &[
    Sheet {
        table: "memory",
        about: "a kind of memory",
        columns: &[&[
            MEMORY,
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
    },
    Sheet {
        table: "zeros",
        about: "a place that reads zeros; most zeros first",
        columns: &[&[
            m("zeros in", Text, "what is read, where the module says names"),
            MEMORY,
            READ,
            m("zeros", Invocations, "of these, zeros"),
            m("zeros", Percent, "their share"),
            PLACE,
        ]],
    },
    Sheet {
        table: "constant",
        about: "a place that saw one value in all frames; those read most first",
        columns: &[&[
            m("constant", Text, "what is read"),
            MEMORY,
            m("value", Text, "the value, by its type"),
            READ,
            m("frames", Count, "frames that read it"),
            PLACE,
        ]],
    },
    Sheet {
        table: "changes",
        about: "a place of a uniform block or push constants that is followed from action to action",
        columns: &[&[
            m("changes of", Text, "what is read"),
            m("actions", Count, "draws, dispatches and traces that read it"),
            m("pairs", Count, "consecutive ones of which both values are known"),
            m("changed", Percent, "of these pairs"),
            m("not known", Count, "pairs of which one saw several values"),
            m("frame to frame", Percent, "pairs of consecutive measured frames whose sets of values differ"),
            PLACE,
        ]],
    },
    Sheet {
        table: "places",
        about: "a place; those read most first",
        columns: &[&[
            m("read", Text, "what is read"),
            MEMORY,
            READ,
            m("zeros", Percent, "of these"),
            m("distinct", Text, "how many values there were; behind `~` an estimate"),
            m("most frequent", Text, "the value that was read most often, by its type"),
            m("share", Percent, "of reads that gave it"),
            PLACE,
        ]],
    },
    Sheet {
        table: "top",
        about: "one of the most frequent values of a place",
        columns: &[&[
            m("most frequent values of", Text, "what is read"),
            m("value", Text, "the value, by its type"),
            READ,
            m("share", Percent, "of all reads of the place"),
        ]],
    },
];
