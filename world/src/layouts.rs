//! Layouts of sets and pipelines, and what is compatible with what.
//!
//! Set layouts that are defined alike have one class number; so have pipeline layouts, up to each set. Guarantees: two
//! pipeline layouts are compatible for set N exactly if their classes at N are equal. Refuses nothing.

use std::collections::HashMap;
use std::rc::Rc;

/// Descriptor types (VkDescriptorType) by name.
#[allow(missing_docs, reason = "the registry's names")]
pub mod ty {
    pub const SAMPLER: u32 = 0;
    pub const COMBINED_IMAGE_SAMPLER: u32 = 1;
    pub const SAMPLED_IMAGE: u32 = 2;
    pub const STORAGE_IMAGE: u32 = 3;
    pub const UNIFORM_TEXEL_BUFFER: u32 = 4;
    pub const STORAGE_TEXEL_BUFFER: u32 = 5;
    pub const UNIFORM_BUFFER: u32 = 6;
    pub const STORAGE_BUFFER: u32 = 7;
    pub const UNIFORM_BUFFER_DYNAMIC: u32 = 8;
    pub const STORAGE_BUFFER_DYNAMIC: u32 = 9;
    pub const INPUT_ATTACHMENT: u32 = 10;
    pub const INLINE_UNIFORM_BLOCK: u32 = 1_000_138_000;
    pub const ACCELERATION_STRUCTURE_KHR: u32 = 1_000_150_000;
    pub const ACCELERATION_STRUCTURE_NV: u32 = 1_000_165_000;
    pub const MUTABLE: u32 = 1_000_351_000;
    pub const SAMPLE_WEIGHT_IMAGE_QCOM: u32 = 1_000_440_000;
    pub const BLOCK_MATCH_IMAGE_QCOM: u32 = 1_000_440_001;

    /// Shaders can write through descriptors of this type.
    pub fn writable(of: u32) -> bool {
        matches!(of, STORAGE_IMAGE | STORAGE_TEXEL_BUFFER | STORAGE_BUFFER | STORAGE_BUFFER_DYNAMIC | MUTABLE)
    }
}

/// VkDescriptorBindingFlags.
#[allow(missing_docs, reason = "the registry's names")]
pub mod binding_flags {
    pub const UPDATE_AFTER_BIND: u32 = 1;
    pub const UPDATE_UNUSED_WHILE_PENDING: u32 = 2;
    pub const PARTIALLY_BOUND: u32 = 4;
    pub const VARIABLE_COUNT: u32 = 8;
}

/// VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT.
pub const SET_LAYOUT_PUSH: u32 = 1;
/// VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT.
pub const SET_LAYOUT_DESCRIPTOR_BUFFER: u32 = 0x10;
/// VK_DESCRIPTOR_SET_LAYOUT_CREATE_EMBEDDED_IMMUTABLE_SAMPLERS_BIT_EXT.
pub const SET_LAYOUT_EMBEDDED_SAMPLERS: u32 = 0x20;

/// A binding of a set layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Its number.
    pub binding: u32,
    /// VkDescriptorType.
    pub ty: u32,
    /// Descriptors; bytes for inline uniform blocks.
    pub count: u32,
    /// VkShaderStageFlags.
    pub stages: u32,
    /// VkDescriptorBindingFlags.
    pub flags: u32,
    /// Immutable samplers; empty where there are none.
    pub immutable: Vec<u64>,
    /// The types that a mutable one may take.
    pub mutable: Vec<u32>,
    /// Its first descriptor, among all of the set's.
    pub start: u32,
    /// For inline blocks: its first byte, among all inline bytes of the set.
    pub inline_start: u32,
    /// Its first dynamic offset, among those of the set.
    pub dynamic_start: u32,
}

impl Binding {
    /// Descriptors that it takes among the set's: one for an inline block.
    pub fn slots(&self) -> u32 {
        match self.ty {
            ty::INLINE_UNIFORM_BLOCK => self.count.min(1),
            _ => self.count,
        }
    }
    /// Its offset comes with the binding of the set.
    pub fn is_dynamic(&self) -> bool {
        matches!(self.ty, ty::UNIFORM_BUFFER_DYNAMIC | ty::STORAGE_BUFFER_DYNAMIC)
    }
}

