//! The matrix captures × memory modes on this machine's device: one image whatever the mode, what the program itself
//! showed where that is known, and, on the driver that `matrix_llvmpipe.tsv` names, the very pixels written down there.
//!
//! `scripts/matrix` runs the same table (`tests/matrix.tsv`) on any machine, without cargo. Refuses to say anything about
//! another driver than llvmpipe: there the script's numbers are for people.

use crate::device::device;
use crate::support::{Scratch, root, run, shared_captures, skip, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A line of `matrix.tsv`.
struct Row {
    capture: String,
    frames: String,
    options: Vec<String>,
    reference: Option<String>,
    off_by: u8,
    share: f64,
}

fn table(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join("tests").join(name)).expect("the table is there");
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines.map(|l| l.split('\t').map(str::to_owned).collect()).collect()
}

fn rows() -> Vec<Row> {
    let some = |s: &str| (s != "-").then(|| s.to_owned());
    let one = |c: Vec<String>| Row {
        capture: c[0].clone(),
        frames: c[1].clone(),
        options: some(&c[2]).map_or(Vec::new(), |o| o.split(' ').map(str::to_owned).collect()),
        reference: some(&c[3]),
        off_by: c[4].parse().expect("a number"),
        share: c[5].parse().expect("a number"),
    };
    table("matrix.tsv").into_iter().map(one).collect()
}

/// Where a capture or its reference is.
fn find(name: &str) -> Option<PathBuf> {
    let folders = [Some(root().join("captures/samples")), shared_captures()];
    folders.into_iter().flatten().map(|f| f.join(name)).find(|f| f.is_file())
}

/// Hash and file of each frame.
type Shots = BTreeMap<String, (String, PathBuf)>;

fn shots(file: &Path, row: &Row, memory: &str, to: &Path) -> Shots {
    let mut args = vec!["screenshot", file.to_str().expect("plain"), "--hash", "--memory", memory];
    if row.frames != "-" {
        args.extend(["--frames", &row.frames]);
    }
    args.extend(row.options.iter().map(String::as_str));
    args.extend(["-o", to.to_str().expect("plain")]);
    let out = run(&args);
    assert!(out.status.success(), "{} --memory {memory}: {}", row.capture, text(&out.stderr));
    let line = |l: &str| {
        let (hash, file) = l.split_once("  ").expect("a hash and a name");
        let file = PathBuf::from(file);
        let frame = file.file_stem().and_then(|s| s.to_str()).expect("plain");
        (frame.trim_start_matches("frame_").to_owned(), (hash.to_owned(), file.clone()))
    };
    text(&out.stdout).lines().map(line).collect()
}

/// Width, height and RGB of a PNG.
fn rgb(file: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::fs::File::open(file).expect("the PNG is there");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let samples = info.color_type.samples();
    let rgb = pixels[..info.buffer_size()].chunks_exact(samples).flat_map(|p| [p[0], p[1], p[2]]).collect();
    (info.width, info.height, rgb)
}

/// Whether the hashes written down are of this device and driver; none if it is no llvmpipe at all.
fn written_down_here() -> Option<bool> {
    let found: Value = serde_json::from_slice(&run(["devices", "--json"]).stdout).expect("JSON");
    let d = &found["devices"][0];
    let of = |what: &str| {
        let file = std::fs::read_to_string(root().join("tests/matrix_llvmpipe.tsv")).expect("it is there");
        let line = file.lines().find_map(|l| l.strip_prefix(&format!("# {what}\t")).map(str::to_owned));
        line.expect("the table says on what")
    };
    let name = d["name"].as_str().unwrap_or_default();
    name.contains("llvmpipe").then(|| name == of("device") && d["driver"].as_str() == Some(&*of("driver")))
}

