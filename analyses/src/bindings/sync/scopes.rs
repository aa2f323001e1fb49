//! Stages and accesses: what a mask covers, and the registry's names for what is in one.

/// Every stage that a mask may name by itself.
pub const STAGES: &[(u64, &str)] = &[
    (0x2, "DRAW_INDIRECT"),
    (1 << 36, "INDEX_INPUT"),
    (1 << 37, "VERTEX_ATTRIBUTE_INPUT"),
    (0x8, "VERTEX_SHADER"),
    (0x10, "TESSELLATION_CONTROL_SHADER"),
    (0x20, "TESSELLATION_EVALUATION_SHADER"),
    (0x40, "GEOMETRY_SHADER"),
    (0x8_0000, "TASK_SHADER"),
    (0x10_0000, "MESH_SHADER"),
    (0x100_0000, "TRANSFORM_FEEDBACK"),
    (0x40_0000, "FRAGMENT_SHADING_RATE_ATTACHMENT"),
    (0x80_0000, "FRAGMENT_DENSITY_PROCESS"),
    (0x100, "EARLY_FRAGMENT_TESTS"),
    (0x80, "FRAGMENT_SHADER"),
    (0x200, "LATE_FRAGMENT_TESTS"),
    (0x400, "COLOR_ATTACHMENT_OUTPUT"),
    (0x800, "COMPUTE_SHADER"),
    (0x20_0000, "RAY_TRACING_SHADER"),
    (0x200_0000, "ACCELERATION_STRUCTURE_BUILD"),
    (0x1000_0000, "ACCELERATION_STRUCTURE_COPY"),
    (0x4000_0000, "MICROMAP_BUILD"),
    (1 << 32, "COPY"),
    (1 << 33, "RESOLVE"),
    (1 << 34, "BLIT"),
    (1 << 35, "CLEAR"),
    (0x2_0000, "COMMAND_PREPROCESS"),
    (0x4_0000, "CONDITIONAL_RENDERING"),
    (1 << 45, "MEMORY_DECOMPRESSION"),
    (1 << 46, "COPY_INDIRECT"),
    (0x4000, "HOST"),
];

/// Stages that no access is told of: what names one of them orders what is not followed.
pub const STAGES_NOT_FOLLOWED: &[(u64, &str)] = &[
    (0x400_0000, "VIDEO_DECODE"),
    (0x800_0000, "VIDEO_ENCODE"),
    (0x2000_0000, "OPTICAL_FLOW"),
    (0x8000_0000, "RESERVED_31"),
    (1 << 39, "SUBPASS_SHADER"),
    (1 << 40, "INVOCATION_MASK"),
    (1 << 41, "CLUSTER_CULLING_SHADER"),
    (1 << 42, "DATA_GRAPH"),
    (1 << 43, "RESERVED_43"),
    (1 << 44, "CONVERT_COOPERATIVE_VECTOR_MATRIX"),
    (1 << 47, "RESERVED_47"),
    (1 << 48, "RESERVED_48"),
    (1 << 49, "RESERVED_49"),
    (1 << 50, "RESERVED_50"),
];

/// VK_PIPELINE_STAGE_2_HOST_BIT.
pub const HOST: u64 = 0x4000;
const TOP: u64 = 0x1;
const BOTTOM: u64 = 0x2000;
/// VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT.
pub const ALL_COMMANDS: u64 = 0x1_0000;
const ALL_GRAPHICS: u64 = 0x8000;
const ALL_TRANSFER: u64 = 0x1000;
const VERTEX_INPUT: u64 = 0x4;
const PRE_RASTERIZATION: u64 = 1 << 38;

const INDIRECT: u64 = 0x2;
const VERTEX_INPUTS: u64 = 1 << 36 | 1 << 37;
const PRE_RASTERIZERS: u64 = 0x8 | 0x10 | 0x20 | 0x40 | 0x8_0000 | 0x10_0000;
const TRANSFERS: u64 = 1 << 32 | 1 << 33 | 1 << 34 | 1 << 35 | 0x1000_0000;
const FRAGMENTS: u64 = 0x100 | 0x80 | 0x200 | 0x400 | 0x40_0000 | 0x80_0000;
const GRAPHICS: u64 = INDIRECT | VERTEX_INPUTS | PRE_RASTERIZERS | FRAGMENTS | 0x100_0000 | 0x4_0000;