/// A VkDescriptorSetLayout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetLayout {
    /// Its id.
    pub id: u64,
    /// Equal for layouts that are defined alike.
    pub class: u32,
    /// VkDescriptorSetLayoutCreateFlags.
    pub flags: u32,
    /// Its bindings, by number.
    pub bindings: Vec<Binding>,
    /// All descriptors, an inline block counted once.
    pub slots: u32,
    /// All bytes of inline blocks.
    pub inline_bytes: u32,
    /// Dynamic offsets that it takes.
    pub dynamic: u32,
}

impl SetLayout {
    /// A layout of these bindings, whose starts are computed here. The class is the caller's to give.
    pub fn new(id: u64, flags: u32, mut bindings: Vec<Binding>) -> Self {
        bindings.sort_by_key(|b| b.binding);
        let (mut slots, mut inline_bytes, mut dynamic) = (0u32, 0u32, 0u32);
        for b in &mut bindings {
            (b.start, b.inline_start, b.dynamic_start) = (slots, inline_bytes, dynamic);
            slots = slots.saturating_add(b.slots());
            if b.ty == ty::INLINE_UNIFORM_BLOCK {
                inline_bytes = inline_bytes.saturating_add(b.count);
            }
            if b.is_dynamic() {
                dynamic = dynamic.saturating_add(b.count);
            }
        }
        SetLayout { id, class: 0, flags, bindings, slots, inline_bytes, dynamic }
    }
    /// The index of a binding.
    pub fn index_of(&self, binding: u32) -> Option<usize> {
        self.bindings.binary_search_by_key(&binding, |b| b.binding).ok()
    }
    /// A binding by its number.
    pub fn binding(&self, binding: u32) -> Option<&Binding> {
        self.index_of(binding).map(|i| &self.bindings[i])
    }
    /// Its descriptors lie in descriptor buffers.
    pub fn in_descriptor_buffers(&self) -> bool {
        self.flags & SET_LAYOUT_DESCRIPTOR_BUFFER != 0
    }
    /// Its descriptors are pushed.
    pub fn is_push(&self) -> bool {
        self.flags & SET_LAYOUT_PUSH != 0
    }
}

/// VkPushConstantRange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PushRange {
    /// VkShaderStageFlags.
    pub stages: u32,
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// A VkPipelineLayout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineLayout {
    /// Its id; 0 for one that a shader object implies.
    pub id: u64,
    /// VkPipelineLayoutCreateFlags.
    pub flags: u32,
    /// Its set layouts; none where it was given null.
    pub sets: Vec<Option<Rc<SetLayout>>>,
    /// Its push-constant ranges.
    pub push: Vec<PushRange>,
    /// Equal at N for layouts that are compatible for set N.
    pub classes: Vec<u32>,
    /// Equal for layouts with the same push constants.
    pub push_class: u32,
}

impl PipelineLayout {
    /// The layout of a set.
    pub fn set(&self, n: usize) -> Option<&Rc<SetLayout>> {
        self.sets.get(n)?.as_ref()
    }
    /// Bytes of push constants.
    pub fn push_bytes(&self) -> u32 {
        self.push.iter().map(|r| r.offset.saturating_add(r.size)).max().unwrap_or(0)
    }
    /// A set bound with the other layout is valid here.
    pub fn compatible(&self, other: &PipelineLayout, set: usize) -> bool {
        self.classes.get(set).is_some_and(|c| other.classes.get(set) == Some(c))
    }
    /// Set layouts and push constants in words: the same words, the same layouts, set by set.
    pub fn words(&self) -> String {
        let sets: Vec<String> =
            self.sets.iter().map(|s| s.as_ref().map_or("-".to_owned(), |s| s.class.to_string())).collect();
        format!("{}+{}", sets.join("/"), self.push_class)
    }
}

