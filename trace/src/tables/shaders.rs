//! What was instrumented: pipelines, their entry points, and the static facts of these that other tables refer to.

use crate::Table;
use crate::table::{count, text};

/// The frames that were measured.
pub static FRAMES: Table = Table {
    name: "frames",
    about: "a frame that was measured",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("subgroup_size", "invocations", "invocations in a full subgroup on the device"),
        count("width", "pixels", "width of what was presented; 0 where nothing was"),
        count("height", "pixels", "height of what was presented; 0 where nothing was"),
        count("log_words", "words", "words that probes appended to the log, those that did not fit included"),
        count("lost_words", "words", "words of them that did not fit"),
    ],
};

/// Pipelines and shader objects.
pub static PIPELINES: Table = Table {
    name: "pipelines",
    about: "a pipeline or shader object with at least one instrumented entry point",
    version: 1,
    columns: &[
        count("pipeline", "id", "the capture's id"),
        text("kind", "graphics, compute, ray-tracing or shader-object"),
        text("name", "its debug name, where it has one"),
    ],
};

/// Instrumented entry points of pipelines.
pub static ENTRIES: Table = Table {
    name: "entries",
    about: "an entry point of a pipeline that was instrumented",
    version: 1,
    columns: &[
        count("entry", "number", "its number, from 0"),
        count("pipeline", "id", "a row of `pipelines`"),
        count("index", "index", "which of the pipeline's stages, from 0, as it was created"),
        count("variant", "number", "which rewritten module: entry points of one module share it"),
        text("shader", "hash of the module as the application made it: 16 hexadecimal digits of BLAKE3"),
        text("name", "the entry point's name"),
        text("stage", "its stage"),
    ],
};

/// Functions that entry points reach.
pub static FUNCTIONS: Table = Table {
    name: "functions",
    about: "a function that an entry point reaches, the entry point's own first",
    version: 1,
    columns: &[
        count("variant", "number", "as in `entries`"),
        count("function", "index", "its index, from 0"),
        count("id", "id", "its result id in the original module"),
        text("name", "its name, where the module carries it"),
    ],
};

/// Basic blocks.
pub static BLOCKS: Table = Table {
    name: "blocks",
    about: "a basic block of a function",
    version: 1,
    columns: &[
        count("variant", "number", "as in `entries`"),
        count("function", "index", "a row of `functions`"),
        count("block", "index", "its index, from 0"),
        count("label", "id", "its label's id in the original module"),
        count("word_offset", "words", "where the label stands in the original module"),
        count(
            "instructions",
            "instructions",
            "how many of it do something: not labels, phis, variables, merges, lines and other debug information",
        ),
        count("depth", "loops", "how many loops it is in"),
        count("reached", "0 or 1", "whether the function's entry leads to it"),
        text("file", "source file of its first instruction that has a line"),
        count("line", "line", "that line, from 1; 0 where the module carries none"),
    ],
};

/// Edges between basic blocks.
pub static EDGES: Table = Table {
    name: "edges",
    about: "a way from one basic block to another",
    version: 1,
    columns: &[
        count("variant", "number", "as in `entries`"),
        count("function", "index", "a row of `functions`"),
        count("from", "index", "the block that it leaves"),
        count("to", "index", "the block that it enters"),
    ],
};
