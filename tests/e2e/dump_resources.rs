//! `dump-resources`: files of what commands read and write are what arithmetic says, and what other commands show.

use crate::device::device;
use crate::schema::wrong;
use crate::support::{Scratch, reray, run, sample, text};
use serde_json::{Value, json};
use std::path::Path;

/// Writes what commands of a frame use, under the validation layer, which has nothing to say; the index.
fn dumped(name: &str, frame: &str, commands: &[&str], to: &Path) -> Value {
    dumped_with(&[], name, frame, commands, to)
}

/// The same, with flags.
fn dumped_with(flags: &[&str], name: &str, frame: &str, commands: &[&str], to: &Path) -> Value {
    let chosen = commands.iter().map(|c| format!("--commands={c}"));
    let out = reray()
        .arg("dump-resources")
        .arg(sample(name))
        .args(["--frames", frame, "--validate", "-o"])
        .arg(to)
        .args(chosen)
        .args(flags)
        .output();
    let out = out.expect("the program starts");
    let said = text(&out.stderr);
    assert!(out.status.success(), "{name} {flags:?} {commands:?}: {said}");
    let mut told = said.lines().filter(|l| l.contains("validation message"));
    assert!(told.all(|l| l.contains(": 0 validation messages")), "{said}");
    for file in text(&out.stdout).lines() {
        assert!(Path::new(file).is_file(), "{file}");
    }
    let json = std::fs::read(to.join(format!("frame_{frame}_resources.json"))).expect("an index");
    let index: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(wrong("dump-resources", &index), Vec::<String>::new());
    index
}

/// The resources of a command that are of a kind.
fn of<'a>(command: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = command["resources"].as_array().expect("resources");
    let found: Vec<&Value> = all.iter().filter(|r| r["kind"] == kind).collect();
    assert!(!found.is_empty(), "{kind}: {command:#}");
    found
}

/// The bytes of a resource, which are as many as the index says, with the hash that it says.
fn bytes(folder: &Path, resource: &Value) -> Vec<u8> {
    let file = resource["file"].as_str().unwrap_or_else(|| panic!("{resource:#}"));
    let bytes = std::fs::read(folder.join(file)).expect("a file");
    assert_eq!(resource["bytes"], bytes.len());
    assert_eq!(resource["blake3"], blake3::hash(&bytes).to_string());
    bytes
}

/// What `walk.comp` of sample `steps` makes of a number.
fn walked(result: u32, steps: u32) -> u32 {
    (0..steps).fold(result.wrapping_add(1), |x, _| {
        let x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x ^ x >> 15
    })
}

#[test]
fn dispatches_have_what_they_were_given_and_what_they_made_of_it() {
    if !device("resources of dispatches") {
        return;
    }
    let scratch = Scratch::new("dump-resources-steps");
    let folder = scratch.path("all");
    let index = dumped("steps.gfxr", "2", &["draw=1-2"], &folder);
    let mut result = walked(walked(0, 101), 100_003);
    for (command, steps) in index["commands"].as_array().expect("commands").iter().zip([101, 100_003]) {
        assert_eq!(bytes(&folder, of(command, "push constants")[0]), u32::to_le_bytes(steps));
        let of = of(command, "storage buffer");
        let [before, after] = of[..] else { panic!("{of:?}") };
        assert_eq!((&before["moment"], &after["moment"]), (&"before".into(), &"after".into()));
        assert_eq!(before["descriptor"], json!([0, 0, 0]));
        assert_eq!(bytes(&folder, before), result.to_le_bytes());
        result = walked(result, steps);
        assert_eq!(bytes(&folder, after), result.to_le_bytes());
    }
    let names: Vec<&Value> =
        index["commands"].as_array().expect("commands").iter().map(|c| &c["labels"]).collect();
    assert_eq!(names, [&json!(["frame 2", "light"]), &json!(["frame 2", "heavy"])]);
}

