//! How descriptors come into sets.

use crate::bench::*;
use crate::layouts::ty;
use crate::sets::Descriptor;

const INLINE: u32 = ty::INLINE_UNIFORM_BLOCK;
const STRUCTURE: u32 = ty::ACCELERATION_STRUCTURE_KHR;

/// A layout of every way of writing, and a pipeline.
fn all(flags: u32) -> Bench {
    let mut b = Bench::new();
    let bindings = [
        (0, ty::UNIFORM_BUFFER, 2),
        (1, ty::COMBINED_IMAGE_SAMPLER, 2),
        (2, ty::UNIFORM_TEXEL_BUFFER, 2),
        (3, STRUCTURE, 2),
        (4, INLINE, 16),
        (5, ty::STORAGE_BUFFER, 1),
    ];
    b.set_layout(20, flags, &bindings, &[]);
    b.pipeline_layout(30, &[20], &[]);
    b.compute_pipeline(40, 30);
    b
}

/// The data of a template for it: two images, three buffers, one texel buffer, structures, inline bytes.
fn template_data(w: &mut gfxr_parse::writer::ParamWriter) {
    w.preamble(gfxr_parse::image::attrib::SINGLE | gfxr_parse::image::attrib::DATA, None);
    w.u64(2).u64(3).u64(1);
    for (sampler, view) in [(71, 81), (72, 82)] {
        w.u64(sampler).u64(view).u32(5);
    }
    for buffer in [91, 92, 93] {
        w.u64(buffer).u64(16).u64(32);
    }
    w.u64(95);
    w.u64(2).u32(STRUCTURE).u64(61).u64(62);
    w.u64(8).u32(INLINE).bytes(&[1, 2, 3, 4, 5, 6, 7, 8]);
}

/// Entries out of the order of their kinds: (binding, element, count, type).
const ENTRIES: [(u32, u32, u32, u32); 8] = [
    (5, 0, 1, ty::STORAGE_BUFFER),
    (1, 1, 1, ty::COMBINED_IMAGE_SAMPLER),
    (0, 0, 2, ty::UNIFORM_BUFFER),
    (4, 4, 4, INLINE),
    (3, 0, 2, STRUCTURE),
    (2, 1, 1, ty::UNIFORM_TEXEL_BUFFER),
    (1, 0, 1, ty::COMBINED_IMAGE_SAMPLER),
    (4, 12, 4, INLINE),
];

fn template(b: &mut Bench, id: u64, push: bool) {
    b.see("vkCreateDescriptorUpdateTemplate", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkDescriptorUpdateTemplateCreateInfo"))
                .null_struct()
                .u32(0)
                .u32(ENTRIES.len() as u32);
            w.structures(ENTRIES.len(), |w, i| {
                let (binding, element, count, ty) = ENTRIES[i];
                w.u32(binding).u32(element).u32(count).u32(ty).u64(999).u64(999);
            });
            w.u32(push.into()).u64(20).u32(1).u64(30).u32(0);
        });
        w.null_struct().u64_ptr(id).i32(0);
    });
}

fn check(c: &crate::sets::Contents) {
    let image =
        |sampler, view| Descriptor::Image { ty: ty::COMBINED_IMAGE_SAMPLER, view, sampler, layout: 5 };
    let buffer = |ty, buffer| Descriptor::Buffer { ty, buffer, offset: 16, range: 32 };
    assert_eq!((c.get(1, 0), c.get(1, 1)), (image(72, 82), image(71, 81)));
    assert_eq!(c.get(5, 0), buffer(ty::STORAGE_BUFFER, 91));
    assert_eq!(c.get(0, 0), buffer(ty::UNIFORM_BUFFER, 92));
    assert_eq!(c.get(0, 1), buffer(ty::UNIFORM_BUFFER, 93));
    assert_eq!(c.get(2, 0), Descriptor::Unwritten);
    assert_eq!(c.get(2, 1), Descriptor::Texel { ty: ty::UNIFORM_TEXEL_BUFFER, view: 95 });
    assert_eq!(c.get(3, 1), Descriptor::Structure { structure: 62 });
    let (bytes, written) = c.inline_bytes(4);
    assert_eq!((&bytes[4..8], &bytes[12..16]), (&[1, 2, 3, 4][..], &[5, 6, 7, 8][..]));
    assert_eq!(written.iter().filter(|w| **w).count(), 8);
}