/// A mask with each stage by itself. What is not named here stays as it is.
pub fn stages(mask: u64) -> u64 {
    let groups = [
        (VERTEX_INPUT, VERTEX_INPUTS),
        (PRE_RASTERIZATION, PRE_RASTERIZERS),
        (ALL_TRANSFER, TRANSFERS),
        (ALL_GRAPHICS, GRAPHICS),
        // (the host is no command)
        (ALL_COMMANDS, !(HOST | TOP | BOTTOM)),
    ];
    let names = groups.iter().fold(TOP | BOTTOM, |all, g| all | g.0);
    groups.iter().filter(|(name, _)| mask & name != 0).fold(mask & !names, |all, (_, of)| all | of)
}

/// What waits for these stages waits for those before them in the pipeline too, and what they are made to wait for holds those behind
/// them: the same, with stages that come logically earlier (for what is waited for).
pub fn waited_for(mask: u64) -> u64 {
    let all = stages(mask);
    // (BOTTOM_OF_PIPE as what is waited for is everything)
    let all = if mask & BOTTOM != 0 { all | stages(ALL_COMMANDS) } else { all };
    with_neighbours(all, true)
}

/// The same, of stages that wait, with those that come logically later.
pub fn waiting(mask: u64) -> u64 {
    let all = stages(mask);
    let all = if mask & TOP != 0 { all | stages(ALL_COMMANDS) } else { all };
    with_neighbours(all, false)
}

/// With all of what the older masks have one name for.
pub fn whole(mask: u64) -> u64 {
    let builds = 0x200_0000 | 0x4000_0000;
    let groups = [TRANSFERS, VERTEX_INPUTS, builds].into_iter().filter(|g| mask & g != 0);
    groups.fold(mask, |all, g| all | g)
}

/// The order of stages of a draw. (Those of meshes are where vertices are.)
const ORDER: [u64; 11] = [
    INDIRECT | 0x4_0000,
    VERTEX_INPUTS,
    0x8 | 0x8_0000,
    0x10 | 0x10_0000,
    0x20,
    0x40,
    0x100_0000,
    0x40_0000 | 0x80_0000 | 0x100,
    0x80,
    0x200,
    0x400,
];

fn with_neighbours(mask: u64, earlier: bool) -> u64 {
    let hits = |s: &u64| mask & s != 0;
    let mut all = mask;
    if earlier {
        if let Some(last) = ORDER.iter().rposition(hits) {
            all |= ORDER[..=last].iter().fold(0, |all, s| all | s);
        }
    } else if let Some(first) = ORDER.iter().position(hits) {
        all |= ORDER[first..].iter().fold(0, |all, s| all | s);
    }
    all
}

/// Every access that a mask may name by itself.
pub const ACCESSES: &[(u64, &str)] = &[
    (0x1, "INDIRECT_COMMAND_READ"),
    (0x2, "INDEX_READ"),
    (0x4, "VERTEX_ATTRIBUTE_READ"),
    (0x8, "UNIFORM_READ"),
    (0x10, "INPUT_ATTACHMENT_READ"),
    (0x80, "COLOR_ATTACHMENT_READ"),
    (0x100, "COLOR_ATTACHMENT_WRITE"),
    (0x200, "DEPTH_STENCIL_ATTACHMENT_READ"),
    (0x400, "DEPTH_STENCIL_ATTACHMENT_WRITE"),
    (0x800, "TRANSFER_READ"),
    (0x1000, "TRANSFER_WRITE"),
    (0x2000, "HOST_READ"),
    (0x4000, "HOST_WRITE"),
    (0x20_0000, "ACCELERATION_STRUCTURE_READ"),
    (0x40_0000, "ACCELERATION_STRUCTURE_WRITE"),
    (1 << 32, "SHADER_SAMPLED_READ"),
    (1 << 33, "SHADER_STORAGE_READ"),
    (1 << 34, "SHADER_STORAGE_WRITE"),
    (1 << 40, "SHADER_BINDING_TABLE_READ"),
    (0x2_0000, "COMMAND_PREPROCESS_READ"),
    (0x4_0000, "COMMAND_PREPROCESS_WRITE"),
    (0x10_0000, "CONDITIONAL_RENDERING_READ"),
    (0x80_0000, "FRAGMENT_SHADING_RATE_ATTACHMENT_READ"),
    (0x200_0000, "TRANSFORM_FEEDBACK_WRITE"),
    (0x400_0000, "TRANSFORM_FEEDBACK_COUNTER_READ"),
    (0x800_0000, "TRANSFORM_FEEDBACK_COUNTER_WRITE"),
    (1 << 44, "MICROMAP_READ"),
    (1 << 45, "MICROMAP_WRITE"),
    (1 << 55, "MEMORY_DECOMPRESSION_READ"),
    (1 << 56, "MEMORY_DECOMPRESSION_WRITE"),
];

