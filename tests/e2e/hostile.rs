//! A stranger's capture and a stranger's trace at the command line: names that hold escape sequences, line ends, marks of direction
//! and markup reach no terminal and no page as they are; a trace that lies or leads out of its folder is refused by name.

use crate::device::device;
use crate::support::{Scratch, reray, root, run, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A line that looks like one of ours, a cursor that moves, a colour, a title, an override, C1's CSI. As long as what it replaces.
const NAMES: [(&str, &str); 6] = [
    ("secondary pool", "\u{1b}[2J\u{1b}[31mRED\u{7}"),
    ("filled memory", "a\nreray-repla"),
    ("swapchain image 0 view", "\u{1b}]0;title\u{7}</script>"),
    ("frame 1", "\u{7f}f 1"),
    ("tiles", "\u{202e}<b"),
    ("main queue", "\u{9b}31m\u{2066}\t\r"),
];

/// `nested`, not compressed, with these names.
fn capture(scratch: &Scratch) -> PathBuf {
    let file = scratch.path("plain.gfxr");
    let nested = root().join("captures/samples/nested.gfxr");
    let to = ["--to", "none", "-o"].map(AsRef::as_ref);
    let out = run([&["compress".as_ref(), nested.as_os_str()], &to[..], &[file.as_os_str()]].concat());
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mut bytes = std::fs::read(&file).expect("just written");
    for (old, new) in NAMES {
        assert!(new.len() <= old.len(), "{old}");
        let mut new = new.as_bytes().to_vec();
        new.resize(old.len(), b'.');
        let found: Vec<usize> =
            (0..bytes.len() - old.len()).filter(|&at| bytes[at..].starts_with(old.as_bytes())).collect();
        assert!(!found.is_empty(), "{old}");
        found.into_iter().for_each(|at| bytes[at..at + new.len()].copy_from_slice(&new));
    }
    std::fs::write(&file, bytes).expect("written");
    file
}

/// What may reach a terminal: no control character but line ends and tabs, nothing that turns text around.
fn sound(what: &str, bytes: &[u8]) {
    let shown = std::str::from_utf8(bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
    let bad = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}')
    };
    assert!(!shown.contains(bad), "{what}: {shown:?}");
    assert!(
        !shown.lines().any(|l| l.starts_with("reray-repla.")),
        "{what}: a name made a line of its own: {shown}"
    );
}

