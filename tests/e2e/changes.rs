//! `--change`: what changes to calls do to pictures, against what the capture says itself: clear values, tiles under labels, the
//! same capture without a call.
//!
//! `stages` draws five tiles of 64 × 64, each under a label of its own with a scissor of its own, over a background of 0.2: with
//! tessellation and geometry shaders, mesh shaders, two of pipeline libraries. `objects` draws the right quarter with shader objects,
//! all of whose state is dynamic; `cubes` draws a world off screen and a picture of it that covers the screen.

use crate::device::device;
use crate::rays::{rgb, sample};
use crate::replay::validation_layer;
use crate::support::{Scratch, run, shared_capture, text};
use gfxr_parse::ahead::{Call, What, read};
use gfxr_parse::container::{Capture, FrameCounter};
use gfxr_parse::encode::encode_call;
use gfxr_parse::view::View;
use gfxr_parse::writer::Writer;
use profile::changes::LIST;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

type Pixel = [u8; 3];

/// A picture's width and pixels.
#[derive(PartialEq, Eq)]
struct Picture(usize, Vec<Pixel>);

impl Picture {
    fn read(file: &Path) -> Picture {
        let (width, _, rgb) = rgb(file);
        Picture(width as usize, rgb.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect())
    }

    /// The pixels of columns.
    fn columns(&self, from: usize, to: usize) -> Vec<Pixel> {
        self.1.chunks_exact(self.0).flat_map(|row| &row[from..to]).copied().collect()
    }

    /// The tiles of `stages`.
    fn tiles(&self) -> Vec<Vec<Pixel>> {
        (0..self.0 / 64).map(|t| self.columns(t * 64, t * 64 + 64)).collect()
    }
}

/// What a frame of a capture shows with these changes, and what is said of it.
fn shown_of(capture: &Path, frame: u32, changes: &[&str]) -> (Picture, String) {
    let name: Vec<String> = changes.iter().map(|c| c.replace(['*', ':', ' '], "_")).collect();
    // (tests run beside each other, and may show the same)
    static SHOWN: AtomicU32 = AtomicU32::new(0);
    let number = SHOWN.fetch_add(1, Ordering::Relaxed);
    let scratch = Scratch::new(&format!("changes-{number}-{frame}-{}", name.join("-")));
    let to = scratch.path("shots");
    let frame = frame.to_string();
    let mut args = vec!["screenshot", capture.to_str().expect("a path"), "--frames", &frame];
    args.extend(["-o", to.to_str().expect("a path")]);
    changes.iter().for_each(|c| args.extend(["--change", c]));
    let out = run(args);
    assert!(out.status.success(), "{changes:?}: {}", text(&out.stderr));
    (Picture::read(&to.join(format!("frame_{frame}.png"))), text(&out.stderr))
}

fn shown(name: &str, frame: u32, changes: &[&str]) -> (Picture, String) {
    shown_of(&sample(&format!("{name}.gfxr")), frame, changes)
}

