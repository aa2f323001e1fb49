//! Resources that share memory, and memory that there is not.

use super::*;
use crate::vulkan::memory::state::{Bound, MemoryState};

const MEMORY: u64 = 400;

// By id it would be the other way round.
const OLDER: u64 = 21;
const NEWER: u64 = 20;

fn shape() -> Shape {
    Shape::new("shared", F::R8G8B8A8_UNORM, (16, 16, 1))
}

#[test]
fn of_images_that_share_memory_the_one_used_last_is_there_again() {
    let Some(mut b) = Bench::open() else { return };
    let (d, size) = (b.d().ash.clone(), 1 << 16);
    let info = vk::MemoryAllocateInfo::default().allocation_size(size);
    // SAFETY: a plain allocation on a live device, of a type that there is.
    let memory = unsafe { d.allocate_memory(&info, None) }.expect("memory");
    for id in [OLDER, NEWER] {
        assert!(b.image_in(id, &shape(), Some((memory, 0))));
    }
    let bound = |resource, size| Bound { resource, image: true, device_only: false, offset: 0, size };
    let bytes = b.vk().images[&OLDER].size;
    let state = MemoryState {
        device: DEVICE,
        size,
        live: memory,
        bound: vec![bound(NEWER, bytes), bound(OLDER, bytes)],
        ..Default::default()
    };
    b.vk().memory.by_id.insert(MEMORY, state);
    for id in [OLDER, NEWER] {
        b.vk().images.get_mut(&id).expect("made").memory = Some((MEMORY, 0));
    }
    the_newer_one_is_there_again(b);
}

#[test]
fn also_where_one_was_bound_into_the_others_own_memory() {
    let Some(mut b) = Bench::open() else { return };
    // So that nothing begins where its block does.
    b.buffer(30, 4096, vk::BufferUsageFlags::empty());
    assert!(b.image(OLDER, &shape()) && b.image(22, &shape()));
    let older = b.vk().images[&OLDER].clone();
    let own = older.alloc.expect("memory of its own");
    let need = |size| vk::MemoryRequirements { size, alignment: 1, memory_type_bits: !0 };
    let part = own.part(0, need(older.size), false, false).expect("all of it");
    assert!(b.image_in(NEWER, &shape(), Some((part.memory(), part.offset()))));
    b.vk().images.get_mut(&NEWER).expect("made").alloc = Some(part);
    assert_eq!(take::sharing(b.vk()), [OLDER, NEWER].into(), "neighbours in a block share nothing");

    // A buffer within another image.
    let other = b.vk().images[&22].alloc.clone().expect("memory of its own");
    b.buffer(31, 64, vk::BufferUsageFlags::empty());
    let buffer = b.vk().buffers.get_mut(&31).expect("made");
    let elsewhere = std::mem::replace(&mut buffer.alloc, other.part(512, need(64), false, false));
    assert_eq!(take::sharing(b.vk()), [OLDER, NEWER, 22, 31].into());
    b.vk().buffers.get_mut(&31).expect("made").alloc = elsewhere;

    the_newer_one_is_there_again(b);
}

/// Both are filled, the newer one last; after a frame that writes both, the other way round, it is what it was.
fn the_newer_one_is_there_again(mut b: Bench) {
    for id in [OLDER, NEWER] {
        b.fill(id, id as u32, L::GENERAL);
        let tracking = b.tracking.clone();
        let base = tracker::untouched(&b.vk().images[&id]);
        let live = b.vk().images[&id].live.as_raw();
        tracking.state_mut().apply(&events::Event::Write(id), &|_| Some((live, base.clone())));
    }
    let before = b.texels(NEWER);
    let mut snapshot = Snapshot::take(&mut b.cx, &b.tracking.clone()).expect("taken");
    for id in [NEWER, OLDER] {
        b.fill(id, 77, L::GENERAL);
        let tracking = b.tracking.clone();
        tracking.state_mut().apply(&events::Event::Write(id), &|_| None);
    }
    assert!(b.texels(NEWER) != before, "nothing to put back");
    assert_eq!(snapshot.learn(&mut b.cx).expect("learned").images, 2);
    assert_eq!(snapshot.restore(&mut b.cx).expect("restored").images, 2);
    assert!(b.texels(NEWER) == before, "the image that was used last is not what it was");
    snapshot.release(&mut b.cx);
    b.silent();
}

#[test]
fn memory_that_is_not_there_is_asked_for_by_its_size() {
    let Some(mut b) = Bench::open() else { return };
    // Of no type: software devices give out more than there is.
    let need = vk::MemoryRequirements { size: 4321, alignment: 1, memory_type_bits: 0 };
    let mut cost = Cost { bytes: 1234, ..Cost::default() };
    let refused = backup::memory(b.d(), need, AllocKind::Linear, false, &mut cost).err().expect("refused");
    assert_eq!(refused.kind(), crate::error::Kind::Memory);
    let said = refused.to_string();
    assert!(said.contains("1234 bytes") && said.contains("4321"), "{said}");
    assert_eq!(cost.bytes, 1234);
}