/// Accesses that nothing is told to make: what names one of them orders what is not followed.
pub const ACCESSES_NOT_FOLLOWED: &[(u64, &str)] = &[
    (1 << 63, "RESERVED_63"),
    (0x8_0000, "COLOR_ATTACHMENT_READ_NONCOHERENT"),
    (0x100_0000, "FRAGMENT_DENSITY_MAP_READ"),
    (0x1000_0000, "RESERVED_28"),
    (0x2000_0000, "RESERVED_29"),
    (1 << 35, "VIDEO_DECODE_READ"),
    (1 << 36, "VIDEO_DECODE_WRITE"),
    (1 << 37, "VIDEO_ENCODE_READ"),
    (1 << 38, "VIDEO_ENCODE_WRITE"),
    (1 << 39, "INVOCATION_MASK_READ"),
    (1 << 41, "DESCRIPTOR_BUFFER_READ"),
    (1 << 42, "OPTICAL_FLOW_READ"),
    (1 << 43, "OPTICAL_FLOW_WRITE"),
    (1 << 46, "RESERVED_46"),
    (1 << 47, "DATA_GRAPH_READ"),
    (1 << 48, "DATA_GRAPH_WRITE"),
    (1 << 49, "RESERVED_49"),
    (1 << 50, "RESERVED_50"),
    (1 << 51, "SHADER_TILE_ATTACHMENT_READ"),
    (1 << 52, "SHADER_TILE_ATTACHMENT_WRITE"),
    (1 << 53, "RESERVED_53"),
    (1 << 54, "RESERVED_54"),
    (1 << 57, "SAMPLER_HEAP_READ"),
    (1 << 58, "RESOURCE_HEAP_READ"),
    (1 << 60, "RESERVED_60"),
    (1 << 61, "RESERVED_61"),
    (1 << 62, "RESERVED_62"),
];

/// Whether masks name what is not followed.
pub fn is_not_followed(stages: u64, access: u64) -> bool {
    let in_list = |list: &[(u64, &str)], mask: u64| list.iter().any(|(bit, _)| mask & bit != 0);
    in_list(STAGES_NOT_FOLLOWED, stages) || in_list(ACCESSES_NOT_FOLLOWED, access)
}

/// Accesses that write.
pub const WRITES: u64 = 0x40
    | 0x100
    | 0x400
    | 0x1000
    | 0x4000
    | 0x1_0000
    | 0x4_0000
    | 0x40_0000
    | 0x200_0000
    | 0x800_0000
    | 1 << 34
    | 1 << 36
    | 1 << 38
    | 1 << 43
    | 1 << 45
    | 1 << 48
    | 1 << 52
    | 1 << 56;
/// VK_ACCESS_2_SHADER_READ_BIT.
pub const SHADER_READ: u64 = 0x20;
/// What it stands for.
pub const SHADER_READS: u64 = 1 << 32 | 1 << 33 | 1 << 40;
const SHADER_WRITE: u64 = 0x40;
/// VK_ACCESS_2_MEMORY_READ_BIT.
pub const MEMORY_READ: u64 = 0x8000;
/// VK_ACCESS_2_MEMORY_WRITE_BIT.
pub const MEMORY_WRITE: u64 = 0x1_0000;

/// A mask with each access by itself.
pub fn accesses(mask: u64) -> u64 {
    let mut all = mask & !(SHADER_READ | SHADER_WRITE | MEMORY_READ | MEMORY_WRITE);
    if mask & SHADER_READ != 0 {
        all |= SHADER_READS;
    }
    if mask & SHADER_WRITE != 0 {
        all |= 1 << 34;
    }
    if mask & MEMORY_READ != 0 {
        all |= !WRITES & !(SHADER_READ | MEMORY_READ);
    }
    if mask & MEMORY_WRITE != 0 {
        all |= WRITES & !(SHADER_WRITE | MEMORY_WRITE);
    }
    all
}

