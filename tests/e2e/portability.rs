//! Captures of devices that this one is not: what differs is bridged, and said by `check` as it is done by the replay.
//!
//! The captures are written here call by call: three queue families, images handed from one to the other, work submitted before
//! what it waits for. `../shared/captures/foreign` has those of other programs.

use crate::device::device;
use crate::support::{Scratch, root, run, shared_captures, skip, text};
use gfxr_parse::container::{Compression, FileHeader};
use gfxr_parse::schema::{command_named, generated::STRUCTS, struct_named};
use gfxr_parse::writer::{ParamWriter, Writer};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub const INSTANCE: u64 = 1;
pub const GPU: u64 = 2;
pub const DEVICE: u64 = 3;
/// (queue, family, index).
const QUEUES: [(u64, u32, u32); 4] = [(10, 0, 0), (11, 1, 0), (12, 1, 1), (13, 2, 0)];
pub const TIMELINE: u64 = 20;
const IMAGE: u64 = 30;
pub const MEMORY: u64 = 31;
/// Command pools and command buffers of the families 0 and 1.
const POOLS: [u64; 2] = [40, 41];
pub const BUFFERS: [u64; 2] = [50, 51];

/// VkImageLayout.
pub const UNDEFINED: u32 = 0;
pub const TRANSFER_SRC: u32 = 6;
pub const TRANSFER_DST: u32 = 7;

pub fn stype(name: &str) -> u32 {
    STRUCTS[usize::from(struct_named(name).expect(name))].stype.expect("it has one")
}

/// A file, call after call.
pub struct File(Writer<Vec<u8>>);

impl File {
    pub fn new() -> Self {
        let header = FileHeader::new(Compression::None);
        File(Writer::new(Vec::new(), &header).expect("memory"))
    }

    pub fn call(&mut self, name: &str, params: impl FnOnce(&mut ParamWriter)) {
        let mut w = ParamWriter::new();
        params(&mut w);
        let id = command_named(name).expect(name).id;
        self.0.call(id, 1, w.as_bytes()).expect("memory");
    }

    pub fn write(self, scratch: &Scratch, name: &str) -> PathBuf {
        let file = scratch.path(name);
        std::fs::write(&file, self.0.finish().expect("memory")).expect("written");
        file
    }

