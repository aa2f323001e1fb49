//! Pointers that shaders find, by every way in which a buffer comes to a shader.

use super::Word;
use super::shaders::ShaderPointers;
use super::walk::found;
use gfxr_parse::writer::ParamWriter;
use pointers::{Entry, Field, Layout, Module, Root, Target};
use std::rc::Rc;
use world::bench::{Bench, DEVICE, stype, write};
use world::bytes::{Cause, Writer};
use world::layouts::ty;

/// A large buffer, a small one inside it, and one elsewhere: (id, address, bytes).
const LARGE: (u64, u64, u64) = (101, 0x1000, 256);
const SMALL: (u64, u64, u64) = (102, 0x1020, 16);
const OTHER: (u64, u64, u64) = (103, 0x9000, 256);

/// Descriptors of two bindings of one storage buffer each; the shader finds a pointer in the first word of the second's.
fn bench(flags: u32) -> (Bench, ShaderPointers) {
    let mut b = Bench::new();
    for (id, address, size) in [LARGE, SMALL, OTHER] {
        b.see("vkCreateBuffer", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(12).null_struct().u32(0).u64(size).u32(1 << 17).u32(0).u32(0).null_array();
            });
            w.null_struct().u64_ptr(id).i32(0);
        });
        b.see("vkGetBufferDeviceAddress", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(stype("VkBufferDeviceAddressInfo")).null_struct().u64(id);
            });
            w.u64(address);
        });
    }
    b.set_layout(20, flags, &[(0, ty::STORAGE_BUFFER, 1), (1, ty::STORAGE_BUFFER, 1)], &[]);
    b.pipeline_layout(30, &[20], &[(0x20, 0, 8)]);
    b.compute_pipeline(40, 30);
    let pointer = |to| Layout {
        fields: vec![Field { offset: 0, dims: vec![], target: Target::Layout(to) }],
        declared: vec![(0, 8)],
    };
    let roots = vec![(Root::Buffer { set: 0, binding: 1 }, 0), (Root::PushConstants, 0)];
    let module = Module {
        entries: vec![Entry { name: "main".into(), model: 5, roots }],
        layouts: vec![pointer(1), pointer(1)],
        untraced: 0,
    };
    let made = &b.follow.world().pipelines[&40].stages[0].module;
    let mut shaders = ShaderPointers { on: true, ..ShaderPointers::default() };
    shaders.modules.insert(Rc::as_ptr(made), (Rc::downgrade(made), Some(Rc::new(module))));
    // The pointer in OTHER leads to LARGE, behind SMALL, where there is another.
    shaders.journal.put(OTHER.0, 0, Word::new(LARGE.1 + 64, 0xA000, false));
    shaders.journal.put(LARGE.0, 64, Word::new(OTHER.1, 0xB000, false));
    (b, shaders)
}

/// Both pointers, if the shader sees OTHER.
const BOTH: [(u64, u64, u64); 2] = [(OTHER.0, 0, 0xA000), (LARGE.0, 64, 0xB000)];

/// What a dispatch finds whose buffers are bound by these calls.
fn finds(
    flags: u32,
    prepare: impl FnOnce(&mut Bench),
    bind: impl FnOnce(&mut Bench),
) -> Vec<(u64, u64, u64)> {
    let (mut b, mut shaders) = bench(flags);
    prepare(&mut b);
    b.begin(9);
    b.bind(9, 40);
    bind(&mut b);
    b.dispatch(9);
    b.end(9);
    found(&mut shaders, b.follow.world(), 32, &[9])
}

fn set_of(b: &mut Bench, from: u32, buffers: &[u64]) {
    b.sets(&[50], &[20]);
    b.write(&[(50, from, 0, ty::STORAGE_BUFFER, buffers)]);
}

fn bind_sets_2(b: &mut Bench) {
    b.see("vkCmdBindDescriptorSets2", |w| {
        w.u64(9);
        w.structure(|w| {
            w.u32(stype("VkBindDescriptorSetsInfo")).null_struct().u32(0x20).u64(30).u32(0);
            w.u32(1).u64_array(&[50]).u32(0).null_array();
        });
    });
}

/// A template that writes binding 1; its data.
fn template(b: &mut Bench, push: bool) {
    b.see("vkCreateDescriptorUpdateTemplate", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkDescriptorUpdateTemplateCreateInfo")).null_struct().u32(0).u32(1);
            w.structures(1, |w, _| {
                w.u32(1).u32(0).u32(1).u32(ty::STORAGE_BUFFER).u64(0).u64(24);
            });
            w.u32(push.into()).u64(20).u32(1).u64(30).u32(0);
        });
        w.null_struct().u64_ptr(45).i32(0);
    });
}

