//! Hand-made calls, without a device: what they leave images in.

use super::*;
use crate::looped::contents::layouts::Part;
use ash::vk::{ImageAspectFlags as A, ImageLayout as L};
use gfxr_parse::writer::ParamWriter;
use world::{Depth, Follow};

const ALL: u32 = u32::MAX;
/// Images of the tests: colour with 3 levels of 2 layers; depth and stencil; another colour image.
const COLOR: u64 = 10;
const DEPTH: u64 = 11;
const OTHER: u64 = 12;

fn base(id: u64) -> Option<(u64, Layouts)> {
    let layouts = match id {
        COLOR => Layouts::new(&[A::COLOR], 3, 2, L::UNDEFINED),
        DEPTH => Layouts::new(&[A::DEPTH, A::STENCIL], 1, 1, L::UNDEFINED),
        OTHER => Layouts::new(&[A::COLOR], 1, 1, L::GENERAL),
        _ => return None,
    };
    Some((id, layouts))
}

struct Bench(State, Follow);

impl Bench {
    fn new() -> Self {
        let mut follow = Follow::default();
        follow.deepen(Depth::Commands);
        Bench(State::default(), follow)
    }
    fn see(&mut self, name: &str, params: impl FnOnce(&mut ParamWriter)) {
        let call = Call::written(name, params).unwrap_or_else(|e| panic!("{name}: {e}"));
        if Tracker(Tracking::default()).wants().has(call.index) {
            self.0.see(&call, self.1.world(), &base);
        }
        self.1.call(&call, Outcome::captured(&call), &mut ());
    }
    fn end(&mut self, cmd: u64) {
        self.see("vkEndCommandBuffer", |w| {
            w.u64(cmd).i32(0);
        });
    }
    fn begin(&mut self, cmd: u64) {
        self.see("vkBeginCommandBuffer", |w| {
            w.u64(cmd).null_struct().i32(0);
        });
    }
    /// A barrier of the older kind; range: levels, layers.
    fn barrier(&mut self, cmd: u64, image: u64, aspects: A, range: [u32; 4], layouts: (L, L)) {
        self.see("vkCmdPipelineBarrier", |w| {
            w.u64(cmd).u32(1).u32(1).u32(0).u32(0).null_structs().u32(0).null_structs().u32(1);
            w.structures(1, |w, _| barrier(w, image, aspects, range, layouts));
        });
    }
    /// Ends what is being recorded, and submits.
    fn submit(&mut self, cmds: &[u64]) {
        for id in 0..10 {
            if self.1.world().is_recording(id) {
                self.end(id);
            }
        }
        self.see("vkQueueSubmit", |w| {
            w.u64(1).u32(1);
            w.structures(1, |w, _| {
                w.u32(4).null_struct().u32(0).null_array().null_array();
                w.u32(cmds.len() as u32).u64_array(cmds).u32(0).null_array();
            });
            w.u64(0).i32(0);
        });
    }
    fn of(&self, image: u64, aspect: usize, level: u32, layer: u32) -> L {
        let known = self.0.images.get(&image).map(|t| t.layouts.clone());
        known.unwrap_or_else(|| base(image).expect("an image").1).of(Part { aspect, level, layer })
    }
}

/// VkImageMemoryBarrier.
fn barrier(w: &mut ParamWriter, image: u64, aspects: A, range: [u32; 4], (from, to): (L, L)) {
    w.u32(45).null_struct().u32(0).u32(0).i32(from.as_raw()).i32(to.as_raw()).u32(ALL).u32(ALL).u64(image);
    w.u32(aspects.as_raw());
    for v in range {
        w.u32(v);
    }
}

#[test]
fn barriers_apply_when_they_execute_and_again_when_they_execute_again() {
    let mut b = Bench::new();
    b.begin(1);
    b.barrier(1, COLOR, A::COLOR, [1, ALL, 1, ALL], (L::UNDEFINED, L::GENERAL));
    b.begin(2);
    b.barrier(2, COLOR, A::COLOR, [0, ALL, 0, ALL], (L::UNDEFINED, L::SHADER_READ_ONLY_OPTIMAL));
    assert_eq!(b.of(COLOR, 0, 2, 1), L::UNDEFINED, "recorded only");
    b.submit(&[1]);
    let now: Vec<L> = (0..3).flat_map(|l| [b.of(COLOR, 0, l, 0), b.of(COLOR, 0, l, 1)]).collect();
    let (u, g) = (L::UNDEFINED, L::GENERAL);
    assert_eq!(now, [u, u, u, g, u, g]);
    b.submit(&[2]);
    assert_eq!(b.of(COLOR, 0, 1, 1), L::SHADER_READ_ONLY_OPTIMAL);
    // The same recording once more.
    b.submit(&[1]);
    assert_eq!((b.of(COLOR, 0, 1, 1), b.of(COLOR, 0, 0, 0)), (L::GENERAL, L::SHADER_READ_ONLY_OPTIMAL));
    // Recorded anew: what it held is gone.
    b.begin(1);
    b.submit(&[2, 1]);
    assert_eq!(b.of(COLOR, 0, 1, 1), L::SHADER_READ_ONLY_OPTIMAL);
}