    /// An instance and a device with three queue families: graphics, transfers, compute.
    pub fn device(&mut self) {
        self.call("vkCreateInstance", |w| {
            w.structure(|w| {
                w.u32(1).null_struct().u32(0);
                w.structure(|w| {
                    w.u32(0)
                        .null_struct()
                        .string("queues")
                        .u32(1)
                        .string("queues")
                        .u32(1)
                        .u32(1 << 22 | 3 << 12);
                });
                w.u32(0).null_array().u32(0).null_array();
            });
            w.null_struct().u64_ptr(INSTANCE).i32(0);
        });
        self.call("vkEnumeratePhysicalDevices", |w| {
            w.u64(INSTANCE).u32_ptr(1).u64_array(&[GPU]).i32(0);
        });
        self.call("vkGetPhysicalDeviceQueueFamilyProperties", |w| {
            let families: [(u32, u32); 3] = [(0b111, 1), (0b100, 2), (0b110, 1)];
            w.u64(GPU).u32_ptr(3);
            w.structures(3, |w, i| {
                w.u32(families[i].0).u32(families[i].1).u32(64).u32(1).u32(1).u32(1);
            });
        });
        self.call("vkCreateDevice", |w| {
            w.u64(GPU);
            w.structure(|w| {
                w.u32(stype("VkDeviceCreateInfo"));
                w.structure(|w| {
                    w.u32(stype("VkPhysicalDeviceTimelineSemaphoreFeatures")).null_struct().u32(1);
                });
                w.u32(0).u32(3);
                w.structures(3, |w, i| {
                    let priorities: &[f32] = if i == 1 { &[0.5, 1.0] } else { &[0.25] };
                    w.u32(2)
                        .null_struct()
                        .u32(0)
                        .u32(i as u32)
                        .u32(priorities.len() as u32)
                        .f32_array(priorities);
                });
                w.u32(0).null_array().u32(0).null_array().null_struct();
            });
            w.null_struct().u64_ptr(DEVICE).i32(0);
        });
        for (queue, family, index) in QUEUES {
            self.call("vkGetDeviceQueue", |w| {
                w.u64(DEVICE).u32(family).u32(index).u64_ptr(queue);
            });
        }
        self.call("vkCreateSemaphore", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(9);
                w.structure(|w| {
                    w.u32(stype("VkSemaphoreTypeCreateInfo")).null_struct().u32(1).u64(0);
                });
                w.u32(0);
            });
            w.null_struct().u64_ptr(TIMELINE).i32(0);
        });
    }

    /// An image that both families have in turns, and a command buffer for each.
    pub fn image(&mut self, concurrent: bool) {
        self.call("vkCreateImage", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(14)
                    .null_struct()
                    .u32(0)
                    .u32(1)
                    .u32(37)
                    .u32(8)
                    .u32(8)
                    .u32(1)
                    .u32(1)
                    .u32(1)
                    .u32(1)
                    .u32(0)
                    .u32(3);
                w.u32(concurrent.into());
                match concurrent {
                    true => w.u32(2).u32_array(&[0, 1]),
                    false => w.u32(0).null_array(),
                };
                w.u32(0);
            });
            w.null_struct().u64_ptr(IMAGE).i32(0);
        });
        self.call("vkAllocateMemory", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(5).null_struct().u64(1 << 16).u32(0);
            });
            w.null_struct().u64_ptr(MEMORY).i32(0);
        });
        self.call("vkBindImageMemory", |w| {
            w.u64(DEVICE).u64(IMAGE).u64(MEMORY).u64(0).i32(0);
        });
        for family in 0..2 {
            self.call("vkCreateCommandPool", |w| {
                w.u64(DEVICE);
                w.structure(|w| {
                    w.u32(39).null_struct().u32(0).u32(family);
                });
                w.null_struct().u64_ptr(POOLS[family as usize]).i32(0);
            });
            self.call("vkAllocateCommandBuffers", |w| {
                w.u64(DEVICE);
                w.structure(|w| {
                    w.u32(40).null_struct().u64(POOLS[family as usize]).u32(0).u32(1);
                });
                w.u64_array(&[BUFFERS[family as usize]]).i32(0);
            });
        }
    }

    /// vkCmdPipelineBarrier of the image: layouts, families.
    fn barrier(&mut self, buffer: u64, layouts: (u32, u32), families: (u32, u32)) {
        self.call("vkCmdPipelineBarrier", |w| {
            w.u64(buffer).u32(1 << 16).u32(1 << 16).u32(0).u32(0).null_structs().u32(0).null_structs().u32(1);
            w.structures(1, |w, _| {
                w.u32(45).null_struct().u32(1 << 12).u32(1 << 11).u32(layouts.0).u32(layouts.1);
                w.u32(families.0).u32(families.1).u64(IMAGE).u32(1).u32(0).u32(1).u32(0).u32(1);
            });
        });
    }

    pub fn begin(&mut self, buffer: u64) {
        self.call("vkBeginCommandBuffer", |w| {
            w.u64(buffer);
            w.structure(|w| {
                w.u32(42).null_struct().u32(0).null_struct();
            });
            w.i32(0);
        });
    }

    pub fn end(&mut self, buffer: u64) {
        self.call("vkEndCommandBuffer", |w| {
            w.u64(buffer).i32(0);
        });
    }

    /// Batches of (waits for, command buffers, signals) on a queue.
    fn submit(&mut self, queue: u64, batches: &[(u64, &[u64], u64)]) {
        self.call("vkQueueSubmit", |w| {
            w.u64(queue).u32(batches.len() as u32);
            w.structures(batches.len(), |w, i| {
                let (waits, buffers, signals) = batches[i];
                w.u32(4);
                w.structure(|w| {
                    w.u32(stype("VkTimelineSemaphoreSubmitInfo")).null_struct();
                    w.u32(1).u64_array(&[waits]).u32(1).u64_array(&[signals]);
                });
                w.u32(1).u64_array(&[TIMELINE]).u32_array(&[1 << 16]);
                w.u32(buffers.len() as u32).u64_array(buffers).u32(1).u64_array(&[TIMELINE]);
            });
            w.u64(0).i32(0);
        });
    }

    pub fn idle(&mut self) {
        self.call("vkDeviceWaitIdle", |w| {
            w.u64(DEVICE).i32(0);
        });
    }
}

