//! Depth of 24 bits, three channels and packed channels on a device that has no images of them: made in other formats, what is
//! uploaded and copied out translated.
//!
//! The sample `formats` was recorded on llvmpipe, which has its formats; whoever replays it there plays a device without them. What the
//! scene showed itself, of which arithmetic says the same, is what a replay is held against; a part of its picture is what it copied
//! out, as a shader read it in the same command buffer. No llvmpipe has three channels of 8 bits: that capture is written here.

use crate::device::device;
use crate::portability::{File, replay, stype};
use crate::support::{Scratch, run, sample, text};
use serde_json::Value;
use std::path::Path;

const REHEARSED: [&str; 2] = ["--rehearse", "formats"];
/// Captures of the scene, and the frames that both hold and that the scene's own pictures are of.
const SAMPLES: [(&str, &[u32]); 2] = [("formats.gfxr", &[1, 3]), ("formats_frames_2_3.gfxr", &[3])];

/// Width and the bytes of a picture's red (or only) channel, or of all of them.
fn pixels(file: &Path, channels: usize) -> Vec<u8> {
    let file = std::fs::File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let samples = info.color_type.samples();
    pixels[..info.buffer_size()].chunks_exact(samples).flat_map(|p| p[..channels].to_vec()).collect()
}

/// Frames of a replay are those that the scene showed, bit by bit.
fn shows(capture: &str, frames: &[u32], flags: &[&str]) {
    let scratch = Scratch::new(&format!("stand-ins-{capture}-{}", flags.join("-")));
    let to = scratch.path("shots");
    let list: Vec<String> = frames.iter().map(u32::to_string).collect();
    let (file, list, folder) = (sample(capture), list.join(","), to.to_str().expect("plain"));
    let file = file.to_str().expect("plain");
    let out = run(["screenshot", file, "--frames", &list, "-o", folder].iter().chain(flags));
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    for frame in frames {
        let here = pixels(&to.join(format!("frame_{frame}.png")), 3);
        let there = pixels(&sample(&format!("formats_frame_{frame}.png")), 3);
        let other = here.iter().zip(&there).position(|(a, b)| a != b).map(|i| i / 3);
        let place = other.map(|n| (n % 272, n / 272));
        assert!(
            here.len() == there.len() && place.is_none(),
            "{capture}, frame {frame}, {flags:?}: {place:?}"
        );
    }
}

#[test]
fn pictures_and_what_was_copied_out_are_the_programs_own() {
    if !device("images of formats that are not here") {
        return;
    }
    for (capture, frames) in SAMPLES {
        shows(capture, frames, &[]);
        shows(capture, frames, &REHEARSED);
    }
}

#[test]
fn the_validation_layer_has_nothing_to_say() {
    if !device("validation of images in other formats") {
        return;
    }
    for (capture, _) in SAMPLES {
        let said = replay(&sample(capture), &REHEARSED);
        assert!(
            said.contains("regions copied out of images with a stand-in, translated by a shader"),
            "{said}"
        );
    }
    let (file, flags) = (sample("formats.gfxr"), ["--loop-frame", "2", "--iterations", "3"]);
    let out = run([file.to_str().expect("plain")].iter().chain(&REHEARSED).chain(&flags));
    let said = text(&out.stderr) + &text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("The presented image is the same after all 3 iterations"), "{said}");
}

