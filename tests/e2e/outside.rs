//! What captures ask of the world around the device, which is not there: window systems, displays and other processes.
//!
//! The captures are written here call by call, for extensions that software Vulkan does not have.

use crate::device::device;
use crate::portability::{
    BUFFERS, DEVICE, File, INSTANCE, MEMORY, TIMELINE, TRANSFER_DST, TRANSFER_SRC, UNDEFINED, replay, stype,
};
use crate::support::{Scratch, run, text};
use gfxr_parse::writer::ParamWriter;
use std::path::Path;

const QUEUE: u64 = 10;
const SURFACE: u64 = 100;
/// Swapchains, and the images of each.
const CHAINS: [(u64, [u64; 2]); 2] = [(110, [111, 112]), (120, [121, 122])];
const FENCES: [u64; 2] = [130, 131];
const EVENT: u64 = 132;
const ACQUIRED: u64 = 133;
/// VK_IMAGE_LAYOUT_PRESENT_SRC_KHR.
const PRESENT_SRC: u32 = 1_000_001_002;
/// VK_FORMAT_R8G8B8A8_UNORM.
const RGBA8: u32 = 37;

/// A struct's beginning, without a chain.
fn begin(w: &mut ParamWriter, name: &str) {
    w.u32(stype(name)).null_struct();
}

impl File {
    /// A call whose parameters are the device, one struct that `info` writes, and what `after` writes.
    fn with(
        &mut self,
        call: &str,
        info: impl FnOnce(&mut ParamWriter),
        after: impl FnOnce(&mut ParamWriter),
    ) {
        self.call(call, |w| {
            w.u64(DEVICE).structure(info);
            after(w);
        });
    }

    /// What is made: no allocator, this id.
    fn make(&mut self, call: &str, id: u64, info: impl FnOnce(&mut ParamWriter)) {
        self.with(call, info, |w| {
            w.null_struct().u64_ptr(id).i32(0);
        });
    }

    fn surface(&mut self) {
        self.call("vkCreateHeadlessSurfaceEXT", |w| {
            w.u64(INSTANCE);
            w.structure(|w| {
                begin(w, "VkHeadlessSurfaceCreateInfoEXT");
                w.u32(0);
            });
            w.null_struct().u64_ptr(SURFACE).i32(0);
        });
    }

    /// A swapchain of images of 8 by 8 texels, and its images.
    fn swapchain(&mut self, (chain, images): (u64, [u64; 2]), old: u64) {
        self.make("vkCreateSwapchainKHR", chain, |w| {
            begin(w, "VkSwapchainCreateInfoKHR");
            w.u32(0).u64(SURFACE).u32(2).u32(RGBA8).u32(0).u32(8).u32(8).u32(1).u32(0x12).u32(0);
            w.u32(0).null_array().u32(1).u32(1).u32(2).u32(1).u64(old);
        });
        self.call("vkGetSwapchainImagesKHR", |w| {
            w.u64(DEVICE).u64(chain).u32_ptr(2).u64_array(&images).i32(0);
        });
    }

    fn fence(&mut self, id: u64) {
        self.make("vkCreateFence", id, |w| {
            begin(w, "VkFenceCreateInfo");
            w.u32(0);
        });
    }

    fn wait_for(&mut self, fence: u64) {
        self.call("vkWaitForFences", |w| {
            w.u64(DEVICE).u32(1).u64_array(&[fence]).u32(1).u64(u64::MAX).i32(0);
        });
    }

    /// A binary semaphore, which others may share or not.
    fn semaphore(&mut self, id: u64, shared: bool) {
        self.make("vkCreateSemaphore", id, |w| {
            w.u32(stype("VkSemaphoreCreateInfo"));
            match shared {
                true => w.structure(|w| {
                    begin(w, "VkExportSemaphoreCreateInfo");
                    w.u32(1);
                }),
                false => w.null_struct(),
            };
            w.u32(0);
        });
    }

