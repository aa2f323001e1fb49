//! Whole runs, made up: what `compare` and its exports say of them.

use super::compare::{Clock, Compared, Wanted, compare};
use super::export::{as_benchmark, as_csv, as_json, as_junit, as_markdown, as_text};
use super::{Ask, Metric, Test, Verdict};
use oorandom::Rand64;
use serde_json::{Value, json};
use trace::Nanos;
use trace::dir::Capture;
use trace::plan::Plan;
use trace::run::{FrameSample, Place, Run, RunNote, SpanSample, Worker};

/// Commands of each frame, with their share of its time.
const COMMANDS: [(&str, f64); 3] = [("draw sky", 0.2), ("draw <trees>", 0.5), ("dispatch", 0.3)];
const FRAMES: u64 = 4;

/// A run of ten processes: process to process 0.3 %, turn to turn 1 %; frame 3, and the second command, `slower` by so much.
pub(super) fn run(seed: u64, slower: f64, plans: &[&str]) -> Run {
    let mut random = Rand64::new(seed.into());
    let mut noise = |by: f64| (0..12).map(|_| random.rand_float()).sum::<f64>().mul_add(by, 1.0 - 6.0 * by);
    let mut run = Run {
        note: RunNote {
            schema_version: 1,
            program: "reray-replay".into(),
            began: 1_700_000_000 + seed,
            captures: vec![Capture { name: "a|b.gfxr".into(), blake3: "77".into(), size_bytes: 5 }],
            plans: plans.iter().map(|p| Plan::named(*p)).collect(),
            ..RunNote::default()
        },
        ..Run::default()
    };
    for (n, (name, _)) in COMMANDS.iter().enumerate() {
        for level in ["pass", "command"] {
            run.places.push(Place {
                frame: 2,
                index: n as u64 + 1,
                level: level.into(),
                name: if level == "pass" { format!("pass {n}") } else { (*name).into() },
                within: "world".into(),
                pipeline: format!("#{n}"),
                ..Place::default()
            });
        }
    }
    run.places.push(Place { frame: 2, level: "submit".into(), ..Place::default() });
    for process in 0..10 {
        for plan in 0..plans.len() {
            let worker = run.note.workers.len();
            let device = json!({ "name": "GPU", "driver": "1.0" });
            run.note.workers.push(Worker { plan, process, device, ..Worker::default() });
            let of_process = noise(0.003);
            let slow = |yes: bool| if yes { 1.0 + slower } else { 1.0 };
            for turn in 0..20 {
                for frame in 1..=FRAMES {
                    let time = 1e7 * of_process * noise(0.01) * slow(frame == 3);
                    let gpu = Some(Nanos(time as u64));
                    let (timed, load) = (turn > 1, frame == 1);
                    // (what warms up, and the load frame, are far off)
                    let gpu = if timed && !load { gpu } else { Some(Nanos(1)) };
                    let cpu = Nanos((time * 3.0) as u64);
                    run.frames.push(FrameSample { worker, position: 0, turn, timed, frame, load, gpu, cpu });
                }
                let mut whole = 0;
                for (n, (_, share)) in COMMANDS.iter().enumerate() {
                    let time = (1e7 * share * of_process * noise(0.01) * slow(n == 1)) as u64;
                    whole += time;
                    for place in [2 * n, 2 * n + 1] {
                        run.spans.push(SpanSample { worker, turn, place, time: Nanos(time) });
                    }
                }
                run.spans.push(SpanSample { worker, turn, place: 6, time: Nanos(whole) });
            }
        }
    }
    run
}

pub(super) fn wanted() -> Wanted {
    Wanted {
        metrics: vec![Metric::Median],
        ask: Ask { effect: 0.02, alpha: 0.01 },
        clock: None,
        against: None,
        plans: vec![],
        force: false,
    }
}

fn compared(slower: f64) -> Compared {
    compare(&run(1, 0.0, &["plain"]), &run(2, slower, &["plain"]), &wanted()).expect("two runs")
}

/// The first processes alone.
fn of_processes(number: u32, mut run: Run) -> Run {
    let few: Vec<bool> = run.note.workers.iter().map(|w| w.process < number).collect();
    run.note.workers.truncate(few.iter().filter(|few| **few).count());
    run.frames.retain(|f| few[f.worker]);
    run.spans.retain(|s| few[s.worker]);
    run
}

