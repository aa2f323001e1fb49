//! Texts of the shaders that were instrumented: the module's, and the source's where the module carries it.

use crate::Table;
use crate::table::{count, text};

/// Modules as SPIR-V text.
pub static SPIRV_TEXT: Table = Table {
    name: "spirv_text",
    about: "a line of the SPIR-V text of a module that was instrumented, as the application made it",
    version: 1,
    columns: &[
        text("shader", "hash of the module, as in `entries`"),
        count(
            "word_offset",
            "words",
            "where the line's instruction stands in the module; 0 for the text's head",
        ),
        text("text", "the line"),
    ],
};

/// Sources that modules carry.
pub static SOURCE_TEXT: Table = Table {
    name: "source_text",
    about: "a line of the source that a module carries: OpSource, or DebugSource of NonSemantic.Shader.DebugInfo",
    version: 1,
    columns: &[
        text("shader", "hash of the module, as in `entries`"),
        text("file", "the file as the module names it, as in `blocks`"),
        count("line", "line", "the line's number, from 1"),
        text("text", "the line"),
    ],
};
