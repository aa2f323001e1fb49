//! What a command line is expected to do: completions, manual pages, examples in every help, colour only for terminals,
//! quiet and verbose, and gfxrecon-replay's names for what means the same.

use crate::device::device;
use crate::support::{Scratch, reray, root, run, shared_capture, skip, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn help(of: &[&str]) -> String {
    let out = run(of.iter().copied().chain(["--help"]));
    assert_eq!(out.status.code(), Some(0), "{of:?}");
    text(&out.stdout)
}

const FIRST_PAGE: &str = "Reads a GFXReconstruct capture (.gfxr) and says what the GPU did\n";

/// The sub-commands that a help lists.
pub fn below(help: &str) -> Vec<String> {
    // The first page has groups of them instead, above its few flags.
    let list = match help.split_once("Commands:\n") {
        Some((_, list)) => list.split("\n\n").next().unwrap_or_default(),
        None if help.starts_with(FIRST_PAGE) => {
            let (_, list) = help.split_once("\n\nReplay:\n").expect("its first group");
            list.split("\n\nOptions:\n").next().unwrap_or_default()
        }
        None => "",
    };
    // (those about the program itself are only named, in a line)
    let also = list.lines().find_map(|l| l.strip_prefix("Also: ")).unwrap_or_default();
    let lines = list.lines();
    let names = lines.filter(|l| l.starts_with("  ") && !l.starts_with("   ")).map(|l| l.trim());
    let names = names.filter_map(|l| l.split_whitespace().next()).chain(also.split_whitespace());
    names.filter(|n| !n.is_empty() && *n != "help").map(str::to_owned).collect()
}

/// Every command, as the words that call it.
fn all() -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut at = 0;
    while at < all.len() {
        let words: Vec<String> = all[at].clone();
        let of: Vec<&str> = words.iter().map(String::as_str).collect();
        all.extend(below(&help(&of)).into_iter().map(|n| [&words[..], &[n]].concat()));
        at += 1;
    }
    assert!(all.len() > 20, "{all:?}");
    all
}

/// The long flags that a help explains.
fn flags(help: &str) -> Vec<&str> {
    let lines = help.lines().map(str::trim_start).filter(|l| l.starts_with('-'));
    lines.filter_map(|l| l.split([' ', ',', ']']).find(|w| w.starts_with("--"))).collect()
}

#[test]
fn every_help_has_examples() {
    for words in all() {
        let of: Vec<&str> = words.iter().map(String::as_str).collect();
        let help = help(&of);
        assert!(help.contains("Example"), "{words:?} has none:\n{help}");
        assert!(help.contains("--quiet") && help.contains("--verbose"), "{words:?}");
    }
}

#[test]
fn every_command_has_a_manual_page_with_every_flag() {
    let scratch = Scratch::new("habits-man");
    let folder = scratch.path("man1");
    let out = run(["man".as_ref(), "-o".as_ref(), folder.as_os_str()]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    for words in all() {
        let name = ["reray-replay".to_owned()].iter().chain(&words).cloned().collect::<Vec<_>>().join("-");
        let page =
            fs::read_to_string(folder.join(format!("{name}.1"))).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(page.contains(".TH"), "{name}");
        // (a page has each hyphen as "\-")
        let plain = page.replace("\\-", "-");
        let of: Vec<&str> = words.iter().map(String::as_str).collect();
        for flag in flags(&help(&of)) {
            assert!(plain.contains(flag), "{name}.1 lacks {flag}");
        }
    }
    assert_eq!(fs::read_dir(&folder).expect("it is there").count(), all().len());
    let whole = run(["man"]);
    assert_eq!(whole.stdout, fs::read(folder.join("reray-replay.1")).expect("it is there"));
}

#[test]
fn shells_complete() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&run(["completions", shell]).stdout);
        for words in all().into_iter().filter(|w| w.len() == 1) {
            assert!(script.contains(&words[0]), "{shell}: {words:?}");
        }
    }
    // bash itself, as if somebody pressed Tab behind "reray-replay prof" and "reray-replay bench --ab".
    let scratch = Scratch::new("habits-bash");
    let file = scratch.path("completion");
    fs::write(&file, run(["completions", "bash"]).stdout).expect("it can be written");
    let complete = |words: &str, at: usize| {
        let program = format!(
            "source '{}'; COMP_WORDS=({words}); COMP_CWORD={at}; \
             $(complete -p reray-replay | sed 's/.*-F \\([^ ]*\\).*/\\1/') reray-replay \"${{COMP_WORDS[$COMP_CWORD]}}\" \
             \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let out = Command::new("bash").args(["--norc", "-c", &program]).output().expect("bash is there");
        text(&out.stdout).trim().to_owned()
    };
    assert_eq!(complete("reray-replay prof", 1), "profile");
    assert_eq!(complete("reray-replay bindings --read", 2), "--read-back");
}