#[test]
fn what_does_not_count_as_changed_is_counted_with_its_reasons() {
    let of = |processes| {
        let of = |seed, slower| of_processes(processes, run(seed, slower, &["plain"]));
        compare(&of(1, 0.0), &of(2, 2.55), &wanted()).expect("two runs")
    };
    let few = as_text(&of(3));
    assert!(
        few.contains(
            "0 of 3 commands changed; 3 are inconclusive, as 3 processes of a side do not decide; 4 may."
        ),
        "{few}"
    );
    let mut all = of(10);
    assert_eq!(all.verdict, Verdict::Regression, "{}", as_text(&all));
    assert!(as_text(&all).contains("1 of 3 commands changed.\n"), "{}", as_text(&all));
    // Several reasons: the commonest come first, and the rest is counted.
    let mut commands: Vec<_> = all.rows.iter_mut().filter(|r| r.level == "command").collect();
    let row = commands.pop().expect("the third").clone();
    let reasons = ["b", "a", "b", "b", "c", "a"];
    all.rows.extend(reasons.map(|why| {
        let mut row = row.clone();
        (row.judged.verdict, row.judged.why) = (Verdict::Inconclusive, why.into());
        row
    }));
    let text = as_text(&all);
    let says = "1 of 9 commands changed; 6 are inconclusive: b (3); a (2); 1 for other reasons, which are in the JSON.";
    assert!(text.contains(says), "{text}");
}

#[test]
fn the_same_is_no_change_and_what_is_slower_is_named() {
    let same = compared(0.0);
    assert_eq!((same.verdict, same.clock), (Verdict::NoChange, Some(Clock::Gpu)), "{}", as_text(&same));
    // One capture; frames 2 to 4, as 1 loads; three passes and three commands.
    let levels = |l: &str| same.rows.iter().filter(|r| r.level == l).count();
    assert_eq!(["capture", "frame", "pass", "command"].map(levels), [1, 3, 3, 3]);
    assert!(same.rows.iter().all(|r| r.judged.verdict == Verdict::NoChange), "{}", as_text(&same));
    let slow = compared(0.05);
    assert_eq!(slow.verdict, Verdict::Regression, "{}", as_text(&slow));
    let found: Vec<(&str, Option<u64>, Option<&str>)> = slow
        .rows
        .iter()
        .filter(|r| r.judged.verdict == Verdict::Regression)
        .map(|r| (r.level, r.frame, r.place.as_ref().map(|p| &*p.name)))
        .collect();
    let expected = [
        ("frame", Some(3), None),
        ("pass", Some(2), Some("pass 1")),
        ("command", Some(2), Some("draw <trees>")),
    ];
    assert_eq!(found, expected);
    let row = slow.rows.iter().find(|r| r.level == "command" && r.judged.verdict == Verdict::Regression);
    let row = row.expect("it was found");
    assert!((row.share.expect("a share") - 0.5).abs() < 0.01, "{row:?}");
    assert!((row.judged.change.expect("a change") - 0.05).abs() < 0.01, "{row:?}");
    // A run that was written before places had numbers is of the same places, and takes its names from the other.
    let mut numbered = run(2, 0.05, &["plain"]);
    numbered.places.iter_mut().filter(|p| p.level == "command").for_each(|p| p.draw = p.index + 6);
    let both = compare(&run(1, 0.0, &["plain"]), &numbered, &wanted()).expect("two runs");
    assert_eq!(both.rows.iter().filter(|r| r.level == "command").count(), 3, "{}", as_text(&both));
    assert!(as_text(&both).contains("draw 8 (draw <trees>)"), "{}", as_text(&both));
    // What was slower and is not any more is an improvement, and no failure.
    let faster = compare(&run(1, 0.05, &["plain"]), &run(2, 0.0, &["plain"]), &wanted()).expect("two runs");
    assert!(faster.verdict < Verdict::Inconclusive, "{}", as_text(&faster));
    assert!(faster.rows.iter().any(|r| r.level == "frame" && r.judged.verdict == Verdict::Improvement));
}

#[test]
fn what_does_not_belong_together_is_refused_unless_forced() {
    let base = run(1, 0.0, &["plain"]);
    let forced = Wanted { force: true, ..wanted() };
    let mut other = run(2, 0.0, &["plain"]);
    other.note.workers[0].device = json!({ "name": "another", "driver": "1.0" });
    let e = compare(&base, &other, &wanted()).expect_err("other devices");
    assert!(e.contains("GPU") && e.contains("another") && e.contains("--force"), "{e}");
    let all = compare(&base, &other, &forced).expect("it was forced");
    assert!(all.notes.iter().any(|n| n.contains("Other devices")), "{:?}", all.notes);
    let mut other = run(2, 0.0, &["plain"]);
    other.note.captures[0].blake3 = "78".into();
    let e = compare(&base, &other, &wanted()).expect_err("other captures");
    assert!(e.contains("a|b.gfxr"), "{e}");
    assert!(compare(&base, &other, &forced).is_ok());
    other.note.captures[0].name = "c.gfxr".into();
    assert!(compare(&base, &other, &forced).is_err_and(|e| e.contains("no capture and plan")));
    // Software is another device on another processor.
    let on = |cpu: &str| {
        let mut run = run(1, 0.0, &["plain"]);
        run.note.workers.iter_mut().for_each(|w| w.device = json!({ "name": "soft", "kind": "CPU" }));
        run.note.machine = json!({ "before": { "cpu": cpu } });
        run
    };
    let e = compare(&on("A"), &on("B"), &wanted()).expect_err("other processors");
    assert!(e.contains("soft on A") && e.contains("soft on B"), "{e}");
    assert!(compare(&on("A"), &on("B"), &forced).is_ok());
    // Another driver is worth a note, and no refusal: that is what one compares.
    let mut other = run(2, 0.0, &["plain"]);
    other.note.workers.iter_mut().for_each(|w| w.device = json!({ "name": "GPU", "driver": "2.0" }));
    let all = compare(&base, &other, &wanted()).expect("the same device");
    assert!(
        all.notes.iter().any(|n| n.contains("Other drivers: plan plain: 1.0 and 2.0")),
        "{:?}",
        all.notes
    );
}

