//! Schema entries this code refers to by name, looked up once.
//!
//! Guarantees: a name that the generated tables lack is found by the first test that touches it (`all_names_exist`).

use crate::schema::generated::STRUCTS;
use crate::schema::{HandleId, StructId, handle_named, struct_named};
use std::sync::LazyLock;

/// The few structs and handles that special cases name.
pub struct Names {
    /// VkDescriptorImageInfo.
    pub descriptor_image_info: StructId,
    /// VkDescriptorBufferInfo.
    pub descriptor_buffer_info: StructId,
    /// The sType of VkTensorDescriptionARM.
    pub tensor_description_stype: u32,
    /// VkSampler.
    pub sampler: HandleId,
    /// VkBufferView.
    pub buffer_view: HandleId,
    /// VkAccelerationStructureKHR.
    pub acceleration_structure: HandleId,
}

/// See [`Names`].
pub static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let s = |n: &str| struct_named(n).unwrap_or_else(|| panic!("{n} is missing from the schema"));
    let h = |n: &str| handle_named(n).unwrap_or_else(|| panic!("{n} is missing from the schema"));
    Names {
        descriptor_image_info: s("VkDescriptorImageInfo"),
        descriptor_buffer_info: s("VkDescriptorBufferInfo"),
        tensor_description_stype: STRUCTS[s("VkTensorDescriptionARM") as usize]
            .stype
            .expect("it has an sType"),
        sampler: h("VkSampler"),
        buffer_view: h("VkBufferView"),
        acceleration_structure: h("VkAccelerationStructureKHR"),
    }
});

#[cfg(test)]
mod tests {
    #[test]
    fn all_names_exist() {
        let n = &*super::NAMES;
        let s = |i: u16| crate::schema::generated::STRUCTS[i as usize].name;
        assert_eq!(s(n.descriptor_image_info), "VkDescriptorImageInfo");
        assert_eq!(s(n.descriptor_buffer_info), "VkDescriptorBufferInfo");
    }
}
