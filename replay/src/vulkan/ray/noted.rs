//! What fills acceleration structures, as hooks are told it: builds with their geometries, copies, serialised structures.

use ash::vk;

/// Something that fills a structure.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The capture's id of the command buffer that does it; none if it is done.
    pub command_buffer: Option<u64>,
    /// The capture's id of the device.
    pub device: u64,
    /// What.
    pub event: Event,
}

/// See [`Noted`]. Structures are the capture's ids.
#[derive(Clone, Debug)]
pub enum Event {
    /// A build.
    Build(Build),
    /// A copy, whatever its mode.
    Copy {
        /// What is copied.
        from: u64,
        /// Where to.
        to: u64,
    },
    /// A copy to memory, at this captured address.
    Serialise {
        /// What is copied.
        from: u64,
        /// Where to; on the host or on the device.
        at: (bool, u64),
    },
    /// A copy out of memory.
    Deserialise {
        /// Where from; on the host or on the device.
        at: (bool, u64),
        /// What is made of it.
        to: u64,
    },
}

/// A build.
#[derive(Clone, Debug)]
pub struct Build {
    /// What is built.
    pub structure: u64,
    /// A top level.
    pub top: bool,
    /// An update of another, or of itself.
    pub update: bool,
    /// VkBuildAccelerationStructureFlagsKHR.
    pub flags: u32,
    /// The capture's number of the call; 0 in a snapshot.
    pub command: u64,
    /// Its geometries.
    pub geometries: Vec<Geometry>,
}

/// A geometry of a build.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// What it is of.
    pub kind: Kind,
    /// VkGeometryFlagsKHR.
    pub flags: u32,
    /// Primitives at most; how many there are stands at the beginning of its buffer, 32 bits.
    pub most: u32,
    /// The buffer with its data ([`crate::vulkan::Vulkan::read_input`]); none if it has none.
    pub buffer: Option<u64>,
    /// What was not copied, in words; empty where all was.
    pub missing: String,
}

/// What a geometry is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Three corners each, of so many 32-bit words.
    Triangles {
        /// Of a corner.
        format: vk::Format,
        /// Of a corner.
        words: u32,
        /// There is a transform.
        transform: bool,
    },
    /// Six 32-bit numbers each.
    Boxes,
    /// A VkAccelerationStructureInstanceKHR each, with the capture's references.
    Instances,
    /// Something else.
    Other,
}