#[test]
fn several_samples_are_read_as_what_they_are_resolved_into() {
    if !device("resources of several samples") {
        return;
    }
    let scratch = Scratch::new("dump-resources-samples");
    for name in ["triangle_4.gfxr", "triangle_4_stored.gfxr"] {
        let folder = scratch.path(name);
        let index = dumped(name, "2", &["draw=1"], &folder);
        let command = &index["commands"][0];
        let [before, after] = of(command, "color0")[..] else { panic!("{command:#}") };
        assert_eq!((&before["samples"], &after["samples"]), (&json!(4), &json!(4)));
        assert_ne!(before["blake3"], after["blake3"], "it draws a triangle");
        let resolved = of(command, "resolve0");
        let resolved = resolved.iter().find(|r| r["moment"] == "after").expect("what is behind it");
        assert_eq!((&after["blake3"], &after["format"]), (&resolved["blake3"], &resolved["format"]));
        assert!(resolved.get("samples").is_none());
    }
}

/// What a command has at a binding of set 0.
fn bound(command: &Value, binding: u32) -> Vec<&Value> {
    let all = command["resources"].as_array().expect("resources");
    all.iter().filter(|r| r["descriptor"] == json!([0, binding, 0])).collect()
}

#[test]
fn every_level_and_layer_is_read_where_that_is_asked_for() {
    if !device("resources of levels and layers") {
        return;
    }
    let scratch = Scratch::new("dump-resources-levels");
    // The draw that shows all images of the scene (`captures/src/scenes/msaa/contents.rs` fills these).
    let of = |flags: &[&str], to: &Path| dumped_with(flags, "msaa_frames_10_12.gfxr", "11", &["draw=19"], to);
    let folder = scratch.path("all");
    let index = of(&["--all-subresources"], &folder);
    let command = &index["commands"][0];
    let file = |binding: u32, part: &str| format!("frame_11_draw_19_set_0_binding_{binding}{part}.bin");
    // Blocks of 8 bytes: of each level those of its three layers, one behind the other.
    let uploaded = |from: usize, blocks: usize| -> Vec<u8> {
        (from..from + blocks * 8).map(|i| (i * 37 + i / 8 * 11) as u8).collect()
    };
    let mut bricks = bound(command, 7).into_iter();
    let mut from = 0;
    for (level, blocks, extent) in [(0, 15, [20, 12]), (1, 6, [10, 6]), (2, 2, [5, 3])] {
        for layer in 0..3 {
            let row = bricks.next().expect("a level and layer");
            assert_eq!((&row["subresource"], &row["extent"]), (&json!([level, layer]), &json!(extent)));
            assert_eq!(row["format"], "BC1_RGB_UNORM_BLOCK");
            assert_eq!(row["file"], file(7, &format!("_mip_{level}_layer_{layer}")));
            assert_eq!(bytes(&folder, row), uploaded(from, blocks), "level {level}, layer {layer}");
            from += blocks * 8;
        }
    }
    assert_eq!(bricks.next(), None);
    let dots: Vec<Vec<u8>> = bound(command, 8).into_iter().map(|row| bytes(&folder, row)).collect();
    assert_eq!(dots, [&[0, 31, 62, 93, 124, 155, 186, 217, 248][..], &[200]]);
    // What has one level and layer is named as ever.
    let [stamp] = bound(command, 6)[..] else { panic!("{command:#}") };
    assert_eq!((&stamp["subresource"], &stamp["file"]), (&json!([0, 0]), &file(6, "").into()));
    let texel = |x: u8, y: u8| [x * 8, y * 8, (x ^ y) * 8, 255];
    let texels: Vec<u8> = (0..32).flat_map(|y| (0..32).flat_map(move |x| texel(x, y))).collect();
    assert_eq!(bytes(&folder, stamp), texels);
    // Without being asked for, the base alone is read.
    let folder = scratch.path("base");
    let index = of(&[], &folder);
    let [base] = bound(&index["commands"][0], 7)[..] else { panic!("{index:#}") };
    assert_eq!((&base["subresource"], &base["file"]), (&json!([0, 0]), &file(7, "").into()));
    assert_eq!(bytes(&folder, base), uploaded(0, 15));
}