#[test]
fn equal_layouts_move_nothing_and_depth_and_stencil_are_apart() {
    let mut b = Bench::new();
    b.begin(1);
    b.barrier(1, OTHER, A::COLOR, [0, 1, 0, 1], (L::UNDEFINED, L::UNDEFINED));
    let depth = (L::UNDEFINED, L::DEPTH_READ_ONLY_OPTIMAL);
    b.barrier(1, DEPTH, A::DEPTH, [0, ALL, 0, ALL], depth);
    b.submit(&[1]);
    assert_eq!(b.of(OTHER, 0, 0, 0), L::GENERAL);
    assert_eq!(b.of(DEPTH, 0, 0, 0), L::DEPTH_READ_ONLY_OPTIMAL);
    assert_eq!(b.of(DEPTH, 1, 0, 0), L::UNDEFINED);
}

#[test]
fn secondary_command_buffers_apply_where_they_are_executed() {
    let mut b = Bench::new();
    b.begin(7);
    b.barrier(7, OTHER, A::COLOR, [0, 1, 0, 1], (L::GENERAL, L::TRANSFER_SRC_OPTIMAL));
    b.begin(1);
    b.barrier(1, OTHER, A::COLOR, [0, 1, 0, 1], (L::UNDEFINED, L::GENERAL));
    b.see("vkCmdExecuteCommands", |w| {
        w.u64(1).u32(1).u64_array(&[7]);
    });
    // A secondary that is recorded anew between two submissions changes what the primary does.
    b.submit(&[1]);
    assert_eq!(b.of(OTHER, 0, 0, 0), L::TRANSFER_SRC_OPTIMAL);
    b.begin(7);
    b.submit(&[1]);
    assert_eq!(b.of(OTHER, 0, 0, 0), L::GENERAL);
}

#[test]
fn barriers_of_the_newer_kind_and_waits_for_events() {
    let mut b = Bench::new();
    b.begin(1);
    let newer = |w: &mut ParamWriter, image: u64, to: L| {
        // VkDependencyInfo
        w.u32(1_000_314_003).null_struct().u32(0).u32(0).null_structs().u32(0).null_structs().u32(1);
        w.structures(1, |w, _| {
            w.u32(1_000_314_002).null_struct().u64(0).u64(0).u64(0).u64(0);
            w.i32(L::UNDEFINED.as_raw()).i32(to.as_raw()).u32(3).u32(5).u64(image);
            w.u32(A::COLOR.as_raw()).u32(0).u32(ALL).u32(0).u32(ALL);
        });
    };
    b.see("vkCmdPipelineBarrier2KHR", |w| {
        w.u64(1).structure(|w| newer(w, COLOR, L::READ_ONLY_OPTIMAL));
    });
    b.see("vkCmdWaitEvents2", |w| {
        w.u64(1).u32(1).u64_array(&[99]);
        w.structures(1, |w, _| newer(w, OTHER, L::ATTACHMENT_OPTIMAL));
    });
    b.end(1);
    b.see("vkQueueSubmit2", |w| {
        w.u64(1).u32(1);
        w.structures(1, |w, _| {
            w.u32(1_000_314_004).null_struct().u32(0).u32(0).null_structs().u32(1);
            w.structures(1, |w, _| {
                w.u32(1_000_314_006).null_struct().u64(1).u32(0);
            });
            w.u32(0).null_structs();
        });
        w.u64(0).i32(0);
    });
    assert_eq!(b.of(COLOR, 0, 2, 1), L::READ_ONLY_OPTIMAL);
    assert_eq!(b.of(OTHER, 0, 0, 0), L::ATTACHMENT_OPTIMAL);
    // Given from one queue family to another.
    assert_eq!(b.0.images[&OTHER].owner, Some(5));
}

/// A view of all of an image's first level.
fn view(b: &mut Bench, id: u64, image: u64, aspects: A) {
    b.see("vkCreateImageView", |w| {
        w.u64(1).structure(|w| {
            w.u32(15).null_struct().u32(0).u64(image).i32(1).i32(37);
            w.i32(0).i32(0).i32(0).i32(0).u32(aspects.as_raw()).u32(0).u32(1).u32(0).u32(1);
        });
        w.null_struct().u64_ptr(id).i32(0);
    });
}