#[test]
fn only_terminals_are_coloured() {
    let on_terminal = |setting: &str| {
        let program = format!("{setting} '{}' --help", env!("CARGO_BIN_EXE_reray-replay"));
        let mut command = Command::new("script");
        command.args(["-qec", &program, "/dev/null"]).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        text(&command.output().expect("util-linux's script is there").stdout)
    };
    assert!(on_terminal("env").contains('\u{1b}'), "a terminal has no colours: {}", on_terminal("env"));
    assert!(!on_terminal("NO_COLOR=1").contains('\u{1b}'), "NO_COLOR changes nothing");
    let piped = reray().arg("--help").env_remove("NO_COLOR").output().expect("it runs");
    assert!(!text(&piped.stdout).contains('\u{1b}'));
}

#[test]
fn names_of_gfxrecon_replay_mean_the_same() {
    if !device("names of gfxrecon-replay") {
        return;
    }
    let scratch = Scratch::new("habits-names");
    let capture = root().join("captures/samples/cubes.gfxr");
    let (shots, own, file) = (scratch.path("shots"), scratch.path("own"), scratch.path("m.json"));
    let out = reray()
        .arg(&capture)
        .args(["--screenshots", "1,15-16", "--screenshot-format", "png", "--screenshot-prefix", "p"])
        .args(["--swapchain", "offscreen", "--remove-unsupported", "-m", "rebind"])
        .args(["--measurement-frame-range", "5-20", "--quit-after-measurement-range"])
        .args(["--flush-measurement-range", "--json"])
        .args([
            "--screenshot-dir".as_ref(),
            shots.as_os_str(),
            "--measurement-file".as_ref(),
            file.as_os_str(),
        ])
        .output()
        .expect("it runs");
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(report["memory"], "rebind");
    let out = run([
        "screenshot".as_ref(),
        capture.as_os_str(),
        "--frames".as_ref(),
        "1,15-16".as_ref(),
        "-o".as_ref(),
        own.as_os_str(),
    ]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let mut names: Vec<_> =
        fs::read_dir(&shots).expect("it is there").map(|e| e.expect("a file").file_name()).collect();
    names.sort();
    assert_eq!(names, ["p_frame_1.png", "p_frame_15.png", "p_frame_16.png"]);
    for n in [1, 15, 16] {
        let read = |p: std::path::PathBuf| fs::read(p).expect("a picture");
        assert!(
            read(shots.join(format!("p_frame_{n}.png"))) == read(own.join(format!("frame_{n}.png"))),
            "{n}"
        );
    }
    let m: Value = serde_json::from_slice(&fs::read(&file).expect("it was written")).expect("JSON");
    let range = &m["frame_range"];
    assert_eq!(
        (&range["start_frame"], &range["end_frame"], &range["frame_count"]),
        (&5.into(), &20.into(), &15.into())
    );
    let number = |name: &str| range[name].as_f64().unwrap_or_else(|| panic!("{name}: {m}"));
    let seconds = number("duration");
    assert!(seconds > 0.0 && (number("fps") * seconds - 15.0).abs() < 1e-6, "{m}");
    assert!((number("end_time_monotonic") - number("start_time_monotonic") - seconds).abs() < 1e-3, "{m}");
    assert!(number("end_time_process") >= number("start_time_process"), "{m}");
    let frames: Vec<u64> = range["frame_durations"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|f| f.as_u64().expect("nanoseconds"))
        .collect();
    assert_eq!(frames.len(), 15);
    assert!((frames.iter().sum::<u64>() as f64 / 1e9 - seconds).abs() < 1e-6, "{m}");
    // What was measured is within what the frames took, each by itself.
    let cpu: f64 = report["frame_times"]
        .as_array()
        .expect("an array")
        .iter()
        .filter(|f| (5..20).contains(&f["frame"].as_u64().expect("a number")))
        .map(|f| f["cpu"].as_f64().expect("nanoseconds"))
        .sum();
    assert!(cpu / 1e9 <= seconds * 1.001, "{cpu} ns of {seconds} s");
}

/// What gfxrecon-replay and we make of the same flags; none if it is not installed.
fn both(capture: &Path, flags: &[&str], scratch: &Scratch) -> Option<(String, String)> {
    let theirs = Command::new("gfxrecon-replay")
        .args(["--wsi", "headless", "--screenshot-dir"])
        .arg(scratch.path("theirs"))
        .args(flags)
        .arg(capture)
        .current_dir(scratch.path("theirs"))
        .output();
    let theirs = match theirs {
        Ok(out) => text(&out.stdout),
        Err(e) => {
            assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "gfxrecon-replay: {e}");
            skip("comparing flags with gfxrecon-replay", &e.to_string());
            return None;
        }
    };
    let ours = reray()
        .arg(capture)
        .arg("--screenshot-dir")
        .arg(scratch.path("ours"))
        .args(flags)
        .current_dir(scratch.path("ours"))
        .output()
        .expect("it runs");
    assert_eq!(ours.status.code(), Some(0), "{}", text(&ours.stderr));
    Some((theirs, text(&ours.stderr)))
}

