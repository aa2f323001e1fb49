//! Where pointers lie: what a shader is given, and the members of it that lead on.

/// Where a shader begins to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    /// The push constants.
    PushConstants,
    /// A uniform or storage buffer.
    Buffer {
        /// Descriptor set.
        set: u32,
        /// Binding; an array of descriptors is one root.
        binding: u32,
    },
    /// The data behind a shader group's handle.
    Record,
}

/// What a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Memory of this layout.
    Layout(usize),
    /// An acceleration structure.
    Structure,
}

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    /// Bytes from one element to the next.
    pub stride: u32,
    /// How many there are; none if only the buffer's end says.
    pub count: Option<u32>,
}

/// A pointer, or an array of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Bytes from where the layout begins to the first of them.
    pub offset: u32,
    /// The arrays around it, outermost first.
    pub dims: Vec<Dim>,
    /// What it leads to.
    pub target: Target,
}

/// What lies in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Its pointers.
    pub fields: Vec<Field>,
    /// Bytes that the module declares, pointers and others: first and one past the last.
    pub declared: Vec<(u32, u32)>,
}

impl Field {
    /// Whether one of its pointers lies `at` bytes from where the layout begins.
    pub fn is_at(&self, at: u64) -> bool {
        let Some(mut left) = at.checked_sub(u64::from(self.offset)) else { return false };
        for d in &self.dims {
            let stride = u64::from(d.stride.max(1));
            let i = d.count.map_or(left / stride, |n| (left / stride).min(u64::from(n.max(1)) - 1));
            left -= i * stride;
        }
        left == 0
    }
}
