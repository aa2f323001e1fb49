//! What a draw, dispatch or trace reads and writes: vertex, index and indirect buffers, shader binding tables, push constants, and what its shaders
//! use of the descriptors that are bound.
//!
//! Guarantees: descriptors and dynamic offsets are as they are when the command is submitted; what no shader of the command uses is left out. Of
//! an array no more than [`MOST_ELEMENTS`] elements that were written are given, and it is said that there are more. What is read by an
//! address in a shader is not looked at, and neither are images that are rendered to, of an array among which shaders choose. Refuses nothing: what is not known is there, with the reason.

use super::{Programs, names};
use world::commands::{Indirect, Invoke, Place, Sizes, Stream, Table};
use world::layouts::ty;
use world::objects::ImageView;
use world::sets::Descriptor;
use world::{Leads, World};

/// Elements of an array that are given, at most.
pub const MOST_ELEMENTS: usize = 64;

/// A resource as a command uses it.
#[derive(Clone, Debug)]
pub struct Used {
    /// What it is: vertex buffer, index buffer, indirect arguments, … or the type of its descriptor.
    pub kind: &'static str,
    /// Which of its kind: a binding of vertex buffers, say; none for descriptors.
    pub binding: Option<u32>,
    /// Of a descriptor: set, binding and element.
    pub slot: Option<[u32; 3]>,
    /// The shader's name for it.
    pub name: String,
    /// Read, write, or both.
    pub access: &'static str,
    /// Where it lies.
    pub at: At,
}

