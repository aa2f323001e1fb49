//! Descriptor buffers.

use crate::bench::*;
use crate::commands::Sizes;
use crate::layouts::ty;
use crate::sets::Descriptor;
use crate::{At, Invocation, World};

/// A buffer of 256 bytes at address 0x1000 in memory 100, from its 64th byte on.
fn with_buffer() -> Bench {
    let mut b = Bench::new();
    b.see("vkAllocateMemory", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(5).null_struct().u64(1024).u32(0);
        });
        w.null_struct().u64_ptr(100).i32(0);
    });
    b.see("vkCreateBuffer", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(12).null_struct().u32(0).u64(256).u32(1 << 17).u32(0).u32(0).null_array();
        });
        w.null_struct().u64_ptr(101).i32(0);
    });
    b.see("vkBindBufferMemory", |w| {
        w.u64(DEVICE).u64(101).u64(100).u64(64).i32(0);
    });
    b.see("vkGetBufferDeviceAddress", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkBufferDeviceAddressInfo")).null_struct().u64(101);
        });
        w.u64(0x1000);
    });
    b
}

#[test]
fn addresses_lead_to_buffers() {
    let b = with_buffer();
    let w = b.follow.world();
    assert_eq!(w.at_address(0x1000), Some((101, 0)));
    assert_eq!(w.at_address(0x10FF), Some((101, 255)));
    assert_eq!((w.at_address(0x1100), w.at_address(0xFFF)), (None, None));
    let buffer = &w.buffers[&101];
    assert_eq!(buffer.bound.map(|b| (b.memory, b.offset)), Some((100, 64)));
    assert_eq!(w.range_of(101, 16, u64::MAX), 240);
}

#[test]
fn sets_in_descriptor_buffers_are_known_by_where_they_lie() {
    let mut b = with_buffer();
    b.set_layout(20, 0x10, &[(0, ty::UNIFORM_BUFFER, 1), (3, ty::SAMPLER, 1)], &[]);
    b.pipeline_layout(30, &[20, 20], &[]);
    b.compute_pipeline(40, 30);
    b.begin(9);
    b.bind(9, 40);
    b.see("vkCmdBindDescriptorBuffersEXT", |w| {
        w.u64(9).u32(1);
        w.structures(1, |w, _| {
            w.u32(stype("VkDescriptorBufferBindingInfoEXT")).null_struct().u64(0x1000).u32(0);
        });
    });
    b.see("vkCmdSetDescriptorBufferOffsetsEXT", |w| {
        w.u64(9).u32(1).u64(30).u32(1).u32(1).u32_array(&[0]).u64_array(&[128]);
    });
    b.dispatch(9);
    b.see("vkCmdBindDescriptorBufferEmbeddedSamplersEXT", |w| {
        w.u64(9).u32(1).u64(30).u32(0);
    });
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    let told = b.told_sets();
    let unknown = |ty, why| Descriptor::Unknown { ty, why };
    let of = |d: &Bound| match d {
        Bound::Buffer(all) => all.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        of(&told[0][1]),
        [
            (0, 0, unknown(ty::UNIFORM_BUFFER, "the program never asked for a descriptor of this type")),
            (3, 0, unknown(ty::SAMPLER, "the program never asked where the binding lies")),
        ]
    );
    assert_eq!((&told[0][0], &told[1][0]), (&Bound::Nothing, &Bound::Embedded));
}