/// Masks that stand for several stages.
pub const STAGES_OF_SEVERAL: &[(u64, &str)] = &[
    (TOP, "TOP_OF_PIPE"),
    (BOTTOM, "BOTTOM_OF_PIPE"),
    (ALL_COMMANDS, "ALL_COMMANDS"),
    (ALL_GRAPHICS, "ALL_GRAPHICS"),
    (ALL_TRANSFER, "ALL_TRANSFER"),
    (VERTEX_INPUT, "VERTEX_INPUT"),
    (PRE_RASTERIZATION, "PRE_RASTERIZATION_SHADERS"),
];

/// Masks that stand for several accesses.
pub const ACCESSES_OF_SEVERAL: &[(u64, &str)] = &[
    (MEMORY_READ, "MEMORY_READ"),
    (MEMORY_WRITE, "MEMORY_WRITE"),
    (SHADER_READ, "SHADER_READ"),
    (SHADER_WRITE, "SHADER_WRITE"),
];

/// The names of stages.
pub fn stage_words(mask: u64) -> String {
    words(mask, STAGES_OF_SEVERAL.iter().chain(STAGES).chain(STAGES_NOT_FOLLOWED))
}

/// The names of accesses.
pub fn access_words(mask: u64) -> String {
    words(mask, ACCESSES_OF_SEVERAL.iter().chain(ACCESSES).chain(ACCESSES_NOT_FOLLOWED))
}

fn words<'a>(mask: u64, names: impl Iterator<Item = &'a (u64, &'a str)>) -> String {
    let (mut left, mut all) = (mask, vec![]);
    for (bit, name) in names.filter(|n| mask & n.0 != 0) {
        all.push((*name).to_owned());
        left &= !bit;
    }
    if left != 0 {
        all.push(format!("{left:#x}"));
    }
    if all.is_empty() { "NONE".into() } else { all.join("|") }
}

