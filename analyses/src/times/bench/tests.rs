use super::*;
use crate::rays::events::hash;
use crate::report::{Cost, plot, text};
use trace::Value::{Text, U64};
use trace::tables::{ENTRIES, FRAMES, PIPELINES, SIMT, SIMT_TRACES};
use trace::{Memory, Nanos};

/// Rounds of a plan whose times lie around two values.
fn plan(name: &str, low: u64, high: u64, often: u64, efficiency: Option<(f64, f64)>) -> Plan {
    let time = |round: u64| {
        let noise = |k| hash(low, round * 8 + k) % 20_000;
        let base = if hash(high, round) % 100 < often { low } else { high };
        Some(Nanos(base + noise(1) + noise(2) + noise(3)))
    };
    let (synthetic, actual) = efficiency.unzip();
    Plan { name: name.into(), times: (0..500).map(time).collect(), synthetic, actual }
}

fn plans() -> Vec<Plan> {
    let mut all = vec![
        plan(UNMODIFIED, 6_160_000, 7_300_000, 80, None),
        plan(IDENTITY, 6_166_000, 7_307_000, 80, Some((58.0, 51.0))),
        plan("random", 7_900_000, 8_600_000, 60, Some((44.0, 41.0))),
        plan("tiled-numrays", 5_980_000, 7_250_000, 93, Some((81.0, 62.0))),
    ];
    all[0].actual = Some(51.0);
    all
}

fn about() -> About {
    let notes = vec!["A note.".into()];
    About { frame: 3, notes, cost: Cost::Nothing { why: "it is a test".into() } }
}

#[test]
fn the_report_is_printed_as_it_was() {
    let text = text::render(&report(&about(), &plans()));
    crate::report::printed::hold("times/bench/printed.txt", &text);
}

#[test]
fn what_was_put_in_is_described() {
    let r = report(&about(), &plans());
    let number = |c: &Cell| match c {
        Cell::Number(n) => *n,
        c => panic!("{c:?} is no number"),
    };
    let times = &r.tables[0];
    let means: Vec<f64> = times.rows.iter().map(|row| number(&row[2])).collect();
    // (four of five rounds around the lower value, and noise of 30 µs in the mean)
    assert!((means[0] - (0.8 * 6.16 + 0.2 * 7.3 + 0.03)).abs() < 0.06, "{means:?}");
    assert!(means[2] > 1.2 * means[0] && means[3] < 0.96 * means[1], "{means:?}");
    let bands = r.tables.iter().find(|t| t.name == "bands").unwrap();
    assert_eq!(bands.rows.iter().filter(|r| r[0] == Cell::from(UNMODIFIED)).count(), 2);
    assert!((number(&bands.rows[0][5]) - 80.0).abs() < 5.0);
    let e = r.tables.iter().find(|t| t.name == "efficiency").unwrap();
    assert!((number(&e.rows[3][2]) - 100.0 * (81.0 / 58.0 - 1.0)).abs() < 1e-9);
    assert_eq!((&e.rows[0][1], &e.rows[0][3]), (&Cell::Missing, &Cell::Number(51.0)));
}

#[test]
fn rounds_without_times_are_said_and_plans_without_any_are_no_error() {
    let mut all = plans();
    all[2].times = vec![None; 500];
    all[1].times[3] = None;
    let r = report(&about(), &all);
    assert_eq!(
        r.notes[1..],
        ["identity: 499 of 500 turns have a GPU time.", "random: 0 of 500 turns have a GPU time."]
    );
    assert_eq!(r.tables[0].rows.len(), 3);
    assert!(r.distributions[0].groups.iter().all(|g| g.name != "random"));
    let nothing = report(&about(), &[]);
    assert!(nothing.tables.is_empty() && plot::figures(&nothing).is_empty());
}

#[test]
fn what_there_is_has_its_figure() {
    let names: Vec<String> = plot::figures(&report(&about(), &plans())).into_iter().map(|f| f.0).collect();
    assert_eq!(names, ["plans_violins", "plans_in_order", "plans_histogram", "simt_efficiency"]);
    let bars = &report(&about(), &plans()).trees[0].nodes;
    let words: Vec<(u32, &str)> = bars.iter().map(|n| (n.depth, &*n.name)).collect();
    let first = [(0, UNMODIFIED), (1, "actual"), (0, IDENTITY), (1, "actual"), (1, "synthetic")];
    assert_eq!((words.len(), &words[..5]), (11, &first[..]));
}

/// Subgroups of 8: a ray-generation shader that traces twice, and a miss shader; callables, other blocks and frames do not count.
#[test]
fn actual_efficiency_is_of_traces_and_of_entries() {
    let mut m = Memory::default();
    for frame in [1, 2] {
        m.put(&FRAMES, &[frame, 8, 16, 16, 0, 0].map(U64));
    }
    m.put(&PIPELINES, &[U64(7), Text("ray-tracing"), Text("")]);
    for (entry, stage) in [(0, "ray-generation"), (1, "miss"), (2, "callable")] {
        let words = ["00112233", "main", stage].map(Text);
        m.put(&ENTRIES, &[[entry, 7, entry, entry].map(U64).as_slice(), &words].concat());
    }
    // frame, entry, function, block, active, executions, invocations
    for row in [
        [2, 0, 0, 0, 8, 10, 80],
        [2, 1, 0, 0, 4, 10, 40],
        [2, 1, 0, 1, 1, 99, 99],
        [2, 2, 0, 0, 1, 7, 7],
        [1, 1, 0, 0, 1, 99, 99],
        [2, 1, 1, 0, 1, 5, 5],
    ] {
        m.put(&SIMT, &row.map(U64));
    }
    for row in [[2, 0, 0, 0, 100, 8, 10, 80], [2, 0, 0, 2, 120, 6, 10, 60]] {
        m.put(&SIMT_TRACES, &row.map(U64));
    }
    assert_eq!(actual(&m, 2).unwrap(), Some(100.0 * (40 + 80 + 60) as f64 / (30 * 8) as f64));
    assert_eq!(actual(&Memory::default(), 2).unwrap(), None);
}

#[test]
fn every_timed_turn_of_a_plan_is_there_in_order() {
    use trace::run::{RunNote, Worker};
    let workers =
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(plan, process)| Worker { plan, process, ..Worker::default() });
    let note = RunNote {
        plans: ["a", "b"].map(trace::plan::Plan::named).to_vec(),
        workers: workers.to_vec(),
        ..RunNote::default()
    };
    let frame = |(worker, position, timed, gpu): (usize, u64, bool, Option<u64>)| FrameSample {
        worker,
        position,
        turn: 0,
        timed,
        frame: 2,
        load: false,
        gpu: gpu.map(Nanos),
        cpu: Nanos(1),
    };
    let frames = [
        (0, 0, false, Some(9)),
        (0, 5, true, Some(5)),
        (2, 3, true, Some(3)),
        (1, 4, true, None),
        (3, 1, true, Some(1)),
    ];
    let run = Run { note, frames: frames.map(frame).to_vec(), ..Run::default() };
    let all = super::plans(&run, 0);
    assert_eq!((&*all[0].name, &all[0].times[..]), ("a", &[Some(Nanos(3)), Some(Nanos(5))][..]));
    assert_eq!((&*all[1].name, &all[1].times[..]), ("b", &[Some(Nanos(1)), None][..]));
    assert!(super::plans(&run, 1).iter().all(|p| p.times.is_empty()));
}
