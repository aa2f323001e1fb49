//! VkPipelineStageFlagBits2 and VkAccessFlagBits2, by the registry's names.
#![allow(missing_docs, reason = "the registry's names")]

pub const DRAW_INDIRECT: u64 = 0x2;
pub const FRAGMENT_SHADER: u64 = 0x80;
pub const EARLY_FRAGMENT_TESTS: u64 = 0x100;
pub const LATE_FRAGMENT_TESTS: u64 = 0x200;
pub const COLOR_ATTACHMENT_OUTPUT: u64 = 0x400;
pub const ALL_COMMANDS: u64 = 0x1_0000;
pub const COMMAND_PREPROCESS: u64 = 0x2_0000;
pub const CONDITIONAL_RENDERING: u64 = 0x4_0000;
pub const RAY_TRACING_SHADER: u64 = 0x20_0000;
pub const FRAGMENT_SHADING_RATE_ATTACHMENT: u64 = 0x40_0000;
pub const TRANSFORM_FEEDBACK: u64 = 0x100_0000;
pub const ACCELERATION_STRUCTURE_BUILD: u64 = 0x200_0000;
pub const ACCELERATION_STRUCTURE_COPY: u64 = 0x1000_0000;
pub const MICROMAP_BUILD: u64 = 0x4000_0000;
pub const MEMORY_DECOMPRESSION: u64 = 1 << 45;
pub const COPY_INDIRECT: u64 = 1 << 46;
pub const COPY: u64 = 1 << 32;
pub const RESOLVE: u64 = 1 << 33;
pub const BLIT: u64 = 1 << 34;
pub const CLEAR: u64 = 1 << 35;
pub const INDEX_INPUT: u64 = 1 << 36;
pub const VERTEX_ATTRIBUTE_INPUT: u64 = 1 << 37;

pub const INDIRECT_COMMAND_READ: u64 = 0x1;
pub const INDEX_READ: u64 = 0x2;
pub const VERTEX_ATTRIBUTE_READ: u64 = 0x4;
pub const UNIFORM_READ: u64 = 0x8;
pub const INPUT_ATTACHMENT_READ: u64 = 0x10;
pub const COLOR_ATTACHMENT_READ: u64 = 0x80;
pub const COLOR_ATTACHMENT_WRITE: u64 = 0x100;
pub const DEPTH_STENCIL_ATTACHMENT_READ: u64 = 0x200;
pub const DEPTH_STENCIL_ATTACHMENT_WRITE: u64 = 0x400;
pub const TRANSFER_READ: u64 = 0x800;
pub const TRANSFER_WRITE: u64 = 0x1000;
pub const MEMORY_READ: u64 = 0x8000;
pub const MEMORY_WRITE: u64 = 0x1_0000;
pub const COMMAND_PREPROCESS_READ: u64 = 0x2_0000;
pub const COMMAND_PREPROCESS_WRITE: u64 = 0x4_0000;
pub const CONDITIONAL_RENDERING_READ: u64 = 0x10_0000;
pub const ACCELERATION_STRUCTURE_READ: u64 = 0x20_0000;
pub const ACCELERATION_STRUCTURE_WRITE: u64 = 0x40_0000;
pub const FRAGMENT_SHADING_RATE_ATTACHMENT_READ: u64 = 0x80_0000;
pub const TRANSFORM_FEEDBACK_WRITE: u64 = 0x200_0000;
pub const TRANSFORM_FEEDBACK_COUNTER_READ: u64 = 0x400_0000;
pub const TRANSFORM_FEEDBACK_COUNTER_WRITE: u64 = 0x800_0000;
pub const MICROMAP_READ: u64 = 1 << 44;
pub const MICROMAP_WRITE: u64 = 1 << 45;
pub const MEMORY_DECOMPRESSION_READ: u64 = 1 << 55;
pub const MEMORY_DECOMPRESSION_WRITE: u64 = 1 << 56;
pub const SHADER_SAMPLED_READ: u64 = 1 << 32;
pub const SHADER_STORAGE_READ: u64 = 1 << 33;
pub const SHADER_STORAGE_WRITE: u64 = 1 << 34;
pub const SHADER_BINDING_TABLE_READ: u64 = 1 << 40;

/// What VkShaderStageFlags run in.
pub fn stages_of(shader: u32) -> u64 {
    const OF: [(u32, u64); 9] = [
        (0x1, 0x8),
        (0x2, 0x10),
        (0x4, 0x20),
        (0x8, 0x40),
        (0x10, FRAGMENT_SHADER),
        (0x20, 0x800),
        (0x40, 0x8_0000),
        (0x80, 0x10_0000),
        (0x3f00, RAY_TRACING_SHADER),
    ];
    OF.iter().filter(|(s, _)| shader & s != 0).fold(0, |all, (_, stage)| all | stage)
}