/// A replay that the validation layer has nothing to say about; what it notes.
pub fn replay(file: &Path, flags: &[&str]) -> String {
    let name = file.to_str().expect("plain");
    let out = run([name, "--validate", "-v", "--watchdog", "20"].iter().chain(flags));
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("0 validation messages"), "{said}");
    said
}

#[test]
fn what_is_submitted_before_what_it_waits_for_runs_on_one_queue_too() {
    if !device("queues that wait for each other") {
        return;
    }
    let scratch = Scratch::new("portability-held");
    let mut f = File::new();
    f.device();
    // Each of the later queues signals what an earlier one waits for; the first has two batches, of which one can run.
    f.submit(10, &[(0, &[], 1), (4, &[], 5)]);
    f.submit(11, &[(3, &[], 4)]);
    f.submit(10, &[(5, &[], 6)]);
    f.submit(12, &[(2, &[], 3)]);
    f.submit(13, &[(1, &[], 2)]);
    f.call("vkWaitSemaphores", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            let stype = stype("VkSemaphoreWaitInfo");
            w.u32(stype).null_struct().u32(0).u32(1).u64_array(&[TIMELINE]).u64_array(&[6]);
        });
        w.u64(u64::MAX).i32(0);
    });
    f.idle();
    let said = replay(&f.write(&scratch, "held.gfxr"), &[]);
    // (a device with as many queues has nothing to hold)
    assert!(said.contains("made behind it") || !said.contains("replaced"), "{said}");
}

#[test]
fn what_the_host_signals_lets_held_work_go() {
    if !device("queues that wait for the host") {
        return;
    }
    let scratch = Scratch::new("portability-host");
    let mut f = File::new();
    f.device();
    f.submit(10, &[(1, &[], 2)]);
    f.submit(11, &[(2, &[], 3)]);
    f.call("vkSignalSemaphore", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkSemaphoreSignalInfo")).null_struct().u64(TIMELINE).u64(1);
        });
        w.i32(0);
    });
    f.idle();
    replay(&f.write(&scratch, "host.gfxr"), &[]);
}

#[test]
fn ownership_between_families_that_are_one_is_a_barrier() {
    if !device("transfers of ownership") {
        return;
    }
    let scratch = Scratch::new("portability-ownership");
    for concurrent in [false, true] {
        let mut f = File::new();
        f.device();
        f.image(concurrent);
        let families = if concurrent { (u32::MAX, u32::MAX) } else { (1, 0) };
        f.begin(BUFFERS[1]);
        f.barrier(BUFFERS[1], (UNDEFINED, TRANSFER_DST), (u32::MAX, u32::MAX));
        f.barrier(BUFFERS[1], (TRANSFER_DST, TRANSFER_SRC), families);
        f.end(BUFFERS[1]);
        f.begin(BUFFERS[0]);
        // The other half of the transfer; without one, the image stays as it is.
        let before = if concurrent { TRANSFER_SRC } else { TRANSFER_DST };
        f.barrier(BUFFERS[0], (before, TRANSFER_SRC), families);
        f.barrier(BUFFERS[0], (TRANSFER_SRC, TRANSFER_DST), (u32::MAX, u32::MAX));
        f.end(BUFFERS[0]);
        f.submit(10, &[(1, &BUFFERS[..1], 2)]);
        f.submit(11, &[(0, &BUFFERS[1..], 1)]);
        f.idle();
        replay(&f.write(&scratch, "ownership.gfxr"), &[]);
    }
}