/// The same flags leave the same pictures, byte for byte, and measure the same frames: of a whole capture, with an end
/// behind its last frame, and of a trimmed one.
#[test]
fn gfxrecon_replay_itself_does_the_same() {
    if !device("flags compared with gfxrecon-replay") {
        return;
    }
    let cubes = Some(root().join("captures/samples/cubes.gfxr"));
    for (capture, shots, range, measured) in [
        (cubes, "1,15-16", "5-100", "26 frames"),
        (shared_capture("vkcube_trim_10_19.gfxr"), "1,9-10", "2-6", "4 frames"),
    ] {
        let Some(capture) = capture else { continue };
        let scratch = Scratch::new("habits-both");
        for folder in ["theirs", "ours"] {
            fs::create_dir_all(scratch.path(folder)).expect("a folder");
        }
        let flags = ["--screenshots", shots, "--measurement-frame-range", range];
        let Some((theirs, ours)) = both(&capture, &flags, &scratch) else { return };
        assert!(theirs.contains(measured), "{theirs}");
        assert!(ours.contains(measured), "{ours}");
        let names = |folder: &str| {
            let all = fs::read_dir(scratch.path(folder)).expect("it is there");
            let mut all: Vec<_> = all.map(|e| e.expect("a file").file_name()).collect();
            all.retain(|n| n.to_string_lossy().ends_with(".bmp"));
            all.sort();
            all
        };
        assert_eq!((names("theirs").len(), names("theirs")), (3, names("ours")));
        for name in names("ours") {
            let read = |folder: &str| fs::read(scratch.path(folder).join(&name)).expect("a picture");
            assert!(read("ours") == read("theirs"), "{name:?}");
        }
        // Releases before 1.0 print what they measure; later ones write it, too.
        let read = |folder: &str| fs::read(scratch.path(folder).join("gfxrecon-measurements.json")).ok();
        let mut keys = MEASURED.map(str::to_owned).to_vec();
        if let Some(file) = read("theirs") {
            let file: Value = serde_json::from_slice(&file).expect("JSON");
            keys = file["frame_range"].as_object().expect("an object").keys().cloned().collect();
        }
        let file: Value = serde_json::from_slice(&read("ours").expect("a file")).expect("JSON");
        let mut own: Vec<_> = file["frame_range"].as_object().expect("an object").keys().cloned().collect();
        own.sort();
        keys.sort();
        assert_eq!(own, keys);
        let frames = file["frame_range"]["frame_durations"].as_array().expect("an array").len();
        assert_eq!(format!("{frames} frames"), measured);
    }
}

/// What gfxrecon-replay 1.0 has in its file.
const MEASURED: [&str; 12] = [
    "start_frame",
    "end_frame",
    "frame_count",
    "start_time_boot",
    "start_time_process",
    "start_time_monotonic",
    "end_time_boot",
    "end_time_process",
    "end_time_monotonic",
    "duration",
    "fps",
    "frame_durations",
];

