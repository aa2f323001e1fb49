use super::lanes::Lanes;
use super::spans::{Spans, Sweep};
use super::*;
use crate::context::sample;
use serde_json::Value as Json;
use trace::{Memory, Value};

/// frame, entry, subgroup, begin, end, active, left, exits, sm, warp
const SPANS: [[u64; 10]; 6] = [
    [1, 0, 0, 100, 200, 8, 8, 1, NOWHERE, NOWHERE],
    [1, 0, 1, 150, 250, 4, 2, 2, NOWHERE, NOWHERE],
    [1, 1, 2, 180, 220, 8, 8, 1, NOWHERE, NOWHERE],
    [1, 1, 3, 300, 400, 8, 8, 1, NOWHERE, NOWHERE],
    [1, 0, 4, 310, 310, 1, 1, 1, NOWHERE, NOWHERE],
    [1, 0, 5, 320, 320, 8, 0, 0, NOWHERE, NOWHERE],
];

fn trace(spans: &[[u64; 10]], clock: &str) -> Memory {
    let mut m = sample::trace();
    for s in spans {
        let row = s.map(Value::U64).into_iter().chain([Value::Text(clock)]);
        m.put(&TIMELINE, &row.collect::<Vec<_>>());
    }
    m
}

fn cells(report: &Report, table: &str) -> Vec<Vec<String>> {
    let table = report.tables.iter().find(|t| t.name == table).unwrap_or_else(|| panic!("no table {table}"));
    let words = |c: &Cell| match c {
        Cell::Count(n) => n.to_string(),
        Cell::Number(n) => format!("{n:.2}"),
        Cell::Text(t) => t.clone(),
        Cell::Missing => "-".into(),
    };
    assert!(table.rows.iter().all(|r| r.len() == table.columns.len()), "{}", table.name);
    table.rows.iter().map(|r| r.iter().map(words).collect()).collect()
}

#[test]
fn numbers_of_known_spans() {
    let report = QUESTION.answer(&trace(&SPANS, "device")).unwrap();
    // 50 of 300 ticks; 100 + 100 + 0 of 340.
    assert_eq!(
        report.headlines,
        [
            "Nothing ran for 16.67 % of the time from the first subgroup to the last; the longest, 50 ticks, in frame 1 between fragment \
             main (sky.frag, 1f2e3d4c) and compute work (99aabbcc).",
            "58.82 % of subgroups' time is in fragment main (sky.frag, 1f2e3d4c) of pipeline 7 \"sky\": 200 of 340 ticks."
        ]
    );
    assert_eq!(cells(&report, "frames"), [["1", "5", "300", "1.13", "3", "83.33", "1", "50"]]);
    assert_eq!(
        cells(&report, "stages"),
        [
            ["compute", "2", "70.00", "40", "70", "100", "100", "100", "140", "100.00", "1.00", "-"],
            ["fragment", "3", "66.67", "0", "100", "100", "100", "100", "200", "54.17", "1.33", "-"],
        ]
    );
    assert_eq!(cells(&report, "units"), [["unit 0", "5", "250", "83.33", "1.13", "3"]]);
    assert_eq!(
        cells(&report, "pipelines"),
        [
            ["pipeline 7 \"sky\"", "3", "150", "50.00", "0.67", "2"],
            ["pipeline 8", "2", "140", "46.67", "0.47", "1"],
        ]
    );
    let overlap = cells(&report, "overlap");
    assert_eq!(overlap.len(), 1);
    assert_eq!(overlap[0][2..], ["40", "28.57"]);
    let gap = ["1", "150", "50", "fragment main (sky.frag, 1f2e3d4c)", "compute work (99aabbcc)"];
    assert_eq!(cells(&report, "gaps"), [gap]);
    assert!(
        report.notes.iter().any(|n| n.starts_with("1 subgroups have an entry and no exit")),
        "{:?}",
        report.notes
    );
    assert!(report.notes.iter().any(|n| n.contains("how long a tick is")));
    // The mean of the curve is the mean in flight.
    let curve = report.series.iter().find(|s| s.name == "in_flight_frame_1").unwrap();
    let sum: f64 = curve.points.iter().map(|p| if let Cell::Number(y) = p.1 { y } else { f64::NAN }).sum();
    assert!((sum / curve.points.len() as f64 - 340.0 / 300.0).abs() < 1e-9, "{sum}");
    let bars: u64 = (report.series.iter().filter(|s| s.mark == Mark::Bars))
        .flat_map(|s| &s.points)
        .map(|p| if let Cell::Count(n) = p.1 { n } else { 0 })
        .sum();
    assert_eq!(bars, 5);
}

#[test]
fn divergence_and_exits_stand_beside_durations() {
    let mut m = trace(&SPANS, "device");
    // frame, entry, function, block, active, executions, invocations
    m.put(&SIMT, &[1, 0, 0, 0, 8, 3, 24].map(Value::U64));
    m.put(&SIMT, &[1, 0, 1, 1, 2, 5, 10].map(Value::U64));
    for (subgroup, how) in [(0, "return"), (1, "kill"), (1, "kill")] {
        let row = [1, 0, subgroup, 200, 4, 0, 0, 120].map(Value::U64).into_iter().chain([Value::Text(how)]);
        m.put(&TIMELINE_EXITS, &row.collect::<Vec<_>>());
    }
    let report = QUESTION.answer(&m).unwrap();
    // (24 + 10) / (8 * 8)
    assert_eq!(cells(&report, "shaders")[0].last().unwrap(), "53.12");
    assert_eq!(cells(&report, "shaders")[1].last().unwrap(), "-");
    assert_eq!(cells(&report, "stages")[1].last().unwrap(), "53.12");
    let exits: Vec<Vec<String>> =
        cells(&report, "exits").into_iter().map(|r| r[r.len() - 3..].to_vec()).collect();
    assert_eq!(exits, [["kill", "2", "8"], ["return", "1", "4"]]);
}