/// `check` and the replay say the same of families.
#[test]
fn families_are_said_as_they_are_folded() {
    if !device("what is said of queue families") {
        return;
    }
    let scratch = Scratch::new("portability-said");
    let mut f = File::new();
    f.device();
    f.submit(11, &[(0, &[], 1)]);
    f.idle();
    let file = f.write(&scratch, "said.gfxr");
    let out = run(["check", file.to_str().expect("plain"), "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let all: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let lines = all["negotiation"].as_array().expect("a list").iter().filter(|l| l["sort"] == "queues");
    let done: Vec<&str> = lines.map(|l| l["done"].as_str().expect("a text")).collect();
    // A device with these families keeps them.
    assert!(done == ["kept", "replaced", "unused"] || done == ["kept"; 3], "{done:?}");
    replay(&file, &[]);
}

/// A program that makes a device beside the one that it uses.
#[test]
fn an_extra_device_changes_nothing() {
    if !device("a second device") {
        return;
    }
    let scratch = Scratch::new("portability-devices");
    let mut f = File::new();
    f.device();
    f.call("vkCreateDevice", |w| {
        w.u64(GPU);
        w.structure(|w| {
            w.u32(stype("VkDeviceCreateInfo")).null_struct().u32(0).u32(1);
            w.structures(1, |w, _| {
                w.u32(2).null_struct().u32(0).u32(1).u32(1).f32_array(&[1.0]);
            });
            w.u32(0).null_array().u32(0).null_array().null_struct();
        });
        w.null_struct().u64_ptr(103).i32(0);
    });
    f.call("vkGetDeviceQueue", |w| {
        w.u64(103).u32(1).u32(0).u64_ptr(110);
    });
    f.submit(11, &[(0, &[], 1)]);
    f.submit(10, &[(1, &[], 2)]);
    f.call("vkQueueWaitIdle", |w| {
        w.u64(110).i32(0);
    });
    f.call("vkDestroyDevice", |w| {
        w.u64(103).null_struct();
    });
    f.submit(13, &[(2, &[], 3)]);
    f.idle();
    replay(&f.write(&scratch, "devices.gfxr"), &[]);
}

/// Buffers at offsets in steps of 112, 256 and 272 bytes, on a device that wants multiples of 1024: uniform ones written by the
/// host and by copies, in sets that are written, pushed and updated by templates; storage and texel ones that shaders write, in
/// dispatches and in a render pass.
#[test]
fn buffers_are_where_the_device_wants_them() {
    if !device("alignments of buffers") {
        return;
    }
    let foreign = shared_captures().map(|f| f.join("foreign/warzone_frames_1_6.gfxr"));
    let foreign = foreign.filter(|f| f.is_file());
    if foreign.is_none() {
        skip("alignments of uniform buffers of a game", "../shared/captures/foreign is absent");
    }
    let sample = |name: &str| root().join("captures/samples").join(name);
    let scratch = Scratch::new("portability-alignment");
    let (uniform, storage, texel) = (
        "minUniformBufferOffsetAlignment",
        "minStorageBufferOffsetAlignment",
        "minTexelBufferOffsetAlignment",
    );
    let mut all = vec![
        (sample("uniforms.gfxr"), vec![(uniform, 256), (storage, 512)], [1, 4]),
        (sample("cubes.gfxr"), vec![(uniform, 256)], [1, 30]),
        (sample("offsets.gfxr"), vec![(storage, 16), (texel, 16)], [1, 2]),
    ];
    all.extend(foreign.map(|f| (f, vec![(uniform, 16)], [3, 6])));
    for (n, (capture, limits, frames)) in all.into_iter().enumerate() {
        let capture = capture.to_str().expect("plain");
        let pictures = |name: &str, flags: &[&str]| {
            let to = scratch.path(&format!("{n} {name}"));
            let folder = to.to_str().expect("plain");
            let which = frames.map(|f| f.to_string()).join(",");
            let out = run(["screenshot", capture, "--frames", &which, "-o", folder].iter().chain(flags));
            assert_eq!(out.status.code(), Some(0), "{capture}: {}", text(&out.stderr));
            frames.map(|n| std::fs::read(to.join(format!("frame_{n}.png"))).expect("a picture"))
        };
        let equal = pictures("as it is", &[]) == pictures("aligned", &["--rehearse", "alignment"]);
        assert!(equal, "{capture}");
        let out = run(["check", capture, "--rehearse", "alignment"]);
        let said = text(&out.stdout);
        for (limit, step) in limits {
            let line = said.lines().find(|l| l.contains(limit)).expect("a line");
            let bridged = line.contains(&format!(" {step}, first in block"))
                && line.split_whitespace().rev().take(2).eq(["alignment", "replaced"]);
            assert!(bridged, "{capture}: {line}");
        }
        let json = |flags: &[&str]| -> serde_json::Value {
            let out = run([capture, "--json"].iter().chain(flags));
            serde_json::from_slice(&out.stdout).expect("JSON")
        };
        let cost = &json(&["--rehearse", "alignment"])["bridges"]["alignment"];
        assert!(
            cost["calls_changed"].as_u64() > Some(0) && cost["memory_bytes"].as_u64() > Some(0),
            "{capture}: {cost}"
        );
        assert!(json(&[])["bridges"]["alignment"].is_null(), "{capture}: nothing is bridged as it is");
        for which in ["alignment", "queues,alignment"] {
            let out = run([capture, "--rehearse", "alignment", "--no-bridge", which]);
            assert_eq!(out.status.code(), Some(77), "{}", text(&out.stderr));
            assert!(text(&out.stderr).contains("--no-bridge alignment refuses"), "{}", text(&out.stderr));
        }
    }
}

/// What a loop restores it restores in the copies, too, and the validation layer has nothing to say about them.
#[test]
fn copies_at_aligned_places_are_restored_and_valid() {
    if !device("aligned copies in a loop") {
        return;
    }
    let capture = root().join("captures/samples/offsets.gfxr");
    let capture = capture.to_str().expect("plain");
    replay(Path::new(capture), &["--rehearse", "alignment"]);
    let flags = ["--rehearse", "alignment", "--loop-frame", "2", "--iterations", "3"];
    let out = run([capture].iter().chain(&flags));
    assert_eq!(out.status.code(), Some(0), "every iteration has the same picture: {}", text(&out.stderr));
}

/// A dispatch that writes bytes which it also sees at another offset could not see what it writes in a copy.
#[test]
fn what_is_written_and_seen_twice_is_not_copied() {
    if !device("buffers written and seen twice") {
        return;
    }
    let capture = root().join("captures/samples/offsets_twice.gfxr");
    let capture = capture.to_str().expect("plain");
    let out = run([capture]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    for command in [&["check", capture][..], &[capture]] {
        let out = run(command.iter().chain(&["--rehearse", "alignment"]));
        assert_eq!(out.status.code(), Some(77), "{}", text(&out.stderr));
        let said = text(if command.len() > 1 { &out.stdout } else { &out.stderr });
        let line = said.lines().find(|l| l.contains("minStorageBufferOffsetAlignment")).expect("a line");
        assert!(line.contains("written and seen at a second place in block"), "{line}");
        assert!(line.contains("vkCmdDispatch"), "{line}");
    }
}

/// What a device is asked for without queues, nobody can do.
#[test]
fn a_device_without_queues_is_refused() {
    if !device("a device without queues") {
        return;
    }
    let scratch = Scratch::new("portability-no-queues");
    let mut f = File::new();
    f.device();
    f.call("vkCreateDevice", |w| {
        w.u64(GPU);
        w.structure(|w| {
            w.u32(stype("VkDeviceCreateInfo")).null_struct().u32(0).u32(0).null_structs();
            w.u32(0).null_array().u32(0).null_array().null_struct();
        });
        w.null_struct().u64_ptr(103).i32(0);
    });
    let file = f.write(&scratch, "no-queues.gfxr");
    for flags in [&[][..], &["--trust-capture"]] {
        let out = run([file.to_str().expect("plain")].iter().chain(flags));
        assert_eq!(out.status.code(), Some(5), "{flags:?}: {}", text(&out.stderr));
    }
}

/// A sparse buffer, bound page by page in the middle of the capture, where each resource has memory of its own.
#[test]
fn sparse_resources_have_all_of_their_memory() {
    if !device("sparse resources in memory of their own") {
        return;
    }
    let scratch = Scratch::new("portability-sparse");
    let mut f = File::new();
    f.device();
    f.image(false);
    f.call("vkCreateBuffer", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            // Bound page by page; copied to.
            w.u32(12).null_struct().u32(1).u64(1 << 16).u32(2).u32(0).u32(0).null_array();
        });
        w.null_struct().u64_ptr(60).i32(0);
    });
    f.call("vkQueueBindSparse", |w| {
        w.u64(10).u32(1);
        w.structures(1, |w, _| {
            w.u32(7);
            w.structure(|w| {
                w.u32(stype("VkTimelineSemaphoreSubmitInfo")).null_struct();
                w.u32(1).u64_array(&[0]).u32(1).u64_array(&[1]);
            });
            w.u32(1).u64_array(&[TIMELINE]).u32(1);
            w.structures(1, |w, _| {
                w.u64(60).u32(1);
                w.structures(1, |w, _| {
                    w.u64(0).u64(1 << 16).u64(MEMORY).u64(0).u32(0);
                });
            });
            w.u32(0).null_structs().u32(0).null_structs().u32(1).u64_array(&[TIMELINE]);
        });
        w.u64(0).i32(0);
    });
    f.begin(BUFFERS[0]);
    f.call("vkCmdFillBuffer", |w| {
        w.u64(BUFFERS[0]).u64(60).u64(0).u64(1 << 16).u32(7);
    });
    f.end(BUFFERS[0]);
    f.submit(10, &[(1, &BUFFERS[..1], 2)]);
    f.idle();
    let file = f.write(&scratch, "sparse.gfxr");
    let said = replay(&file, &["--memory", "rebind"]);
    assert!(said.contains("all of their memory from the beginning"), "{said}");
    let out = run(["check", file.to_str().expect("plain"), "--memory", "rebind"]);
    let table = text(&out.stdout);
    let line = table.lines().find(|l| l.contains("sparse binding")).unwrap_or_else(|| panic!("{table}"));
    assert!(line.split_whitespace().rev().take(2).eq(["sparse", "replaced"]), "{line}");
    let out = run([file.to_str().expect("plain"), "--memory", "rebind", "--no-bridge", "sparse"]);
    assert_eq!(out.status.code(), Some(77), "{}", text(&out.stderr));
}

