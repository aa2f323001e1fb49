//! Type 27: objects that need others to exist, though no call says so.
//!
//! Refuses nothing beyond missing bytes; kinds other than 1 are kept as they are.

use crate::container::fields::{Fields, Put};
use crate::error::Result;

/// Kind: a top-level acceleration structure and the bottom-level ones it refers to.
pub const ACCELERATION_STRUCTURES: u32 = 1;

/// Type 27.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentToChild {
    /// What they are; [`ACCELERATION_STRUCTURES`] so far.
    pub kind: u32,
    /// Handle id of the object that needs the others.
    pub parent: u64,
    /// Handle ids of those it needs.
    pub children: Vec<u64>,
}

impl ParentToChild {
    pub(crate) fn read(f: &mut Fields) -> Result<Self> {
        let (kind, parent) = (f.u32("dependency kind")?, f.u64("parent")?);
        let n = f.u32("child count")?;
        let children = f.records(n, 8, "children", |f| f.u64("child"))?;
        Ok(ParentToChild { kind, parent, children })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u32(self.kind);
        out.put_u64(self.parent);
        out.put_u32(self.children.len() as u32);
        self.children.iter().for_each(|&c| out.put_u64(c));
    }
}