    /// A batch: a chain, semaphores that it waits for, a command buffer, semaphores that it signals.
    fn batch(
        &mut self,
        chain: impl FnOnce(&mut ParamWriter),
        waits: &[u64],
        buffers: &[u64],
        signals: &[u64],
    ) {
        self.call("vkQueueSubmit", |w| {
            w.u64(QUEUE).u32(1);
            let mut chain = Some(chain);
            w.structures(1, |w, _| {
                w.u32(stype("VkSubmitInfo"));
                if let Some(chain) = chain.take() {
                    chain(w);
                }
                let stages = vec![1 << 16; waits.len()];
                w.u32(waits.len() as u32);
                match waits {
                    [] => w.null_array().null_array(),
                    _ => w.u64_array(waits).u32_array(&stages),
                };
                w.u32(buffers.len() as u32);
                match buffers {
                    [] => w.null_array(),
                    _ => w.u64_array(buffers),
                };
                w.u32(signals.len() as u32);
                match signals {
                    [] => w.null_array(),
                    _ => w.u64_array(signals),
                };
            });
            w.u64(0).i32(0);
        });
    }

    /// A buffer of as many bytes in memory of its own; `chains`: of the buffer, of its memory.
    fn buffer(
        &mut self,
        (buffer, memory): (u64, u64),
        bytes: u64,
        chains: (impl FnOnce(&mut ParamWriter), impl FnOnce(&mut ParamWriter)),
    ) {
        self.make("vkCreateBuffer", buffer, |w| {
            w.u32(stype("VkBufferCreateInfo"));
            chains.0(w);
            w.u32(0).u64(bytes).u32(3).u32(0).u32(0).null_array();
        });
        self.make("vkAllocateMemory", memory, |w| {
            w.u32(stype("VkMemoryAllocateInfo"));
            chains.1(w);
            w.u64(1 << 16).u32(0);
        });
        self.call("vkBindBufferMemory", |w| {
            w.u64(DEVICE).u64(buffer).u64(memory).u64(0).i32(0);
        });
    }

    fn fill(&mut self, buffer: u64, bytes: u64, value: u32) {
        self.call("vkCmdFillBuffer", |w| {
            w.u64(BUFFERS[0]).u64(buffer).u64(0).u64(bytes).u32(value);
        });
    }

    /// An image of this size, flags, format and uses; `chain` stands in its description.
    fn picture(
        &mut self,
        id: u64,
        (flags, format, usage): (u32, u32, u32),
        chain: impl FnOnce(&mut ParamWriter),
    ) {
        self.make("vkCreateImage", id, |w| {
            w.u32(stype("VkImageCreateInfo"));
            chain(w);
            w.u32(flags).u32(1).u32(format).u32(8).u32(8).u32(1).u32(1).u32(1).u32(1).u32(0).u32(usage);
            w.u32(0).u32(0).null_array().u32(0);
        });
    }

    /// All copies so far are done, and these images change their layouts.
    fn layouts(&mut self, images: &[(u64, u32, u32)]) {
        self.call("vkCmdPipelineBarrier", |w| {
            w.u64(BUFFERS[0]).u32(1 << 12).u32(1 << 12).u32(0).u32(1);
            w.structures(1, |w, _| {
                begin(w, "VkMemoryBarrier");
                w.u32(1 << 12).u32(3 << 11);
            });
            w.u32(0).null_structs().u32(images.len() as u32);
            w.structures(images.len(), |w, i| {
                let (image, from, to) = images[i];
                begin(w, "VkImageMemoryBarrier");
                w.u32(1 << 12).u32(3 << 11).u32(from).u32(to).u32(u32::MAX).u32(u32::MAX).u64(image);
                w.u32(1).u32(0).u32(1).u32(0).u32(1);
            });
        });
    }

    fn upload(&mut self, buffer: u64, image: u64) {
        self.call("vkCmdCopyBufferToImage", |w| {
            w.u64(BUFFERS[0]).u64(buffer).u64(image).u32(TRANSFER_DST).u32(1);
            w.structures(1, |w, _| {
                w.u64(0).u32(0).u32(0).u32(1).u32(0).u32(0).u32(1).i32(0).i32(0).i32(0).u32(8).u32(8).u32(1);
            });
        });
    }

    fn copy(&mut self, from: u64, to: u64) {
        self.call("vkCmdCopyImage", |w| {
            w.u64(BUFFERS[0]).u64(from).u32(TRANSFER_SRC).u64(to).u32(TRANSFER_DST).u32(1);
            w.structures(1, |w, _| {
                w.u32(1).u32(0).u32(0).u32(1).i32(0).i32(0).i32(0);
                w.u32(1).u32(0).u32(0).u32(1).i32(0).i32(0).i32(0).u32(8).u32(8).u32(1);
            });
        });
    }

