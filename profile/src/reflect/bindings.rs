//! What reflection says: slots, what is done with what they describe, and the blocks and members that lie there.
//!
//! Guarantees: texts (`text`, `full_type`, `inner_strides`) are as the tables `resource_slots` and `resource_members` have
//! them. Refuses nothing: what was not found out is said by a value of its own ([`Kind::Other`], [`Elements::Dynamic`]).

use std::collections::BTreeSet;

/// What an entry point binds and reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reflection {
    /// Its slots, by set and binding: those that instructions it reaches name, and those of its interface (before SPIR-V 1.4
    /// all that the module declares, where it has but one entry point).
    pub slots: Vec<Slot>,
    /// Its push constants.
    pub push: Option<Block>,
    /// Its shader record.
    pub record: Option<Block>,
    /// What it does with memory that it has the addresses of.
    pub addresses: Access,
    /// It takes descriptors from heaps: which is not known here.
    pub heaps: bool,
}

impl Reflection {
    /// The slot of a set and binding.
    pub fn slot(&self, set: u32, binding: u32) -> Option<&Slot> {
        self.slots.iter().find(|s| (s.set, s.binding) == (set, binding))
    }
}

/// What is at a binding, by the shader.
#[expect(missing_docs, reason = "they are named as Vulkan names descriptor types")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    UniformBlock,
    StorageBlock,
    Sampler,
    SampledImage,
    CombinedImageSampler,
    StorageImage,
    UniformTexelBuffer,
    StorageTexelBuffer,
    InputAttachment,
    AccelerationStructure,
    /// Something that only extensions know.
    Other,
}

/// A binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// What is there; several where variables that are something else share it.
    pub kinds: BTreeSet<Kind>,
    /// The first variable's name, or its block's where it has none.
    pub name: String,
    /// Descriptors that the shader declares; none where the array has no end.
    pub count: Option<u64>,
    /// An instruction that the entry point reaches names it (Vulkan's "statically used").
    pub used: bool,
    /// What is done with what it describes.
    pub access: Access,
    /// Which descriptors of it are accessed.
    pub elements: Elements,
    /// The blocks that are declared there, each layout once.
    pub blocks: Vec<Block>,
}

/// What is done with memory or an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Read, sampled, fetched, traced through; atomics as well.
    pub read: bool,
    /// Written; atomics as well.
    pub write: bool,
    /// By atomics.
    pub atomic: bool,
    /// Asked for its size, its length, or its levels.
    pub query: bool,
}

impl Access {
    /// In words, as `resource_slots.access` has them.
    pub fn text(self) -> &'static str {
        match (self.read, self.write) {
            (true, true) => "read write",
            (true, false) => "read",
            (false, true) => "write",
            (false, false) => "",
        }
    }

    /// Of both.
    pub fn and(&mut self, other: Access) {
        self.read |= other.read;
        self.write |= other.write;
        self.atomic |= other.atomic;
        self.query |= other.query;
    }
}

/// Descriptors of an array that are accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elements {
    /// These; that of a slot that is no array is 0.
    Known(BTreeSet<u64>),
    /// Which is decided at run time.
    Dynamic,
}

impl Elements {
    /// As `resource_slots.elements` has them: `0 2 5-7`. Empty where it is not known.
    pub fn text(&self) -> String {
        let Elements::Known(all) = self else { return String::new() };
        let mut runs: Vec<(u64, u64)> = vec![];
        for &e in all {
            match runs.last_mut() {
                Some(run) if run.1 + 1 == e => run.1 = e,
                _ => runs.push((e, e)),
            }
        }
        let run = |(a, b): &(u64, u64)| if a == b { a.to_string() } else { format!("{a}-{b}") };
        runs.iter().map(run).collect::<Vec<_>>().join(" ")
    }
}

/// A block: what lies in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its type's name.
    pub name: String,
    /// Up to behind its last member's last byte, of an array without end up to where that begins.
    pub bytes: u64,
    /// Bytes between the elements of the array without end at its end, if it has one.
    pub runtime_stride: Option<u64>,
    /// Its members, down to scalars, vectors, matrices and arrays of these, by offset.
    pub members: Vec<Member>,
    /// Bytes that are read, as ranges from and to, in order, that do not touch. Those of an array without end are not there.
    pub read: Vec<(u64, u64)>,
    /// Bytes that are written.
    pub written: Vec<(u64, u64)>,
}

/// A member of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its path: `light.colour`, `bones[].rotation`. Members that have lost their names are called `_0`, by their number.
    pub name: String,
    /// As GLSL writes it: `vec4`, `mat4x3`, `float[8]`. Of a member of an array of structs without the array's brackets.
    pub ty: String,
    /// From the beginning of the block.
    pub offset: u64,
    /// From its first byte to behind its last, with what lies between.
    pub bytes: u64,
    /// Bytes of one: of a float 4, of each of `bones[].rotation` what a rotation has.
    pub size: u64,
    /// The arrays that it is in or is, the outermost first: bytes between elements, and how many; 0 where there is no end.
    pub arrays: Vec<(u64, u64)>,
    /// How many of these are of structs that it is a member of.
    pub outer_arrays: usize,
    /// Bytes between columns, or rows; 0 where it is no matrix.
    pub matrix_stride: u64,
    /// The stride is between rows.
    pub row_major: bool,
    /// It, or a part of it, is read.
    pub read: bool,
    /// It, or a part of it, is written.
    pub written: bool,
}

impl Member {
    /// Its type with the arrays of structs that it is in, as `resource_members.type` has it: the outermost first.
    pub fn full_type(&self) -> String {
        let size = |(_, n): &(u64, u64)| if *n == 0 { "[]".to_owned() } else { format!("[{n}]") };
        let outer: String = self.arrays[..self.outer_arrays].iter().map(size).collect();
        match self.ty.find('[') {
            Some(at) => format!("{}{outer}{}", &self.ty[..at], &self.ty[at..]),
            None => format!("{}{outer}", self.ty),
        }
    }

    /// Bytes between elements of the outermost array, as `resource_members.array_stride` has them.
    pub fn array_stride(&self) -> u64 {
        self.arrays.first().map_or(0, |a| a.0)
    }

    /// The other arrays', as `resource_members.inner_strides` has them.
    pub fn inner_strides(&self) -> String {
        let inner = self.arrays.iter().skip(1).map(|a| a.0.to_string());
        inner.collect::<Vec<_>>().join(" ")
    }
}