#[test]
fn stand_ins_are_named_and_what_they_cost_is_told() {
    if !device("the table of formats that are not here") {
        return;
    }
    let file = sample("formats.gfxr");
    let file = file.to_str().expect("plain");
    let out = run(["check", file].iter().chain(&REHEARSED));
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}");
    for (format, stand_in) in [
        ("VK_FORMAT_D24_UNORM_S8_UINT", "VK_FORMAT_D32_SFLOAT_S8_UINT"),
        ("VK_FORMAT_X8_D24_UNORM_PACK32", "VK_FORMAT_D32_SFLOAT"),
        ("VK_FORMAT_R32G32B32_SFLOAT", "VK_FORMAT_R32G32B32A32_SFLOAT"),
        ("VK_FORMAT_B5G6R5_UNORM_PACK16", "VK_FORMAT_R8G8B8A8_UNORM"),
        ("VK_FORMAT_B4G4R4A4_UNORM_PACK16", "VK_FORMAT_R8G8B8A8_UNORM"),
    ] {
        let line = said.lines().find(|l| l.contains(format)).unwrap_or_else(|| panic!("{format}: {said}"));
        let bridged = line.split_whitespace().rev().take(2).eq(["texels", "replaced"]);
        assert!(line.contains(&format!("{stand_in}, translated when copied")) && bridged, "{line}");
    }
    let report = |flags: &[&str]| -> Value {
        serde_json::from_slice(&run([file, "--json"].iter().chain(flags)).stdout).expect("JSON")
    };
    let there = report(&REHEARSED);
    let note =
        |what: &str| there["notes"][what].as_u64().unwrap_or_else(|| panic!("{what}: {}", there["notes"]));
    assert_eq!(note("images made in a format that stands in for theirs"), 6);
    // Depths, three channels and packed ones before the first frame; depth and stencil in each of three.
    assert_eq!(note("texels translated for images"), 256 * (3 + 3 * 2));
    // Seven regions a frame.
    assert_eq!(note("regions copied out of images with a stand-in, translated by a shader"), 7 * 3);
    let cost = &there["bridges"]["texels"];
    // 256 texels of 4, 1, 4, 12, 12, 2 and 2 bytes, three times.
    assert_eq!(cost["copied_bytes"].as_u64(), Some(3 * 256 * 37), "{cost}");
    assert!(cost["calls_added"].as_u64() > Some(0) && cost["memory_bytes"].as_u64() > Some(0), "{cost}");
    assert!(report(&[])["bridges"]["texels"].is_null(), "nothing is bridged as it is");
}

#[test]
fn without_the_bridge_they_are_refused_with_their_call() {
    if !device("formats that are not here without their bridge") {
        return;
    }
    let file = sample("formats.gfxr");
    let file = file.to_str().expect("plain");
    for (flags, why) in [
        (["--no-bridge", "texels"], "not supported, first in block"),
        (["--memory", "none"], "which --memory rebind gives it and none does not"),
    ] {
        let out = run([file].iter().chain(&REHEARSED).chain(&flags));
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(77), "{said}");
        let line = said.lines().find(|l| l.contains("VK_FORMAT_X8_D24_UNORM_PACK32")).unwrap_or_default();
        assert!(line.contains(why) && line.contains(", vkCreateImage"), "{said}");
    }
}

const INSTANCE: u64 = 1;
const GPU: u64 = 2;
const DEVICE: u64 = 3;
const QUEUE: u64 = 4;
const POOL: u64 = 40;
const COMMANDS: u64 = 50;
/// What is uploaded, and what is copied out.
const BUFFERS: [u64; 2] = [60, 61];
const BUFFER_BYTES: u64 = 256;
/// Images, the memory of each (as of the buffers) ten more.
const IMAGES: [u64; 2] = [30, 31];

/// VK_FORMAT_R8G8B8_UNORM and VK_FORMAT_R8G8B8_SRGB.
const RGB8: u32 = 23;
const RGB8_SRGB: u32 = 29;

