//! `screenshot`: equal to gfxrecon-replay's screenshots, to what programs read back themselves, and to itself in every
//! memory mode; what it refuses, and how it says so.
//!
//! Refuses to pass for want of a device, gfxrecon-replay or Xvfb when `RERAY_REQUIRE_DEVICE` is set (as in CI).

use crate::device::device;
use crate::support::{Scratch, run, sample, shared_capture, skip, text};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const MODES: [&str; 4] = ["auto", "none", "remap", "rebind"];

/// A picture as RGBA.
#[derive(PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

impl Picture {
    pub fn from_png(file: &Path) -> Picture {
        let bytes = std::fs::File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut reader = png::Decoder::new(std::io::BufReader::new(bytes)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
        let info = reader.next_frame(&mut pixels).expect("whole");
        let opaque = |t: &[u8]| [t[0], t[1], t[2], 255];
        let rgba = match info.color_type {
            png::ColorType::Rgba => pixels,
            png::ColorType::Rgb => pixels.chunks_exact(3).flat_map(opaque).collect(),
            other => panic!("{}: {other:?}", file.display()),
        };
        Picture { width: info.width, height: info.height, rgba }
    }

    /// As gfxrecon-replay 0.9.18 writes them: 32 bits a pixel, rows from the bottom.
    fn from_bmp(file: &Path) -> Picture {
        let b = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let word = |at: usize| u32::from_le_bytes(b[at..at + 4].try_into().expect("4 bytes"));
        assert_eq!((&b[..2], b[28]), (&b"BM"[..], 32), "{}", file.display());
        let (from, width, height) = (word(10) as usize, word(18), word(22));
        let rows = b[from..].chunks_exact(width as usize * 4).rev();
        let rgba = rows.flat_map(|r| r.chunks_exact(4)).flat_map(|t| [t[2], t[1], t[0], t[3]]).collect();
        Picture { width, height, rgba }
    }

    fn opaque(mut self) -> Picture {
        self.rgba.chunks_exact_mut(4).for_each(|t| t[3] = 255);
        self
    }

    fn grey(&self, x: u32, y: u32) -> u8 {
        self.rgba[(y * self.width + x) as usize * 4]
    }

    /// Fails with where and how they differ.
    pub fn assert_equals(&self, other: &Picture, what: &str) {
        assert_eq!((self.width, self.height), (other.width, other.height), "{what}");
        let pairs = || self.rgba.chunks_exact(4).zip(other.rgba.chunks_exact(4)).enumerate();
        let Some((at, (a, b))) = pairs().find(|(_, (a, b))| a != b) else { return };
        let n = pairs().filter(|(_, (a, b))| a != b).count();
        let (x, y) = (at as u32 % self.width, at as u32 / self.width);
        panic!("{what}: {n} pixels differ, the first at {x}, {y}: {a:?} and {b:?}");
    }
}

fn screenshot(file: &Path, to: &Path, flags: &[&str]) -> Output {
    let mut args =
        vec!["screenshot", file.to_str().expect("a plain name"), "-o", to.to_str().expect("a plain name")];
    args.extend(flags);
    run(args)
}

/// Runs it, asserts success, and that stdout names exactly the files that are there.
fn shots(file: &Path, to: &Path, flags: &[&str]) -> Vec<PathBuf> {
    let out = screenshot(file, to, flags);
    assert!(out.status.success(), "{} {flags:?}: {}", file.display(), text(&out.stderr));
    let named: Vec<PathBuf> = text(&out.stdout).lines().map(PathBuf::from).collect();
    let mut there: Vec<PathBuf> =
        to.read_dir().expect("it was made").map(|e| e.expect("an entry").path()).collect();
    let mut sorted = named.clone();
    sorted.sort();
    there.sort();
    assert_eq!(sorted, there);
    named
}

/// It must end with this code and say this.
fn refused(file: &Path, flags: &[&str], code: i32, says: &[&str]) {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let scratch = Scratch::new(&format!("refused-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
    let out = screenshot(file, &scratch.path("out"), flags);
    let err = text(&out.stderr);
    assert_eq!(out.status.code(), Some(code), "{flags:?}: {err}");
    says.iter().for_each(|s| assert!(err.contains(s), "{flags:?}: {err}"));
    let empty = scratch.path("out").read_dir().is_ok_and(|mut files| files.next().is_none());
    assert!(!empty, "{flags:?}: an empty folder is left");
}

/// An X server of our own, on a display it finds free itself; stopped at the end.
struct Display(Child, String);

impl Display {
    fn start() -> Display {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts");
        let mut number = String::new();
        let out = server.stdout.take().expect("it is piped");
        std::io::BufReader::new(out).read_line(&mut number).expect("Xvfb says its display");
        assert!(!number.trim().is_empty(), "Xvfb found no free display");
        Display(server, format!(":{}", number.trim()))
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn have(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|o| o.status.success())
}

/// What gfxrecon-replay makes of these frames, counted from 1, under Xvfb; none if it is not installed.
fn theirs(file: &Path, frames: &str, scratch: &Path) -> Option<()> {
    for program in ["gfxrecon-replay", "Xvfb"] {
        if !have(program) {
            let required = std::env::var_os("RERAY_REQUIRE_DEVICE").is_some();
            assert!(!required, "{program} is not installed, and is required");
            skip(&format!("comparing {} with gfxrecon-replay", file.display()), &format!("no {program}"));
            return None;
        }
    }
    std::fs::create_dir_all(scratch).expect("a folder");
    let display = Display::start();
    let out = Command::new("gfxrecon-replay")
        .args(["--screenshots", frames, "--screenshot-dir"])
        .args([scratch, file])
        .env("DISPLAY", &display.1)
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("it runs");
    assert!(out.status.success(), "gfxrecon-replay: {}{}", text(&out.stdout), text(&out.stderr));
    Some(())
}

/// The committed images and those of other captures were made by llvmpipe; another driver's last bits differ.
fn llvmpipe(what: &str) -> bool {
    let here = text(&run(["devices", "--json"]).stdout).contains("llvmpipe");
    if !here {
        skip(what, "its reference was made by llvmpipe, which is not here");
    }
    here
}

/// `frames`: ours and theirs (a trimmed capture keeps its numbers here, gfxrecon-replay counts from 1).
fn equals_gfxrecon_replay(name: &str, frames: &[(u64, u64)]) {
    if !device(&format!("{name} compared with gfxrecon-replay")) {
        return;
    }
    let Some(file) = shared_capture(name) else { return };
    equals(&file, name, frames);
}

/// The same, of any capture.
pub fn equals(file: &Path, name: &str, frames: &[(u64, u64)]) {
    let scratch = Scratch::new(&format!("peer-{name}"));
    let list =
        |f: fn(&(u64, u64)) -> u64| frames.iter().map(|p| f(p).to_string()).collect::<Vec<_>>().join(",");
    let peer = scratch.path("theirs");
    if theirs(file, &list(|p| p.1), &peer).is_none() {
        return;
    }
    for memory in MODES {
        let ours = scratch.path(memory);
        shots(file, &ours, &["--frames", &list(|p| p.0), "--alpha", "--memory", memory]);
        for (our, their) in frames {
            let a = Picture::from_png(&ours.join(format!("frame_{our}.png")));
            let b = Picture::from_bmp(&peer.join(format!("screenshot_frame_{their}.bmp")));
            a.assert_equals(&b, &format!("{name} frame {our}, --memory {memory}"));
        }
    }
    // Without the alpha channel the colours are the same.
    let opaque = scratch.path("opaque");
    let (our, their) = frames[0];
    let made = shots(file, &opaque, &["--frames", &our.to_string()]);
    let b = Picture::from_bmp(&peer.join(format!("screenshot_frame_{their}.bmp"))).opaque();
    Picture::from_png(&made[0]).assert_equals(&b, &format!("{name} frame {our}, opaque"));
}

#[test]
fn vkcube_equals_gfxrecon_replays_screenshots() {
    equals_gfxrecon_replay("vkcube.gfxr", &[(1, 1), (50, 50), (100, 100)]);
}

#[test]
fn a_trimmed_vkcube_equals_gfxrecon_replays_screenshots() {
    equals_gfxrecon_replay("vkcube_trim_10_19.gfxr", &[(10, 1), (19, 10)]);
}

#[test]
fn gears_equal_gfxrecon_replays_screenshots() {
    equals_gfxrecon_replay("vkd3d_gears_trim_40_59.gfxr", &[(40, 1), (49, 10), (59, 20)]);
}

#[test]
fn cubes_equal_what_the_program_presented() {
    let test = "cubes compared with the program's own images";
    if !device(test) || !llvmpipe(test) {
        return;
    }
    let scratch = Scratch::new("cubes");
    for memory in MODES {
        let made =
            shots(&sample("cubes.gfxr"), &scratch.path(memory), &["--frames", "1,15,30", "--memory", memory]);
        assert_eq!(made.len(), 3);
        for file in made {
            let name = file.file_name().expect("a name").to_str().expect("plain").to_string();
            let reference = Picture::from_png(&sample(&format!("cubes_{name}")));
            Picture::from_png(&file).assert_equals(&reference, &format!("{name}, --memory {memory}"));
        }
    }
}

#[test]
fn the_last_frame_is_the_default() {
    if !device("the default frame") || !llvmpipe("the default frame") {
        return;
    }
    let scratch = Scratch::new("default");
    let made = shots(&sample("cubes.gfxr"), &scratch.path("a"), &[]);
    assert_eq!(made, [scratch.path("a/frame_30.png")]);
    Picture::from_png(&made[0])
        .assert_equals(&Picture::from_png(&sample("cubes_frame_30.png")), "cubes, last frame");
}

/// The last image that a program without a window copied out is what it read back itself. For recordings made now.
pub fn last_equals(file: &Path, read_back: &Path) {
    let scratch = Scratch::new("read-back");
    let made = shots(file, &scratch.path("out"), &[]);
    let theirs = Picture::from_png(read_back).opaque();
    Picture::from_png(&made[0]).assert_equals(&theirs, &format!("{} and what it read back", file.display()));
}

/// The capture's own arithmetic: 640 x 320 values, 50 steps of z² + c.
fn julia(i: u32, j: u32, t: f32) -> u8 {
    let c = [-0.8f32, t.cos() * 0.2];
    let mut z = [(i as f32 / 320.0 - 1.0) * 2.0, (j as f32 / 320.0 - 0.5) * 2.0];
    let mut n = 0;
    while (z[0] * z[0] + z[1] * z[1]).sqrt() < 20.0 && n < 50 {
        z = [z[0] * z[0] - z[1] * z[1] + c[0], z[1] * z[0] * 2.0 + c[1]];
        n += 1;
    }
    ((1.0 - n as f32 * 0.02) * 255.0).round() as u8
}

#[test]
fn a_capture_that_never_presents_shows_the_buffer_it_copied_out() {
    if !device("taichi_julia.gfxr") {
        return;
    }
    let Some(file) = shared_capture("taichi_julia.gfxr") else { return };
    let scratch = Scratch::new("taichi");
    let mut first: Option<Picture> = None;
    for memory in MODES {
        // The program's array is 640 rows of 320.
        let made = shots(&file, &scratch.path(memory), &["--as", "320x640:R32_SFLOAT", "--memory", memory]);
        assert_eq!(made, [scratch.path(&format!("{memory}/frame_6.png"))]);
        let picture = Picture::from_png(&made[0]);
        if let Some(first) = &first {
            picture.assert_equals(first, memory);
            continue;
        }
        let all: Vec<(u32, u32)> = (0..640).flat_map(|i| (0..320).map(move |j| (i, j))).collect();
        let equal = all.iter().filter(|(i, j)| picture.grey(*j, *i) == julia(*i, *j, 19.0 * 0.03)).count();
        // Where the set is chaotic, the last bit of a cosine decides.
        assert!(equal * 1000 > all.len() * 985, "{equal} of {} values are those of the program", all.len());
        first = Some(picture);
    }
    let whole = shots(&file, &scratch.path("whole"), &["--as", "320x640:R32_SFLOAT", "--frame-by", "file"]);
    Picture::from_png(&whole[0]).assert_equals(&first.expect("it ran"), "--frame-by file");
    refused(&file, &[], 1, &["frame 6: 819200 bytes were copied into VkBuffer 80", "--as WxH:FORMAT"]);
    refused(&file, &["--as", "640x321:R32_SFLOAT"], 1, &["takes 821760 bytes, VkBuffer 80 holds 819200"]);
    let no = ["frame 5: nothing was copied out", "frames that copied something out: 6"];
    refused(&file, &["--frames", "5-6", "--as", "320x640:R32_SFLOAT"], 1, &no);
    let beyond = ["there is no frame 11; the last is frame 10"];
    refused(&file, &["--frames", "6,11", "--as", "320x640:R32_SFLOAT"], 1, &beyond);
}

#[test]
fn an_image_that_was_copied_out_is_what_the_program_read_back() {
    let test = "sapien_rt_llvmpipe.gfxr compared with what the program read back";
    if !device(test) || !llvmpipe(test) {
        return;
    }
    let Some(file) = shared_capture("sapien_rt_llvmpipe.gfxr") else { return };
    let scratch = Scratch::new("sapien");
    let out = screenshot(&file, &scratch.path("out"), &[]);
    if out.status.code() == Some(77) {
        // No ray tracing here.
        return skip(test, text(&out.stderr).trim());
    }
    assert!(out.status.success(), "{}", text(&out.stderr));
    let ours = Picture::from_png(&scratch.path("out/frame_28.png"));
    let theirs = Picture::from_png(&file.with_file_name("sapien_rt_llvmpipe.expected.png"));
    // The program cuts its floats to 8 bits, we round them: the same value, or one more.
    let off = ours
        .rgba
        .iter()
        .zip(&theirs.rgba)
        .filter(|(a, b)| !(0..=1).contains(&(i16::from(**a) - i16::from(**b))));
    assert_eq!((ours.width, ours.height, off.count()), (256, 144, 0));
}

#[test]
fn an_image_by_id_and_by_name() {
    if !device("screenshot --image") || !llvmpipe("screenshot --image") {
        return;
    }
    let scratch = Scratch::new("image");
    let file = sample("cubes.gfxr");
    let of = |name: &str, to: &str| {
        let made = shots(&file, &scratch.path(to), &["--frames", "15", "--image", name]);
        Picture::from_png(&made[0])
    };
    // What is presented is also an image, whose layout barriers and render passes decide.
    let presented = Picture::from_png(&sample("cubes_frame_15.png"));
    of("swapchain image 0", "a").assert_equals(&presented, "the presented image by name");
    of("7", "b").assert_equals(&presented, "the presented image by id");
    // Black where nothing is, colours in the middle; far is white, near is darker.
    let (world, depth) = (of("world colour", "c"), of("world depth", "d"));
    for p in [&world, &depth] {
        assert_eq!((p.width, p.height), (960, 540));
    }
    assert_eq!((world.grey(2, 2), depth.grey(2, 2)), (0, 255));
    assert!(depth.grey(480, 190) < 250 && depth.grey(480, 190) > 0);
    let covered = |p: &Picture, none: [u8; 3]| p.rgba.chunks_exact(4).filter(|t| t[..3] != none).count();
    let (coloured, near) = (covered(&world, [0; 3]), covered(&depth, [255; 3]));
    assert!(coloured > 50_000 && coloured <= near + near / 100, "{coloured} coloured, {near} with depth");
    refused(&file, &["--image", "nix"], 1, &["frame 30: no image nix exists then"]);
    refused(
        &file,
        &["--frames", "2", "--image", "8"],
        1,
        &["VkImage 8 has no contents the GPU knows of yet"],
    );
}

#[test]
fn reading_breaks_no_rule_of_the_api() {
    if !device("screenshot --validate") {
        return;
    }
    if !Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json").exists() {
        skip("screenshot --validate", "no validation layer");
        return;
    }
    let silent = |file: &Path, flags: &[&str]| {
        let scratch = Scratch::new("validate");
        let out = screenshot(file, &scratch.path("out"), &[flags, &["--validate"]].concat());
        assert!(out.status.success(), "{flags:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(": 0 validation messages"), "{flags:?}: {}", text(&out.stderr));
    };
    let cubes = sample("cubes.gfxr");
    silent(&cubes, &["--frames", "1-4"]);
    silent(&cubes, &["--frames", "1-4", "--image", "world colour"]);
    silent(&cubes, &["--frames", "2", "--image", "world depth"]);
    if let Some(file) = shared_capture("vkd3d_gears_trim_40_59.gfxr") {
        silent(&file, &["--frames", "40-42"]);
    }
    if let Some(file) = shared_capture("taichi_julia.gfxr") {
        silent(&file, &["--as", "320x640:R32_SFLOAT"]);
    }
}

#[test]
fn refusals_and_exit_codes() {
    if !device("screenshot's refusals") {
        return;
    }
    let file = sample("cubes.gfxr");
    refused(&file, &["--frames", "29-31"], 1, &["there is no frame 31; the last is frame 30"]);
    refused(&file, &["--frames", "5-3"], 2, &["runs backwards"]);
    refused(&file, &["--as", "3:R8"], 2, &["expected WxH:FORMAT"]);
    refused(&file, &["--gpu", "no such device"], 77, &["no device matches"]);
    if let Some(trimmed) = shared_capture("vkd3d_gears_trim_40_59.gfxr") {
        refused(
            &trimmed,
            &["--frames", "1"],
            1,
            &["there is no frame 1; the first is frame 40, the last is frame 59"],
        );
    }
    // A folder that cannot be made.
    let scratch = Scratch::new("blocked");
    std::fs::write(scratch.path("file"), b"").expect("it is ours");
    let out = screenshot(&file, &scratch.path("file/under"), &[]);
    assert_eq!(out.status.code(), Some(1));
    assert!(out.stdout.is_empty());
}
