//! Verdicts on data whose changes are known (worlds.rs): errors, power, and what docs/compare.md says of them.
//!
//! `RERAY_WRITE_DOCS=1 cargo test -p reray-analyses --lib verdict::tests` writes both tables of docs/compare.md; without it the page has
//! to be what is computed here. Seeds are fixed, so that it is the same each time.

use super::METRICS;
use super::worlds::*;
use super::*;
use crate::stats::Ranked;
use oorandom::Rand64;
use std::path::Path;
use std::sync::Mutex;

/// Draws of each cell of the table of power; and of each metric, data, kind of comparison and number of processes, of errors.
const DRAWS: [usize; 2] = [120, 40];

/// What the page has between these is written here.
const MARKS: [(&str, &str); 2] = [
    ("<!-- power: begin. Written by analyses/src/verdict/tests.rs. -->\n", "<!-- power: end -->\n"),
    ("<!-- errors: begin. Written by analyses/src/verdict/tests.rs. -->\n", "<!-- errors: end -->\n"),
];

/// Turns of each process, of one frame each.
fn turns(metric: Metric) -> usize {
    if metric.needs() > 20 { 100 } else { 20 }
}

/// One writes the page at a time.
static PAGE: Mutex<()> = Mutex::new(());

/// The page has this text between these marks; else it is written, or it is an error.
fn docs(marks: (&str, &str), text: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compare.md");
    let _one = PAGE.lock().unwrap_or_else(|e| e.into_inner());
    let before = std::fs::read_to_string(&page).expect("the page");
    let from = before.find(marks.0).expect(marks.0) + marks.0.len();
    let to = from + before[from..].find(marks.1).expect(marks.1);
    if std::env::var_os("RERAY_WRITE_DOCS").is_some() {
        let after = format!("{}{text}{}", &before[..from], &before[to..]);
        std::fs::write(&page, after).expect("the page can be written");
    } else {
        assert_eq!(&before[from..to], text, "RERAY_WRITE_DOCS=1 writes what has changed");
    }
}

/// Most of n draws that may be so if each is so with probability p: three standard errors above.
fn at_most(n: usize, p: f64) -> usize {
    (n as f64 * p + 3.0 * (n as f64 * p * (1.0 - p)).sqrt()).ceil() as usize
}

/// A share of draws.
fn share(of: usize, draws: usize, digits: usize) -> String {
    format!("{:.digits$} %", 100.0 * of as f64 / draws as f64)
}

#[test]
fn errors_are_no_more_than_alpha_and_as_the_docs_say() {
    let mut table = format!(
        "Of {} draws a metric (processes of {} turns, where the metric needs them {}; 5 and 10 of them; each of the data, apart and in pairs):\n\n\
         | metric | no effect: p ≤ 0.01 | no effect: regression | effect of exactly 2 %: regression | the 99 % interval misses |\n\
         |---|--:|--:|--:|--:|\n",
        4 * WORLDS.len() * DRAWS[1],
        turns(Metric::Median),
        turns(Metric::P99),
    );
    for metric in METRICS {
        let of = |effect: f64| -> Tally {
            let all =
                WORLDS.iter().flat_map(|w| [5, 10].map(|n| (w, n))).flat_map(|w| [(w, false), (w, true)]);
            let many = DRAWS[1];
            all.map(|((world, processes), paired)| {
                world.tally(&Draws { metric, processes, turns: turns(metric), paired, effect, many })
            })
            .sum()
        };
        let (same, bound) = (of(0.0), of(0.02));
        // (the effect is one of times: of frames a second it is a little less)
        let (n, said) = (same.draws, format!("{metric:?}: {same:?}, at the bound {bound:?}"));
        assert!(same.significant <= at_most(n, 0.01), "{said}");
        assert!(same.missed <= at_most(n, 0.01), "{said}");
        assert!(same.regressions <= at_most(n, 0.001), "{said}");
        assert!(bound.regressions <= at_most(n, 0.005), "{said}");
        let missed = share(same.missed + bound.missed, 2 * n, 1);
        let cells = [same.significant, same.regressions, bound.regressions].map(|of| share(of, n, 1));
        table += &format!("| `{}` | {} | {missed} |\n", metric.name(), cells.join(" | "));
    }
    docs(MARKS[1], &table);
}

