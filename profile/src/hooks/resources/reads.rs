//! Where the blocks lie that a draw's shaders use.
//!
//! Guarantees: dynamic offsets, array elements and descriptor buffers are resolved as they are when it is asked, which is at
//! the submission; a descriptor that is not known is told with the reason. Refuses nothing: what is bound to nothing is left
//! out.

use super::program::UsedBlock;
use replay::error::Result;
use world::commands::Invoke;
use world::sets::Descriptor;
use world::{Leads, World};

/// A block that lies in a buffer, as it is followed.
#[derive(Clone, Debug)]
pub struct Read {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The array element.
    pub element: u32,
    /// The buffer.
    pub buffer: u64,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// A shader declares more than its descriptor has.
    pub beyond: bool,
    /// A storage buffer that shaders only read.
    pub storage: bool,
}

/// A block.
pub enum Found<'w> {
    /// In a buffer.
    Buffer(Read),
    /// An inline uniform block: set and binding, its bytes, and which of them were written.
    Inline(u32, u32, &'w [u8], &'w [bool]),
    /// Set, binding and element of one of which it is not known where it lies, its bytes, and why.
    Unknown((u32, u32, u32), u64, &'static str),
}

/// Finds the used blocks of a draw, in order.
pub fn each<'w>(
    w: &'w World,
    invoke: &'w Invoke,
    used: &[UsedBlock],
    f: &mut dyn FnMut(Found<'w>) -> Result<()>,
) -> Result<()> {
    let mut bound = vec![];
    for block in used {
        w.bound_at(invoke, block.set, block.binding, block.elements.as_deref(), &mut bound);
        for (element, d) in bound.drain(..) {
            let inline = || w.inline_bytes(invoke, block.set, block.binding);
            if let Some(found) = found(w, block, element, &d, inline) {
                f(found)?;
            }
        }
    }
    Ok(())
}

fn found<'w>(
    w: &World,
    block: &UsedBlock,
    element: u32,
    d: &Descriptor,
    inline: impl FnOnce() -> (&'w [u8], &'w [bool]),
) -> Option<Found<'w>> {
    let &UsedBlock { set, binding, storage, bytes, declared, .. } = block;
    let unknown = |why| Found::Unknown((set, binding, element), bytes, why);
    // (a mutable binding has these beside blocks)
    if matches!(d, Descriptor::Image { .. } | Descriptor::Texel { .. }) {
        return None;
    }
    Some(match w.leads(d) {
        Leads::Buffer(buffer, offset, range) => Found::Buffer(Read {
            set,
            binding,
            element,
            buffer,
            offset,
            bytes: range.min(bytes),
            beyond: declared && range < bytes,
            storage,
        }),
        Leads::Inline => {
            let (bytes, written) = inline();
            Found::Inline(set, binding, bytes, written)
        }
        Leads::Address => unknown("an address of nothing known"),
        Leads::Unknown(why) => unknown(why),
        Leads::Nowhere | Leads::Gone | Leads::Image(..) | Leads::Structure(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use world::layouts::ty;
    use world::objects::Buffer;

    /// What is found behind a descriptor: (bytes, whether a shader declares more), or why that is not known.
    fn behind(d: Descriptor, declared: bool) -> Option<Result<(u64, bool), &'static str>> {
        let mut w = World::default();
        w.buffers.insert(7, Buffer { size: 256, ..Buffer::default() });
        w.addresses.insert(0x1000, 7, 256, ());
        let block = UsedBlock { set: 1, binding: 2, elements: None, bytes: 64, declared, storage: false };
        Some(match found(&w, &block, 3, &d, Default::default)? {
            Found::Buffer(r) => Ok((r.bytes, r.beyond)),
            Found::Unknown((1, 2, 3), 64, why) => Err(why),
            Found::Unknown(..) | Found::Inline(..) => Err("what is not there"),
        })
    }

    #[test]
    fn what_a_descriptor_lacks_and_what_is_not_known_is_told() {
        let ty = ty::UNIFORM_BUFFER;
        let of = |range| Descriptor::Buffer { ty, buffer: 7, offset: 0, range };
        assert_eq!(behind(of(64), true), Some(Ok((64, false))));
        assert_eq!(behind(of(u64::MAX), true), Some(Ok((64, false))));
        assert_eq!(behind(of(36), true), Some(Ok((36, true))));
        assert_eq!(behind(of(36), false), Some(Ok((36, false))), "of no size that a shader says");
        let at = |address| Descriptor::Address { ty, format: 0, address, range: 36 };
        assert_eq!(behind(at(0x1080), true), Some(Ok((36, true))));
        assert_eq!(behind(at(0x9000), true), Some(Err("an address of nothing known")));
        assert_eq!(behind(at(0), true), None);
        assert_eq!(behind(Descriptor::Unknown { ty, why: "a reason" }, true), Some(Err("a reason")));
        assert_eq!(behind(Descriptor::Unwritten, true), None);
        let ty = ty::UNIFORM_TEXEL_BUFFER;
        assert_eq!(behind(Descriptor::Texel { ty, view: 9 }, true), None, "no block");
    }
}