#[test]
fn templates_write_every_kind() {
    let mut b = all(0);
    b.sets(&[50], &[20]);
    template(&mut b, 45, false);
    b.see("vkUpdateDescriptorSetWithTemplate", |w| {
        w.u64(DEVICE).u64(50).u64(45);
        template_data(w);
    });
    check(&b.follow.world().sets[&50].contents);
}

#[test]
fn templates_push_either_way() {
    for second in [false, true] {
        let mut b = all(1);
        template(&mut b, 45, true);
        b.begin(9);
        b.bind(9, 40);
        if second {
            b.see("vkCmdPushDescriptorSetWithTemplate2", |w| {
                w.u64(9);
                w.structure(|w| {
                    w.u32(stype("VkPushDescriptorSetWithTemplateInfo")).null_struct().u64(45).u64(30).u32(0);
                });
                template_data(w);
            });
        } else {
            b.see("vkCmdPushDescriptorSetWithTemplate", |w| {
                w.u64(9).u64(45).u64(30).u32(0);
                template_data(w);
            });
        }
        b.dispatch(9);
        b.end(9);
        struct Look(usize);
        impl crate::Observer for Look {
            fn invocation(&mut self, w: &crate::World, _: &crate::At, i: &crate::Invocation<'_>) {
                let crate::AtSet::Push { contents } = w.set(i.invoke, 0) else { panic!("pushed") };
                check(contents);
                self.0 += 1;
            }
        }
        let mut look = Look(0);
        let c = call("vkQueueSubmit", |w| {
            w.u64(QUEUE).u32(1);
            w.structures(1, |w, _| {
                w.u32(4).null_struct().u32(0).null_array().null_array().u32(1).u64_array(&[9]).u32(0);
                w.null_array();
            });
            w.u64(0).i32(0);
        });
        b.follow.call(&c, crate::Outcome::captured(&c), &mut look);
        assert_eq!(look.0, 1, "{second}");
    }
}

#[test]
fn every_array_of_a_write_is_read() {
    let mut b = all(0);
    b.sets(&[50], &[20]);
    b.see("vkUpdateDescriptorSets", |w| {
        w.u64(DEVICE).u32(4);
        w.structures(4, |w, i| {
            let ty = [ty::COMBINED_IMAGE_SAMPLER, ty::UNIFORM_TEXEL_BUFFER, STRUCTURE, INLINE][i];
            let binding = i as u32 + 1;
            w.u32(35);
            match ty {
                STRUCTURE => w.structure(|w| {
                    w.u32(stype("VkWriteDescriptorSetAccelerationStructureKHR")).null_struct().u32(2);
                    w.u64_array(&[61, 62]);
                }),
                INLINE => w.structure(|w| {
                    w.u32(stype("VkWriteDescriptorSetInlineUniformBlock")).null_struct().u32(4);
                    w.u8_array(&[1, 2, 3, 4]);
                }),
                _ => w.null_struct(),
            };
            let count = if ty == INLINE { 4 } else { 2 };
            w.u64(50).u32(binding).u32(0).u32(count).u32(ty);
            match ty {
                ty::COMBINED_IMAGE_SAMPLER => w.structures(2, |w, i| {
                    w.u64(71 + i as u64).u64(81 + i as u64).u32(5);
                }),
                _ => w.null_structs(),
            };
            w.null_structs();
            if ty == ty::UNIFORM_TEXEL_BUFFER {
                w.u64_array(&[95, 96])
            } else {
                w.null_array()
            };
        });
        w.u32(0).null_structs();
    });
    let c = &b.follow.world().sets[&50].contents;
    let image =
        |sampler, view| Descriptor::Image { ty: ty::COMBINED_IMAGE_SAMPLER, view, sampler, layout: 5 };
    assert_eq!((c.get(1, 0), c.get(1, 1)), (image(71, 81), image(72, 82)));
    assert_eq!(c.get(2, 1), Descriptor::Texel { ty: ty::UNIFORM_TEXEL_BUFFER, view: 96 });
    assert_eq!(c.get(3, 0), Descriptor::Structure { structure: 61 });
    assert_eq!(c.inline_bytes(4).0[..4], [1, 2, 3, 4]);
}