    fn present(&mut self, chain: impl FnOnce(&mut ParamWriter), waits: &[u64], chains: &[u64]) {
        self.call("vkQueuePresentKHR", |w| {
            w.u64(QUEUE);
            w.structure(|w| {
                w.u32(stype("VkPresentInfoKHR"));
                chain(w);
                w.u32(waits.len() as u32);
                match waits {
                    [] => w.null_array(),
                    _ => w.u64_array(waits),
                };
                w.u32(chains.len() as u32).u64_array(chains).u32_array(&vec![0; chains.len()]).null_array();
            });
            w.i32(0);
        });
    }
}

fn no_chain(w: &mut ParamWriter) {
    w.null_struct();
}

/// Two swapchains at once, one of them in the place of another, and all that may be asked for beside them.
#[test]
fn whatever_is_asked_of_displays_is_answered() {
    if !device("what is asked of displays") {
        return;
    }
    let scratch = Scratch::new("outside-presenting");
    let mut f = File::new();
    f.device();
    f.image(false);
    f.surface();
    f.swapchain((140, [141, 142]), 0);
    f.swapchain(CHAINS[0], 140);
    f.call("vkDestroySwapchainKHR", |w| {
        w.u64(DEVICE).u64(140).null_struct();
    });
    f.swapchain(CHAINS[1], 0);
    FENCES.into_iter().for_each(|id| f.fence(id));
    f.semaphore(ACQUIRED, false);
    let chain = CHAINS[0].0;
    f.call("vkSetHdrMetadataEXT", |w| {
        w.u64(DEVICE).u32(1).u64_array(&[chain]);
        w.structures(1, |w, _| {
            begin(w, "VkHdrMetadataEXT");
            w.f32(0.5).f32(0.5).f32(0.5).f32(0.5).f32(0.5).f32(0.5);
            w.f32(0.5).f32(0.5).f32(0.5).f32(0.5).f32(0.5).f32(0.5);
        });
    });
    for name in [
        "vkGetSwapchainStatusKHR",
        "vkAcquireFullScreenExclusiveModeEXT",
        "vkReleaseFullScreenExclusiveModeEXT",
    ] {
        f.call(name, |w| {
            w.u64(DEVICE).u64(chain).i32(0);
        });
    }
    f.call("vkSetLatencySleepModeNV", |w| {
        w.u64(DEVICE).u64(chain);
        w.structure(|w| {
            begin(w, "VkLatencySleepModeInfoNV");
            w.u32(1).u32(0).u32(0);
        });
        w.i32(0);
    });
    // A display's event, and a sleep that ends with a signal: both are waited for.
    f.with(
        "vkRegisterDeviceEventEXT",
        |w| {
            begin(w, "VkDeviceEventInfoEXT");
            w.u32(0);
        },
        |w| {
            w.null_struct().u64_ptr(EVENT).i32(0);
        },
    );
    f.wait_for(EVENT);
    f.call("vkDestroyFence", |w| {
        w.u64(DEVICE).u64(EVENT).null_struct();
    });
    f.call("vkLatencySleepNV", |w| {
        w.u64(DEVICE).u64(chain);
        w.structure(|w| {
            begin(w, "VkLatencySleepInfoNV");
            w.u64(TIMELINE).u64(1);
        });
        w.i32(0);
    });
    f.with(
        "vkWaitSemaphores",
        |w| {
            begin(w, "VkSemaphoreWaitInfo");
            w.u32(0).u32(1).u64_array(&[TIMELINE]).u64_array(&[1]);
        },
        |w| {
            w.u64(u64::MAX).i32(0);
        },
    );
    f.with(
        "vkAcquireNextImage2KHR",
        |w| {
            begin(w, "VkAcquireNextImageInfoKHR");
            w.u64(chain).u64(u64::MAX).u64(ACQUIRED).u64(0).u32(1);
        },
        |w| {
            w.u32_ptr(0).i32(0);
        },
    );
    // An image of the application's in the memory of the swapchain's.
    f.picture(150, (0, RGBA8, 0x12), |w| {
        w.structure(|w| {
            begin(w, "VkImageSwapchainCreateInfoKHR");
            w.u64(chain);
        });
    });
    f.call("vkBindImageMemory2", |w| {
        w.u64(DEVICE).u32(1);
        w.structures(1, |w, _| {
            w.u32(stype("VkBindImageMemoryInfo"));
            w.structure(|w| {
                begin(w, "VkBindImageMemorySwapchainInfoKHR");
                w.u64(chain).u32(0);
            });
            w.u64(150).u64(0).u64(0);
        });
        w.i32(0);
    });
    f.begin(BUFFERS[0]);
    f.layouts(&[
        (150, UNDEFINED, TRANSFER_DST),
        (CHAINS[0].1[0], UNDEFINED, PRESENT_SRC),
        (CHAINS[1].1[0], UNDEFINED, PRESENT_SRC),
    ]);
    f.end(BUFFERS[0]);
    f.batch(no_chain, &[], &BUFFERS[..1], &[]);
    f.present(
        |w| {
            w.structure(|w| {
                w.u32(stype("VkPresentIdKHR"));
                w.structure(|w| {
                    begin(w, "VkSwapchainPresentFenceInfoKHR");
                    w.u32(2).u64_array(&FENCES);
                });
                w.u32(2).u64_array(&[1, 1]);
            });
        },
        &[ACQUIRED],
        &CHAINS.map(|c| c.0),
    );
    FENCES.into_iter().for_each(|id| f.wait_for(id));
    f.call("vkWaitForPresentKHR", |w| {
        w.u64(DEVICE).u64(chain).u64(1).u64(u64::MAX).i32(0);
    });
    f.call("vkWaitForPresent2KHR", |w| {
        w.u64(DEVICE).u64(chain);
        w.structure(|w| {
            begin(w, "VkPresentWait2InfoKHR");
            w.u64(1).u64(u64::MAX);
        });
        w.i32(0);
    });
    f.with(
        "vkReleaseSwapchainImagesKHR",
        |w| {
            begin(w, "VkReleaseSwapchainImagesInfoKHR");
            w.u64(chain).u32(1).u32_array(&[1]);
        },
        |w| {
            w.i32(0);
        },
    );
    f.idle();
    let file = f.write(&scratch, "presenting.gfxr");
    for memory in ["none", "rebind"] {
        replay(&file, &["--memory", memory]);
    }
}

