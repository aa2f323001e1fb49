//! Which invocations are in which subgroup.

use crate::rays::events::Launch;

/// An assignment of invocations to subgroups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// Invocations, subgroup behind subgroup, by place.
    pub threads: Vec<u32>,
    /// Where each subgroup begins; one more at the end.
    pub starts: Vec<u32>,
}

impl Packing {
    /// As it was recorded: subgroups in the order of their first invocation.
    pub fn recorded(launch: &Launch) -> Packing {
        let mut p = Packing { threads: vec![], starts: vec![0] };
        for members in launch.subgroups() {
            p.threads.extend(members);
            p.starts.push(p.threads.len() as u32);
        }
        p
    }

    /// The same subgroups and places, where each invocation does the work of another.
    #[must_use]
    pub fn swizzled(&self, swizzle: &[u32]) -> Packing {
        let threads = self.threads.iter().map(|&t| swizzle[t as usize]).collect();
        Packing { threads, starts: self.starts.clone() }
    }

    /// How many subgroups there are.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A subgroup's invocations.
    pub fn warp(&self, number: usize) -> &[u32] {
        &self.threads[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}