#[test]
fn of_several_samples_of_depth_the_first_is_read() {
    if !device("resources of several samples of depth") {
        return;
    }
    let scratch = Scratch::new("dump-resources-depth");
    let name = "msaa_frames_10_12.gfxr";
    // What the first frame left, which all later ones load and test against (`captures/src/scenes/msaa/relief.glsl`).
    let relief = |x: u32, y: u32| {
        let (x, y) = (x / 2, y / 2);
        let step = (x * 5 + y * 3) ^ ((x >> 2) * 7);
        (step & 255) as f32 / 256.
    };
    let expected: Vec<u8> =
        (0..96).flat_map(|y| (0..128).flat_map(move |x| relief(x, y).to_le_bytes())).collect();
    let first = |row: &Value| {
        assert_eq!((&row["samples"], &row["resolve_mode"]), (&json!(4), &json!("SAMPLE_ZERO")), "{row:#}");
    };
    let folder = scratch.path("draw");
    let index = dumped(name, "11", &["draw=1"], &folder);
    let [before, after] = of(&index["commands"][0], "depth")[..] else { panic!("{index:#}") };
    for row in [before, after] {
        first(row);
        assert_eq!((&row["format"], &row["extent"]), (&json!("D32_SFLOAT"), &json!([128, 96])));
        assert!(bytes(&folder, row) == expected, "{row:#}");
    }
    // Colours are the mean, as ever; with one sample for each pixel depth is the same, as the scene draws whole pixels.
    let [colour, _] = of(&index["commands"][0], "color0")[..] else { panic!("{index:#}") };
    assert_eq!((&colour["samples"], colour.get("resolve_mode")), (&json!(4), None));
    let folder = scratch.path("one");
    let index = dumped_with(&["--change", "no-multisampling"], name, "11", &["draw=1"], &folder);
    for row in of(&index["commands"][0], "depth") {
        assert_eq!((row.get("samples"), row.get("resolve_mode")), (None, None));
        assert!(bytes(&folder, row) == expected, "{row:#}");
    }
    // Two layers of 16 bits, that a shader reads (`captures/src/scenes/msaa/shadow.frag`).
    let folder = scratch.path("layers");
    let index = dumped_with(&["--all-subresources"], name, "11", &["draw=19"], &folder);
    let layers = bound(&index["commands"][0], 5);
    assert_eq!(layers.len(), 2, "{index:#}");
    for (layer, row) in (0..).zip(layers) {
        first(row);
        assert_eq!((&row["subresource"], &row["format"]), (&json!([0, layer]), &json!("D16_UNORM")));
        let depth = |x: u32, y: u32| ((x * 2047 + y * 31 + layer * 977) & 65535) as u16;
        let depths: Vec<u8> =
            (0..32).flat_map(|y| (0..32).flat_map(move |x| depth(x, y).to_le_bytes())).collect();
        assert!(bytes(&folder, row) == depths, "{row:#}");
    }
}