fn differing(a: &[Pixel], b: &[Pixel]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

/// 0.2 of 255: what `stages` clears to.
const BACKGROUND: Pixel = [51; 3];

/// The block of the n-th command of this name in a capture.
fn block(name: &str, command: &str, nth: usize) -> u64 {
    let file = sample(&format!("{name}.gfxr"));
    let out = run(["dump", file.to_str().expect("a path"), "--commands", command]);
    let lines: Vec<serde_json::Value> =
        text(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let all = lines.iter().filter(|l| l["function"]["name"] == command);
    all.map(|l| l["index"].as_u64().expect("a number")).nth(nth).expect("it is there")
}

#[test]
fn without_draws_fragments_or_colours_the_background_is_left() {
    if !device("changes: the background") {
        return;
    }
    let (plain, said) = shown("stages", 2, &[]);
    assert!(!said.contains("change "), "{said}");
    // The fullscreen triangle of the last tile leaves nothing of it; others do.
    assert!(plain.tiles().iter().all(|t| differing(t, &[BACKGROUND; 64 * 64]) > 0));
    for change in ["skip", "no-fragments", "no-color"] {
        let (picture, said) = shown("stages", 2, &[change]);
        assert!(picture.1.iter().all(|p| *p == BACKGROUND), "{change}: {said}");
        // Two frames of five draws.
        let what = if change == "skip" {
            "draws, dispatches and traces left out (14)"
        } else {
            "draws with changed state (10)"
        };
        assert!(said.contains(&format!("change {change}: {what}")), "{said}");
    }
    // A pixel of each scissor, at most: those at the tiles' own corners.
    let (picture, _) = shown("stages", 2, &["one-pixel"]);
    let mut expected = vec![BACKGROUND; plain.1.len()];
    (0..5).for_each(|t| expected[t * 64] = plain.1[t * 64]);
    assert!(picture.1 == expected);
    // Two changes of state at once are both made.
    let (both, _) = shown("stages", 2, &["one-pixel", "no-color"]);
    assert!(both.1.iter().all(|p| *p == BACKGROUND));
}

#[test]
fn what_is_chosen_changes_and_what_comes_behind_it_does_not() {
    if !device("changes: chosen") {
        return;
    }
    let (plain, _) = shown("stages", 2, &[]);
    let plain = plain.tiles();
    let background = vec![BACKGROUND; 64 * 64];
    let only = |changes: &[&str], tile: usize| {
        let (picture, said) = shown("stages", 2, changes);
        for (n, (now, then)) in picture.tiles().iter().zip(&plain).enumerate() {
            let expected = if n == tile { &background } else { then };
            assert_eq!(differing(now, expected), 0, "{changes:?}, tile {n}: {said}");
        }
    };
    for change in ["skip", "no-fragments", "no-color"] {
        // Of tessellation, of mesh shaders, of linked libraries.
        for tile in 0..3 {
            only(&[&format!("{change}:label=*ile {tile}")], tile);
        }
    }
    let mesh = block("stages", "vkCmdDrawMeshTasksEXT", 1);
    only(&[&format!("no-fragments:at={mesh}")], 1);
    only(&[&format!("skip:at={mesh}-{mesh}")], 1);
    // Of no label, of no block, of no pipeline there is: nothing, which is said.
    for choice in ["label=tile", "at=1-5", "pipeline=5"] {
        let (picture, said) = shown("stages", 2, &[&format!("no-fragments:{choice}")]);
        assert!(picture.tiles() == plain, "{choice}");
        assert!(!said.contains("draws with changed state"), "{said}");
    }
    // A scissor that commands set is the application's again behind what is chosen.
    let (picture, _) = shown("stages", 2, &["one-pixel:label=tile 3"]);
    let tiles = picture.tiles();
    assert_eq!((differing(&tiles[3], &background), differing(&tiles[4], &plain[4])), (1, 0));
    // By the pipeline: that of the world alone draws cubes; what is left is what it is cleared to.
    let (none, _) = shown("cubes", 2, &["skip:label=world"]);
    let world = pipeline_named("cubes", "lit cube");
    for change in ["skip", "no-fragments", "no-color"] {
        let (picture, _) = shown("cubes", 2, &[&format!("{change}:pipeline={world}")]);
        assert!(picture == none, "{change}");
    }
    assert!(none != shown("cubes", 2, &[]).0);
}

/// The captured id of a pipeline by its debug name.
fn pipeline_named(name: &str, pipeline: &str) -> u64 {
    let file = sample(&format!("{name}.gfxr"));
    let command = "vkSetDebugUtilsObjectNameEXT";
    let out = run(["dump", file.to_str().expect("a path"), "--commands", command]);
    let lines: Vec<serde_json::Value> =
        text(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let infos = lines.iter().map(|l| &l["function"]["args"]["pNameInfo"]);
    let named =
        |i: &&serde_json::Value| i["objectType"] == "VK_OBJECT_TYPE_PIPELINE" && i["pObjectName"] == pipeline;
    let found = infos.into_iter().find(named).unwrap_or_else(|| panic!("no pipeline {pipeline}"));
    found["objectHandle"].as_u64().expect("a number")
}

#[test]
fn a_draw_that_is_skipped_is_a_capture_without_the_call() {
    if !device("changes: without the call") {
        return;
    }
    let scratch = Scratch::new("changes-edited");
    for (name, frame, command, nth) in [
        ("stages", 2, "vkCmdDraw", 6),
        ("cubes", 1, "vkCmdDrawIndexed", 100),
        ("closed_compute", 3, "vkCmdDispatch", 38),
        ("msaa_frames_10_12", 12, "vkCmdDraw", 90),
    ] {
        let at = block(name, command, nth);
        let bytes = std::fs::read(sample(&format!("{name}.gfxr"))).expect("a sample");
        let capture = Capture::new(bytes).expect("a capture");
        let mut w = Writer::new(vec![], capture.header()).expect("memory");
        for b in capture.blocks().filter(|b| b.index != at) {
            w.raw(&b).expect("memory");
        }
        let edited = scratch.path(&format!("{name}.gfxr"));
        std::fs::write(&edited, w.finish().expect("memory")).expect("written");
        let (expected, _) = shown_of(&edited, frame, &[]);
        let (skipped, _) = shown(name, frame, &[&format!("skip:at={at}")]);
        assert!(skipped == expected, "{name}");
        assert!(skipped != shown(name, frame, &[]).0, "{name}: the call is seen");
    }
}

#[test]
fn pipelines_are_not_bound_for_what_is_skipped_alone() {
    if !device("changes: binds") {
        return;
    }
    // Each of 300 draws has its own bind; one draw beside them shows the same.
    let (without, said) = shown("causes", 2, &["skip:label=draws many"]);
    assert!(said.contains("pipelines not bound, as nothing is left that uses them (300)"), "{said}");
    assert!(said.contains("draws, dispatches and traces left out (300)"), "{said}");
    assert!(without != shown("causes", 2, &[]).0);
    // Of a pipeline that others use as well, and in command buffers that are executed within others, pictures stay what they are without
    // the calls: see above, and `nested`.
    let (none, said) = shown("nested", 4, &["skip"]);
    let (cleared, _) = shown("nested", 4, &["no-color"]);
    assert!(none == cleared, "{said}");
}

#[test]
fn state_that_is_so_already_changes_nothing() {
    if !device("changes: nothing") {
        return;
    }
    // Nothing of `cubes` is blended; in `objects` neither blending nor depth is on.
    for (name, frame, change) in
        [("cubes", 2, "no-blend"), ("objects", 3, "no-blend"), ("objects", 3, "no-depth")]
    {
        let (changed, said) = shown(name, frame, &[change]);
        assert!(changed == shown(name, frame, &[]).0, "{name}: {change}");
        assert!(said.contains(&format!("change {change}: nothing that it is for came")), "{said}");
    }
    // Of 200 cubes some hide others, and `msaa` blends.
    for (name, frame, change) in [("cubes", 2, "no-depth"), ("msaa_frames_10_12", 12, "no-blend")] {
        assert!(shown(name, frame, &[change]).0 != shown(name, frame, &[]).0, "{name}: {change}");
    }
}

#[test]
fn dynamic_state_of_shader_objects_is_changed() {
    if !device("changes: shader objects") {
        return;
    }
    let (plain, _) = shown("objects", 3, &[]);
    // They draw a quarter of the width.
    let drawn = |p: &Picture| {
        (0..4)
            .map(|q| differing(&p.columns(q * 16, q * 16 + 16), &plain.columns(q * 16, q * 16 + 16)))
            .collect::<Vec<_>>()
    };
    for change in ["no-fragments", "no-color"] {
        assert_eq!(
            drawn(&shown("objects", 3, &[change]).0).iter().filter(|n| **n > 0).count(),
            1,
            "{change}"
        );
        assert_eq!(drawn(&shown("objects", 3, &[change]).0).iter().sum::<usize>(), 16 * 16, "{change}");
    }
    assert_eq!(drawn(&shown("objects", 3, &["one-pixel"]).0).iter().sum::<usize>(), 16 * 16 - 1);
}

#[test]
fn half_of_the_workgroups_do_their_part_and_no_more() {
    if !device("changes: half") {
        return;
    }
    // The last dispatch of a frame writes a row of the picture with each of its 13 workgroups: 6 of them are left.
    let at = block("closed_compute", "vkCmdDispatch", 41);
    let (plain, _) = shown("closed_compute", 3, &[]);
    let (none, _) = shown("closed_compute", 3, &[&format!("skip:at={at}")]);
    let (half, said) = shown("closed_compute", 3, &[&format!("half:at={at}")]);
    assert!(said.contains("change half: draws, dispatches and traces halved (1)"), "{said}");
    let rows = |p: &Picture, from: usize, to: usize| p.1[from * p.0..to * p.0].to_vec();
    assert!(rows(&half, 0, 6) == rows(&plain, 0, 6));
    assert!(rows(&half, 6, 13) == rows(&none, 6, 13));
    assert!((0..13).filter(|r| rows(&plain, *r, r + 1) != rows(&none, *r, r + 1)).count() > 0);
}

/// A sample of which some calls were edited: those of which it is said.
pub(crate) fn edited(scratch: &Scratch, name: &str, mut edit: impl FnMut(&mut Call) -> bool) -> PathBuf {
    let bytes = std::fs::read(sample(&format!("{name}.gfxr"))).expect("a sample");
    let capture = Capture::new(bytes).expect("a capture");
    let mut w = Writer::new(vec![], capture.header()).expect("memory");
    let (mut blocks, mut frames) =
        (gfxr_parse::container::Scratch::new(), FrameCounter::new(capture.header()));
    for block in capture.blocks() {
        let place = frames.feed(&block);
        let mut params = vec![];
        if let Ok(What::Call(mut call)) = read(&block, place, None, &mut blocks)
            && edit(&mut call)
        {
            encode_call(&call.image, &mut params);
            w.call(call.command.id, call.thread, &params).expect("memory");
        } else {
            w.raw(&block).expect("memory");
        }
    }
    let to = scratch.path(&format!("{name}.gfxr"));
    std::fs::write(&to, w.finish().expect("memory")).expect("written");
    to
}

#[test]
fn what_is_loaded_is_cleared() {
    if !device("changes: cleared") {
        return;
    }
    // The same capture, with renderings that clear.
    let scratch = Scratch::new("changes-cleared");
    let mut renderings = 0;
    let written = edited(&scratch, "msaa_frames_10_12", |call| {
        let v = View::call(&call.image);
        let Some(info) = v.one("pRenderingInfo") else { return false };
        let all = ["pColorAttachments", "pDepthAttachment", "pStencilAttachment"];
        let loaded = all.iter().flat_map(|name| info.structs(name).map(move |a| (*name, a)));
        let loaded = loaded.filter(|(_, a)| a.u32("loadOp") == Some(0) && a.u64("imageView") != Some(0));
        let at = |a: View<'_>, name| a.definition(name).expect("a member").1;
        let places: Vec<_> = loaded.map(|(name, a)| (name, at(a, "loadOp"), at(a, "clearValue"))).collect();
        for (name, op, value) in &places {
            renderings += 1;
            call.image.edit_u32(*op, 1);
            (0..4).for_each(|word| call.image.edit_u32(value + word * 4, 0));
            if *name != "pColorAttachments" {
                call.image.edit_u32(*value, 1f32.to_bits());
            }
        }
        !places.is_empty()
    });
    let (expected, _) = shown_of(&written, 12, &[]);
    let (cleared, said) = shown("msaa_frames_10_12", 12, &["cleared"]);
    assert!(cleared == expected, "{said}");
    assert!(cleared != shown("msaa_frames_10_12", 12, &[]).0);
    assert!(
        said.contains(&format!("change cleared: attachments cleared that were loaded ({renderings})")),
        "{said}"
    );
    // One alone; and a capture whose render passes load nothing stays as it is.
    let at = block("msaa_frames_10_12", "vkCmdBeginRenderingKHR", 0);
    let (_, said) = shown("msaa_frames_10_12", 12, &[&format!("cleared:at={at}")]);
    assert!(!said.contains(&format!("({renderings})")) && said.contains("attachments cleared"), "{said}");
    let (stages, said) = shown("stages", 2, &["cleared"]);
    assert!(stages == shown("stages", 2, &[]).0 && said.contains("nothing that it is for came"), "{said}");
}

#[test]
fn textures_that_are_sampled_alone_are_grey_and_small() {
    if !device("changes: small textures") {
        return;
    }
    let (plain, _) = shown("formats", 3, &[]);
    let (small, said) = shown("formats", 3, &["small-textures"]);
    assert!(said.contains("change small-textures: sampled images made small (4)"), "{said}");
    // `formats` fetches texel by texel, a tile of 16 x 16 an image. What was copied out or drawn to is no texture.
    let tile = |p: &Picture, t: usize| p.columns(t * 16, t * 16 + 16);
    for t in (0..17).filter(|t| !(3..7).contains(t)) {
        assert!(tile(&small, t) == tile(&plain, t), "tile {t}");
    }
    // Half of each channel: of three floats; of 5, 6 and 5 bits (16 of 31, 32 of 63).
    for (t, grey) in [(4, [128, 128, 128]), (6, [132, 130, 132])] {
        let of = tile(&small, t);
        let near = |p: &Pixel| p.iter().zip(grey).all(|(a, b): (&u8, u8)| a.abs_diff(b) <= 1);
        assert!([0, 1, 16, 17].iter().all(|at| near(&of[*at])), "tile {t}: {:?}", &of[..2]);
    }
    // What has several samples, or is drawn to and then sampled, is none either.
    let (cubes, said) = shown("cubes", 2, &["small-textures"]);
    assert!(cubes == shown("cubes", 2, &[]).0 && said.contains("nothing that it is for came"), "{said}");
    // A texture mapped on a cube that fills part of the window: its colours become one.
    let Some(vkcube) = shared_capture("vkcube.gfxr") else { return };
    let colours = |p: Picture| p.1.into_iter().collect::<BTreeSet<_>>().len();
    let (before, after) = (shown_of(&vkcube, 10, &[]).0, shown_of(&vkcube, 10, &["small-textures"]).0);
    let (before, after) = (colours(before), colours(after));
    assert!(after * 8 < before, "{before} colours became {after}");
}

/// The size of this device's subgroups.
fn subgroup_size() -> u64 {
    let devices: serde_json::Value =
        serde_json::from_slice(&run(["devices", "--json"]).stdout).expect("JSON");
    let found = devices["devices"][0]["subgroup_size"].as_u64();
    found.unwrap_or_else(|| panic!("{devices}"))
}

#[test]
fn subgroups_of_the_size_that_the_device_has() {
    if !device("changes: subgroups") {
        return;
    }
    let size = subgroup_size();
    for (name, frame) in [("cubes", 2), ("stages", 2)] {
        let (same, said) = shown(name, frame, &[&format!("subgroup-size:{size}")]);
        assert!(same == shown(name, frame, &[]).0, "{name}");
        assert!(said.contains("change subgroup-size: shaders of another subgroup size"), "{said}");
    }
    // No device has both.
    let file = sample("closed_compute.gfxr");
    let of = |size: &str| {
        let change = format!("subgroup-size:{size}");
        run(["replay", file.to_str().expect("a path"), "--change", &change])
    };
    let out = [of("1"), of("128")].into_iter().find(|o| !o.status.success()).expect("one is refused");
    assert!(
        text(&out.stderr).contains("change subgroup-size: this device has subgroups of"),
        "{}",
        text(&out.stderr)
    );
    for wrong in ["33", "", "8+16"] {
        assert_eq!(of(wrong).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn with_one_sample_a_program_shows_what_it_shows_when_it_asks_for_one() {
    if !device("changes: multisampling") {
        return;
    }
    // The same program, run with one sample and with four.
    let (one, _) = shown("triangle_1", 2, &[]);
    for (name, what) in [
        ("triangle_4", "attachments drawn to in place of those that they would be resolved from"),
        ("triangle_4_stored", "resolves that became copies"),
    ] {
        let (four, _) = shown(name, 2, &[]);
        let (changed, said) = shown(name, 2, &["no-multisampling"]);
        assert!(changed == one && four != one, "{name}: {said}");
        assert!(said.contains(&format!("change no-multisampling: {what}")), "{said}");
    }
    // Without edges within a pixel nothing changes, though samples are loaded, resolved by commands, and read by shaders.
    let (changed, said) = shown("msaa_frames_10_12", 12, &["no-multisampling"]);
    assert!(changed == shown("msaa_frames_10_12", 12, &[]).0);
    for what in
        ["images of one sample", "resolves that became copies", "calls with shaders that read one sample"]
    {
        assert!(said.contains(&format!("change no-multisampling: {what}")), "{said}");
    }
    // Nothing of `cubes` has several samples, which is said.
    let (same, said) = shown("cubes", 2, &["no-multisampling"]);
    assert!(same == shown("cubes", 2, &[]).0);
    assert!(said.contains("change no-multisampling: nothing that it is for came"), "{said}");
}

#[test]
fn workgroups_of_another_size_compute_the_same() {
    if !device("changes: workgroups") {
        return;
    }
    let mut resized = 0;
    for (name, frame) in [("feedback", 2), ("cubes", 2), ("causes", 2), ("uniforms", 2)] {
        let (plain, _) = shown(name, frame, &[]);
        for change in ["workgroup-size:half", "workgroup-size:double"] {
            let (same, said) = shown(name, frame, &[change]);
            assert!(same == plain, "{name} {change}: {said}");
            resized += u32::from(said.contains("dispatches in workgroups of another size"));
        }
    }
    assert_eq!(resized, 8, "each has one that can be divided");
    // Workgroups that share memory, wait, or say where they are stay as they are.
    let (_, said) = shown("closed_compute", 3, &["workgroup-size:half"]);
    assert!(
        said.contains("workgroups are more than a number of invocations stay as they are (11)"),
        "{said}"
    );
}

#[test]
fn wide_barriers_keep_pictures() {
    if !device("changes: barriers") {
        return;
    }
    for (name, frame) in
        [("cubes", 2), ("closed_compute", 3), ("msaa_frames_10_12", 12), ("rays", 4), ("ordering", 2)]
    {
        let (wide, said) = shown(name, frame, &["wide-barriers"]);
        assert!(wide == shown(name, frame, &[]).0, "{name}");
        assert!(said.contains("change wide-barriers: barriers widened"), "{said}");
    }
    // The third is of memory alone, and so does nothing but wait; the first changes a layout.
    let barrier = block("closed_compute", "vkCmdPipelineBarrier", 2);
    let (_, said) = shown("closed_compute", 1, &[&format!("no-barriers:at={barrier}")]);
    assert!(said.contains("change no-barriers: barriers left out (1)"), "{said}");
    let barrier = block("closed_compute", "vkCmdPipelineBarrier", 0);
    let (_, said) = shown("closed_compute", 1, &[&format!("no-barriers:at={barrier}")]);
    assert!(said.contains("barriers that change a layout or hand over to another queue stay (1)"), "{said}");
}

#[test]
fn structures_that_are_built_otherwise_show_the_same() {
    if !device("changes: structures") {
        return;
    }
    for (name, frame) in [("rays", 4), ("builds", 4), ("weekend_anyhit", 1)] {
        let (plain, _) = shown(name, frame, &[]);
        let mut changed = 0;
        for change in ["structures:trace", "structures:build", "structures:compacted"] {
            let (built, said) = shown(name, frame, &[change]);
            assert!(built == plain, "{name}: {change}");
            let compacts = change.ends_with("compacted");
            assert_eq!(said.contains("change structures: structures compacted"), compacts, "{name}: {said}");
            changed += u32::from(said.contains("change structures: builds changed"));
        }
        // No build is both.
        assert!(changed > 0, "{name}");
    }
    // The any-hit shaders of the one refuse no hit; those of the other make spheres hollow.
    let (opaque, said) = shown("weekend_anyhit", 1, &["opaque"]);
    assert!(
        opaque == shown("weekend_anyhit", 1, &[]).0 && said.contains("change opaque: builds changed"),
        "{said}"
    );
    let (opaque, said) = shown("rays", 4, &["opaque"]);
    assert!(opaque != shown("rays", 4, &[]).0, "{said}");
    // Half of the instances are gone from the picture, and a structure of triangles is as it was.
    let (half, said) = shown("rays", 4, &["half-instances"]);
    assert!(half != shown("rays", 4, &[]).0, "{said}");
    assert!(said.contains("change half-instances: builds changed"), "{said}");
    assert!(said.contains("builds are of triangles or boxes, or of one instance"), "{said}");
}

#[test]
fn a_looped_frame_is_changed_in_each_iteration() {
    if !device("changes: looped") {
        return;
    }
    let file = sample("stages.gfxr");
    let file = file.to_str().expect("a path");
    let looped = ["replay", file, "--loop-frame", "2", "--iterations", "3", "--warmup", "1", "--json"];
    let out = run(looped.iter().chain(&["--change", "no-fragments", "--change", "skip:label=tile 1"]));
    assert!(out.status.success(), "{}", text(&out.stderr));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let notes = &json["notes"];
    let of = |what: &str| notes[what].as_u64().unwrap_or_else(|| panic!("{what}: {notes}"));
    // Frame 1 once, frame 2 five times or so; of five draws one is skipped.
    let (skipped, changed) = (
        of("change skip: draws, dispatches and traces left out"),
        of("change no-fragments: draws with changed state"),
    );
    assert!(skipped >= 4 && changed == skipped * 4, "{notes}");
}

/// What a looped frame shows is hashed in each process: under a plan with changes it is another picture, under one whose changes find
/// nothing the same.
#[test]
fn plans_change_calls_in_every_process() {
    if !device("changes: plans") {
        return;
    }
    let scratch = Scratch::new("changes-plans");
    let file = sample("stages.gfxr");
    let to = scratch.path("run");
    let args = ["bench", file.to_str().expect("a path"), "--frame", "2", "-o", to.to_str().expect("a path")];
    let how = ["--processes", "1", "--iterations", "2", "--detailed", "1", "--warmup", "1", "--busy", "0"];
    let plans = [
        "--plan",
        "plain",
        "--plan",
        "same change=wide-barriers",
        "--plan",
        "none change=skip",
        "--plan",
        "no-fragments change=no-fragments",
    ];
    let out = run(args.iter().chain(&how).chain(&plans));
    assert!(out.status.success(), "{}", text(&out.stderr));
    let timed = trace::run::Run::open(&to).expect("a run");
    let shows: Vec<&Vec<String>> = timed.note.workers.iter().map(|w| &w.hashes).collect();
    let of = |plan: usize| {
        let at = timed.note.workers.iter().position(|w| w.plan == plan).expect("a process");
        shows[at]
    };
    assert!(!of(0).is_empty() && of(0) == of(1) && of(0) != of(2) && of(2) == of(3), "{shows:?}");
    assert_eq!(timed.note.plans[2].changes, ["skip".parse().expect("a use")]);
    let elsewhere = scratch.path("wrong");
    let args = ["bench", args[1], "--frame", "2", "-o", elsewhere.to_str().expect("a path")];
    let wrong = run(args.iter().chain(&["--plan", "x change=skipp"]));
    assert!(text(&wrong.stderr).contains("there is no change \"skipp\""), "{}", text(&wrong.stderr));
    assert_ne!(wrong.status.code(), Some(0));
}

/// What passes for experiments do to pictures, `profile` says.
#[test]
fn passes_for_experiments_change_pictures_where_they_have_to() {
    if !device("changes: passes") {
        return;
    }
    let scratch = Scratch::new("changes-passes");
    let profiled = |name: &str, frame: &str, passes: &str| {
        let (file, to) = (sample(&format!("{name}.gfxr")), scratch.path("trace"));
        let _ = std::fs::remove_dir_all(&to);
        let args = ["profile", file.to_str().expect("a path"), "-o", to.to_str().expect("a path")];
        run(args.into_iter().chain([
            "--frames",
            frame,
            "--passes",
            passes,
            "--assume-subgroups",
            "--no-cache",
        ]))
    };
    for (name, frame, passes) in
        [("cubes", "2", "trivial"), ("rays", "4", "ray-flags:opaque"), ("recursion", "1", "no-recursion")]
    {
        let out = profiled(name, frame, passes);
        let pass = passes.split(':').next().expect("a name");
        assert_eq!(out.status.code(), Some(5), "{passes}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(&format!("because of pass {pass}")), "{}", text(&out.stderr));
    }
    // No shader of that hash; any-hit shaders that refuse no hit.
    for (name, frame, passes) in
        [("cubes", "2", "trivial:shader=0123456789abcdef"), ("weekend_anyhit", "1", "ray-flags:opaque")]
    {
        let out = profiled(name, frame, passes);
        assert!(out.status.success(), "{passes}: {}", text(&out.stderr));
    }
}

#[test]
fn changes_that_are_none_are_refused() {
    let file = sample("cubes.gfxr");
    for command in ["replay", "screenshot"] {
        for (change, says) in
            [("skipp", "there is no change \"skipp\""), ("half:x=1", "change half has no option \"x=1\"")]
        {
            let out = run([command, file.to_str().expect("a path"), "--change", change]);
            assert_eq!(out.status.code(), Some(2), "{command} {change}");
            assert!(text(&out.stderr).contains(says), "{}", text(&out.stderr));
        }
    }
}

#[test]
fn changed_calls_break_no_rule() {
    if !device("changes: rules") || !validation_layer() {
        return;
    }
    let scratch = Scratch::new("changes-validated");
    let to = scratch.path("shots");
    // Each in a capture that has everything, and what is rare where it is.
    let rare = [
        ("rays", "structures"),
        ("rays", "opaque"),
        ("rays", "half-instances"),
        ("compressed_textures", "small-textures"),
        ("closed_compute", "no-barriers"),
        ("msaa_frames_10_12", "cleared"),
        ("msaa_frames_10_12", "no-blend"),
        ("msaa_frames_10_12", "no-multisampling"),
        ("triangle_4", "no-multisampling"),
        ("uniforms", "workgroup-size"),
    ];
    for name in [
        "stages",
        "formats",
        "rays",
        "compressed_textures",
        "closed_compute",
        "msaa_frames_10_12",
        "triangle_4",
        "uniforms",
    ] {
        let all = ["stages", "formats"].contains(&name);
        let file = sample(&format!("{name}.gfxr"));
        // (each shader is what it was)
        let own = scratch.path(&format!("shaders-{name}"));
        let words = [file.to_str(), own.to_str()].map(|p| p.expect("a path"));
        assert!(run(["extract", words[0], "-o", words[1]]).status.success());
        let its = LIST.iter().filter(|c| all || rare.contains(&(name, c.name)));
        let used = its.flat_map(|change| {
            // (a change that wants to know which ones: all of them)
            let which = match change.options {
                ["SIZE", ..] => vec![format!(":{}", subgroup_size())],
                ["DIR"] => vec![format!(":{}", own.display())],
                ["trace", others @ ..] => others.iter().chain(&["trace"]).map(|o| format!(":{o}")).collect(),
                ["half", "double", ..] => vec![":half".to_owned(), ":double".to_owned()],
                some if some.contains(&"at=A-B") => vec![":at=1-".to_owned()],
                _ => vec![String::new()],
            };
            which.into_iter().map(|w| format!("{}{w}", change.name))
        });
        for used in used {
            let args = ["screenshot", file.to_str().expect("a path"), "--validate", "--change", &used];
            let out = run(args.into_iter().chain(["-o", to.to_str().expect("a path")]));
            let said = text(&out.stderr);
            assert!(
                out.status.success() && said.contains(": 0 validation messages"),
                "{name} {used}: {said}"
            );
        }
    }
}

#[test]
fn the_book_names_every_change() {
    let page = include_str!("../../docs/runs.md");
    for c in LIST {
        let options: Vec<String> = c.options.iter().map(|o| format!("`{o}`")).collect();
        let pictures = if c.pictures_stay { "stays" } else { "changes" };
        let row =
            format!("| `{}` | {} | {} | {} | {pictures} |", c.name, options.join(", "), c.about, c.asks);
        assert!(page.contains(&row), "docs/runs.md has no row\n{row}");
    }
    let rows = page.lines().filter(|l| l.ends_with("| stays |") || l.ends_with("| changes |")).count();
    assert_eq!(rows, LIST.len(), "rows of changes that there are not");
}
