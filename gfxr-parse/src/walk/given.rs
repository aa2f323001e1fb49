//! Which values of a call the program gave, and meant.
//!
//! Guarantees: what a driver writes, and ids that lie there by chance, are told. Refuses nothing.

use crate::image::Image;
use crate::schema::{Member, Ty};
use std::collections::HashSet;

/// Which values of an image are no values of the program's.
pub struct Masks {
    lenient: HashSet<u32>,
    addresses: HashSet<u32>,
}

impl Masks {
    /// Those of an image.
    pub fn of(image: &Image) -> Masks {
        let lenient = image.handles.iter().filter(|h| h.lenient).map(|h| h.at).collect();
        Masks { lenient, addresses: image.addresses.iter().copied().collect() }
    }
    /// The value is a device address.
    pub fn is_address(&self, ty: Ty, at: u32) -> bool {
        ty == Ty::DeviceAddress || self.addresses.contains(&at)
    }
    /// Some value among those of 64 bits may be one.
    pub fn has_addresses(&self) -> bool {
        !self.addresses.is_empty()
    }
    /// An id that the program may have left there by chance.
    pub fn is_rubbish(&self, at: u32) -> bool {
        self.lenient.contains(&at)
    }
}

/// Whether what is visited is what a driver writes: told of members and structs on the way.
#[derive(Default)]
pub struct Outputs {
    depth: u32,
    since: Option<u32>,
}

impl Outputs {
    /// A member comes next.
    pub fn member(&mut self, m: &Member) {
        if self.since.is_some_and(|d| self.depth <= d) {
            self.since = None;
        }
        if m.out && self.since.is_none() {
            self.since = Some(self.depth);
        }
    }
    /// A struct begins.
    pub fn begin(&mut self) {
        self.depth += 1;
    }
    /// It ends.
    pub fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
    /// The result comes next.
    pub fn result(&mut self) {
        self.since = Some(0);
    }
    /// It is.
    pub fn here(&self) -> bool {
        self.since.is_some()
    }
}