#[test]
fn what_a_program_was_given_for_a_descriptor_is_what_its_bytes_mean() {
    let mut b = with_buffer();
    b.set_layout(20, 0x10, &[(0, ty::UNIFORM_BUFFER, 2), (3, ty::COMBINED_IMAGE_SAMPLER, 1)], &[]);
    b.see("vkGetDescriptorSetLayoutBindingOffsetEXT", |w| {
        w.u64(DEVICE).u64(20).u32(3).u64_ptr(32);
    });
    b.see("vkGetDescriptorEXT", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkDescriptorGetInfoEXT")).null_struct().u32(ty::UNIFORM_BUFFER);
            w.structure(|w| {
                w.u32(stype("VkDescriptorAddressInfoEXT")).null_struct().u64(0x1010).u64(16).u32(0);
            });
        });
        w.u64(4).u8_array(&[1, 2, 3, 4]);
    });
    b.see("vkGetDescriptorEXT", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkDescriptorGetInfoEXT")).null_struct().u32(ty::COMBINED_IMAGE_SAMPLER);
            w.structure(|w| {
                w.u64(71).u64(81).u32(5);
            });
        });
        w.u64(2).u8_array(&[9, 8]);
    });
    let w = b.follow.world();
    let buffer = Descriptor::Address { ty: ty::UNIFORM_BUFFER, format: 0, address: 0x1010, range: 16 };
    let image = Descriptor::Image { ty: ty::COMBINED_IMAGE_SAMPLER, view: 81, sampler: 71, layout: 5 };
    assert_eq!(w.descriptor_bytes.get(&[1, 2, 3, 4][..]), Some(&buffer));
    assert_eq!(w.descriptor_bytes.get(&[9, 8][..]), Some(&image));
    let layout = &w.set_layouts[&20];
    assert_eq!(w.binding_offsets.get(&(layout.class, 3)), Some(&32));
    let why = |d| if let Descriptor::Unknown { why, .. } = d { why } else { panic!("{d:?}") };
    // Nothing was written into the buffer.
    let read = |b, e| why(w.in_descriptor_buffer(0x1000, layout, b, e));
    assert_eq!((read(0, 1), read(3, 0)), ("never written", "never written"));
    assert_eq!(why(w.in_descriptor_buffer(0x9000, layout, 0, 0)), "an address that is not known");

    // A set at 128: two buffers from its beginning on, the image at 32.
    let layout = std::rc::Rc::clone(layout);
    let mut data = [0; 40];
    data[4..8].copy_from_slice(&[1, 2, 3, 4]);
    data[32..34].copy_from_slice(&[9, 8]);
    mapped(&mut b, 128, &data);
    let w = b.follow.world();
    let read = |b, e| w.in_descriptor_buffer(0x1080, &layout, b, e);
    assert_eq!((read(0, 0), read(0, 1), read(3, 0)), (Descriptor::Unwritten, buffer, image));
    mapped(&mut b, 128, &[5, 5, 5, 5]);
    let again = b.follow.world().in_descriptor_buffer(0x1080, &layout, 0, 0);
    assert_eq!(why(again), "bytes that no descriptor was got for");
}

/// The host writes into the buffer.
fn mapped(b: &mut Bench, offset: u64, data: &[u8]) {
    use crate::bytes::{Cause, Writer};
    b.follow.world_mut().bytes.write(100, 64 + offset, data, Cause::new(Writer::Mapped, 0, 101));
}

#[test]
fn indirect_sizes_are_those_in_memory_at_the_submission() {
    let mut b = with_buffer();
    b.set_layout(20, 0, &[], &[]);
    b.pipeline_layout(30, &[20], &[]);
    b.compute_pipeline(40, 30);
    b.begin(9);
    b.bind(9, 40);
    b.see("vkCmdDispatchIndirect", |w| {
        w.u64(9).u64(101).u64(16);
    });
    b.see("vkCmdDrawIndirectCount", |w| {
        w.u64(9).u64(101).u64(32).u64(101).u64(0).u32(9).u32(24);
    });
    b.end(9);
    #[derive(Default)]
    struct Ask(Vec<Result<Vec<Sizes>, &'static str>>);
    impl crate::Observer for Ask {
        fn invocation(&mut self, w: &World, _: &At, i: &Invocation<'_>) {
            assert!(i.invoke.is_indirect());
            self.0.push(w.sizes(i.invoke));
        }
        fn invoked(&mut self, _: &mut World, _: &At, _: &Invocation<'_>) {}
    }
    let submit = |b: &mut Bench| {
        let mut ask = Ask::default();
        let c = call("vkQueueSubmit", |w| {
            w.u64(QUEUE).u32(1);
            w.structures(1, |w, _| {
                w.u32(4).null_struct().u32(0).null_array().null_array().u32(1).u64_array(&[9]).u32(0);
                w.null_array();
            });
            w.u64(0).i32(0);
        });
        b.follow.call(&c, crate::Outcome::captured(&c), &mut ask);
        ask.0
    };
    assert_eq!(submit(&mut b), [Err("never written"), Err("never written")]);
    let words = |w: &[u32]| w.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    mapped(&mut b, 0, &words(&[2, 0, 0, 0, 4, 5, 6, 0, 3, 1, 0, 7, 0, 0, 6, 2, 1, 8]));
    let draw = |v, i, fv, fi| Sizes::Draw { vertices: v, instances: i, first_vertex: fv, first_instance: fi };
    assert_eq!(
        submit(&mut b),
        [
            Ok(vec![Sizes::Groups { base: [0; 3], count: [4, 5, 6] }]),
            Ok(vec![draw(3, 1, 0, 7), draw(6, 2, 1, 8)])
        ]
    );
}
