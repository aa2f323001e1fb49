//! Target "run": runs of `bench` with changed files, and the smaller files that people send each other: suites,
//! swizzles, profiles of blocks, partitions.
//!
//! What must hold: each is read, or refused with a reason; two runs that were read are compared, or refused. Guarantees: seed
//! and index name an input.

use std::path::Path;

use analyses::shaders::blocks::profile::Profile;
use analyses::verdict::compare::{Wanted, compare};
use analyses::verdict::{Ask, METRICS, export};
use profile::hooks::repartition::Partition;
use serde_json::json;
use trace::plan::Plan;
use trace::run::{RUN_FILE, Run};
use trace::suite::SuiteNote;
use trace::swizzle::Swizzle;
use trace::tables::{BENCH_CALLS, BENCH_FRAMES, BENCH_PLACES, BENCH_SPANS};
use trace::{Columns, Table, Value, table::Kind};

use crate::answers;
use crate::calls::mutate_bytes;
use crate::folder::{self, Folder};
use crate::rng::Rng;
use crate::targets::Ran;
use crate::traces::written;

/// An input.
pub enum Input {
    /// A run's files.
    Run(Folder),
    /// A `suite.json`.
    Suite(Vec<u8>),
    /// A swizzle.
    Swizzle(Vec<u8>),
    /// A profile of blocks, as text or not.
    Profile(Vec<u8>),
    /// A partition of descriptors.
    Partition(Vec<u8>),
}

/// What inputs are made of.
pub struct Runs {
    folder: Folder,
    base: Run,
}

impl Runs {
    /// A run of two captures, two plans and a few processes.
    pub fn new(scratch: &Path) -> std::io::Result<Self> {
        let folder = folder_of(&mut |_, _, v| v, scratch)?;
        let wrong = |e: trace::Unreadable| std::io::Error::other(e.to_string());
        let base = Run::open_with(Path::new("run"), folder::opener(folder.clone())).map_err(wrong)?;
        Ok(Runs { folder, base })
    }

    /// Input number `index`; `scratch` is where tables are written on the way.
    pub fn make(&self, seed: u64, index: u64, scratch: &Path) -> Input {
        let mut rng = Rng::new(seed ^ 0x7275_6E00_0000_0000, index);
        let rng = &mut rng;
        match index % 8 {
            0..=2 => {
                let mut files = self.folder.clone();
                folder::mutate(&mut files, rng);
                Input::Run(files)
            }
            3 => {
                let mut wrong = |_: &Table, _: &str, v: u64| match rng.below(1000) {
                    0 => rng.edge(),
                    1 => v.wrapping_add(1),
                    2 => 0,
                    _ => v,
                };
                let mut files = folder_of(&mut wrong, scratch).unwrap_or_default();
                if rng.chance(1, 3)
                    && let Some(note) = files.get_mut(RUN_FILE)
                {
                    folder::json(note, rng);
                }
                Input::Run(files)
            }
            4 => {
                let mut file = suite().to_string().into_bytes();
                folder::json(&mut file, rng);
                Input::Suite(file)
            }
            5 => Input::Swizzle(swizzle(rng)),
            6 => Input::Profile(profile_file(rng)),
            _ => {
                let mut file = br#"{"12": [[0, 0, 1, 0], [0, 1, 0, 0]], "7": [[1, 2, 3, 4]]}"#.to_vec();
                folder::json(&mut file, rng);
                Input::Partition(file)
            }
        }
    }

    /// Runs an input.
    pub fn run(&self, input: Input) -> Ran {
        let mut ran = Ran { read: 1, ..Ran::default() };
        let refused: Option<String> = match input {
            Input::Run(files) => self.read_run(files),
            Input::Suite(file) => SuiteNote::parse(&file, Path::new("suite.json")).map_or_else(
                |e| Some(e.to_string()),
                |note| {
                    note.units.iter().for_each(|u| drop((u.folder(), u.why())));
                    None
                },
            ),
            Input::Swizzle(file) => Swizzle::of_bytes(&file).map_or_else(Some, |s| {
                assert_eq!(s.bytes(), file, "what is read is written again");
                None
            }),
            Input::Profile(file) => match Profile::of_file(&file) {
                Ok(mut p) => {
                    let again = p.clone();
                    p.add(again).err().map(|e| e.to_string())
                }
                Err(e) => Some(e.to_string()),
            },
            Input::Partition(file) => {
                std::str::from_utf8(&file).ok().and_then(|text| Partition::read(text).err())
            }
        };
        match refused {
            Some(why) => {
                assert!(!why.is_empty());
                ran.refused = 1;
            }
            None => ran.round_trips = 1,
        }
        ran
    }

