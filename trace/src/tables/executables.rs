//! What a driver says of the pipelines that it compiled (VK_KHR_pipeline_executable_properties).

use crate::Table;
use crate::table::{Column, Kind, count, text};

/// Statistics of pipeline executables.
pub static EXECUTABLES: Table = Table {
    name: "executables",
    about: "a statistic of a piece of code that a driver compiled for a pipeline",
    version: 1,
    columns: &[
        count("pipeline", "id", "the capture's id"),
        text("kind", "graphics, compute or ray-tracing"),
        count("executable", "index", "which of the pipeline's executables, from 0"),
        text("executable_name", "the driver's name of it"),
        text("executable_about", "the driver's description of it"),
        count(
            "stages",
            "VkShaderStageFlags",
            "the stages that it came from; 0 where the driver does not say",
        ),
        count("subgroup_size", "invocations", "invocations in a subgroup; 0 where the driver does not say"),
        count("instrumented", "0 or 1", "whether the pipeline was compiled from rewritten modules"),
        text("name", "the statistic; empty where the executable has none"),
        text("about", "the driver's description of it"),
        text("format", "what the driver gave: bool, i64, u64, f64; empty where there is no statistic"),
        Column { name: "value", kind: Kind::F64, unit: "as the driver says", about: "its value", since: 1 },
    ],
};