/// Captures that nobody of this project made, by default: each replays to its end.
#[test]
fn captures_of_other_programs_replay() {
    if !device("captures of other programs") {
        return;
    }
    let Some(folder) = shared_captures().map(|f| f.join("foreign")).filter(|f| f.is_dir()) else {
        return skip("captures of other programs", "../shared/captures/foreign is absent");
    };
    let mut found = 0;
    for file in folder.read_dir().expect("a folder").map(|e| e.expect("a file").path()) {
        // (the large ones are replayed elsewhere)
        let small = file.metadata().is_ok_and(|m| m.len() < 2 << 20);
        if file.extension().is_none_or(|e| e != "gfxr") || !small {
            continue;
        }
        let out = run([file.to_str().expect("plain"), "--quiet", "--watchdog", "60"]);
        assert_eq!(out.status.code(), Some(0), "{}: {}", file.display(), text(&out.stderr));
        found += 1;
    }
    assert!(found >= 8, "{found} captures");
}

/// Descriptor buffers of twice the size: a set that the host wrote, and one of which a part is copied and a part an update.
#[test]
fn descriptor_buffers_are_laid_out_as_the_device_wants_them() {
    if !device("descriptor buffers") {
        return;
    }
    let scratch = Scratch::new("portability-descriptors");
    let capture = root().join("captures/samples/objects.gfxr");
    let capture = capture.to_str().expect("plain");
    let larger = ["--rehearse", "descriptors"];
    let pictures = |name: &str, flags: &[&str]| {
        let to = scratch.path(name);
        let folder = to.to_str().expect("plain");
        let out = run(["screenshot", capture, "--frames", "1,3", "-o", folder].iter().chain(flags));
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        [1, 3].map(|n| std::fs::read(to.join(format!("frame_{n}.png"))).expect("a picture"))
    };
    assert!(pictures("as it is", &[]) == pictures("larger", &larger));
    let said = text(&run(["check", capture].iter().chain(&larger)).stdout);
    let line = said.lines().find(|l| l.contains("DescriptorBufferPropertiesEXT")).expect("a line");
    assert!(line.split_whitespace().rev().take(2).eq(["descriptors", "replaced"]), "{line}");
    let json = |flags: &[&str]| -> Value {
        let out = run([capture, "--json"].iter().chain(flags));
        serde_json::from_slice(&out.stdout).expect("JSON")
    };
    let report = json(&larger);
    let cost = &report["bridges"]["descriptors"];
    assert!(cost["calls_changed"].as_u64() > Some(0) && cost["memory_bytes"].as_u64() > Some(0), "{cost}");
    // The host's two once, and two that are copied and updated again in each of three frames.
    assert_eq!(report["notes"]["descriptors written where this device reads them"].as_u64(), Some(2 + 3 * 2));
    assert!(json(&[])["bridges"]["descriptors"].is_null(), "nothing is bridged as it is");
    // Not validated: layers from before VK_EXT_shader_object hand its calls the handles they wrapped, and the driver crashes.
    let out = run([capture, "--loop-frame", "2", "--iterations", "3"].iter().chain(&larger));
    let said = text(&out.stderr) + &text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("The presented image is the same after all 3 iterations"), "{said}");
    let out = run([capture, "--no-bridge", "descriptors"].iter().chain(&larger));
    assert_eq!(out.status.code(), Some(77));
    assert!(text(&out.stderr).contains("--no-bridge descriptors refuses"), "{}", text(&out.stderr));
}
