//! What shares memory with what.
//!
//! Two accesses through one object share what their ranges do; of two buffers, the bytes that both lie on; of anything else, all of both if
//! the objects lie on the same bytes. What was destroyed when the second access came shares nothing with it: the device had done
//! with it by then. Guarantees: what is not known to be apart shares memory.

use crate::bindings::resources::Numbers;
use std::sync::Arc;

/// What stands for every buffer that has an address.
pub const ADDRESSED: u64 = u64::MAX;

/// Which part of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// First byte; of an image level and layer.
    pub first: u64,
    /// Last byte; of an image level and layer.
    pub last: u64,
    /// Of an image; 0 for bytes.
    pub aspects: u64,
}

fn low(n: u64) -> u64 {
    n & 0xffff_ffff
}

impl Range {
    /// Whether both have something in common.
    pub fn meets(&self, o: &Range) -> bool {
        if self.aspects == 0 || o.aspects == 0 {
            return self.first <= o.last && o.first <= self.last;
        }
        self.aspects & o.aspects != 0
            && self.first >> 32 <= o.last >> 32
            && o.first >> 32 <= self.last >> 32
            && low(self.first) <= low(o.last)
            && low(o.first) <= low(self.last)
    }

    /// Whether it has all of the other.
    pub fn holds(&self, o: &Range) -> bool {
        if self.aspects == 0 || o.aspects == 0 {
            return self.first <= o.first && self.last >= o.last;
        }
        o.aspects & !self.aspects == 0
            && self.first >> 32 <= o.first >> 32
            && self.last >> 32 >= o.last >> 32
            && low(self.first) <= low(o.first)
            && low(self.last) >= low(o.last)
    }

    /// What both have in common, of two that meet.
    pub fn common(&self, o: &Range) -> Range {
        if self.aspects == 0 || o.aspects == 0 {
            let (first, last) = (self.first.max(o.first), self.last.min(o.last));
            return Range { first, last, aspects: self.aspects | o.aspects };
        }
        let level =
            |a: u64, b: u64, most: bool| if most { (a >> 32).max(b >> 32) } else { (a >> 32).min(b >> 32) };
        let layer = |a: u64, b: u64, most: bool| if most { low(a).max(low(b)) } else { low(a).min(low(b)) };
        Range {
            first: level(self.first, o.first, true) << 32 | layer(self.first, o.first, true),
            last: level(self.last, o.last, false) << 32 | layer(self.last, o.last, false),
            aspects: self.aspects & o.aspects,
        }
    }
}

/// Where an object lies.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// buffer, image.
    pub kind: Arc<str>,
    /// The application's name for it.
    pub name: Arc<str>,
    /// The memory; 0 if it lies in several, or none that is known.
    pub memory: u64,
    /// The first byte there.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Shaders may have its address.
    pub addressed: bool,
    /// The last command before it was destroyed; 0 if it never was.
    pub gone: u64,
}

/// All objects.
#[derive(Debug, Default)]
pub struct Places(pub Numbers<Object>);

impl Places {
    /// Whether an access at `sequence` comes when the object is gone.
    pub fn is_gone(&self, object: u64, sequence: u64) -> bool {
        self.0.get(&object).is_some_and(|o| o.gone != 0 && o.gone < sequence)
    }

    /// The memory that a part of an object lies on, the first byte and the last; of an image all of its bytes.
    pub fn bytes(&self, object: u64, range: &Range) -> Option<(u64, u64, u64)> {
        let o = self.0.get(&object).filter(|o| o.memory != 0)?;
        match &*o.kind {
            "buffer" => {
                Some((o.memory, o.offset.saturating_add(range.first), o.offset.saturating_add(range.last)))
            }
            _ => Some((o.memory, o.offset, o.offset.saturating_add(o.bytes.max(1) - 1))),
        }
    }

    fn addressed(&self, object: u64) -> bool {
        object == ADDRESSED || self.0.get(&object).is_some_and(|o| o.addressed)
    }

    /// Whether these parts of two objects of one group share memory.
    pub fn meet(&self, (a, at_a): (u64, &Range), (b, at_b): (u64, &Range)) -> bool {
        if a == b {
            return at_a.meets(at_b);
        }
        // (what has an address may share its memory with what has none)
        if a == 0 || b == 0 || a == ADDRESSED || b == ADDRESSED {
            return true;
        }
        match (self.bytes(a, at_a), self.bytes(b, at_b)) {
            (Some(a), Some(b)) => a.0 == b.0 && a.1 <= b.2 && b.1 <= a.2,
            _ => self.addressed(a) && self.addressed(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, offset: u64, bytes: u64, gone: u64) -> Object {
        Object { kind: kind.into(), memory: 9, offset, bytes, gone, ..Object::default() }
    }

    #[test]
    fn only_bytes_that_both_lie_on_are_shared() {
        let mut p = Places::default();
        p.0.insert(1, object("buffer", 0, 64, 5));
        p.0.insert(2, object("buffer", 32, 64, 0));
        p.0.insert(3, object("image", 90, 64, 0));
        let range = |first, last| Range { first, last, aspects: 0 };
        let meet = |a, at_a, b, at_b| p.meet((a, &at_a), (b, &at_b));
        assert!(meet(1, range(0, 63), 2, range(0, 63)));
        assert!(!meet(1, range(0, 31), 2, range(0, 63)), "in front of the second");
        assert!(meet(1, range(32, 32), 2, range(0, 0)));
        assert!(!meet(2, range(0, 57), 3, range(0, 0)), "in front of the image");
        assert!(meet(2, range(58, 58), 3, range(0, 0)));
        assert!(meet(ADDRESSED, range(0, u64::MAX), 3, range(0, 0)));
        assert!(p.is_gone(1, 6) && !p.is_gone(1, 5) && !p.is_gone(2, 600));
    }

    #[test]
    fn levels_and_layers_are_two_numbers() {
        let part = |level: u64, layer: u64, levels: u64, layers: u64| Range {
            first: level << 32 | layer,
            last: (level + levels - 1) << 32 | (layer + layers - 1),
            aspects: 1,
        };
        let (a, b) = (part(0, 2, 3, 2), part(1, 0, 1, 8));
        assert!(a.meets(&b) && !a.holds(&b) && part(0, 0, 4, 8).holds(&a));
        assert_eq!(a.common(&b), part(1, 2, 1, 2));
        assert!(!part(0, 0, 1, 1).meets(&part(1, 0, 1, 1)));
        assert!(!a.meets(&Range { aspects: 2, ..b }));
    }
}