/// An instance, a device, a queue, and a command buffer.
fn begin() -> File {
    let mut f = File::new();
    f.call("vkCreateInstance", |w| {
        w.structure(|w| {
            w.u32(1).null_struct().u32(0);
            w.structure(|w| {
                w.u32(0).null_struct().string("texels").u32(1).string("texels").u32(1).u32(1 << 22 | 2 << 12);
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
            w.u32(stype("VkDeviceCreateInfo")).null_struct().u32(0).u32(1);
            w.structures(1, |w, _| {
                w.u32(2).null_struct().u32(0).u32(0).u32(1).f32_array(&[1.0]);
            });
            w.u32(0).null_array().u32(0).null_array().null_struct();
        });
        w.null_struct().u64_ptr(DEVICE).i32(0);
    });
    f.call("vkGetDeviceQueue", |w| {
        w.u64(DEVICE).u32(0).u32(0).u64_ptr(QUEUE);
    });
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
    f
}

fn allocate(f: &mut File, memory: u64) {
    f.call("vkAllocateMemory", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(5).null_struct().u64(1 << 16).u32(0);
        });
        w.null_struct().u64_ptr(memory).i32(0);
    });
}

/// An image of 5x3 texels for copies, sampled too, bound to memory; its flags, tiling, width and uses beside these.
fn image(f: &mut File, image: u64, format: u32, (flags, tiling, width, more): (u32, u32, u32, u32)) {
    f.call("vkCreateImage", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(14).null_struct().u32(flags).u32(1).u32(format).u32(width).u32(3).u32(1).u32(1).u32(1);
            w.u32(1).u32(tiling).u32(7 | more).u32(0).u32(0).null_array().u32(0);
        });
        w.null_struct().u64_ptr(image).i32(0);
    });
    allocate(f, image + 1000);
    f.call("vkBindImageMemory", |w| {
        w.u64(DEVICE).u64(image).u64(image + 1000).u64(0).i32(0);
    });
}

fn buffer(f: &mut File, buffer: u64, usage: u32) {
    f.call("vkCreateBuffer", |w| {
        w.u64(DEVICE);
        w.structure(|w| {
            w.u32(12).null_struct().u32(0).u64(BUFFER_BYTES).u32(usage).u32(0).u32(0).null_array();
        });
        w.null_struct().u64_ptr(buffer).i32(0);
    });
    allocate(f, buffer + 1000);
    f.call("vkBindBufferMemory", |w| {
        w.u64(DEVICE).u64(buffer).u64(buffer + 1000).u64(0).i32(0);
    });
}

/// All of what came before is seen by all that comes; images are brought to VK_IMAGE_LAYOUT_GENERAL.
fn wait(f: &mut File, images: &[u64]) {
    f.call("vkCmdPipelineBarrier", |w| {
        w.u64(COMMANDS).u32(1 << 16).u32(1 << 16).u32(0).u32(1);
        w.structures(1, |w, _| {
            w.u32(46).null_struct().u32(1 << 16).u32(3 << 15);
        });
        w.u32(0).null_array().u32(images.len() as u32);
        match images {
            [] => w.null_array(),
            _ => w.structures(images.len(), |w, i| {
                w.u32(45).null_struct().u32(0).u32(3 << 15).u32(0).u32(1);
                w.u32(u32::MAX).u32(u32::MAX).u64(images[i]).u32(1).u32(0).u32(1).u32(0).u32(1);
            }),
        };
    });
}

/// A region of a copy between a buffer and an image: offset, row length; first texel and texels.
fn region(w: &mut gfxr_parse::writer::ParamWriter, (offset, row): (u64, u32), at: [i32; 2], size: [u32; 2]) {
    w.u64(offset).u32(row).u32(0).u32(1).u32(0).u32(0).u32(1);
    w.i32(at[0]).i32(at[1]).i32(0).u32(size[0]).u32(size[1]).u32(1);
}