#[test]
fn plans_of_one_run_are_held_against_one_of_them() {
    let both = run(3, 0.0, &["plain", "again"]);
    let e = compare(&both, &both, &wanted()).expect_err("a run against itself");
    assert!(e.contains("--against"), "{e}");
    let of = Wanted { against: Some("plain".into()), ..wanted() };
    let all = compare(&both, &both, &of).expect("two plans");
    let plans: Vec<&str> = all.rows.iter().filter(|r| r.level == "capture").map(|r| &*r.plan).collect();
    assert_eq!((plans, all.verdict), (vec!["again against plain"], Verdict::NoChange));
    // Their processes were alive together.
    assert!(all.rows.iter().all(|r| r.judged.paired && r.judged.test == Test::PairedT));
    assert!(as_text(&all).contains("pairs of one number, alive together"), "{}", as_text(&all));
    // A process without a counterpart is in no pair.
    let mut less = both.clone();
    less.frames.retain(|f| (less.note.workers[f.worker].plan, less.note.workers[f.worker].process) != (0, 4));
    let all = compare(&less, &less, &of).expect("two plans");
    assert_eq!(all.rows[0].judged.processes, [9, 9]);
    // Two runs have no pairs.
    let all = compared(0.0);
    assert!(all.rows.iter().all(|r| !r.judged.paired && r.judged.test == Test::WelchT));
    let of = Wanted { against: Some("nobody".into()), ..wanted() };
    assert!(compare(&both, &both, &of).is_err_and(|e| e.contains("no plan nobody")));
}

#[test]
fn a_clock_that_not_all_frames_have_is_not_taken_and_few_frames_are_refused_by_name() {
    let mut base = run(1, 0.0, &["plain"]);
    let frames = base.frames.iter_mut().filter(|f| f.timed && !f.load);
    frames.take(1).for_each(|f| f.gpu = None);
    let new = run(2, 0.0, &["plain"]);
    let all = compare(&base, &new, &wanted()).expect("two runs");
    assert_eq!(all.clock, Some(Clock::Cpu));
    let row = &all.rows[0];
    assert!((row.judged.base - 30.0).abs() < 0.5, "{row:?}");
    // 18 turns of 3 frames each: 54 in a process.
    let of = Wanted { metrics: vec![Metric::P99], ..wanted() };
    let all = compare(&base, &new, &of).expect("two runs");
    assert_eq!(all.verdict, Verdict::Inconclusive);
    assert!(
        all.rows[0].judged.why.contains("p99 needs 100 frames of each process, and there are 54"),
        "{:?}",
        all.rows[0]
    );
}

#[test]
fn every_format_says_the_same() {
    let slow = compared(0.05);
    let text = as_text(&slow);
    assert!(
        text.contains("regression") && text.contains("draw <trees>") && text.contains("pipeline 1"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&as_json(&slow)).expect("JSON");
    assert_eq!(
        (&json["schema_version"], &json["verdict"], &json["clock"]),
        (&2.into(), &"regression".into(), &"gpu".into())
    );
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(10));
    assert_eq!(json["rows"][0]["processes"], json!([10, 10]));
    let markdown = as_markdown(&slow);
    assert!(markdown.starts_with("### regression") && markdown.contains("a\\|b.gfxr"), "{markdown}");
    for line in markdown.lines().filter(|l| l.starts_with('|')) {
        assert_eq!(line.replace("\\|", "").matches('|').count(), 8, "{line}");
    }
    let junit = as_junit(&slow);
    assert!(junit.contains("tests=\"4\" failures=\"3\" errors=\"0\""), "{junit}");
    assert!(junit.contains("draw &lt;trees&gt;") && junit.matches("<failure").count() == 3, "{junit}");
    assert_eq!(junit.matches("<testcase ").count(), 4, "{junit}");
    let benchmark: Value = serde_json::from_str(&as_benchmark(&slow)).expect("JSON");
    assert_eq!(
        (&benchmark[0]["name"], &benchmark[0]["unit"]),
        (&"a|b.gfxr, plain, median".into(), &"ms".into())
    );
    assert!(benchmark[0]["value"].as_f64().is_some_and(|v| (9.5..11.0).contains(&v)), "{benchmark}");
    let csv = as_csv(&slow);
    assert_eq!(csv.lines().count(), 21, "{csv}");
    assert!(csv.contains("1700000001,base,a|b.gfxr,plain,median,ms,0,"), "{csv}");
}