/// VkImageLayout without its prefix.
pub const LAYOUTS: &[(u64, &str)] = &[
    (0, "UNDEFINED"),
    (1, "GENERAL"),
    (2, "COLOR_ATTACHMENT_OPTIMAL"),
    (3, "DEPTH_STENCIL_ATTACHMENT_OPTIMAL"),
    (4, "DEPTH_STENCIL_READ_ONLY_OPTIMAL"),
    (5, "SHADER_READ_ONLY_OPTIMAL"),
    (6, "TRANSFER_SRC_OPTIMAL"),
    (7, "TRANSFER_DST_OPTIMAL"),
    (8, "PREINITIALIZED"),
    (1_000_001_002, "PRESENT_SRC_KHR"),
    (1_000_024_000, "VIDEO_DECODE_DST_KHR"),
    (1_000_024_001, "VIDEO_DECODE_SRC_KHR"),
    (1_000_024_002, "VIDEO_DECODE_DPB_KHR"),
    (1_000_111_000, "SHARED_PRESENT_KHR"),
    (1_000_117_000, "DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL"),
    (1_000_117_001, "DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL"),
    (1_000_164_003, "FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR"),
    (1_000_218_000, "FRAGMENT_DENSITY_MAP_OPTIMAL_EXT"),
    (1_000_232_000, "RENDERING_LOCAL_READ"),
    (1_000_241_000, "DEPTH_ATTACHMENT_OPTIMAL"),
    (1_000_241_001, "DEPTH_READ_ONLY_OPTIMAL"),
    (1_000_241_002, "STENCIL_ATTACHMENT_OPTIMAL"),
    (1_000_241_003, "STENCIL_READ_ONLY_OPTIMAL"),
    (1_000_299_000, "VIDEO_ENCODE_DST_KHR"),
    (1_000_299_001, "VIDEO_ENCODE_SRC_KHR"),
    (1_000_299_002, "VIDEO_ENCODE_DPB_KHR"),
    (1_000_314_000, "READ_ONLY_OPTIMAL"),
    (1_000_314_001, "ATTACHMENT_OPTIMAL"),
    (1_000_339_000, "ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT"),
    (1_000_460_000, "TENSOR_ALIASING_ARM"),
    (1_000_553_000, "VIDEO_ENCODE_QUANTIZATION_MAP_KHR"),
    (1_000_620_000, "ZERO_INITIALIZED_EXT"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    /// The schema as it is generated from the registry; analyses depend on no parser.
    static ENUMS: LazyLock<String> = LazyLock::new(|| {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../gfxr-parse/src/schema/generated/enums.rs");
        std::fs::read_to_string(file).expect("it is beside this crate")
    });

    /// The values of an enum, with their names.
    fn values(name: &str) -> Vec<(u64, &'static str)> {
        let begin = ENUMS.find(&format!("name: \"{name}\",")).expect("it is in the schema");
        let body = &ENUMS[begin..];
        let body = &body[..body.find("] },").expect("it ends")];
        let value = |line: &'static str| {
            let (value, name) = line.trim().strip_prefix('(')?.strip_suffix("\"),")?.split_once(", \"")?;
            Some((value.parse::<i64>().ok()? as u64, name))
        };
        body.lines().filter_map(value).collect()
    }

    /// Values of the registry that no list has, and what lists have that it has not.
    fn differences(name: &str, prefix: &str, lists: &[&[(u64, &str)]]) -> Vec<String> {
        let registry = values(name);
        assert!(registry.len() > 30, "{name} is read whole");
        let short = |n: &str| {
            let n = n.strip_prefix(prefix).expect("its prefix");
            let at = n.find("_BIT").filter(|at| n[at + 4..].is_empty() || n[at + 4..].starts_with('_'));
            at.map_or(n, |at| &n[..at]).to_owned()
        };
        let named: Vec<(u64, String)> =
            registry.iter().map(|(v, n)| (*v, short(n))).filter(|(v, _)| *v != 0).collect();
        let listed: Vec<(u64, String)> =
            lists.concat().iter().map(|(v, n)| (*v, (*n).to_owned())).filter(|(v, _)| *v != 0).collect();
        let only = |a: &[(u64, String)], b: &[(u64, String)]| -> Vec<String> {
            a.iter().filter(|x| b.iter().filter(|y| x == y).count() != 1).map(|x| x.1.clone()).collect()
        };
        [only(&named, &listed), only(&listed, &named)].concat()
    }

    #[test]
    fn every_stage_access_and_layout_of_the_registry_is_in_one_list() {
        let lists = [STAGES, STAGES_OF_SEVERAL, STAGES_NOT_FOLLOWED];
        let none: [String; 0] = [];
        assert_eq!(differences("VkPipelineStageFlagBits2", "VK_PIPELINE_STAGE_2_", &lists), none);
        let lists = [ACCESSES, ACCESSES_OF_SEVERAL, ACCESSES_NOT_FOLLOWED];
        assert_eq!(differences("VkAccessFlagBits2", "VK_ACCESS_2_", &lists), none);
        assert_eq!(differences("VkImageLayout", "VK_IMAGE_LAYOUT_", &[LAYOUTS]), none);
        // What is missing is found.
        assert_eq!(differences("VkImageLayout", "VK_IMAGE_LAYOUT_", &[&LAYOUTS[2..]]), ["GENERAL"]);
        // And what writes is called so.
        for (bit, name) in lists.concat() {
            assert_eq!(WRITES & bit != 0, name.contains("WRITE"), "{name}");
        }
    }

    #[test]
    fn masks_cover_what_they_name() {
        assert_eq!(stages(ALL_TRANSFER) & (1 << 32), 1 << 32);
        assert_eq!(stages(ALL_COMMANDS) & HOST, 0);
        assert_eq!(stages(ALL_GRAPHICS) & 0x800, 0);
        assert_eq!(stages(TOP | BOTTOM), 0);
        assert_ne!(waited_for(BOTTOM) & 0x800, 0);
        // What waits for fragments waits for vertices; what vertices wait for holds fragments up too.
        assert_eq!((waited_for(0x80) & 0x8, waited_for(0x8) & 0x80), (0x8, 0));
        assert_eq!((waiting(0x8) & 0x80, waiting(0x80) & 0x8), (0x80, 0));
        assert_eq!(waiting(0x800), 0x800);
        assert_eq!(accesses(0x8000) & WRITES, 0);
        assert_eq!(accesses(0x20) & (1 << 33), 1 << 33);
        assert_eq!(accesses(0x1_0000) & 0x1000, 0x1000);
        assert_eq!(stage_words(0x1_0000 | 0x80), "ALL_COMMANDS|FRAGMENT_SHADER");
        assert_eq!(access_words(0), "NONE");
    }
}
