//! Where the blocks lie that an invocation's shaders use.
//!
//! Guarantees: dynamic offsets, array elements and descriptor buffers are resolved as they are when it is asked, which is at
//! the submission; a descriptor that is not known is told with the reason. Refuses nothing: what is bound to nothing is left
//! out.

use super::program::UsedBlock;
use replay::error::Result;
use world::commands::Invoke;
use world::sets::{Contents, Descriptor};
use world::{AtSet, World};

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

/// Finds the used blocks of an invocation, in order.
pub fn each<'w>(
    w: &'w World,
    invoke: &'w Invoke,
    used: &[UsedBlock],
    f: &mut dyn FnMut(Found<'w>) -> Result<()>,
) -> Result<()> {
    for block in used {
        match w.set(invoke, block.set as usize) {
            AtSet::Set { contents, offsets, .. } => in_set(w, block, contents, offsets, f)?,
            AtSet::Push { contents } => in_set(w, block, contents, &[], f)?,
            AtSet::Buffer { address, layout } => {
                let all = layout.binding(block.binding).map_or(0, |b| b.slots());
                for e in (0..all).filter(|e| block.elements.as_ref().is_none_or(|all| all.contains(e))) {
                    let d = w.in_descriptor_buffer(address, layout, block.binding, e);
                    one(w, block, e, d, 0, f)?;
                }
            }
            AtSet::Nothing | AtSet::Embedded { .. } => {}
        }
    }
    Ok(())
}

fn in_set<'w>(
    w: &World,
    block: &UsedBlock,
    contents: &'w Contents,
    offsets: &[u32],
    f: &mut dyn FnMut(Found<'w>) -> Result<()>,
) -> Result<()> {
    let Some(b) = contents.layout.binding(block.binding) else { return Ok(()) };
    for (e, d) in contents.written(block.binding) {
        if block.elements.as_ref().is_some_and(|all| !all.contains(&e)) {
            continue;
        }
        if d == Descriptor::Inline {
            let (bytes, written) = contents.inline_bytes(block.binding);
            f(Found::Inline(block.set, block.binding, bytes, written))?;
            continue;
        }
        let dynamic = match b.is_dynamic() {
            true => offsets.get((b.dynamic_start + e) as usize).copied().unwrap_or(0),
            false => 0,
        };
        one(w, block, e, d, dynamic.into(), f)?;
    }
    Ok(())
}

fn one<'w>(
    w: &World,
    block: &UsedBlock,
    element: u32,
    d: Descriptor,
    dynamic: u64,
    f: &mut dyn FnMut(Found<'w>) -> Result<()>,
) -> Result<()> {
    let (set, binding, storage) = (block.set, block.binding, block.storage);
    let unknown = |why| Found::Unknown((set, binding, element), block.bytes, why);
    let (buffer, offset, range) = match d {
        Descriptor::Buffer { buffer, offset, range, .. } if buffer != 0 => {
            (buffer, offset + dynamic, w.range_of(buffer, offset, range))
        }
        Descriptor::Address { address, range, .. } => match w.at_address(address) {
            Some((buffer, offset)) => (buffer, offset, range),
            None if address == 0 => return Ok(()),
            None => return f(unknown("an address of nothing known")),
        },
        Descriptor::Unknown { why, .. } => return f(unknown(why)),
        _ => return Ok(()),
    };
    let bytes = range.min(block.bytes);
    let beyond = block.declared && range < block.bytes;
    f(Found::Buffer(Read { set, binding, element, buffer, offset, bytes, beyond, storage }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use world::layouts::ty;
    use world::objects::Buffer;

    /// What is found behind a descriptor: (bytes, whether a shader declares more), or why that is not known.
    fn found(d: Descriptor, declared: bool) -> Vec<Result<(u64, bool), &'static str>> {
        let mut w = World::default();
        w.buffers.insert(7, Buffer { size: 256, ..Buffer::default() });
        w.addresses.insert(0x1000, 7, 256, ());
        let block = UsedBlock { set: 1, binding: 2, elements: None, bytes: 64, declared, storage: false };
        let mut all = vec![];
        let take = &mut |f: Found<'_>| {
            all.push(match f {
                Found::Buffer(r) => Ok((r.bytes, r.beyond)),
                Found::Unknown((1, 2, 3), 64, why) => Err(why),
                Found::Unknown(..) | Found::Inline(..) => Err("what is not there"),
            });
            Ok(())
        };
        one(&w, &block, 3, d, 0, take).expect("nothing that fails");
        all
    }

    #[test]
    fn what_a_descriptor_lacks_and_what_is_not_known_is_told() {
        let ty = ty::UNIFORM_BUFFER;
        let of = |range| Descriptor::Buffer { ty, buffer: 7, offset: 0, range };
        assert_eq!(found(of(64), true), [Ok((64, false))]);
        assert_eq!(found(of(u64::MAX), true), [Ok((64, false))]);
        assert_eq!(found(of(36), true), [Ok((36, true))]);
        assert_eq!(found(of(36), false), [Ok((36, false))], "of no size that a shader says");
        let at = |address| Descriptor::Address { ty, format: 0, address, range: 36 };
        assert_eq!(found(at(0x1080), true), [Ok((36, true))]);
        assert_eq!(found(at(0x9000), true), [Err("an address of nothing known")]);
        assert_eq!(found(at(0), true), []);
        assert_eq!(found(Descriptor::Unknown { ty, why: "a reason" }, true), [Err("a reason")]);
        assert_eq!(found(Descriptor::Unwritten, true), []);
    }
}
