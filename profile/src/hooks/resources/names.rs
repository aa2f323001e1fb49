//! The registry's numbers as the words of the tables.
//!
//! Refuses nothing: a number without a name is its number.

use crate::Stage;
use crate::hooks::instrument::stage_of_bit;
use gfxr_parse::schema::enum_named;
use replay::ash::vk;
use world::layouts::{SetLayout, binding_flags, ty};

/// A descriptor type.
pub fn descriptor(of: u32) -> &'static str {
    match of {
        ty::SAMPLER => "sampler",
        ty::COMBINED_IMAGE_SAMPLER => "combined image sampler",
        ty::SAMPLED_IMAGE => "sampled image",
        ty::STORAGE_IMAGE => "storage image",
        ty::UNIFORM_TEXEL_BUFFER => "uniform texel buffer",
        ty::STORAGE_TEXEL_BUFFER => "storage texel buffer",
        ty::UNIFORM_BUFFER => "uniform buffer",
        ty::STORAGE_BUFFER => "storage buffer",
        ty::UNIFORM_BUFFER_DYNAMIC => "uniform buffer dynamic",
        ty::STORAGE_BUFFER_DYNAMIC => "storage buffer dynamic",
        ty::INPUT_ATTACHMENT => "input attachment",
        ty::INLINE_UNIFORM_BLOCK => "inline uniform block",
        ty::ACCELERATION_STRUCTURE_KHR | ty::ACCELERATION_STRUCTURE_NV => "acceleration structure",
        ty::MUTABLE => "mutable",
        ty::SAMPLE_WEIGHT_IMAGE_QCOM => "sample weight image",
        ty::BLOCK_MATCH_IMAGE_QCOM => "block match image",
        _ => "other",
    }
}

/// A VkShaderStageFlagBits.
pub fn stage(bit: u32) -> Option<Stage> {
    stage_of_bit(vk::ShaderStageFlags::from_raw(bit))
}

/// VkShaderStageFlags.
pub fn stages(flags: u32) -> String {
    let all = (0..14).filter(|bit| flags >> bit & 1 != 0).filter_map(|bit| stage(1 << bit));
    all.map(Stage::name).collect::<Vec<_>>().join(" ")
}

/// What is special about a binding.
pub fn flags(layout: &SetLayout, binding: usize) -> String {
    let b = &layout.bindings[binding];
    let words = [
        (b.flags & binding_flags::UPDATE_AFTER_BIND != 0, "update-after-bind"),
        (b.flags & binding_flags::PARTIALLY_BOUND != 0, "partially-bound"),
        (b.flags & binding_flags::VARIABLE_COUNT != 0, "variable-count"),
        (layout.is_push(), "push"),
        (!b.immutable.is_empty(), "immutable-samplers"),
    ];
    words.iter().filter(|w| w.0).map(|w| w.1).collect::<Vec<_>>().join(" ")
}

/// A value of an enum, without what all of its names begin with.
pub fn value(of: &str, prefix: &str, value: u32) -> String {
    let found = enum_named(of).and_then(|e| e.value(value));
    found.map_or_else(|| value.to_string(), |name| name.trim_start_matches(prefix).to_owned())
}

/// The bits of a mask, without what all of their names begin with and without _BIT, separated by blanks.
pub fn bits(of: &str, prefix: &str, value: u64) -> String {
    let name = |n: &'static str| n.trim_start_matches(prefix).replace("_BIT", "");
    enum_named(of).into_iter().flat_map(|e| e.bits(value)).map(name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_registrys() {
        assert_eq!(value("VkImageLayout", "VK_IMAGE_LAYOUT_", 5), "SHADER_READ_ONLY_OPTIMAL");
        assert_eq!(bits("VkBufferUsageFlagBits", "VK_BUFFER_USAGE_", 0x12), "TRANSFER_DST UNIFORM_BUFFER");
        let memory = bits("VkMemoryPropertyFlagBits", "VK_MEMORY_PROPERTY_", 7);
        assert_eq!(memory, "DEVICE_LOCAL HOST_VISIBLE HOST_COHERENT");
        assert_eq!(stages(0x11), "vertex fragment");
    }
}
