//! Resources that share memory, and memory that there is not.

use super::*;
use crate::vulkan::memory::{Bound, MemoryState};

const MEMORY: u64 = 400;

#[test]
fn of_images_that_share_memory_the_one_used_last_is_there_again() {
    let Some(mut b) = Bench::open() else { return };
    let shape = || Shape::new("shared", F::R8G8B8A8_UNORM, (16, 16, 1));
    // By id it would be the other way round.
    let (older, newer) = (21, 20);
    let (d, size) = (b.d().ash.clone(), 1 << 16);
    let info = vk::MemoryAllocateInfo::default().allocation_size(size);
    // SAFETY: a plain allocation on a live device, of a type that there is.
    let memory = unsafe { d.allocate_memory(&info, None) }.expect("memory");
    for id in [older, newer] {
        assert!(b.image_in(id, &shape(), Some(memory)));
    }
    let bound = |resource, size| Bound { resource, image: true, device_only: false, offset: 0, size };
    let bytes = b.vk().images[&older].size;
    let state = MemoryState {
        device: DEVICE,
        size,
        live: memory,
        bound: vec![bound(newer, bytes), bound(older, bytes)],
        ..Default::default()
    };
    b.vk().memory.by_id.insert(MEMORY, state);
    for id in [older, newer] {
        b.vk().images.get_mut(&id).expect("made").memory = Some((MEMORY, 0));
        b.fill(id, id as u32, L::GENERAL);
        let tracking = b.tracking.clone();
        let base = tracker::untouched(&b.vk().images[&id]);
        let live = b.vk().images[&id].live.as_raw();
        tracking.state_mut().apply(&scan::Event::Write(id), &|_| Some((live, base.clone())));
    }
    let before = b.texels(newer);
    let mut snapshot = Snapshot::take(&mut b.cx, &b.tracking.clone()).expect("taken");
    // The frame writes both.
    for id in [newer, older] {
        b.fill(id, 77, L::GENERAL);
        let tracking = b.tracking.clone();
        tracking.state_mut().apply(&scan::Event::Write(id), &|_| None);
    }
    assert!(b.texels(newer) != before, "nothing to put back");
    assert_eq!(snapshot.learn(&mut b.cx).expect("learned").images, 2);
    assert_eq!(snapshot.restore(&mut b.cx).expect("restored").images, 2);
    assert!(b.texels(newer) == before, "the image that was used last is not what it was");
    snapshot.release(&mut b.cx);
    b.silent();
}

#[test]
fn memory_that_is_not_there_is_asked_for_by_its_size() {
    let Some(mut b) = Bench::open() else { return };
    // Of no type: software devices give out more than there is.
    let need = vk::MemoryRequirements { size: 4321, alignment: 1, memory_type_bits: 0 };
    let mut cost = Cost { bytes: 1234, ..Cost::default() };
    let refused = twin::memory(b.d(), need, AllocKind::Linear, false, &mut cost).err().expect("refused");
    assert_eq!(refused.kind(), crate::error::Kind::Memory);
    let said = refused.to_string();
    assert!(said.contains("1234 bytes") && said.contains("4321"), "{said}");
    assert_eq!(cost.bytes, 1234);
}