#[test]
fn three_channels_of_eight_bits_are_packed_again() {
    if !device("images of three channels") {
        return;
    }
    let (scratch, mut f) = (Scratch::new("stand-ins-rgb8"), begin());
    image(&mut f, IMAGES[0], RGB8, (0, 0, 5, 0));
    image(&mut f, IMAGES[1], RGB8, (0, 0, 5, 0));
    buffer(&mut f, BUFFERS[0], 3);
    buffer(&mut f, BUFFERS[1], 3);
    f.begin(COMMANDS);
    let uploaded: Vec<u8> = (0..84).map(|n| (n * 3 + 1) as u8).collect();
    f.call("vkCmdUpdateBuffer", |w| {
        w.u64(COMMANDS).u64(BUFFERS[0]).u64(0).u64(84).u8_array(&uploaded);
    });
    f.call("vkCmdFillBuffer", |w| {
        w.u64(COMMANDS).u64(BUFFERS[1]).u64(0).u64(BUFFER_BYTES).u32(0xEEEE_EEEE);
    });
    wait(&mut f, &IMAGES);
    // Rows of seven texels, from the second one on.
    f.call("vkCmdCopyBufferToImage", |w| {
        w.u64(COMMANDS).u64(BUFFERS[0]).u64(IMAGES[0]).u32(1).u32(1);
        w.structures(1, |w, _| region(w, (3, 7), [0, 0], [5, 3]));
    });
    f.call("vkCmdClearColorImage", |w| {
        w.u64(COMMANDS).u64(IMAGES[1]).u32(1);
        w.structure(|w| {
            // (1/255, 1, 0, half of an alpha that is not there)
            let colour = [1.0 / 255.0, 1.0, 0.0, 0.5f32];
            w.u32_array(&colour.map(f32::to_bits));
        });
        w.u32(1);
        w.structures(1, |w, _| {
            w.u32(1).u32(0).u32(1).u32(0).u32(1);
        });
    });
    wait(&mut f, &[]);
    // Two of the first image's columns into the second.
    f.call("vkCmdCopyImage", |w| {
        w.u64(COMMANDS).u64(IMAGES[0]).u32(1).u64(IMAGES[1]).u32(1).u32(1);
        w.structures(1, |w, _| {
            w.u32(1).u32(0).u32(0).u32(1).i32(1).i32(0).i32(0);
            w.u32(1).u32(0).u32(0).u32(1).i32(3).i32(0).i32(0).u32(2).u32(3).u32(1);
        });
    });
    wait(&mut f, &[]);
    // Out of it: all of it tightly from byte 3 on, and a part in rows of six texels.
    f.call("vkCmdCopyImageToBuffer", |w| {
        w.u64(COMMANDS).u64(IMAGES[1]).u32(1).u64(BUFFERS[1]).u32(2);
        w.structures(2, |w, i| match i {
            0 => region(w, (3, 0), [0, 0], [5, 3]),
            _ => region(w, (60, 6), [2, 1], [3, 2]),
        });
    });
    f.end(COMMANDS);
    f.call("vkQueueSubmit", |w| {
        w.u64(QUEUE).u32(1);
        w.structures(1, |w, _| {
            w.u32(4).null_struct().u32(0).null_array().null_array().u32(1).u64_array(&[COMMANDS]);
            w.u32(0).null_array();
        });
        w.u64(0).i32(0);
    });
    f.idle();
    let file = f.write(&scratch, "rgb8.gfxr");
    // What each texel of the second image is.
    let texel = |x: usize, y: usize| match x {
        3.. => std::array::from_fn(|c| uploaded[3 + (y * 7 + x - 2) * 3 + c]),
        _ => [1, 255, 0],
    };
    let mut expected = vec![0xEEu8; 128];
    for y in 0..3 {
        for x in 0..5 {
            let at = 3 + (y * 5 + x) * 3;
            expected[at..at + 3].copy_from_slice(&texel(x, y));
            if x >= 2 && y >= 1 {
                let at = 60 + ((y - 1) * 6 + x - 2) * 3;
                expected[at..at + 3].copy_from_slice(&texel(x, y));
            }
        }
    }
    let (name, to) = (file.to_str().expect("plain"), scratch.path("shots"));
    let folder = to.to_str().expect("plain");
    let buffer = BUFFERS[1].to_string();
    let flags = ["--frame-by", "file", "--image", &buffer, "--as", "128x1:R8_UNORM", "-o", folder];
    let out = run(["screenshot", name].iter().chain(&flags));
    assert!(out.status.success(), "{}", text(&out.stderr));
    let shot = to.read_dir().expect("a folder").next().expect("one").expect("a file").path();
    assert_eq!(pixels(&shot, 1), expected);
    let said = replay(&file, &[]);
    assert!(said.contains("15 × texels translated for images"), "{said}");
}

