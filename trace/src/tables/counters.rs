//! What is counted for each draw, dispatch and trace: by pass `counters`, or by VK_ARM_shader_instrumentation.

use crate::Table;
use crate::table::{count, text};

/// What is counted.
pub static METRICS: Table = Table {
    name: "metrics",
    about: "a metric that `counters` has values of; the same may be said several times",
    version: 1,
    columns: &[
        count("metric", "number", "its number, from 0, in the order in which it is enumerated"),
        text("name", "its name"),
        text("about", "its description"),
        text("source", "portable: counted by instrumented shaders; arm: by VK_ARM_shader_instrumentation"),
    ],
};

/// Draws, dispatches and traces.
pub static ACTIONS: Table = Table {
    name: "actions",
    about: "an action command as it was recorded, in a frame that executed it",
    version: 2,
    columns: &[
        count("range", "number", "which recording of a command buffer, from 0"),
        count(
            "result_index",
            "index",
            "which of the recording's action commands, from 0, whether or not its shaders are instrumented",
        ),
        count("frame", "number", "the capture's number of the frame"),
        count(
            "draw",
            "number",
            "its number in the frame, from 1, as it was executed there first; 0 if it was not",
        )
        .since(2),
        count("command_buffer", "id", "the capture's id"),
        count("index", "index", "which of the recording's commands, from 0"),
        text("command", "the command"),
        count(
            "pipeline",
            "id",
            "the capture's id of the pipeline that was bound, or of the shader object that those are called by",
        ),
        count("executions", "times", "how often it was submitted in the frame; what is counted is the sum"),
        text("uncounted", "why it is not counted; empty where it is"),
    ],
};

/// What was counted.
pub static COUNTERS: Table = Table {
    name: "counters",
    about: "a metric of a basic block (or of what the device aggregates) in an action; absent where an action's shaders \
            are not instrumented",
    version: 1,
    columns: &[
        count("result_index", "index", "which action command of the range; 2^32-1: the sum of a frame's"),
        count("result_sub_index", "index", "the shader group where rays are traced, else 0; 2^32-1: the sum"),
        count("stages", "VkShaderStageFlags", "the stages that it is the sum of"),
        count(
            "basic_block_index",
            "index",
            "the block: with `entry`, its number among all of the entry point's in `blocks`; without, the driver's own",
        ),
        count("metric", "number", "a row of `metrics`"),
        count("value", "as the metric", "how much"),
        count("frame", "number", "the capture's number of the frame"),
        count(
            "range",
            "number",
            "with `result_index`, a row of `actions`; 2^32-1: of none, its shaders could not be told",
        ),
        count("entry", "number", "a row of `entries`, plus 1; 0 where the driver does not say"),
    ],
};

/// How many instructions of each class blocks have.
pub static CLASSES: Table = Table {
    name: "classes",
    about: "the instructions of a basic block by class; the same may be said several times",
    version: 1,
    columns: &[
        count("entry", "number", "a row of `entries`"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count("fma", "instructions", "floating-point additions and multiplications, integer multiplications"),
        count("cvt", "instructions", "conversions, integer additions, comparisons, logic, selections"),
        count("sfu", "instructions", "divisions, roots, transcendental functions"),
        count("ls", "instructions", "memory other than textures and interpolated inputs"),
        count("tex", "instructions", "sampling, gathering, fetching"),
        count("var", "instructions", "interpolated inputs"),
        count(
            "other",
            "instructions",
            "of no class: moves, addresses, control flow, barriers, ray tracing, unknown",
        ),
        text("unknown", "names of those that no class is known of"),
    ],
};
