//! What the device counted while one span ran: pipeline statistics.

use serde::{Deserialize, Serialize};

/// The counters of one span itself; what lies within it has its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandCounters {
    /// Which [`crate::CommandTime`] of the run, from 0.
    pub span: u64,
    /// The count of each of [`COUNTERS`]; `None` where the queue has no such counter.
    pub counts: [Option<u64>; COUNTERS.len()],
}

/// The counters by their names in Vulkan, in the order of their bits.
pub const COUNTERS: [&str; 13] = [
    "VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_INVOCATIONS_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_CLIPPING_PRIMITIVES_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_CONTROL_SHADER_PATCHES_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_EVALUATION_SHADER_INVOCATIONS_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT",
    "VK_QUERY_PIPELINE_STATISTIC_TASK_SHADER_INVOCATIONS_BIT_EXT",
    "VK_QUERY_PIPELINE_STATISTIC_MESH_SHADER_INVOCATIONS_BIT_EXT",
];

/// The name for people: what stands between `VK_QUERY_PIPELINE_STATISTIC_` and `_BIT`, in small letters with blanks.
pub fn counter_name(vulkan: &str) -> String {
    let name = vulkan.trim_start_matches("VK_QUERY_PIPELINE_STATISTIC_");
    let name = name.trim_end_matches("_EXT").trim_end_matches("_BIT");
    name.to_lowercase().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_people() {
        assert_eq!(counter_name(COUNTERS[7]), "fragment shader invocations");
        assert_eq!(counter_name(COUNTERS[12]), "mesh shader invocations");
    }

    #[test]
    fn as_json() {
        let mut record = CommandCounters { span: 3, counts: [None; COUNTERS.len()] };
        record.counts[2] = Some(36);
        let json = serde_json::to_string(&record).unwrap();
        assert!(json.starts_with(r#"{"span":3,"counts":[null,null,36,"#), "{json}");
        assert_eq!(serde_json::from_str::<CommandCounters>(&json).unwrap(), record);
    }
}
