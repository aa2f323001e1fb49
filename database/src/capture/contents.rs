//! What a call says, as hashes that two recordings of one program have in common.
//!
//! The hash of what the program gave leaves out what a driver or a process chose: ids of objects (whether there is one counts),
//! device addresses, pointers. What the driver answered (outputs and the result) has a hash of its own. Guarantees: equal
//! calls have equal hashes, on every machine. Refuses nothing.

use gfxr_parse::image::{Image, Ptr};
use gfxr_parse::schema::{Member, StructDef, Ty};
use gfxr_parse::walk::{Masks, Outputs, Pointee, Visitor, walk_call};

/// The hashes of a call, of 64 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// What the program gave.
    pub given: u64,
    /// What the driver answered.
    pub answered: u64,
}

/// The first 64 bits of a hash of these bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    let all = blake3::hash(bytes);
    all.as_bytes()[..8].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Makes hashes; keeps its memory between calls.
#[derive(Default)]
pub struct Hasher {
    given: Vec<u8>,
    answered: Vec<u8>,
}

impl Hasher {
    /// Those of a call.
    pub fn of(&mut self, image: &Image) -> Contents {
        self.given.clear();
        self.answered.clear();
        let outputs = Outputs::default();
        let mut walk = Walk { masks: Masks::of(image), hasher: self, outputs };
        walk_call(image, &mut walk);
        Contents { given: hash(&self.given), answered: hash(&self.answered) }
    }
}

struct Walk<'h> {
    masks: Masks,
    hasher: &'h mut Hasher,
    outputs: Outputs,
}

impl Walk<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let to = if self.outputs.here() { &mut self.hasher.answered } else { &mut self.hasher.given };
        to.extend_from_slice(bytes);
    }
}

impl Visitor for Walk<'_> {
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        match ty {
            Ty::Handle(_) | Ty::ObjectHandle(_) => {
                let there = image.u64(at) != 0 && !self.masks.is_rubbish(at);
                self.put(&[there.into()]);
            }
            Ty::Opaque => {}
            // (where the driver answers with one, its number is the answer)
            _ if self.masks.is_address(ty, at) && !self.outputs.here() => {
                self.put(&[(image.u64(at) != 0).into()]);
            }
            Ty::Bits { shift, width } => {
                let mask = if width >= 32 { u32::MAX } else { (1 << width) - 1 };
                self.put(&(image.u32(at) >> shift & mask).to_le_bytes());
            }
            _ => {
                let at = at as usize;
                self.put(&image.bytes()[at..at + ty.c_layout().0]);
            }
        }
    }

    fn values(&mut self, image: &Image, ty: Ty, at: u32, n: u64) {
        let size = ty.c_layout().0;
        match ty {
            Ty::Handle(_) | Ty::ObjectHandle(_) | Ty::Opaque | Ty::DeviceAddress | Ty::Bits { .. } => {
                (0..n as u32).for_each(|i| self.value(image, ty, at + i * size as u32));
            }
            _ if size == 8 && self.masks.has_addresses() => {
                (0..n as u32).for_each(|i| self.value(image, ty, at + i * 8));
            }
            _ => self.put(&image.bytes()[at as usize..at as usize + n as usize * size]),
        }
    }

    fn pointer(&mut self, _: &Image, p: &Ptr, _: Pointee) {
        self.put(&[p.is_null().into(), p.has_data().into()]);
        if p.has_data() {
            self.put(&p.len.to_le_bytes());
        }
    }

    fn text(&mut self, image: &Image, at: u32, n: u64, unit: u32) {
        self.put(&image.bytes()[at as usize..at as usize + n as usize * unit as usize]);
    }

    fn begin_struct(&mut self, _: &Image, def: &'static StructDef, _: u32) {
        self.outputs.begin();
        // (of a chain, which struct it is)
        self.put(&def.stype.unwrap_or(0).to_le_bytes());
    }

    fn end_struct(&mut self, _: &'static StructDef) {
        self.outputs.end();
    }

    fn member(&mut self, m: &'static Member) {
        self.outputs.member(m);
    }

    fn ret(&mut self) {
        self.outputs.result();
    }

    fn template_counts(&mut self, counts: [u64; 3]) {
        counts.iter().for_each(|n| self.put(&n.to_le_bytes()));
    }

    fn template_tail(&mut self, count: u64, ty: u64) {
        self.put(&count.to_le_bytes());
        self.put(&ty.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::ahead::Call;

    fn draw(buffer: u64, vertices: u32) -> Contents {
        let call = Call::written("vkCmdDraw", |w| {
            w.u64(buffer);
            for n in [vertices, 1, 0, 0] {
                _ = w.u32(n);
            }
        });
        Hasher::default().of(&call.expect("a call").image)
    }

    #[test]
    fn ids_are_no_contents_and_numbers_are() {
        assert_eq!(draw(7, 36), draw(8, 36));
        assert_ne!(draw(7, 36).given, draw(7, 72).given);
        assert_ne!(draw(7, 36).given, draw(0, 36).given, "whether there is one counts");
    }

    #[test]
    fn what_the_driver_answers_is_apart() {
        let wait = |result: i32| {
            let call = Call::written("vkQueueWaitIdle", |w| {
                w.u64(3);
                w.u32(result.cast_unsigned());
            });
            Hasher::default().of(&call.expect("a call").image)
        };
        assert_eq!(wait(0).given, wait(-4).given);
        assert_ne!(wait(0).answered, wait(-4).answered);
    }
}