#[test]
fn names_of_a_capture_move_no_terminal() {
    let scratch = Scratch::new("hostile-text");
    let capture = capture(&scratch);
    let capture = capture.to_str().expect("plain");
    let shaders = scratch.path("shaders").to_str().expect("plain").to_owned();
    let mut all = vec![
        vec!["info", capture],
        vec!["info", capture, "--json"],
        vec!["dump", capture],
        vec!["dump", capture, "--format", "text"],
        vec!["verify", capture],
        vec!["extract", capture, "-o", &shaders],
    ];
    if device("replays of hostile names") {
        all.push(vec![capture, "--times", "pass", "--verbose"]);
        all.push(vec![capture, "--times", "command", "--json"]);
        all.push(vec!["check", capture]);
    }
    for words in all {
        let out = run(&words);
        assert!(out.status.success(), "{words:?}: {}", text(&out.stderr));
        sound(&format!("{words:?}, stdout"), &out.stdout);
        sound(&format!("{words:?}, stderr"), &out.stderr);
        if words.contains(&"pass") {
            assert!(text(&out.stdout).contains("\\u202e<b"), "names stay readable: {}", text(&out.stdout));
        }
    }
    // In JSON the values are the names.
    let out = run(["dump", capture]);
    let lines: Vec<Value> =
        text(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert!(lines.iter().any(|l| l.to_string().contains(&serde_json::json!(NAMES[0].1).to_string()[1..10])));
}

#[test]
fn a_name_makes_no_line_of_an_error() {
    let scratch = Scratch::new("hostile-error");
    let odd = scratch.path("a\nreray-replay: all is well\u{1b}[2J.gfxr");
    std::fs::write(&odd, b"no capture").expect("written");
    for words in [&["verify"][..], &["info"], &["analyze"], &["report", "-o", "x.html"]] {
        let mut command = reray();
        command.args(&words[..1]).arg(&odd).args(&words[1..]);
        let out = command.output().expect("it starts");
        assert!(!out.status.success(), "{words:?}");
        sound(&format!("{words:?}"), &out.stderr);
        assert!(
            !text(&out.stderr).lines().any(|l| l == "reray-replay: all is well"),
            "{}",
            text(&out.stderr)
        );
        assert!(
            text(&out.stderr).contains("a\\nreray-replay: all is well\\u001b[2J"),
            "{}",
            text(&out.stderr)
        );
    }
}

/// A trace of the analyses' own fixtures, where it can be changed.
fn trace(scratch: &Scratch, name: &str) -> PathBuf {
    let (from, to) = (root().join("analyses/tests/traces").join(name), scratch.path(name));
    std::fs::create_dir_all(&to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the fixture") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("copied");
    }
    to
}

fn refused(words: &[&str], folder: &Path, said: &str) {
    let out = reray().args(&words[..1]).arg(folder).args(&words[1..]).output().expect("it starts");
    let stderr = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{words:?}: {stderr}");
    assert!(stderr.contains(said) && stderr.contains(&*folder.to_string_lossy()), "{words:?}: {stderr}");
}

#[test]
#[cfg(unix)]
fn a_trace_that_leads_out_of_its_folder_is_refused() {
    let scratch = Scratch::new("hostile-links");
    let folder = trace(&scratch, "effects");
    let target = folder.join("uploads.table");
    let elsewhere = scratch.path("elsewhere");
    std::fs::rename(&target, &elsewhere).expect("moved");
    for to in [elsewhere.as_path(), Path::new("/dev/zero")] {
        std::os::unix::fs::symlink(to, &target).expect("a link");
        refused(&["analyze", "bindings", "advice"], &folder, "no plain file");
        std::fs::remove_file(&target).expect("removed");
    }
    std::fs::copy(&elsewhere, &target).expect("copied");
    let manifest = folder.join("manifest.json");
    std::fs::rename(&manifest, scratch.path("m")).expect("moved");
    std::os::unix::fs::symlink("/dev/zero", &manifest).expect("a link");
    refused(&["analyze"], &folder, "no plain file");
}

#[test]
fn names_of_a_trace_move_no_terminal_and_are_no_markup() {
    let scratch = Scratch::new("hostile-trace");
    let folder = trace(&scratch, "effects");
    let path = folder.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    let name = "\u{1b}[2J\nreray-replay: all is well\u{202e}</script><script>alert(1)</script>";
    manifest["capture"]["name"] = name.into();
    manifest["device"]["name"] = name.into();
    manifest["notes"] = serde_json::json!([name]);
    std::fs::write(&path, manifest.to_string()).expect("written");
    for format in ["text", "json"] {
        let out = reray().arg("analyze").arg(&folder).args(["--format", format]).output().expect("it starts");
        assert!(out.status.success(), "{}", text(&out.stderr));
        sound(format, &out.stdout);
        assert!(!text(&out.stdout).lines().any(|l| l.starts_with("reray-replay:")), "{}", text(&out.stdout));
        if format == "json" {
            let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
            assert_eq!(json["trace"]["capture"]["name"], name);
        }
    }
    let page = scratch.path("page.html");
    let out = reray().arg("report").arg(&folder).arg("-o").arg(&page).output().expect("it starts");
    assert!(out.status.success(), "{}", text(&out.stderr));
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(!page.contains("alert(1)</script>") && page.contains("&lt;/script&gt;"));
    sound("the page's title", page.split("</title>").next().expect("a head").as_bytes());
    // What a trace declares is no reason to take memory: it is refused, with the file's name.
    manifest["tables"][0]["rows"] = u64::MAX.into();
    std::fs::write(&path, manifest.to_string()).expect("written");
    let out =
        reray().arg("analyze").arg(&folder).arg("--tables").args(["-o"]).arg(scratch.path("out")).output();
    let out = out.expect("it starts");
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("rows; manifest.json says"), "{}", text(&out.stderr));
}