#[test]
fn one_image_in_every_memory_mode_and_the_one_that_is_known() {
    if !device("the matrix") {
        return;
    }
    let Some(same_driver) = written_down_here() else {
        return skip("the matrix", "the device is no llvmpipe");
    };
    if !same_driver {
        skip("the matrix's hashes", "they are of another build of llvmpipe");
    }
    // (a frame may have several: processors with other vector units round otherwise)
    let mut hashes: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for c in table("matrix_llvmpipe.tsv") {
        hashes.entry((c[0].clone(), c[1].clone())).or_default().push(c[2].clone());
    }
    let mut compared = 0;
    for row in rows() {
        let Some(file) = find(&row.capture) else {
            skip(&row.capture, "it is not here");
            continue;
        };
        // Memory of another device means nothing here; and compression is none of the driver's business.
        // Images of formats that this device lacks have no room in captured memory.
        let only_auto = ["cubes_", "compressed_textures"].iter().any(|c| row.capture.starts_with(c))
            || row.capture.contains("h200");
        let modes: &[&str] = if only_auto { &["auto"] } else { &["none", "remap", "rebind"] };
        let scratch = Scratch::new(&format!("matrix-{}", row.capture));
        let all: Vec<Shots> = modes.iter().map(|m| shots(&file, &row, m, &scratch.path(m))).collect();
        assert!(!all[0].is_empty(), "{}: no image", row.capture);
        for (mode, shots) in modes.iter().zip(&all) {
            for (frame, (hash, _)) in shots {
                let what = format!("{} frame {frame}, --memory {mode}", row.capture);
                assert_eq!(
                    Some(hash),
                    all[0].get(frame).map(|s| &s.0),
                    "{what}: not as in mode {}",
                    modes[0]
                );
                if same_driver {
                    let known = hashes.get(&(row.capture.clone(), frame.clone()));
                    let is = known.is_some_and(|known| known.contains(hash));
                    assert!(is, "{what}: {hash} is not the image in matrix_llvmpipe.tsv: {known:?}");
                }
                compared += 1;
            }
            assert_eq!(shots.len(), all[0].len(), "{}", row.capture);
        }
        for (frame, (_, shot)) in &all[0] {
            let Some(reference) = row.reference.as_ref().and_then(|r| find(&r.replace('N', frame))) else {
                continue;
            };
            let (a, b) = (rgb(shot), rgb(&reference));
            assert_eq!((a.0, a.1), (b.0, b.1), "{}", row.capture);
            let off = a.2.iter().zip(&b.2).filter(|(x, y)| x.abs_diff(**y) > row.off_by).count();
            let share = off as f64 / a.2.len() as f64;
            assert!(
                share <= row.share,
                "{} frame {frame}: {share} of the values are off by more than {}",
                row.capture,
                row.off_by
            );
        }
    }
    assert!(compared >= 20, "{compared} images");
}

#[test]
fn every_sample_is_in_the_matrix() {
    let rows = rows();
    let files = root().join("captures/samples").read_dir().expect("readable").filter_map(Result::ok);
    for file in files.map(|e| e.file_name().into_string().expect("plain")).filter(|n| n.ends_with(".gfxr")) {
        assert!(rows.iter().any(|r| r.capture == file), "{file} has no line in tests/matrix.tsv");
    }
}

/// The script does without cargo what the test above does: the same hash for the same image.
#[test]
fn the_script_writes_the_same_hashes() {
    if !device("scripts/matrix") {
        return;
    }
    let scratch = Scratch::new("matrix-script");
    let (captures, out) = (scratch.path("captures"), scratch.path("out"));
    std::fs::create_dir(&captures).expect("made");
    std::fs::copy(root().join("captures/samples/steps.gfxr"), captures.join("steps.gfxr")).expect("copied");
    let bytes = std::fs::read(captures.join("steps.gfxr")).expect("there");
    std::fs::write(captures.join("broken.gfxr"), &bytes[..40]).expect("written");
    let script = |more: &[&std::ffi::OsStr]| {
        Command::new("bash")
            .arg(root().join("scripts/matrix"))
            .args([
                "-b".as_ref(),
                env!("CARGO_BIN_EXE_reray-replay").as_ref(),
                "-c".as_ref(),
                captures.as_os_str(),
            ])
            .args(more)
            .arg(&out)
            .output()
            .expect("bash runs")
    };
    let first = script(&[]);
    assert!(first.status.success(), "{}{}", text(&first.stdout), text(&first.stderr));
    let csv = std::fs::read_to_string(out.join("matrix.csv")).expect("written");
    let row = rows().into_iter().find(|r| r.capture == "steps.gfxr").expect("in the table");
    let ours = shots(&captures.join("steps.gfxr"), &row, "rebind", &scratch.path("shots"));
    assert_eq!(ours.len(), 2);
    for (frame, (hash, _)) in ours {
        let (begin, end) = ("steps.gfxr,rebind,rebind,0,307,6,", format!(",{frame},{hash},"));
        let found = csv.lines().any(|l| l.starts_with(begin) && l.contains(&end));
        assert!(found, "frame {frame}: {hash} is not in\n{csv}");
    }
    assert!(csv.lines().any(|l| l.starts_with("broken.gfxr,auto,,1,")), "{csv}");
    // Against a run that shows something else.
    let other = scratch.path("other.csv");
    std::fs::write(&other, csv.replace(",png/", "0,png/")).expect("written");
    let again = script(&["-a".as_ref(), other.as_os_str()]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again.stdout));
    assert!(
        text(&again.stdout).contains("DIFFERS from the other run: steps.gfxr frame 1"),
        "{}",
        text(&again.stdout)
    );
}