/// A chain of sets: class of the ones before, class of this set's layout, push constants, flags.
type ChainKey = (u32, Option<u32>, u32, u32);

/// Gives class numbers.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    sets: HashMap<(u32, Vec<Binding>), u32>,
    push: HashMap<Vec<PushRange>, u32>,
    chains: HashMap<ChainKey, u32>,
}

impl Classes {
    /// A set layout with its class.
    pub fn set(&mut self, mut layout: SetLayout) -> Rc<SetLayout> {
        let next = self.sets.len() as u32 + 1;
        layout.class = *self.sets.entry((layout.flags, layout.bindings.clone())).or_insert(next);
        Rc::new(layout)
    }

    /// A pipeline layout with its classes.
    pub fn pipeline(
        &mut self,
        id: u64,
        flags: u32,
        sets: Vec<Option<Rc<SetLayout>>>,
        push: Vec<PushRange>,
    ) -> Rc<PipelineLayout> {
        let mut sorted = push.clone();
        sorted.sort_unstable();
        let next = self.push.len() as u32 + 1;
        let push_class = *self.push.entry(sorted).or_insert(next);
        let mut before = 0;
        let mut classes = Vec::with_capacity(sets.len());
        for s in &sets {
            let next = self.chains.len() as u32 + 1;
            let key = (before, s.as_ref().map(|s| s.class), push_class, flags);
            before = *self.chains.entry(key).or_insert(next);
            classes.push(before);
        }
        Rc::new(PipelineLayout { id, flags, sets, push, classes, push_class })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn b(binding: u32, ty: u32, count: u32) -> Binding {
        Binding { binding, ty, count, stages: 1, ..Binding::default() }
    }

    #[test]
    fn starts_run_through_the_bindings_by_number() {
        let l = SetLayout::new(
            1,
            0,
            vec![
                b(7, ty::UNIFORM_BUFFER_DYNAMIC, 2),
                b(0, ty::STORAGE_BUFFER_DYNAMIC, 3),
                b(3, ty::INLINE_UNIFORM_BLOCK, 64),
                b(4, ty::SAMPLER, 0),
                b(5, ty::INLINE_UNIFORM_BLOCK, 16),
            ],
        );
        let at: Vec<_> =
            l.bindings.iter().map(|b| (b.binding, b.start, b.inline_start, b.dynamic_start)).collect();
        assert_eq!(at, [(0, 0, 0, 0), (3, 3, 0, 3), (4, 4, 64, 3), (5, 4, 64, 3), (7, 5, 80, 3)]);
        assert_eq!((l.slots, l.inline_bytes, l.dynamic), (7, 80, 5));
    }

    #[test]
    fn layouts_are_compatible_up_to_where_they_differ() {
        let mut c = Classes::default();
        let one = c.set(SetLayout::new(1, 0, vec![b(0, ty::UNIFORM_BUFFER, 1)]));
        let same = c.set(SetLayout::new(2, 0, vec![b(0, ty::UNIFORM_BUFFER, 1)]));
        let other = c.set(SetLayout::new(3, 0, vec![b(0, ty::STORAGE_BUFFER, 1)]));
        assert_eq!(one.class, same.class);
        assert_ne!(one.class, other.class);
        let push = |size| vec![PushRange { stages: 1, offset: 0, size }];
        let a = c.pipeline(10, 0, vec![Some(one.clone()), Some(other.clone())], push(16));
        let b = c.pipeline(11, 0, vec![Some(same.clone()), Some(one.clone())], push(16));
        let d = c.pipeline(12, 0, vec![Some(same), None], push(8));
        assert!(a.compatible(&b, 0) && !a.compatible(&b, 1) && !a.compatible(&b, 2));
        assert!(!a.compatible(&d, 0), "push constants count");
        assert_eq!((a.push_class, a.push_bytes()), (b.push_class, 16));
        // Behind a set that differs nothing is compatible, though the layout itself is the same.
        let e = c.pipeline(13, 0, vec![Some(other.clone()), Some(other)], push(16));
        assert!(!a.compatible(&e, 1));
    }
}