/// Nobody else signals semaphores, waits for them, or signals fences, and the replay does not wait for it.
#[test]
fn semaphores_and_fences_of_others_are_no_reason_to_wait() {
    if !device("semaphores and fences from outside") {
        return;
    }
    let scratch = Scratch::new("outside-semaphores");
    let mut f = File::new();
    f.device();
    let (exported, imported) = (70, 71);
    f.semaphore(exported, true);
    f.semaphore(imported, false);
    let of = |w: &mut ParamWriter, name: &str, id: u64| {
        begin(w, name);
        w.u64(id);
    };
    f.with(
        "vkGetSemaphoreFdKHR",
        |w| {
            of(w, "VkSemaphoreGetFdInfoKHR", exported);
            w.u32(1);
        },
        |w| {
            w.i32_ptr(40).i32(0);
        },
    );
    f.with(
        "vkImportSemaphoreFdKHR",
        |w| {
            of(w, "VkImportSemaphoreFdInfoKHR", imported);
            w.u32(0).u32(1).i32(41);
        },
        |w| {
            w.i32(0);
        },
    );
    for _ in 0..2 {
        // Another process signals what this waits for, and waits for what this signals.
        f.batch(no_chain, &[imported], &[], &[exported]);
    }
    // Then the other way round.
    for _ in 0..2 {
        f.batch(no_chain, &[exported], &[], &[imported]);
    }
    f.fence(72);
    f.with(
        "vkImportFenceFdKHR",
        |w| {
            of(w, "VkImportFenceFdInfoKHR", 72);
            w.u32(1).u32(8).i32(42);
        },
        |w| {
            w.i32(0);
        },
    );
    f.wait_for(72);
    // Its payload is taken out, which resets it: it can be signalled again.
    f.with(
        "vkGetFenceFdKHR",
        |w| {
            of(w, "VkFenceGetFdInfoKHR", 72);
            w.u32(8);
        },
        |w| {
            w.i32_ptr(43).i32(0);
        },
    );
    f.call("vkQueueSubmit", |w| {
        w.u64(QUEUE).u32(0).null_structs().u64(72).i32(0);
    });
    f.wait_for(72);
    f.idle();
    let file = f.write(&scratch, "semaphores.gfxr");
    let said = replay(&file, &[]);
    assert!(!said.contains("divergence"), "{said}");
    let table = text(&run(["check", file.to_str().expect("plain")]).stdout);
    for name in ["vkImportSemaphoreFdKHR", "vkImportFenceFdKHR"] {
        let line = table.lines().find(|l| l.contains(name)).unwrap_or_else(|| panic!("{name}: {table}"));
        assert!(line.split_whitespace().rev().take(2).eq(["imports", "replaced"]), "{line}");
    }
    let json = run([file.to_str().expect("plain"), "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    // The first two are signalled for those who wait; the second signal takes the first one's place; of what was signalled
    // last nothing is missing for the third wait, and the fourth wants a signal; the fourth signal another wait, and the fence.
    assert_eq!(report["bridges"]["imports"]["calls_added"].as_u64(), Some(2 + 1 + 1 + 1 + 1), "{report}");
}

/// Every way to bring memory into a process.
#[test]
fn memory_of_others_is_memory_of_the_replay() {
    if !device("memory from outside") {
        return;
    }
    let scratch = Scratch::new("outside-memory");
    type Write = fn(&mut ParamWriter);
    let imports: [(&str, u32, Write); 6] = [
        ("VkImportMemoryFdInfoKHR", 1, |w| {
            w.u32(1).i32(40);
        }),
        ("VkImportMemoryHostPointerInfoEXT", 0x80, |w| {
            w.u32(0x80).u64(0x7000_0000);
        }),
        ("VkImportMemoryWin32HandleInfoKHR", 2, |w| {
            w.u32(2).u64(0x44).null_string();
        }),
        ("VkImportMemoryWin32HandleInfoNV", 1, |w| {
            w.u32(1).u64(0x44);
        }),
        ("VkImportMemoryZirconHandleInfoFUCHSIA", 0x800, |w| {
            w.u32(0x800).u32(0x44);
        }),
        ("VkImportMemoryMetalHandleInfoEXT", 0x10000, |w| {
            w.u32(0x10000).u64(0x44);
        }),
    ];
    for (n, (name, types, members)) in imports.into_iter().enumerate() {
        let mut f = File::new();
        f.device();
        f.image(false);
        let external = |w: &mut ParamWriter| {
            w.structure(|w| {
                begin(w, "VkExternalMemoryBufferCreateInfo");
                w.u32(types);
            });
        };
        let import = |w: &mut ParamWriter| {
            w.structure(|w| {
                begin(w, name);
                members(w);
            });
        };
        f.buffer((60, 61), 256, (external, import));
        f.picture(62, (0, RGBA8, 3), |w| {
            w.structure(|w| {
                begin(w, "VkExternalMemoryImageCreateInfo");
                w.u32(types);
            });
        });
        f.begin(BUFFERS[0]);
        f.fill(60, 256, 7);
        f.end(BUFFERS[0]);
        let keyed = |w: &mut ParamWriter| {
            w.structure(|w| {
                begin(w, "VkWin32KeyedMutexAcquireReleaseInfoKHR");
                w.u32(1).u64_array(&[61]).u64_array(&[0]).u32_array(&[9]);
                w.u32(1).u64_array(&[61]).u64_array(&[1]);
            });
        };
        f.batch(keyed, &[], &BUFFERS[..1], &[]);
        f.idle();
        let file = f.write(&scratch, &format!("{n}.gfxr"));
        for memory in ["none", "rebind"] {
            replay(&file, &["--memory", memory]);
        }
        let table = text(&run(["check", file.to_str().expect("plain")]).stdout);
        let line = table.lines().find(|l| l.contains(name)).unwrap_or_else(|| panic!("{name}: {table}"));
        assert!(line.split_whitespace().rev().take(2).eq(["imports", "replaced"]), "{line}");
        let out = run([file.to_str().expect("plain"), "--no-bridge", "imports"]);
        assert_eq!(out.status.code(), Some(77), "{name}: {}", text(&out.stderr));
    }
}

/// Two images that lay side by side at capture and are larger here, or begin where none may begin here.
fn side_by_side(scratch: &Scratch, name: &str, offset: u64, neighbour: bool) -> std::path::PathBuf {
    let mut f = File::new();
    f.device();
    f.image(false);
    f.surface();
    f.swapchain(CHAINS[0], 0);
    f.buffer((60, 61), 256, (no_chain, no_chain));
    f.buffer((62, 63), 256, (no_chain, no_chain));
    for (id, at) in [(70, 0), (71, offset)] {
        f.picture(id, (0, RGBA8, 3), no_chain);
        f.call("vkGetImageMemoryRequirements", |w| {
            w.u64(DEVICE).u64(id);
            w.structure(|w| {
                w.u64(offset).u64(1).u32(1);
            });
        });
        f.call("vkBindImageMemory", |w| {
            w.u64(DEVICE).u64(id).u64(MEMORY).u64(at).i32(0);
        });
    }
    f.begin(BUFFERS[0]);
    f.fill(60, 256, 0xFF00_00FF);
    f.fill(62, 256, 0xFFFF_0000);
    let shown = CHAINS[0].1[0];
    f.layouts(&[
        (70, UNDEFINED, TRANSFER_DST),
        (71, UNDEFINED, TRANSFER_DST),
        (shown, UNDEFINED, TRANSFER_DST),
    ]);
    f.upload(60, 70);
    if neighbour {
        f.layouts(&[(71, TRANSFER_DST, TRANSFER_DST)]);
        f.upload(62, 71);
    }
    f.layouts(&[(70, TRANSFER_DST, TRANSFER_SRC)]);
    f.copy(70, shown);
    f.layouts(&[(shown, TRANSFER_DST, PRESENT_SRC)]);
    f.end(BUFFERS[0]);
    f.batch(no_chain, &[], &BUFFERS[..1], &[]);
    f.present(no_chain, &[], &[CHAINS[0].0]);
    f.idle();
    f.write(scratch, name)
}

fn shown(scratch: &Scratch, file: &Path, flags: &[&str]) -> Vec<u8> {
    let to = scratch.path("pictures");
    let name = file.to_str().expect("plain");
    let command = ["screenshot", name, "--frames", "1", "-o", to.to_str().expect("plain")];
    let out = run(command.iter().chain(flags));
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    std::fs::read(to.join("frame_1.png")).expect("a picture")
}

#[test]
fn images_that_are_larger_here_write_over_no_neighbour() {
    if !device("images side by side") {
        return;
    }
    let scratch = Scratch::new("outside-side-by-side");
    let alone = side_by_side(&scratch, "alone.gfxr", 64, false);
    // 64 bytes took an image there that takes 256 at least; and 72 is no multiple of any alignment.
    for offset in [64, 72] {
        let both = side_by_side(&scratch, "both.gfxr", offset, true);
        for memory in ["none", "remap", "rebind", "auto"] {
            let flags = ["--memory", memory];
            let said = replay(&both, &flags);
            let moved = said.contains("images that do not fit where they lay");
            assert!(moved || ["rebind", "auto"].contains(&memory), "{offset}, {memory}: {said}");
            let equal = shown(&scratch, &both, &flags) == shown(&scratch, &alone, &["--memory", "rebind"]);
            assert!(equal, "{offset}, {memory}");
        }
    }
}

/// Planes that are bound apart have memory apart.
#[test]
fn planes_are_bound_in_every_mode() {
    if !device("planes that are bound apart") {
        return;
    }
    let scratch = Scratch::new("outside-planes");
    let mut f = File::new();
    f.device();
    f.image(false);
    // VK_IMAGE_CREATE_DISJOINT_BIT, VK_FORMAT_G8_B8R8_2PLANE_420_UNORM.
    f.picture(70, (0x200, 1_000_156_003, 2), no_chain);
    f.call("vkBindImageMemory2", |w| {
        w.u64(DEVICE).u32(2);
        w.structures(2, |w, i| {
            w.u32(stype("VkBindImageMemoryInfo"));
            w.structure(|w| {
                begin(w, "VkBindImagePlaneMemoryInfo");
                w.u32(0x10 << i);
            });
            w.u64(70).u64(MEMORY).u64(i as u64 * 4096);
        });
        w.i32(0);
    });
    f.idle();
    let file = f.write(&scratch, "planes.gfxr");
    for memory in ["none", "rebind", "auto"] {
        replay(&file, &["--memory", memory]);
    }
}
