//! Images of compressed formats on a device without them: decoded where they are uploaded, and said.
//!
//! The samples were recorded on SwiftShader, which has ETC2, EAC and ASTC; what it showed itself is what a replay is held against.
//! llvmpipe has BC and none of the others. Blocks that the host copies, and what is refused, are captures written here.

use crate::device::device;
use crate::portability::{File, stype};
use crate::support::{Scratch, root, run, skip, text};
use serde_json::Value;
use std::path::Path;

const WHOLE: &str = "compressed_textures.gfxr";
const TRIMMED: &str = "compressed_textures_frames_3_4.gfxr";

fn sample(name: &str) -> String {
    root().join("captures/samples").join(name).to_str().expect("plain").to_owned()
}

/// Whether the device lacks what the samples have; otherwise nothing here is bridged without being asked to.
fn lacks(test: &str) -> bool {
    if !device(test) {
        return false;
    }
    let found: Value = serde_json::from_slice(&run(["devices", "--json"]).stdout).expect("JSON");
    let is = found["devices"][0]["name"].as_str().is_some_and(|n| n.contains("llvmpipe"));
    if !is {
        skip(test, "the device is no llvmpipe");
    }
    is
}

/// Width, height and RGB.
fn rgb(file: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::fs::File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let samples = info.color_type.samples();
    let rgb = pixels[..info.buffer_size()].chunks_exact(samples).flat_map(|p| [p[0], p[1], p[2]]).collect();
    (info.width, info.height, rgb)
}

/// Every value of every frame is the program's own, but for the last steps: drivers keep interpolated values in 8 or 16 bits.
fn shows(capture: &str, frames: &[u32], flags: &[&str]) {
    let scratch = Scratch::new(&format!("compressed-{capture}-{}", flags.join("-")));
    let to = scratch.path("shots");
    let list: Vec<String> = frames.iter().map(u32::to_string).collect();
    let (file, list, folder) = (sample(capture), list.join(","), to.to_str().expect("plain"));
    let out = run(["screenshot", &file, "--frames", &list, "-o", folder].iter().chain(flags));
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    for frame in frames {
        let here = rgb(&to.join(format!("frame_{frame}.png")));
        let there = rgb(sample(&format!("compressed_textures_frame_{frame}.png")).as_ref());
        assert_eq!((here.0, here.1), (there.0, there.1));
        let most = here.2.iter().zip(&there.2).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(most.is_some_and(|m| m <= 2), "{capture} frame {frame} {flags:?}: {most:?}");
        let bright = there.2.iter().filter(|v| **v > 64).count();
        assert!(bright > there.2.len() / 6, "there is something to see: {bright}");
    }
}

#[test]
fn pictures_are_the_programs_own() {
    if !lacks("compressed textures") {
        return;
    }
    shows(WHOLE, &[1, 2, 4], &[]);
    shows(TRIMMED, &[4], &[]);
    // Without BC, too.
    shows(WHOLE, &[4], &["--rehearse", "compression"]);
    shows(TRIMMED, &[4], &["--rehearse", "compression"]);
}

#[test]
fn a_looped_frame_uploads_the_same_each_time() {
    if !lacks("a looped frame of compressed textures") {
        return;
    }
    let file = sample(WHOLE);
    let out = run([&*file, "--loop-frame", "3", "--iterations", "3", "--validate"]);
    let said = text(&out.stderr) + &text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("The presented image is the same after all 3 iterations"), "{said}");
    assert!(said.contains("0 validation messages"), "{said}");
}