#[test]
fn clocks_of_subgroups_order_nothing() {
    let report = QUESTION.answer(&trace(&SPANS, "subgroup")).unwrap();
    let names: Vec<&str> = report.tables.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["stages", "shaders", "exits"]);
    assert!(report.files.is_empty() && report.notes[0].starts_with("Each subgroup read its own clock"));
    let empty = QUESTION.answer(&sample::trace()).unwrap();
    assert_eq!(empty.notes, ["No subgroup was seen from its entry to an exit."]);
    assert!(empty.files.is_empty());
}

#[test]
fn a_sweep_agrees_with_counting_tick_by_tick() {
    let mut random = oorandom::Rand64::new(1);
    let mut random = move |n: u64| random.rand_range(0..n);
    for _ in 0..200 {
        let spans: Vec<[u64; 10]> = (0..1 + random(12))
            .map(|i| {
                let begin = random(60);
                [1, random(2), i, begin, begin + random(20), 8, 8, 1, random(3), 0]
            })
            .collect();
        let m = trace(&spans, "device");
        let context = Context::read(&m).unwrap();
        let read = Spans::read(&m, &context).unwrap();
        let sweep = Sweep::new(&read.whole, &context).unwrap();
        let at = |t: u64, of: &dyn Fn(&[u64; 10]) -> bool| {
            spans.iter().filter(|s| s[3] <= t && t < s[4] && of(s)).count() as u64
        };
        let ticks = sweep.begin..sweep.end;
        assert_eq!(sweep.all.busy, ticks.clone().filter(|&t| at(t, &|_| true) > 0).count() as u64);
        assert_eq!(sweep.all.ticks, ticks.clone().map(|t| at(t, &|_| true)).sum::<u64>());
        for entry in 0..2 {
            let of = |s: &[u64; 10]| s[1] == entry;
            let load = sweep.pipelines.get(&(7 + entry)).cloned().unwrap_or_default();
            assert_eq!(load.busy, ticks.clone().filter(|&t| at(t, &of) > 0).count() as u64);
        }
        let both = |t: &u64| at(*t, &|s| s[1] == 0) > 0 && at(*t, &|s| s[1] == 1) > 0;
        let beside = sweep.beside.get(&(7, 8)).copied().unwrap_or(0);
        assert_eq!(beside, ticks.clone().filter(both).count() as u64, "{spans:?}");
        // (an instant interrupts a gap)
        let empty: u64 = sweep.gaps.iter().map(|g| g.end - g.begin).sum();
        assert_eq!(empty, sweep.length() - sweep.all.busy, "{spans:?}");
        // Lanes: as many as are in flight at most on a unit, and no two spans of one at once.
        let lanes = Lanes::new(&read.whole);
        for (i, a) in read.whole.iter().enumerate() {
            for (j, b) in read.whole.iter().enumerate().skip(i + 1) {
                let one = (a.sm, lanes.of[i]) == (b.sm, lanes.of[j]);
                assert!(!one || a.end <= b.begin || b.end <= a.begin, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn perfetto_gets_every_span_on_its_unit() {
    let mut spans = SPANS;
    spans[2][8] = 3;
    spans[2][9] = 17;
    let report = QUESTION.answer(&trace(&spans, "device")).unwrap();
    let file = report.files.iter().find(|f| f.name == "timeline.perfetto.json").unwrap();
    let json: Json = serde_json::from_slice(&file.content).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let slices: Vec<&Json> = events.iter().filter(|e| e["ph"] == "X").collect();
    assert_eq!(slices.len(), 5);
    assert_eq!((&slices[2]["ts"], &slices[2]["dur"]), (&0.08.into(), &0.04.into()));
    assert_eq!(slices[2]["args"]["warp"], 17);
    assert_eq!(slices[0]["args"]["warp"], Json::Null);
    assert_eq!(slices[0]["name"], "fragment main (sky.frag, 1f2e3d4c)");
    let processes: Vec<&str> = (events.iter().filter(|e| e["name"] == "process_name"))
        .map(|e| e["args"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(processes, ["unit 0 (the device does not say where)", "SM 3"]);
    // Two of unit 0 overlap: they are on two threads.
    assert_ne!(slices[0]["tid"], slices[1]["tid"]);
    assert_eq!(cells(&report, "units").iter().map(|r| &*r[0]).collect::<Vec<_>>(), ["SM 3", "unit 0"]);
}

#[test]
fn the_picture_shows_spans_where_and_when_they_were() {
    let report = QUESTION.answer(&trace(&SPANS, "device")).unwrap();
    let file = report.files.iter().find(|f| f.name == "timeline_frame_1.png").unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&file.content)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let width = reader.next_frame(&mut pixels).unwrap().width as usize;
    // Ticks 100 to 400 lie between 150 and 1176; the first lane begins at 66, and each is 14 high.
    let at = |t: usize, lane: usize| {
        let (x, y) = (150 + (t - 100) * 1026 / 300, 66 + 14 * lane + 6);
        <[u8; 3]>::try_from(&pixels[(y * width + x) * 3..][..3]).unwrap()
    };
    let [fragment, compute, ..] = plot::COLOURS;
    assert_eq!((at(140, 0), at(360, 0), at(210, 2)), (fragment, compute, compute));
    assert!(at(210, 1) != [255; 3] && at(210, 1) != fragment, "half full: paler");
    assert_eq!(at(275, 0), [255; 3], "nothing ran");
    let none = QUESTION.answer(&trace(&SPANS[5..], "device")).unwrap();
    assert!(none.files.is_empty());
}