/// Indices of a cube of six sides of four corners each.
fn cube_indices() -> Vec<u8> {
    let side = |side: u16| [0, 1, 2, 2, 3, 0].map(|corner: u16| side * 4 + corner);
    (0..6).flat_map(side).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn draws_have_their_vertices_and_leave_what_the_next_one_finds() {
    if !device("resources of draws") {
        return;
    }
    let scratch = Scratch::new("dump-resources-cubes");
    let folder = scratch.path("draws");
    let index = dumped("cubes.gfxr", "15", &["draw=100-101", "pass=1"], &folder);
    let [first, second] = &index["commands"].as_array().expect("commands")[..] else { panic!("{index:#}") };
    for (draw, command) in [(100, first), (101, second)] {
        assert_eq!((&command["draw"], &command["kind"]), (&draw.into(), &"DrawIndexed".into()));
        assert_eq!(bytes(&folder, of(command, "index buffer")[0]), cube_indices());
        // (position and normal, six floats a corner)
        let vertices = bytes(&folder, of(command, "vertex buffer")[0]);
        assert_eq!(vertices.len(), 24 * 24);
        let floats = vertices.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four")));
        assert!(floats.into_iter().all(|f| [-1., -0.5, 0., 0.5, 1.].contains(&f)));
        let state = index["pipelines"][command["pipeline"].to_string()].as_array().expect("state");
        assert!(
            state
                .iter()
                .any(|s| s[0] == "pVertexInputState.pVertexBindingDescriptions[0].stride" && s[1] == "24"),
            "{state:?}"
        );
    }
    // What a draw leaves the next one finds, and `screenshot` shows.
    let at = |command: &Value, kind: &str, moment: &str| {
        let of = of(command, kind).into_iter().find(|r| r["moment"] == moment).cloned();
        of.unwrap_or_else(|| panic!("{kind} {moment}: {command:#}"))
    };
    let scratch_of = scratch.path("shots");
    let shot = reray()
        .arg("screenshot")
        .arg(sample("cubes.gfxr"))
        .args(["--frames", "15", "--after", "draw:100-101", "-o"])
        .arg(&scratch_of)
        .output()
        .expect("the program starts");
    assert!(shot.status.success(), "{}", text(&shot.stderr));
    let shown = std::fs::read(scratch_of.join("frame_15_attachments.json")).expect("an index");
    let shown: Value = serde_json::from_slice(&shown).expect("JSON");
    for attachment in ["color0", "depth"] {
        assert_eq!(at(first, attachment, "after")["blake3"], at(second, attachment, "before")["blake3"]);
        for command in [first, second] {
            let rows = shown["attachments"].as_array().expect("rows");
            let row = rows.iter().find(|r| r["draw"] == command["draw"] && r["attachment"] == attachment);
            let row = row.unwrap_or_else(|| panic!("{shown:#}"));
            assert_eq!(row["texels_blake3"], at(command, attachment, "after")["blake3"]);
        }
    }
    let [before, after] = ["before", "after"].map(|moment| at(second, "color0", moment));
    assert_ne!(before["blake3"], after["blake3"], "it draws something");
    assert!(folder.join(after["picture"].as_str().expect("a picture")).is_file());
}

#[test]
fn traces_have_tables_and_structures() {
    if !device("resources of traces") {
        return;
    }
    let scratch = Scratch::new("dump-resources-rays");
    let folder = scratch.path("traces");
    let index = dumped("rays.gfxr", "4", &["draw=1-"], &folder);
    let traces: Vec<&Value> = index["commands"]
        .as_array()
        .expect("commands")
        .iter()
        .filter(|c| c["kind"].as_str().is_some_and(|k| k.starts_with("TraceRays")))
        .collect();
    let trace = traces.first().unwrap_or_else(|| panic!("{index:#}"));
    assert!(!bytes(&folder, of(trace, "ray generation table")[0]).is_empty());
    let structure = of(trace, "acceleration structure")[0];
    let structures = index["structures"].as_array().expect("structures");
    let top = structures.iter().find(|s| s["id"] == structure["object"]);
    let top = top.unwrap_or_else(|| panic!("{structure:#}: {structures:#?}"));
    assert_eq!(top["kind"], "top");
    let instances = top["instances"].as_array().expect("instances");
    for instance in instances {
        let bottom = &structures[instance["structure"].as_u64().expect("a bottom level") as usize];
        let text = std::fs::read_to_string(folder.join(bottom["file"].as_str().expect("a file")))
            .expect("it is there");
        let faces = text.lines().filter(|l| l.starts_with("f ")).count() as u64;
        let boxes = text.lines().filter(|l| l.starts_with("f ") && l.split(' ').count() == 5).count() as u64;
        assert_eq!(faces - boxes + boxes / 6, bottom["primitives"].as_u64().expect("primitives"));
    }
    let image = of(trace, "storage image");
    assert!(image.iter().any(|r| r["moment"] == "after" && r["picture"].is_string()), "{image:?}");
}

#[test]
fn blocks_hold_the_words_that_following_the_capture_finds() {
    if !device("resources against the followed bytes") {
        return;
    }
    for (name, frame, least) in
        [("uniforms.gfxr", "3", 400), ("stages.gfxr", "2", 100), ("offsets.gfxr", "2", 10)]
    {
        let scratch = Scratch::new(&format!("dump-resources-{name}"));
        let (folder, database) = (scratch.path("all"), scratch.path("cap.sqlite"));
        let index = dumped(name, frame, &["draw=1-"], &folder);
        let database = database.to_str().expect("plain");
        let file = sample(name);
        let made = run(["db", file.to_str().expect("plain"), "-o", database]);
        assert!(made.status.success(), "{}", text(&made.stderr));
        let sql = format!(
            "SELECT i.draw, b.space, b.\"set\", b.binding, b.element, w.offset, w.word FROM draws i \
             JOIN draw_blocks b USING (draw_id) JOIN content_words w USING (contents) WHERE i.frame = {frame}"
        );
        let asked = run(["sql", database, &sql, "--format", "json"]);
        let rows: Value = serde_json::from_slice(&asked.stdout).expect("JSON");
        let rows = rows.as_array().expect("rows");
        assert!(rows.len() >= least, "{name}: {}", rows.len());
        for row in rows {
            let commands = index["commands"].as_array().expect("commands");
            let command = commands.iter().find(|c| c["draw"] == row["draw"]).expect("a command");
            let is = |r: &&Value| match row["space"].as_str() {
                Some("push") => r["kind"] == "push constants",
                _ => {
                    r["descriptor"] == json!([row["set"], row["binding"], row["element"]])
                        && r["moment"] != "after"
                }
            };
            let resource = command["resources"].as_array().expect("resources").iter().find(is);
            let resource = resource.unwrap_or_else(|| panic!("{name}: {row:#}"));
            let bytes = bytes(&folder, resource);
            let at = row["offset"].as_u64().expect("an offset") as usize;
            let word = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
            assert_eq!(row["word"], word, "{name}: {row:#}");
        }
    }
}

#[test]
fn what_is_not_there_is_said() {
    let wrong = |args: &[&str]| {
        let folder = Scratch::new("dump-resources-wrong");
        let out = reray()
            .arg("dump-resources")
            .arg(sample("steps.gfxr"))
            .args(args)
            .arg("-o")
            .arg(folder.path("x"))
            .output();
        let out = out.expect("the program starts");
        assert!(!folder.path("x").exists(), "{args:?}");
        (out.status.code(), text(&out.stderr))
    };
    for of in ["draw=9", "draw=1-9"] {
        let (code, said) = wrong(&["--frames", "2", "--commands", of]);
        assert_eq!(code, Some(1));
        assert!(said.contains("frame 2 has no draw 9: the last is draw 2"), "{said}");
    }
    let (code, said) = wrong(&["--frames", "2", "--commands", "pipeline=nothing"]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("its draws, dispatches and traces are draw 1 to 2, and none of them is that"),
        "{said}"
    );
    let (code, said) = wrong(&["--frames", "2", "--commands", "drew=9"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("--commands: expected draw=A-B, pass=A-B"), "{said}");
    let (code, said) = wrong(&["--frames", "1-2", "--commands", "draw=1"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("say which, by --frames N"), "{said}");
}