    fn read_run(&self, files: Folder) -> Option<String> {
        let run = match Run::open_with(Path::new("run"), folder::opener(files)) {
            Ok(run) => run,
            Err(e) => return Some(e.to_string()),
        };
        for report in analyses::times::run_times::reports(&run) {
            answers::export(report, false);
        }
        drop((analyses::times::bench::calls(&run), analyses::times::bench::plans(&run, 0)));
        for plan in &run.note.plans {
            // (a name may be one that nobody can write on a command line)
            if let Ok(again) = plan.to_string().parse::<Plan>() {
                assert_eq!(again.to_string(), plan.to_string(), "what is printed is read as the same");
            }
        }
        let wanted = Wanted {
            metrics: METRICS.to_vec(),
            ask: Ask { effect: 0.02, alpha: 0.01 },
            clock: None,
            against: None,
            plans: vec![],
            force: true,
        };
        match compare(&self.base, &run, &wanted) {
            Ok(c) => {
                for text in
                    [export::as_text(&c), export::as_markdown(&c), export::as_junit(&c), export::as_csv(&c)]
                {
                    assert!(!text.is_empty());
                }
                for text in [export::as_json(&c), export::as_benchmark(&c)] {
                    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
                }
                answers::export(export::report(&c), false);
                None
            }
            Err(why) => Some(why),
        }
    }
}

/// A run's folder, each of whose whole numbers `change` may change.
fn folder_of(change: &mut dyn FnMut(&Table, &str, u64) -> u64, scratch: &Path) -> std::io::Result<Folder> {
    let mut tables = [&BENCH_FRAMES, &BENCH_PLACES, &BENCH_SPANS, &BENCH_CALLS].map(Columns::new);
    let mut put = |which: usize, of: &dyn Fn(&str) -> u64| {
        let table = tables[which].table();
        let row: Vec<Value> = table
            .columns
            .iter()
            .map(|c| match c.kind {
                Kind::Text => Value::Text(match c.name {
                    "level" => "pass",
                    "kind" => "recording",
                    _ => "<b>name</b>",
                }),
                _ => Value::U64(change(table, c.name, of(c.name))),
            })
            .collect();
        tables[which].push(&row);
    };
    for place in 0..3 {
        put(1, &|name| match name {
            "place" => place,
            "capture" => place % 2,
            "frame" => 2,
            "index" => place + 1,
            _ => 0,
        });
    }
    for worker in 0..8 {
        for turn in 0..6 {
            for frame in 1..3 {
                put(0, &|name| match name {
                    "worker" => worker,
                    "position" => worker * 6 + turn,
                    "turn" => turn,
                    "timed" => u64::from(turn > 1),
                    "frame" => frame,
                    "load" => u64::from(frame == 1),
                    "gpu" => 1_000_000 + worker * 100 + turn * 17,
                    _ => 3_000_000 + turn * 31,
                });
            }
            put(2, &|name| match name {
                "worker" => worker,
                "turn" => turn,
                "place" => worker % 2,
                _ => 1000 + turn,
            });
            put(3, &|name| match name {
                "worker" => worker,
                "turn" => turn,
                "calls" => 9,
                _ => 2000 + turn,
            });
        }
    }
    let mut folder = written(&tables, scratch)?;
    folder.insert(RUN_FILE.to_string(), note().to_string().into_bytes());
    Ok(folder)
}