/// What is refused, of which image, and why; each with its first call.
#[test]
fn what_no_stand_in_can_do_is_refused_with_its_call() {
    if !device("what no stand-in can do") {
        return;
    }
    let scratch = Scratch::new("stand-ins-refused");
    let refused = |name: &str, make: &dyn Fn(&mut File), why: &str| {
        let mut f = begin();
        make(&mut f);
        let file = f.write(&scratch, &format!("{name}.gfxr"));
        let file = file.to_str().expect("plain");
        assert_eq!(run(["check", file]).status.code(), Some(77), "{name}");
        let out = run([file]);
        assert_eq!(out.status.code(), Some(77), "{name}");
        assert!(text(&out.stderr).contains(why), "{name}: {why}: {}", text(&out.stderr));
    };
    let view = |f: &mut File, format: u32| {
        f.call("vkCreateImageView", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(15).null_struct().u32(0).u64(IMAGES[0]).u32(1).u32(format);
                w.u32(0).u32(0).u32(0).u32(0).u32(1).u32(0).u32(1).u32(0).u32(1);
            });
            w.null_struct().u64_ptr(70).i32(0);
        });
    };
    let linear = "images whose memory holds the texels (not of optimal tiling) are not bridged: first in block 6, vkCreateImage";
    refused("linear", &|f| image(f, IMAGES[0], RGB8, (0, 1, 5, 0)), linear);
    let drawn =
        "images with fewer channels that are rendered to are not bridged: first in block 6, vkCreateImage";
    refused("drawn", &|f| image(f, IMAGES[0], RGB8, (0, 0, 5, 16)), drawn);
    let viewed = "views of its texels in another format are not bridged: first in block 9, vkCreateImageView";
    refused(
        "viewed",
        &|f| {
            image(f, IMAGES[0], RGB8, (8, 0, 5, 0));
            view(f, 9);
        },
        viewed,
    );
    // Another layout's modifier, three planes that are too many, and more texels than there may be.
    let modifier = "(DRM modifiers) are not made here, first in block 6, vkCreateImage";
    refused("modifier", &|f| image(f, IMAGES[0], 37, (0, 1_000_158_000, 5, 0)), modifier);
    // VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16.
    let planes = "not supported, first in block 6, vkCreateImage";
    refused("planes", &|f| image(f, IMAGES[0], 1_000_156_016, (0, 0, 5, 0)), planes);
    let large = ", first in block 6, vkCreateImage";
    refused("large", &|f| image(f, IMAGES[0], 37, (0, 0, 1 << 20, 0)), large);
    // Three channels in a buffer that shaders store texels to.
    let texels = "asked: first in block 9, vkCreateBufferView; here: not supported";
    let stored = |f: &mut File| {
        buffer(f, BUFFERS[0], 8);
        f.call("vkCreateBufferView", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(13).null_struct().u32(0).u64(BUFFERS[0]).u32(RGB8).u64(0).u64(48);
            });
            w.null_struct().u64_ptr(70).i32(0);
        });
    };
    refused("texels", &stored, texels);
    // A view of the same texels as another kind of number is bridged.
    let mut f = begin();
    image(&mut f, IMAGES[0], RGB8, (8, 0, 5, 0));
    view(&mut f, RGB8_SRGB);
    replay(&f.write(&scratch, "family.gfxr"), &[]);
}