#[test]
fn names_that_would_mean_something_else_are_refused() {
    for (flags, says) in [
        (["--swapchain", "virtual"], "offscreen"),
        (["--screenshot-format", "tga"], "bmp, png"),
        (["--measurement-frame-range", "7-7"], "not measured any more"),
    ] {
        let out = run(["x.gfxr"].iter().chain(&flags));
        let why = text(&out.stderr);
        assert!(why.contains(says), "{flags:?}: {why}");
        assert_eq!(out.status.code(), Some(2));
    }
    let capture = root().join("captures/samples/cubes.gfxr");
    let out = run([capture.as_os_str(), "-m".as_ref(), "realign".as_ref()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("remap or rebind"), "{}", text(&out.stderr));
    let out = run([capture.as_os_str(), "--screenshots".as_ref(), "31".as_ref()]);
    assert!(text(&out.stderr).contains("there is no frame 31"), "{}", text(&out.stderr));
    let out = run([capture.as_os_str(), "--passes".as_ref(), "hotspots".as_ref()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("hotspots is a question, no pass"), "{}", text(&out.stderr));
}

#[test]
fn quiet_and_verbose() {
    if !device("quiet and verbose") {
        return;
    }
    let scratch = Scratch::new("habits-quiet");
    let capture = root().join("captures/samples/rays.gfxr");
    let shots = scratch.path("shots");
    let with = |flag: Option<&str>| {
        let mut command = reray();
        command
            .arg(&capture)
            .args(["--frames", "1-1", "--screenshots", "1", "--screenshot-dir"])
            .arg(&shots)
            .args(flag);
        let out = command.output().expect("it runs");
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        text(&out.stderr)
    };
    let (quiet, plain, verbose) = (with(Some("--quiet")), with(None), with(Some("--verbose")));
    assert_eq!(quiet, "");
    assert!(plain.contains("1 screenshots written"), "{plain}");
    assert!(!plain.contains("translated") && verbose.contains("translated"), "{plain}\n{verbose}");
    let out = run([capture.as_os_str(), "-q".as_ref(), "-v".as_ref()]);
    assert_eq!(out.status.code(), Some(2));
}

/// Interrupts a command of two turns and 900 processes after some seconds; what it said, when it has ended.
#[cfg(unix)]
fn interrupted(words: &[&str], capture: &str, to: &Path) -> (String, String) {
    let fixed = ["--frame", "2", "--iterations", "2", "--warmup", "1", "--processes", "900", "-o"];
    let mut command = reray();
    command.args(words).args(fixed).arg(to).arg(root().join("captures/samples").join(capture));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // (as a terminal's jobs: a signal is for all of its processes)
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let process = command.spawn().expect("the program starts");
    std::thread::sleep(Duration::from_secs(8));
    let group = format!("-{}", process.id());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status().expect("kill");
    assert!(sent.success());
    let out = process.wait_with_output().expect("it ends");
    let (said, why) = (text(&out.stdout), text(&out.stderr));
    assert_eq!(out.status.code(), Some(1), "{said}{why}");
    assert!(said.contains("It was interrupted"), "{said}{why}");
    // Beside it nothing is left that is half done.
    let names: Vec<_> = fs::read_dir(to.parent().expect("a folder")).expect("it is there").collect();
    assert_eq!(names.len(), 1, "{names:?}");
    (said, why)
}

/// Ctrl-C ends a run where it is: what processes had measured to their end is a run, and is said to be one.
#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_is_kept() {
    if !device("a run that is interrupted") {
        return;
    }
    let measured = |to: &Path| {
        let run = trace::run::Run::open(to).expect("a run");
        assert_eq!(run.note.stopped, "interrupted");
        let n = run.note.workers.len();
        assert!((1..900).contains(&n), "{n}");
        n
    };
    let scratch = Scratch::new("interrupted");
    let to = scratch.path("run");
    let (_, why) = interrupted(&["bench"], "triangle_1.gfxr", &to);
    assert!(why.contains("interrupted: it ends, and keeps"), "{why}");
    assert!(why.contains(&format!("what {} process", measured(&to))), "{why}");
    let scratch = Scratch::new("interrupted-study");
    let to = scratch.path("study");
    let words = ["study", "rays", "--method", "none", "--assume-subgroups"];
    let (said, why) = interrupted(&words, "mesh.gfxr", &to);
    assert!(why.contains("interrupted: it ends, and tells"), "{why}");
    measured(&to.join("run"));
    assert_eq!(text(&fs::read(to.join("report.txt")).expect("a report")), said);
}

/// The libraries' examples do what they say.
#[test]
fn examples_of_the_libraries_run() {
    let built = Path::new(env!("CARGO_BIN_EXE_reray-replay")).parent().expect("a folder").join("examples");
    let sample = root().join("captures/samples/cubes.gfxr");
    let ran = |name: &str, more: &[&str]| {
        let out = Command::new(built.join(name)).arg(&sample).args(more).output();
        let out = out.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        text(&out.stdout).lines().map(|l| l.split('\t').map(str::to_owned).collect()).collect::<Vec<Vec<_>>>()
    };
    let calls = ran("calls", &["vkQueueSubmit"]);
    assert!(calls.iter().all(|c| c[3] == "vkQueueSubmit") && calls.len() >= 30, "{calls:?}");
    assert!(ran("calls", &[]).len() > calls.len());
    // Two hundred cubes and what develops the picture.
    let draws = ran("draws", &[]);
    assert!(draws.contains(&vec!["15".to_owned(), "201".to_owned()]), "{draws:?}");
}