#[test]
fn sets_are_copied_also_to_themselves() {
    let mut b = all(0);
    b.sets(&[50, 51], &[20, 20]);
    b.write(&[(50, 0, 0, ty::UNIFORM_BUFFER, &[7, 8])]);
    let copies = [(50u64, 0u32, 0u32, 51u64, 0u32, 0u32, 2u32), (50, 0, 0, 50, 0, 1, 1)];
    b.see("vkUpdateDescriptorSets", |w| {
        w.u64(DEVICE).u32(0).null_structs().u32(2);
        w.structures(2, |w, i| {
            let c = copies[i];
            w.u32(36).null_struct().u64(c.0).u32(c.1).u32(c.2).u64(c.3).u32(c.4).u32(c.5).u32(c.6);
        });
    });
    let of = |set: u64| {
        let c = &b.follow.world().sets[&set].contents;
        c.written(0)
            .map(|d| if let Descriptor::Buffer { buffer, .. } = d.1 { buffer } else { 0 })
            .collect::<Vec<_>>()
    };
    assert_eq!((of(51), of(50)), (vec![7, 8], vec![7, 7]));
}

#[test]
fn pushed_descriptors_are_those_of_the_moment() {
    let mut b = Bench::new();
    b.set_layout(20, 1, &[(0, ty::UNIFORM_BUFFER, 2)], &[]);
    b.pipeline_layout(30, &[20], &[]);
    b.compute_pipeline(40, 30);
    let push = |b: &mut Bench, element: u32, buffer: u64| {
        b.see("vkCmdPushDescriptorSet", |w| {
            w.u64(9).u32(1).u64(30).u32(0).u32(1);
            w.structures(1, |w, _| write(w, &(0, 0, element, ty::UNIFORM_BUFFER, &[buffer])));
        });
    };
    b.begin(9);
    b.bind(9, 40);
    push(&mut b, 0, 7);
    b.dispatch(9);
    push(&mut b, 1, 8);
    b.dispatch(9);
    push(&mut b, 0, 9);
    b.dispatch(9);
    b.end(9);
    b.submit(&[9], &[], &[]);
    let pushed = |v: &[(u32, u32, u64)]| vec![Bound::Push(v.to_vec())];
    assert_eq!(
        b.told_sets(),
        [pushed(&[(0, 0, 7)]), pushed(&[(0, 0, 7), (0, 1, 8)]), pushed(&[(0, 0, 9), (0, 1, 8)])]
    );
}

#[test]
fn pools_take_their_sets_along() {
    let mut b = all(0);
    b.see("vkCreateDescriptorPool", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(33).null_struct().u32(0).u32(9).u32(0).null_structs();
        });
        w.null_struct().u64_ptr(POOL).i32(0);
    });
    b.sets(&[50, 51], &[20, 20]);
    assert_eq!(b.follow.world().sets.len(), 2);
    b.see("vkResetDescriptorPool", |w| {
        w.u64(DEVICE).u64(POOL).u32(0).i32(0);
    });
    assert!(b.follow.world().sets.is_empty());
}

#[test]
fn variable_counts_come_with_the_allocation() {
    let mut b = Bench::new();
    b.see("vkCreateDescriptorSetLayout", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(32);
            w.structure(|w| {
                let ty = stype("VkDescriptorSetLayoutBindingFlagsCreateInfo");
                w.u32(ty).null_struct().u32(2).u32_array(&[1, 1 | 4 | 8]);
            });
            w.u32(2).u32(2);
            w.structures(2, |w, i| {
                w.u32(i as u32).u32(ty::UNIFORM_BUFFER).u32([2, 1000][i]).u32(0x20).null_array();
            });
        });
        w.null_struct().u64_ptr(20).i32(0);
    });
    b.see("vkAllocateDescriptorSets", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(34);
            w.structure(|w| {
                let ty = stype("VkDescriptorSetVariableDescriptorCountAllocateInfo");
                w.u32(ty).null_struct().u32(1).u32_array(&[77]);
            });
            w.u64(POOL).u32(1).u64_array(&[20]);
        });
        w.u64_array(&[50]).i32(0);
    });
    let c = &b.follow.world().sets[&50].contents;
    let all: Vec<_> = c.layout.bindings.iter().map(|b| (c.count(b), b.flags)).collect();
    assert_eq!(all, [(2, 1), (77, 13)]);
}