fn template_data(w: &mut ParamWriter) {
    w.preamble(gfxr_parse::image::attrib::SINGLE | gfxr_parse::image::attrib::DATA, None);
    w.u64(0).u64(1).u64(0);
    w.u64(OTHER.0).u64(0).u64(u64::MAX);
}

#[test]
fn sets_are_followed_however_they_are_written_and_bound() {
    let plain = |b: &mut Bench| b.bind_sets(9, 30, 0, &[50], &[]);
    assert_eq!(finds(0, |b| set_of(b, 1, &[OTHER.0]), plain), BOTH);
    assert_eq!(finds(0, |b| set_of(b, 1, &[LARGE.0]), plain), [], "another buffer");
    // What does not fit into a binding goes on in the next.
    assert_eq!(finds(0, |b| set_of(b, 0, &[LARGE.0, OTHER.0]), plain), BOTH);
    assert_eq!(finds(0, |b| set_of(b, 1, &[OTHER.0]), bind_sets_2), BOTH);
    let templated = |b: &mut Bench| {
        b.sets(&[50], &[20]);
        template(b, false);
        b.see("vkUpdateDescriptorSetWithTemplate", |w| {
            w.u64(DEVICE).u64(50).u64(45);
            template_data(w);
        });
    };
    assert_eq!(finds(0, templated, plain), BOTH);
}

#[test]
fn pushed_descriptors_are_followed() {
    let pushed = |b: &mut Bench| {
        b.see("vkCmdPushDescriptorSet", |w| {
            w.u64(9).u32(1).u64(30).u32(0).u32(1);
            w.structures(1, |w, _| write(w, &(0, 1, 0, ty::STORAGE_BUFFER, &[OTHER.0])));
        });
    };
    assert_eq!(finds(1, |_| (), pushed), BOTH);
    let templated = |b: &mut Bench| {
        b.see("vkCmdPushDescriptorSetWithTemplate", |w| {
            w.u64(9).u64(45).u64(30).u32(0);
            template_data(w);
        });
    };
    assert_eq!(finds(1, |b| template(b, true), templated), BOTH);
}

#[test]
fn pushed_pointers_lead_on() {
    let pushed = |b: &mut Bench| {
        b.see("vkCmdPushConstants", |w| {
            w.u64(9).u64(30).u32(0x20).u32(0).u32(8).u8_array(&OTHER.1.to_le_bytes());
        });
    };
    assert_eq!(finds(0, |_| (), pushed), BOTH);
}

#[test]
fn descriptor_buffers_are_followed() {
    let prepare = |b: &mut Bench| {
        b.see("vkAllocateMemory", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(5).null_struct().u64(1024).u32(0);
            });
            w.null_struct().u64_ptr(100).i32(0);
        });
        b.see("vkBindBufferMemory", |w| {
            w.u64(DEVICE).u64(LARGE.0).u64(100).u64(0).i32(0);
        });
        b.see("vkGetDescriptorSetLayoutBindingOffsetEXT", |w| {
            w.u64(DEVICE).u64(20).u32(1).u64_ptr(16);
        });
        b.see("vkGetDescriptorEXT", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(stype("VkDescriptorGetInfoEXT")).null_struct().u32(ty::STORAGE_BUFFER);
                w.structure(|w| {
                    w.u32(stype("VkDescriptorAddressInfoEXT")).null_struct().u64(OTHER.1).u64(256).u32(0);
                });
            });
            w.u64(16).u8_array(&[7; 16]);
        });
        // The set lies at the beginning of LARGE, its second binding 16 bytes from there.
        let host = Cause::new(Writer::Mapped, 0, LARGE.0);
        b.follow.world_mut().bytes.write(100, 16, &[7; 16], host);
    };
    let bind = |b: &mut Bench| {
        b.see("vkCmdBindDescriptorBuffersEXT", |w| {
            w.u64(9).u32(1);
            w.structures(1, |w, _| {
                w.u32(stype("VkDescriptorBufferBindingInfoEXT")).null_struct().u64(LARGE.1).u32(0);
            });
        });
        b.see("vkCmdSetDescriptorBufferOffsetsEXT", |w| {
            w.u64(9).u32(1).u64(30).u32(0).u32(1).u32_array(&[0]).u64_array(&[0]);
        });
    };
    assert_eq!(finds(0x10, prepare, bind), BOTH);
}
