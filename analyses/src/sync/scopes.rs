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
    (0x4000, "HOST"),
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

const ACCESSES: &[(u64, &str)] = &[
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
];

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
    | 1 << 38;
const SHADER_READ: u64 = 0x20;
const SHADER_WRITE: u64 = 0x40;
const MEMORY_READ: u64 = 0x8000;
const MEMORY_WRITE: u64 = 0x1_0000;

/// A mask with each access by itself.
pub fn accesses(mask: u64) -> u64 {
    let mut all = mask & !(SHADER_READ | SHADER_WRITE | MEMORY_READ | MEMORY_WRITE);
    if mask & SHADER_READ != 0 {
        all |= 1 << 32 | 1 << 33 | 1 << 40;
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

/// The names of stages.
pub fn stage_words(mask: u64) -> String {
    let whole = [
        (TOP, "TOP_OF_PIPE"),
        (BOTTOM, "BOTTOM_OF_PIPE"),
        (ALL_COMMANDS, "ALL_COMMANDS"),
        (ALL_GRAPHICS, "ALL_GRAPHICS"),
        (ALL_TRANSFER, "ALL_TRANSFER"),
        (VERTEX_INPUT, "VERTEX_INPUT"),
        (PRE_RASTERIZATION, "PRE_RASTERIZATION_SHADERS"),
    ];
    words(mask, whole.iter().chain(STAGES))
}

/// The names of accesses.
pub fn access_words(mask: u64) -> String {
    let whole = [
        (MEMORY_READ, "MEMORY_READ"),
        (MEMORY_WRITE, "MEMORY_WRITE"),
        (SHADER_READ, "SHADER_READ"),
        (SHADER_WRITE, "SHADER_WRITE"),
    ];
    words(mask, whole.iter().chain(ACCESSES))
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

#[cfg(test)]
mod tests {
    use super::*;

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