fn note() -> serde_json::Value {
    let device = json!({ "name": "GPU", "kind": "DiscreteGpu", "driver": "1.0", "subgroup_size": 32 });
    let workers: Vec<_> = (0..8)
        .map(|n| {
            json!({ "capture": n % 2, "plan": n / 2 % 2, "process": n / 4, "warmup": 2, "settled": true, "startup": 5,
                "device": device, "before": { "clock": 1 }, "after": null, "hashes": ["77"], "notes": [] })
        })
        .collect();
    json!({
        "schema_version": trace::run::RUN_VERSION, "program": "reray-replay 0.1.0", "command_line": ["bench"],
        "began": 1_700_000_000, "wall": 5, "seed": 1, "frame": 2, "iterations": 4, "detailed": 2, "busy_ms": 0,
        "stopped": "done", "machine": { "before": { "cpu": "A" } },
        "captures": [{ "name": "a|b.gfxr", "blake3": "77", "size_bytes": 5 }, { "name": "c.gfxr", "blake3": "78", "size_bytes": 6 }],
        "plans": [{ "name": "plain" }, { "name": "simt", "passes": "simt", "env": { "A": "1" } },
            { "name": "it's", "method": "random:seed=7", "changes": ["skip:at=5-9"], "shaders": "a b", "gpu": "1" }],
        "refused": [{ "plan": "prune", "why": "another picture", "instead": "prune-precise" }],
        "workers": workers, "notes": ["x"],
    })
}

fn suite() -> serde_json::Value {
    json!({
        "schema_version": trace::suite::SUITE_VERSION, "program": "reray-replay 0.1.0", "name": "s", "blake3": "77",
        "text": "[[bench]]", "shard": [1, 2], "parts": [{ "shard": [1, 2], "machine": {}, "began": 1, "wall": 2 }],
        "units": [
            { "name": "u", "bench": 0, "shard": 1, "file": "a.gfxr", "frame": 2, "plans": ["plain"], "state": "done",
              "capture": { "name": "a.gfxr", "blake3": "77", "size_bytes": 5 }, "part": 0, "wall": 3, "command": ["bench"] },
            { "name": "v", "bench": 1, "shard": 2, "file": "b.gfxr", "plans": [], "state": "failed", "exit": 1,
              "ended": "exit code 1", "stderr": ["no"] },
        ],
    })
}

fn swizzle(rng: &mut Rng) -> Vec<u8> {
    let s = Swizzle {
        frame: 1,
        launch: 0,
        size: [4, 2, 1],
        method: "m".into(),
        seed: 1,
        indices: (0..8).collect(),
    };
    let mut file = s.bytes();
    let end = file.len() - 8;
    file.truncate(end);
    if rng.chance(1, 2) {
        let at = 8 + 4 * rng.below((end - 8) / 4);
        file[at..at + 4].copy_from_slice(&(rng.edge() as u32).to_le_bytes());
    } else {
        mutate_bytes(&mut file, rng);
    }
    let sum = folder::sum(&file);
    file.extend_from_slice(&sum);
    file
}

/// A profile of blocks, with a sum that is right (`analyses/src/shaders/blocks/profile.rs`).
fn profile_file(rng: &mut Rng) -> Vec<u8> {
    if rng.chance(1, 3) {
        let mut text =
            b":ir\n:entry_first\nmain.0\n# Func Hash:\n42\n# Num Counters:\n2\n# Counter Values:\n5\n7\n"
                .to_vec();
        mutate_bytes(&mut text, rng);
        return text;
    }
    let mut file = analyses::shaders::blocks::profile::MAGIC.to_vec();
    file.extend(1_u32.to_le_bytes());
    file.extend([1, 0, b'x']);
    file.extend(2_u32.to_le_bytes());
    for name in [b'a', b'b'] {
        file.extend([1, 0, name]);
        file.extend(7_u64.to_le_bytes());
        file.extend(2_u32.to_le_bytes());
        file.extend([3_u64, 4].map(u64::to_le_bytes).concat());
    }
    mutate_bytes(&mut file, rng);
    let fnv = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
    let sum = file.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    file.extend(sum.to_le_bytes());
    file
}