#[test]
fn effects_are_found_as_often_as_the_docs_say() {
    let many = DRAWS[0];
    let mut table = format!(
        "Of {many} draws with {} turns a process:\n\n\
         | data | compared | processes a side | no effect: \"no change\" | 3 % found | 5 % found | 10 % found |\n\
         |---|---|--:|--:|--:|--:|--:|\n",
        turns(Metric::Median)
    );
    let mut rows = vec![];
    for (world, paired) in WORLDS.iter().flat_map(|w| [(w, false), (w, true)]) {
        for processes in [5, 10, 20] {
            let metric = Metric::Median;
            let row = [0.0, 0.03, 0.05, 0.1].map(|effect| {
                let draws = Draws { metric, processes, turns: turns(metric), paired, effect, many };
                let t = world.tally(&draws);
                if effect == 0.0 { t.no_change } else { t.regressions }
            });
            let how = if paired { "pairs" } else { "apart" };
            let cells = row.map(|of| share(of, many, 0)).join(" | ");
            table += &format!("| {} | {how} | {processes} | {cells} |\n", world.name);
            rows.push((world.name, paired, processes, row.map(|of| of as f64 / many as f64)));
        }
    }
    let of = |name: &str, paired: bool, processes: usize| {
        rows.iter().find(|r| (r.0, r.1, r.2) == (name, paired, processes)).expect("it ran").3
    };
    // A quiet device: 3 % is found, and A against A is no change, with ten processes.
    assert!(of("quiet", false, 10)[0] >= 0.99 && of("quiet", false, 10)[1] >= 0.95, "{rows:?}");
    // A busy machine needs a greater effect.
    assert!(of("busy", false, 20)[3] >= 0.9 && of("busy", false, 5)[1] <= 0.2, "{rows:?}");
    // Where processes of one number share their moment, pairs see what two runs cannot, five of them already.
    assert!(of("drifting", true, 5)[2] >= 0.95 && of("drifting", true, 10)[1] >= 0.7, "{rows:?}");
    assert!(of("drifting", false, 20)[0] == 0.0 && of("drifting", false, 20)[1] <= 0.05, "{rows:?}");
    // More processes find more.
    for world in WORLDS {
        for paired in [false, true] {
            let more = |e: usize| of(world.name, paired, 20)[e] >= of(world.name, paired, 5)[e] - 0.05;
            assert!((1..4).all(more), "{rows:?}");
        }
    }
    docs(MARKS[0], &table);
}

/// Of processes of two kinds three a side look like a change too often; four do not.
#[test]
fn few_processes_of_two_kinds_decide_nothing() {
    let coin = World { second: (0.5, 0.2), ..WORLDS[4] };
    let of = |processes| Draws {
        metric: Metric::Median,
        processes,
        turns: 20,
        paired: false,
        effect: 0.0,
        many: 1500,
    };
    let (three, four) = (coin.tally(&of(3)), coin.tally(&of(4)));
    // All of one kind here and of the other there: 1 of 32 comparisons, then 1 of 128.
    assert!((30..=66).contains(&three.significant), "{three:?}");
    assert_eq!(three.regressions, 0, "{three:?}");
    assert!(four.significant <= at_most(1500, 0.01) && four.regressions <= at_most(1500, 0.005), "{four:?}");
}

/// Frames of one process taken for independent would find differences where there are none: this is why processes are compared.
#[test]
fn frames_taken_for_independent_would_deceive() {
    let (world, mut random, mut found) = (WORLDS[1], Rand64::new(1), 0);
    let draws =
        Draws { metric: Metric::Median, processes: 5, turns: 50, paired: false, effect: 0.0, many: 1 };
    for _ in 0..200 {
        let [a, b] = world.sides(&mut random, &draws).map(|side| side.concat().concat());
        found += usize::from(Ranked::new(&a, &b).p() <= 0.01);
    }
    assert!(found > 40, "{found}");
}
