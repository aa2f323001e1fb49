//! Nobody reads what is printed: a pipe whose reader is gone, a stdout that is closed. The exit code is the same as with a reader, and
//! stderr says what it says then and nothing more, whatever the command.
//!
//! Runs for `compare` are made up, so that their verdicts are known: ten processes whose times differ by a thousandth, and others that
//! take a fifth longer.

use crate::cli::damaged;
use crate::device::device;
use crate::ray_dump;
use crate::support::{Scratch, reray, root, run, text};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use trace::dir::{Manifest, Writer};
use trace::plan::Plan;
use trace::run::{RUN_FILE, RUN_VERSION, RunNote, Worker};
use trace::tables::{BENCH_FRAMES, BENCH_PLACES, BENCH_SPANS};
use trace::{Value as V, dir::Capture};

/// The same arguments into a pipe that nobody reads.
fn unread(args: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    reray().args(args).stdout(writer).stderr(Stdio::piped()).output().expect("the program starts")
}

/// The same arguments with stdout closed from the beginning.
fn closed(args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_reray-replay");
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$@\" >&-", program]).args(args);
    shell.env("MESA_SHADER_CACHE_DISABLE", "false").output().expect("a shell")
}

/// Exit code and stderr are the same without a reader; whatever names the folder that is written to is another one each time.
fn the_same(args: &[&str], code: i32, scratch: &Scratch) {
    let folders = ["read", "unread", "closed"].map(|name| scratch.path(name));
    let [read, unread_, closed_] = &folders;
    let with = |to: &Path| -> Vec<String> {
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir(to).expect("a folder");
        args.iter().map(|a| a.replace("OUT", plain(to))).collect()
    };
    fn of(args: &[String]) -> Vec<&str> {
        args.iter().map(String::as_str).collect()
    }
    let said = |out: &Output, to: &Path| text(&out.stderr).replace(plain(to), "OUT");
    let here = run(of(&with(read)));
    assert_eq!(here.status.code(), Some(code), "{args:?}: {}", said(&here, read));
    assert!(!here.stdout.is_empty(), "{args:?} prints nothing that could be left unread");
    for (out, to) in [(unread(&of(&with(unread_))), unread_), (closed(&of(&with(closed_))), closed_)] {
        assert_eq!(out.status.code(), Some(code), "{args:?}: {}", said(&out, to));
        assert_eq!(said(&out, to), said(&here, read), "{args:?}");
        // What goes to files is there as well.
        let files = |to: &Path| -> Vec<_> {
            let mut all: Vec<_> = to.read_dir().expect("a folder").flatten().map(|f| f.file_name()).collect();
            all.sort();
            all
        };
        assert_eq!(files(to), files(read), "{args:?}");
    }
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn sample(name: &str) -> String {
    plain(&root().join("captures/samples").join(name)).to_owned()
}

/// A run of so many processes of ten turns each, one frame a turn, in which a frame takes about `time` nanoseconds; its first three
/// processes have times of three commands, which take a third of it each.
pub fn made_up(scratch: &Scratch, name: &str, processes: u32, time: u64) -> PathBuf {
    let folder = scratch.path(name);
    let mut writer = Writer::create(&folder, Manifest { program: "a test".into(), ..Manifest::default() })
        .expect("a new folder");
    let note = RunNote {
        schema_version: RUN_VERSION,
        began: time,
        iterations: 10,
        captures: vec![Capture { name: "a.gfxr".into(), blake3: "77".into(), size_bytes: 5 }],
        plans: vec![Plan::named("plain")],
        workers: (0..processes)
            .map(|process| Worker { process, settled: true, ..Worker::default() })
            .collect(),
        ..RunNote::default()
    };
    for process in 0..u64::from(processes) {
        for turn in 0..10 {
            let time = time + time / 1000 * (process % 3) + time / 2000 * (turn % 2);
            let row = [process, process * 10 + turn, turn, 1, 2, 0, time, time + 1000].map(V::U64);
            writer.put(&BENCH_FRAMES, &row);
        }
    }
    for place in 0..4 {
        let level = if place == 0 { "submit" } else { "command" };
        let whole = [place, 0, 2, 0, 0, 0, place, 0, place, u64::from(place > 0)].map(V::U64);
        let words = [level, ["", "draw", "dispatch", "copy"][place as usize], "", "", ""].map(V::Text);
        writer.put(&BENCH_PLACES, &[&whole[..], &words].concat());
        for process in 0..u64::from(processes.min(3)) {
            let time = (time + time / 1000 * process) / if place == 0 { 1 } else { 3 };
            (0..3).for_each(|turn| writer.put(&BENCH_SPANS, &[process, turn, place, time].map(V::U64)));
        }
    }
    writer.finish().expect("it can be written");
    std::fs::write(folder.join(RUN_FILE), note.render()).expect("it can be written");
    folder
}

#[test]
fn a_gate_says_what_it_found() {
    let scratch = Scratch::new("unread-gate");
    let base = made_up(&scratch, "base", 10, 10_000_000);
    let slow = made_up(&scratch, "slow", 10, 12_000_000);
    let few = made_up(&scratch, "few", 2, 12_000_000);
    let [base, slow, few] = [&base, &slow, &few].map(|p| plain(p));
    for format in ["text", "json", "junit"] {
        the_same(&["compare", base, slow, "--format", format], 3, &scratch);
    }
    the_same(&["compare", base, few], 4, &scratch);
    the_same(&["compare", slow, base], 0, &scratch);
    let (bad, _) = damaged(&scratch);
    the_same(&["verify", plain(&bad)], 5, &scratch);
    the_same(&["verify", plain(&bad), "--json"], 5, &scratch);
    the_same(&["verify", &sample("cubes.gfxr")], 0, &scratch);
    the_same(&["compress", plain(&bad), "--to", "none", "-o", "OUT/a.gfxr"], 1, &scratch);
}

#[test]
fn what_takes_no_device_ends_as_it_does_with_a_reader() {
    let scratch = Scratch::new("unread");
    let (trace, cubes) = (ray_dump::trace(&scratch), sample("cubes.gfxr"));
    let (trace, cubes) = (plain(&trace), cubes.as_str());
    let monolithic = sample("monolithic.gfxr");
    for args in [
        &["--help"][..],
        &["--version"],
        &["man"],
        &["completions", "bash"],
        &["profile", "--list"],
        &[cubes, "--echo"],
        &["info", cubes],
        &["info", cubes, "--json"],
        &["dump", cubes],
        &["dump", cubes, "--format", "text"],
        &["dump", cubes, "--binaries", "OUT/bytes", "--frames", "1"],
        &["extract", cubes, "-o", "OUT/shaders"],
        &["compress", cubes, "--to", "zlib", "-o", "OUT/a.gfxr"],
        &["bindings", &monolithic],
        &["bindings", &monolithic, "-o", "OUT/trace", "--format", "json"],
        &["analyze", trace],
        &["analyze", trace, "--list"],
        &["analyze", trace, "--table", "rays"],
        &["analyze", trace, "rays", "--format", "csv"],
        &["rays", "dump", trace],
        &["rays", "dump", trace, "--warps", "--format", "json"],
        &["rays", "repack", trace, "-o", "OUT/swizzles"],
        &["rays", "reorder", trace, "--window", "all"],
        &["report", trace, "-o", "OUT/report.html"],
    ] {
        the_same(args, 0, &scratch);
    }
    // A question that cannot be answered does not keep the others from it, and is not forgotten either.
    assert_eq!(unread(&["analyze", trace, "simt"]).status.code(), Some(1));
}

#[test]
fn what_replays_ends_as_it_does_with_a_reader() {
    if !device("replays whose output nobody reads") {
        return;
    }
    let scratch = Scratch::new("unread-device");
    let cubes = sample("cubes.gfxr");
    let monolithic = sample("monolithic.gfxr");
    let (blocks, partitions) = (scratch.path("blocks"), scratch.path("partitions"));
    let made = |args: &[&str]| {
        let out = run(args);
        assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
    };
    let probed = ["profile", &monolithic, "--passes", "blocks", "--assume-subgroups", "-o"];
    made(&[&probed[..], &[plain(&blocks)]].concat());
    made(&["bindings", &monolithic, "--no-answers", "-o", plain(&scratch.path("bound"))]);
    made(&["analyze", plain(&scratch.path("bound")), "bindings", "-o", plain(&partitions)]);
    let partition = partitions.join("repartition-classes.json");
    let blocks = plain(&blocks);
    for args in [
        &["devices"][..],
        &["check", &cubes],
        &[&cubes, "--frames", "1-2"],
        &["screenshot", &cubes, "--frames", "1-3", "--hash", "-o", "OUT/shots"],
        &[&probed[..], &["OUT/trace"]].concat(),
        &["merge-profiles", blocks, blocks, "-o", "OUT/sum.proftext"],
        &["merge-profiles", blocks, blocks, "-o", "OUT/sum"],
        &["bindings", "split", &monolithic, "--partition", plain(&partition), "--rounds", "1"],
    ] {
        the_same(args, 0, &scratch);
    }
}

/// Nor need anybody read stderr: what is wrong is in the exit code, too.
#[test]
fn nobody_reads_what_is_wrong() {
    let scratch = Scratch::new("unread-stderr");
    let (bad, _) = damaged(&scratch);
    let missing = scratch.path("missing.gfxr");
    for (args, code) in [
        (&["info", plain(&missing)][..], 1),
        (&["dump", plain(&bad)], 1),
        (&["verify", plain(&bad)], 5),
        (&["dump", "--blocks", "9-1", "x"], 2),
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let status =
            reray().args(args).env("RERAY_LOG", "trace").stdout(Stdio::null()).stderr(writer).status();
        assert_eq!(status.expect("the program starts").code(), Some(code), "{args:?}");
    }
}