#[test]
fn render_passes_leave_attachments_in_their_final_layouts() {
    let mut b = Bench::new();
    view(&mut b, 20, COLOR, A::COLOR);
    view(&mut b, 21, DEPTH, A::DEPTH);
    b.see("vkCreateRenderPass", |w| {
        w.u64(1).structure(|w| {
            w.u32(38).null_struct().u32(0).u32(2);
            w.structures(2, |w, i| {
                let to = [L::PRESENT_SRC_KHR, L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL][i];
                w.u32(0).i32(37).u32(1).i32(0).i32(0).i32(0).i32(0).i32(0).i32(to.as_raw());
            });
            w.u32(0).null_structs().u32(0).null_structs();
        });
        w.null_struct().u64_ptr(30).i32(0);
    });
    b.see("vkCreateFramebuffer", |w| {
        w.u64(1).structure(|w| {
            w.u32(37).null_struct().u32(0).u64(30).u32(2).u64_array(&[20, 21]).u32(4).u32(4).u32(1);
        });
        w.null_struct().u64_ptr(40).i32(0);
    });
    b.begin(1);
    b.see("vkCmdBeginRenderPass", |w| {
        w.u64(1).structure(|w| {
            w.u32(43).null_struct().u64(30).u64(40).i32(0).i32(0).u32(4).u32(4).u32(0).null_structs();
        });
        w.i32(0);
    });
    b.submit(&[1]);
    assert_eq!(b.of(COLOR, 0, 0, 0), L::PRESENT_SRC_KHR);
    assert_eq!((b.of(COLOR, 0, 1, 0), b.of(COLOR, 0, 0, 1)), (L::UNDEFINED, L::UNDEFINED), "beyond the view");
    // A view of depth alone, and yet both aspects move.
    let both = L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    assert_eq!((b.of(DEPTH, 0, 0, 0), b.of(DEPTH, 1, 0, 0)), (both, both));
    assert!(b.0.written.contains(&COLOR) && b.0.written.contains(&DEPTH) && !b.0.written.contains(&OTHER));
}

#[test]
fn imageless_framebuffers_and_a_stencil_of_its_own() {
    let mut b = Bench::new();
    view(&mut b, 21, DEPTH, A::DEPTH | A::STENCIL);
    b.see("vkCreateRenderPass2", |w| {
        w.u64(1).structure(|w| {
            w.u32(1_000_109_004).null_struct().u32(0).u32(1);
            w.structures(1, |w, _| {
                w.u32(1_000_109_000);
                w.structure(|w| {
                    w.u32(1_000_241_002).null_struct().i32(0).i32(L::STENCIL_READ_ONLY_OPTIMAL.as_raw());
                });
                w.u32(0).i32(130).u32(1).i32(0).i32(0).i32(0).i32(0).i32(0);
                w.i32(L::DEPTH_ATTACHMENT_OPTIMAL.as_raw());
            });
            w.u32(0).null_structs().u32(0).null_structs().u32(0).null_array();
        });
        w.null_struct().u64_ptr(30).i32(0);
    });
    b.begin(1);
    b.see("vkCmdBeginRenderPass2", |w| {
        w.u64(1).structure(|w| {
            w.u32(43).structure(|w| {
                w.u32(1_000_108_003).null_struct().u32(1).u64_array(&[21]);
            });
            w.u64(30).u64(41).i32(0).i32(0).u32(4).u32(4).u32(0).null_structs();
        });
        w.structure(|w| {
            w.u32(1_000_109_005).null_struct().i32(0);
        });
    });
    b.submit(&[1]);
    assert_eq!(b.of(DEPTH, 0, 0, 0), L::DEPTH_ATTACHMENT_OPTIMAL);
    assert_eq!(b.of(DEPTH, 1, 0, 0), L::STENCIL_READ_ONLY_OPTIMAL);
}

#[test]
fn the_host_moves_images_at_once_and_ids_that_come_again_start_anew() {
    let mut b = Bench::new();
    b.see("vkTransitionImageLayoutEXT", |w| {
        w.u64(1).u32(1);
        w.structures(1, |w, _| {
            w.u32(1_000_270_006).null_struct().u64(OTHER);
            w.i32(L::GENERAL.as_raw()).i32(L::SHADER_READ_ONLY_OPTIMAL.as_raw());
            w.u32(A::COLOR.as_raw()).u32(0).u32(1).u32(0).u32(1);
        });
        w.i32(0);
    });
    assert_eq!(b.of(OTHER, 0, 0, 0), L::SHADER_READ_ONLY_OPTIMAL);
    b.see("vkDestroyImage", |w| {
        w.u64(1).u64(OTHER).null_struct();
    });
    assert_eq!(b.of(OTHER, 0, 0, 0), L::GENERAL);
}

#[test]
fn structures_that_are_built_and_copied_into_are_noted() {
    let mut b = Bench::new();
    b.begin(1);
    b.see("vkCmdCopyAccelerationStructureKHR", |w| {
        w.u64(1).structure(|w| {
            w.u32(1_000_150_010).null_struct().u64(50).u64(51).i32(0);
        });
    });
    assert!(b.0.rebuilt.is_empty());
    b.submit(&[1]);
    assert!(b.0.rebuilt.contains(&51) && !b.0.rebuilt.contains(&50));
}