/// Where it lies.
#[derive(Clone, Debug)]
pub enum At {
    /// In a buffer: its captured id, the first byte, how many.
    Buffer(u64, u64, u64),
    /// In what a view shows, in this VkImageLayout.
    Image(ImageView, u32),
    /// In calls: push constants, an inline uniform block.
    Bytes(Vec<u8>),
    /// In an acceleration structure, by its captured id.
    Structure(u64),
    /// It is not known, and why not.
    Unknown(&'static str),
}

impl Used {
    /// Whether the command may write to it.
    pub fn written(&self) -> bool {
        self.access.contains("write")
    }
}

/// What a draw uses, in order.
pub fn used(world: &World, programs: &mut Programs, invoke: &Invoke) -> Vec<Used> {
    let mut all = vec![];
    streams(world, invoke, &mut all);
    if let Sizes::Generated { .. } = &invoke.sizes {
        let at = At::Unknown("the device says what they are");
        let (kind, name) = ("generated commands", String::new());
        all.push(Used { kind, binding: None, slot: None, name, access: "read", at });
    }
    let facts = programs.facts(invoke);
    let pushed = &invoke.bindings.push.bytes;
    let pushed = &pushed[..pushed.len().min(facts.push_bytes as usize)];
    if !pushed.is_empty() {
        let at = At::Bytes(pushed.to_vec());
        let (kind, name) = ("push constants", String::new());
        all.push(Used { kind, binding: None, slot: None, name, access: "read", at });
    }
    for (&(set, binding), slot) in &facts.slots {
        let elements: Option<Vec<u32>> =
            slot.elements.as_ref().map(|e| e.iter().map(|e| *e as u32).collect());
        let mut found = vec![];
        world.bound_at(invoke, set, binding, elements.as_deref(), &mut found);
        let chosen = slot.elements.is_none() && found.len() > 1;
        let all_of = found.into_iter().filter_map(|(element, d)| {
            let (kind, at) = described(world, invoke, (set, binding), &d)?;
            Some((element, d, kind, at))
        });
        for (n, (element, d, kind, mut at)) in all_of.take(MOST_ELEMENTS + 1).enumerate() {
            if chosen && rendered(world, &at) {
                at =
                    At::Unknown("is one of several among which shaders choose, and may be in another layout");
            }
            if n == MOST_ELEMENTS {
                at = At::Unknown("is one of more elements than are read");
            }
            let access = if ty::writable(d.ty().unwrap_or(0)) { slot.access.text() } else { "read" };
            let slot_of = Some([set, binding, element]);
            let name = slot.name.clone();
            all.push(Used { kind, binding: None, slot: slot_of, name, access, at });
        }
    }
    all
}

/// Buffers beside descriptors.
fn streams(world: &World, invoke: &Invoke, all: &mut Vec<Used>) {
    let mut add = |kind, binding, place: Place, size: u64, access| {
        let at = match place {
            Place::Buffer { buffer: 0, .. } | Place::Address(0) => return,
            Place::Buffer { buffer, offset } => within(world, buffer, offset, size),
            Place::Address(a) => match world.at_address(a) {
                Some((buffer, offset)) => within(world, buffer, offset, size),
                None => At::Unknown("an address of nothing known"),
            },
        };
        all.push(Used { kind, binding, slot: None, name: String::new(), access, at });
    };
    if let Some(inputs) = &invoke.inputs {
        let each = |of: &[Option<Stream>]| -> Vec<(u32, Stream)> {
            (0..).zip(of).filter_map(|(n, s)| Some((n, (*s)?))).collect()
        };
        for (n, s) in each(&inputs.vertices) {
            add("vertex buffer", Some(n), s.place, s.size, "read");
        }
        if let Some((s, kind)) = inputs.indices.filter(|_| invoke.kind().contains("Indexed")) {
            let (skipped, size) = indices(&invoke.sizes, kind, s.size);
            let place = match s.place {
                Place::Buffer { buffer, offset } => {
                    Place::Buffer { buffer, offset: offset.saturating_add(skipped) }
                }
                Place::Address(a) => Place::Address(a.saturating_add(skipped)),
            };
            add("index buffer", None, place, size, "read");
        }
        for (n, s) in each(&inputs.feedback) {
            add("transform feedback buffer", Some(n), s.place, s.size, "write");
        }
    }
    match &invoke.sizes {
        Sizes::Indirect(Indirect { place, draws, stride, size, counter }) => {
            let all = u64::from(draws.max(&1) - 1).saturating_mul(*stride).saturating_add(*size);
            add("indirect arguments", None, *place, all, "read");
            if let Some(counter) = counter {
                add("indirect count", None, *counter, 4, "read");
            }
        }
        Sizes::ByteCount { counter, .. } => add("indirect count", None, *counter, 4, "read"),
        _ => {}
    }
    let tables: &[Table] = match (&invoke.sizes, &invoke.tables) {
        (Sizes::Trace { tables, .. }, _) => tables,
        (_, Some(tables)) => &tables[..],
        _ => &[],
    };
    let names = ["ray generation table", "miss table", "hit table", "callable table"];
    for (kind, t) in names.into_iter().zip(tables).filter(|t| t.1.size != 0) {
        add(kind, None, t.place, t.size, "read");
    }
}

/// Whether it is an image that something else than copies may have written: of those that are not accessed nobody knows the layout.
fn rendered(world: &World, at: &At) -> bool {
    // VK_IMAGE_USAGE_STORAGE_BIT, COLOR_ATTACHMENT, DEPTH_STENCIL_ATTACHMENT, INPUT_ATTACHMENT
    const RENDERED: u32 = 0x8 | 0x10 | 0x20 | 0x80;
    let At::Image(view, _) = at else { return false };
    world.images.get(&view.image).is_none_or(|i| i.usage & RENDERED != 0)
}

/// Bytes of the index buffer before those that a draw reads, and how many it reads; `bound`: those that are bound.
fn indices(sizes: &Sizes, kind: u32, bound: u64) -> (u64, u64) {
    // VK_INDEX_TYPE_UINT16, VK_INDEX_TYPE_UINT32; else of 8 bits
    let bytes: u64 = match kind {
        0 => 2,
        1 => 4,
        _ => 1,
    };
    match sizes {
        Sizes::DrawIndexed { indices, first_index, .. } => {
            let skipped = u64::from(*first_index) * bytes;
            (skipped, (u64::from(*indices) * bytes).min(bound.saturating_sub(skipped)))
        }
        _ => (0, bound),
    }
}

/// As far as the buffer goes.
fn within(world: &World, buffer: u64, offset: u64, size: u64) -> At {
    let there = world.range_of(buffer, offset, u64::MAX);
    At::Buffer(buffer, offset, size.min(there))
}

/// A descriptor's type, and where it leads; none for samplers and what is bound to nothing.
fn described(
    world: &World,
    invoke: &Invoke,
    (set, binding): (u32, u32),
    d: &Descriptor,
) -> Option<(&'static str, At)> {
    let kind = names::descriptor(d.ty()?);
    let at = match world.leads(d) {
        Leads::Nowhere => return None,
        Leads::Buffer(buffer, offset, range) => within(world, buffer, offset, range),
        Leads::Image(view, layout) => match world.images.get(&view.image) {
            Some(i) if i.bound.is_empty() && i.swapchain == 0 => {
                At::Unknown("has no memory, or is a sparse image")
            }
            _ => At::Image(view, layout),
        },
        Leads::Structure(id) => At::Structure(id),
        Leads::Inline => At::Bytes(world.inline_bytes(invoke, set, binding).0.to_vec()),
        Leads::Address => At::Unknown("an address of nothing known"),
        Leads::Gone => At::Unknown("a view that is not there any more"),
        Leads::Unknown(why) => At::Unknown(why),
    };
    Some((kind, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_reads_the_indices_that_it_names() {
        let sizes = |indices, first_index| Sizes::DrawIndexed {
            indices,
            instances: 1,
            first_index,
            vertex_offset: 0,
            first_instance: 0,
        };
        assert_eq!(indices(&sizes(3, 6), 0, 100), (12, 6));
        assert_eq!(indices(&sizes(3, 6), 1, 32), (24, 8), "no more than are bound");
        assert_eq!(indices(&sizes(3, 6), 1_000_265_000, 100), (6, 3));
        assert_eq!(indices(&Sizes::Unknown, 1, 100), (0, 100));
    }
}
