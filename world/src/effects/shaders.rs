//! What shaders write: all of it is known no longer.
//!
//! Guarantees: without knowing a program's shaders, everything that they could write counts as written. Refuses nothing.

use super::super::bytes::{Reason, Why};
use super::super::commands::Invoke;
use super::super::layouts::ty;
use super::super::sets::Descriptor;
use crate::{Leads, World};

/// What a program's shaders may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Set and binding, and which elements; none for all of them.
    pub slots: Vec<(u32, u32, Option<Vec<u32>>)>,
    /// They write through pointers: everything that has an address.
    pub pointers: bool,
    /// They take descriptors that are not known here: everything that any descriptor could name.
    pub anything: bool,
}

impl Written {
    /// Everything that a program could write, for all that its layout says.
    pub fn all(invoke: &Invoke) -> Self {
        let Some(layout) = invoke.bindings.program.layout() else {
            return Written { pointers: true, ..Written::default() };
        };
        let sets = (0..).zip(&layout.sets).filter_map(|(n, s)| Some((n, s.as_ref()?)));
        let slots = sets.flat_map(|(n, s)| {
            s.bindings.iter().filter(|b| ty::writable(b.ty)).map(move |b| (n, b.binding, None))
        });
        Written { slots: slots.collect(), pointers: true, anything: false }
    }
    /// Nothing.
    pub fn is_nothing(&self) -> bool {
        self.slots.is_empty() && !self.pointers && !self.anything
    }
}

impl World {
    /// An invocation ran whose shaders may have written this.
    pub fn wrote(&mut self, invoke: &Invoke, written: &Written, block: u64) {
        if written.is_nothing() {
            return;
        }
        let why = Why::new(Reason::Shader, block);
        if written.anything {
            self.bytes.forget_everything(why);
            return;
        }
        let mut found = Vec::new();
        for (set, binding, elements) in &written.slots {
            self.bound_at(invoke, *set, *binding, elements.as_deref(), &mut found);
        }
        if found.iter().any(|d| matches!(d.1, Descriptor::Unknown { .. })) {
            return self.bytes.forget_everything(why);
        }
        found.into_iter().for_each(|(_, d)| self.wrote_through(&d, why));
        if written.pointers && !self.addresses.is_empty() {
            self.forget_addressed(Why::new(Reason::Pointer, block));
        }
    }

    /// What a shader may have written through a descriptor.
    fn wrote_through(&mut self, d: &Descriptor, why: Why) {
        // (an address of nothing known may be in any buffer that has one)
        match *d {
            Descriptor::Address { address, range, .. } => self.forget_address(address, range, why),
            Descriptor::Image { view, .. } => self.forget_view(view, why),
            _ => {
                if let Leads::Buffer(buffer, offset, range) = self.leads(d) {
                    self.forget_buffer(buffer, offset, range, why);
                }
            }
        }
    }
}