#[test]
fn stand_ins_are_named_and_what_they_cost_is_told() {
    if !lacks("the table of compressed textures") {
        return;
    }
    let file = sample(WHOLE);
    let line = |table: &str, begins: &str| {
        let found = table.lines().find(|l| l.contains(begins)).map(str::trim_end).map(str::to_owned);
        found.unwrap_or_else(|| panic!("{begins}: {table}"))
    };
    let out = run(["check", &file]);
    assert_eq!(out.status.code(), Some(0));
    let said = text(&out.stdout);
    assert!(said.contains("memory rebind"), "{said}");
    for (format, stand_in) in [
        ("VK_FORMAT_ETC2_R8G8B8A1_SRGB_BLOCK", "VK_FORMAT_R8G8B8A8_SRGB, decoded when uploaded"),
        ("VK_FORMAT_EAC_R11G11_SNORM_BLOCK", "VK_FORMAT_R16G16_SNORM, decoded when uploaded"),
        ("VK_FORMAT_ASTC_12x10_UNORM_BLOCK", "VK_FORMAT_R8G8B8A8_UNORM, decoded when uploaded"),
        ("textureCompressionETC2", "decoded when uploaded"),
    ] {
        let line = line(&said, format);
        let bridged = line.split_whitespace().rev().take(2).eq(["texels", "replaced"]);
        assert!(line.contains(stand_in) && bridged, "{line}");
    }
    assert!(line(&said, "VK_FORMAT_BC7_SRGB_BLOCK").ends_with("kept"));
    let out = run([&*file, "--json"]);
    let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let note =
        |what: &str| report["notes"][what].as_u64().unwrap_or_else(|| panic!("{what}: {}", report["notes"]));
    // Eleven textures: levels of 21x13, 10x6 and 5x3, the second layer; 8x9 texels in each of four frames.
    assert_eq!(note("texels translated for images"), 11 * (273 + 60 + 15 + 273) + 4 * 72);
    assert_eq!(note("images made in a format that stands in for theirs"), 22);
    assert_eq!(note("regions whose texels were read back from the device, which was waited for"), 4);
    assert!(note("bytes that these take beyond their texels as captured") > 11 * 273 * 2);
    // What has no such images has no such costs.
    let out = run([&*sample("cubes.gfxr"), "--json"]);
    let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let notes = report["notes"].as_object().expect("notes");
    assert!(notes.keys().all(|k| !k.contains("texels") && !k.contains("stand")), "{notes:?}");
}

#[test]
fn without_the_bridge_they_are_refused_by_name() {
    if !lacks("compressed textures without their bridge") {
        return;
    }
    let file = sample(WHOLE);
    for (flags, why) in [
        (["--no-bridge", "texels"], "not supported"),
        (["--memory", "none"], "which --memory rebind gives it and none does not"),
    ] {
        let out = run([&*file].iter().chain(&flags));
        let said = text(&out.stderr);
        assert_ne!(out.status.code(), Some(0));
        let line =
            said.lines().find(|l| l.contains("VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK")).unwrap_or_default();
        assert!(line.contains(why), "{said}");
        let used = "VkPhysicalDeviceFeatures.textureCompressionETC2 (used first in block";
        assert!(said.contains(used), "{said}");
    }
}

const INSTANCE: u64 = 1;
const GPU: u64 = 2;
const DEVICE: u64 = 3;
const QUEUE: u64 = 4;
const IMAGE: u64 = 30;
const MEMORY: u64 = 31;
const POOL: u64 = 40;
const COMMANDS: u64 = 50;
const BUFFER: u64 = 60;

/// VK_FORMAT_ASTC_5x5_UNORM_BLOCK.
const ASTC_5X5: u32 = 161;

/// An instance, a device with copies by the host, and an image of 9x7 texels in ASTC.
fn begin() -> File {
    let mut f = File::new();
    f.call("vkCreateInstance", |w| {
        w.structure(|w| {
            w.u32(1).null_struct().u32(0);
            w.structure(|w| {
                w.u32(0).null_struct().string("blocks").u32(1).string("blocks").u32(1).u32(1 << 22 | 3 << 12);
            });
            w.u32(0).null_array().u32(0).null_array();
        });
        w.null_struct().u64_ptr(INSTANCE).i32(0);
    });
    f.call("vkEnumeratePhysicalDevices", |w| {
        w.u64(INSTANCE).u32_ptr(1).u64_array(&[GPU]).i32(0);
    });
    f.call("vkCreateDevice", |w| {
        w.u64(GPU);
        w.structure(|w| {
            w.u32(stype("VkDeviceCreateInfo"));
            w.structure(|w| {
                w.u32(stype("VkPhysicalDeviceHostImageCopyFeatures")).null_struct().u32(1);
            });
            w.u32(0).u32(1);
            w.structures(1, |w, _| {
                w.u32(2).null_struct().u32(0).u32(0).u32(1).f32_array(&[1.0]);
            });
            w.u32(0).null_array().u32(1).strings(&["VK_EXT_host_image_copy"]).null_struct();
        });
        w.null_struct().u64_ptr(DEVICE).i32(0);
    });
    f.call("vkGetDeviceQueue", |w| {
        w.u64(DEVICE).u32(0).u32(0).u64_ptr(QUEUE);
    });
    f.call("vkCreateImage", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(14)
                .null_struct()
                .u32(0)
                .u32(1)
                .u32(ASTC_5X5)
                .u32(9)
                .u32(7)
                .u32(1)
                .u32(1)
                .u32(2)
                .u32(1)
                .u32(0);
            // Copied from, sampled, copied to by the host.
            w.u32(1 << 22 | 5).u32(0).u32(0).null_array().u32(0);
        });
        w.null_struct().u64_ptr(IMAGE).i32(0);
    });
    f.call("vkAllocateMemory", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(5).null_struct().u64(1 << 16).u32(0);
        });
        w.null_struct().u64_ptr(MEMORY).i32(0);
    });
    f.call("vkBindImageMemory", |w| {
        w.u64(DEVICE).u64(IMAGE).u64(MEMORY).u64(0).i32(0);
    });
    f
}

/// A block that is one colour.
fn constant(colour: [u8; 4]) -> Vec<u8> {
    let wide = colour.into_iter().flat_map(|c| (u16::from(c) * 257).to_le_bytes());
    [0xFC, 0xFD, 255, 255, 255, 255, 255, 255].into_iter().chain(wide).collect()
}

#[test]
fn blocks_that_the_host_copies_are_decoded() {
    if !lacks("compressed blocks that the host copies") {
        return;
    }
    let (scratch, mut f) = (Scratch::new("compressed-host"), begin());
    f.call("vkTransitionImageLayout", |w| {
        w.u64(DEVICE).u32(1);
        w.structures(1, |w, _| {
            w.u32(stype("VkHostImageLayoutTransitionInfo")).null_struct().u64(IMAGE).u32(0).u32(1);
            w.u32(1).u32(0).u32(1).u32(0).u32(2);
        });
        w.i32(0);
    });
    // Rows of three blocks, of which two are copied, two layers of two rows.
    let colours: [[u8; 4]; 4] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [99, 88, 77, 255]];
    let row = |a: usize, b: usize| [constant(colours[a]), constant(colours[b]), constant([1; 4])].concat();
    let blocks = [row(0, 1), row(2, 3), row(3, 2), row(1, 0)].concat();
    f.call("vkCopyMemoryToImage", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(stype("VkCopyMemoryToImageInfo")).null_struct().u32(0).u64(IMAGE).u32(1).u32(1);
            w.structures(1, |w, _| {
                w.u32(stype("VkMemoryToImageCopy")).null_struct().u8_array(&blocks).u32(15).u32(0);
                w.u32(1).u32(0).u32(0).u32(2).i32(0).i32(0).i32(0).u32(9).u32(7).u32(1);
            });
        });
        w.i32(0);
    });
    f.idle();
    let file = f.write(&scratch, "host.gfxr");
    let (name, to) = (file.to_str().expect("plain"), scratch.path("shots"));
    // (no validation layer: one that is older than the extension does not unwrap its handles)
    let out = run([name, "-v"]);
    let said = text(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(said.contains("126 × texels translated for images"), "{said}");
    let folder = to.to_str().expect("plain");
    let out = run(["screenshot", name, "--frame-by", "file", "--image", "30", "-o", folder]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let shot = to.read_dir().expect("a folder").next().expect("one").expect("a file").path();
    let (width, height, pixels) = rgb(&shot);
    assert_eq!((width, height), (9, 7));
    for (i, p) in pixels.chunks_exact(3).enumerate() {
        let (x, y) = (i % 9, i / 9);
        assert_eq!(p, &colours[2 * (y / 5) + x / 5][..3], "{x} {y}");
    }
}

#[test]
fn copies_of_blocks_out_of_an_image_are_refused_with_their_block() {
    if !lacks("copies of blocks out of images") {
        return;
    }
    let (scratch, mut f) = (Scratch::new("compressed-out"), begin());
    f.call("vkCreateCommandPool", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(39).null_struct().u32(0).u32(0);
        });
        w.null_struct().u64_ptr(POOL).i32(0);
    });
    f.call("vkAllocateCommandBuffers", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(40).null_struct().u64(POOL).u32(0).u32(1);
        });
        w.u64_array(&[COMMANDS]).i32(0);
    });
    f.call("vkCreateBuffer", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(12).null_struct().u32(0).u64(64).u32(2).u32(0).u32(0).null_array();
        });
        w.null_struct().u64_ptr(BUFFER).i32(0);
    });
    f.begin(COMMANDS);
    f.call("vkCmdCopyImageToBuffer", |w| {
        w.u64(COMMANDS).u64(IMAGE).u32(1).u64(BUFFER).u32(1);
        w.structures(1, |w, _| {
            w.u64(0).u32(0).u32(0).u32(1).u32(0).u32(0).u32(1).i32(0).i32(0).i32(0).u32(9).u32(7).u32(1);
        });
    });
    f.end(COMMANDS);
    let file = f.write(&scratch, "out.gfxr");
    let out = run(["check", file.to_str().expect("plain")]);
    let said = text(&out.stdout);
    let why = "not supported, and copies of blocks out of images are not bridged: first in block 11, vkCmdCopyImageToBuffer";
    assert!(said.contains(why), "{said}");
    assert_ne!(out.status.code(), Some(0));
}
