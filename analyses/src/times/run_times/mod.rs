//! What a run of `bench` measured, capture by capture: frame times by plan and by process, and what parts of frames
//! took. Numbers to look at; a verdict on them is `compare`'s.
//!
//! *Input.* A run ([`trace::run`]): turns that time frames alone, and turns with timestamps around each part.
//!
//! *Definitions.* Frames of turns that warm up, and frames that load, are in no number. Percentiles are those of `stats`;
//! mean and greatest are exact. A part's times are of turns of their own, and its sum is over all
//! processes of a plan.
//!
//! *Unit.* Milliseconds.
//!
//! *Caveats.* Frames of one process are not independent of each other; how far processes of one plan lie apart says how much
//! that matters.

mod columns;

use crate::report::shapes::{Distribution, Group};
use crate::report::{Cell, Cost, Mark, Report, Series, Table, medians};
use crate::stats::Sample;
pub(crate) use columns::SHEETS;
use std::collections::BTreeMap;
use trace::Nanos;
use trace::names;
use trace::run::{FrameSample, Run};

/// Parts that are listed of a plan: those that took the most.
const PARTS: usize = 20;

/// A report a capture, in the run's order; those of which nothing was timed have none.
pub fn reports(run: &Run) -> Vec<Report> {
    (0..run.note.captures.len()).filter_map(|capture| report(run, capture)).collect()
}

fn report(run: &Run, capture: usize) -> Option<Report> {
    let name = &run.note.captures[capture].name;
    let plans: Vec<(usize, Vec<&FrameSample>)> = (0..run.note.plans.len())
        .map(|plan| {
            let of = |f: &&FrameSample| {
                let w = &run.note.workers[f.worker];
                f.timed && !f.load && (w.capture, w.plan) == (capture, plan)
            };
            (plan, run.frames.iter().filter(of).collect())
        })
        .filter(|(_, frames): &(usize, Vec<_>)| !frames.is_empty())
        .collect();
    if plans.is_empty() {
        return None;
    }
    let frame = run.note.frame.map_or(String::new(), |f| format!(", frame {f}"));
    let mut report = Report::new("run-times", &format!("Times of {name}{frame}"));
    let of = |(plan, frames): &(usize, Vec<&FrameSample>)| {
        Some((run.note.plans[*plan].name.as_str(), gpu(frames).median()? / 1e6))
    };
    let known: Vec<(&str, f64)> = plans.iter().filter_map(of).collect();
    report.headlines.extend(medians(&known));
    report.tables = vec![by_plan(run, &plans), by_process(run, &plans), parts(run, capture)];
    report.tables.retain(|t| !t.rows.is_empty());
    let mut groups = vec![];
    for (plan, frames) in &plans {
        let name = &run.note.plans[*plan].name;
        if let Some(series) = course(name, frames) {
            groups.push(Group { name: name.clone(), course: series.name.clone(), histogram: String::new() });
            report.series.push(series);
        }
    }
    if !groups.is_empty() {
        let title = "GPU times of frames".into();
        report.distributions = vec![Distribution { name: "plans".into(), title, groups }];
    }
    report.notes = run.note.notes.clone();
    report.cost = Cost::Unknown {
        why: "a pair of timestamps stands around each submission, in all plans alike; parts are timed in turns of their own"
            .into(),
    };
    Some(report)
}

fn gpu(frames: &[&FrameSample]) -> Sample {
    Sample::new(frames.iter().filter_map(|f| f.gpu).map(|n| n.0).collect())
}

fn ms(nanos: Option<f64>) -> Cell {
    nanos.map_or(Cell::Missing, |n| Cell::Number(n / 1e6))
}

/// Mean, median, p90, p99, greatest.
fn times(sample: &Sample) -> [Cell; 5] {
    let at = |p: f64| ms(sample.percentile(p));
    [ms(sample.mean()), at(50.0), at(90.0), at(99.0), at(100.0)]
}

fn by_plan(run: &Run, plans: &[(usize, Vec<&FrameSample>)]) -> Table {
    let row = |(plan, frames): &(usize, Vec<&FrameSample>)| {
        let mut workers: Vec<usize> = frames.iter().map(|f| f.worker).collect();
        workers.sort_unstable();
        workers.dedup();
        let cpu = Sample::new(frames.iter().map(|f| f.cpu.0).collect());
        let mut row: Vec<Cell> = vec![run.note.plans[*plan].name.as_str().into()];
        row.extend([Cell::Count(workers.len() as u64), Cell::Count(frames.len() as u64)]);
        row.extend(times(&gpu(frames)));
        row.push(ms(cpu.median()));
        row
    };
    columns::PLANS.table(plans.iter().map(row))
}

fn by_process(run: &Run, plans: &[(usize, Vec<&FrameSample>)]) -> Table {
    let mut rows = vec![];
    for (plan, frames) in plans {
        let mut workers: BTreeMap<usize, Vec<&FrameSample>> = BTreeMap::new();
        frames.iter().for_each(|f| workers.entry(f.worker).or_default().push(f));
        for (worker, frames) in workers {
            let w = &run.note.workers[worker];
            let mut row: Vec<Cell> =
                vec![run.note.plans[*plan].name.as_str().into(), Cell::Count(w.process.into())];
            row.extend(["name", "driver"].map(|key| Cell::from(w.of_device(key))));
            row.extend([Cell::Count(w.warmup.into()), if w.settled { "yes" } else { "no" }.into()]);
            row.push(Cell::Count(frames.len() as u64));
            row.extend(times(&gpu(&frames)));
            rows.push(row);
        }
    }
    columns::PROCESSES.table(rows)
}

/// The parts of frames that took the most, by plan. What others are within is left to them.
fn parts(run: &Run, capture: usize) -> Table {
    let mut sums: BTreeMap<(usize, usize), Vec<u64>> = BTreeMap::new();
    for s in &run.spans {
        let (w, p) = (&run.note.workers[s.worker], &run.places[s.place]);
        if w.capture == capture && matches!(p.level.as_str(), "command" | "run") {
            sums.entry((w.plan, s.place)).or_default().push(s.time.0);
        }
    }
    let mut rows = vec![];
    for plan in 0..run.note.plans.len() {
        let mut of: Vec<(usize, Sample, u64)> = sums
            .range((plan, 0)..(plan + 1, 0))
            .map(|(k, times)| {
                (k.1, Sample::new(times.clone()), times.iter().map(|t| Nanos(*t)).sum::<Nanos>().0)
            })
            .collect();
        of.sort_by_key(|p| (std::cmp::Reverse(p.2), p.0));
        for (place, sample, _) in of.into_iter().take(PARTS) {
            let p = &run.places[place];
            let pipeline = names::recorded_pipeline(&p.pipeline);
            let pipeline = names::with_shaders(&pipeline, &names::recorded_shaders(&p.shaders));
            let mut row: Vec<Cell> = vec![run.note.plans[plan].name.as_str().into()];
            row.extend([&p.name, &p.within, &pipeline].map(|t| Cell::from(t.as_str())));
            row.extend([p.frame, sample.count() as u64].map(Cell::Count));
            let [mean, median, ..] = times(&sample);
            row.extend([mean, median]);
            rows.push(row);
        }
    }
    columns::PARTS.table(rows)
}

/// Every frame with a GPU time, in the order in which they ran.
fn course(plan: &str, frames: &[&FrameSample]) -> Option<Series> {
    let mut points: Vec<(u64, f64)> =
        frames.iter().filter_map(|f| Some((f.position, f.gpu?.as_millis()))).collect();
    points.sort_by_key(|p| p.0);
    (!points.is_empty()).then(|| Series {
        name: format!("times_{plan}"),
        ..columns::TIMES.series(
            plan,
            Mark::Line,
            points.into_iter().map(|(x, y)| (Cell::Count(x), Cell::Number(y))),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Nanos;
    use trace::dir::Capture;
    use trace::plan::Plan;
    use trace::run::{Place, RunNote, SpanSample, Worker};

    fn run() -> Run {
        let plan = |name: &str| Plan::named(name);
        let worker = |plan, process| Worker { plan, process, ..Worker::default() };
        let note = RunNote {
            captures: vec![Capture { name: "a.gfxr".into(), ..Capture::default() }, Capture::default()],
            plans: vec![plan("plain"), plan("new")],
            workers: vec![worker(0, 0), worker(0, 1), worker(1, 0)],
            ..RunNote::default()
        };
        let frame = |worker, position, ms: u64, timed, load| FrameSample {
            worker,
            position,
            turn: position,
            timed,
            frame: 1,
            load,
            gpu: Some(Nanos(ms * 1_000_000)),
            cpu: Nanos(ms * 2_000_000),
        };
        let frames = vec![
            frame(0, 0, 99, false, false),
            frame(0, 1, 10, true, false),
            frame(0, 2, 50, true, true),
            frame(1, 3, 20, true, false),
            frame(2, 4, 40, true, false),
        ];
        let place =
            |level: &str, name: &str| Place { level: level.into(), name: name.into(), ..Place::default() };
        let places = vec![
            place("submit", "submission"),
            place("command", "vkCmdDraw"),
            place("command", "vkCmdDispatch"),
        ];
        let span =
            |worker, place, ms: u64| SpanSample { worker, turn: 0, place, time: Nanos(ms * 1_000_000) };
        let spans = vec![span(0, 0, 30), span(0, 1, 3), span(1, 1, 5), span(0, 2, 20), span(2, 1, 7)];
        Run { note, frames, places, spans, calls: vec![] }
    }

    #[test]
    fn plans_processes_and_parts_by_hand() {
        let all = reports(&run());
        assert_eq!(all.len(), 1, "of the second capture nothing was timed");
        let r = &all[0];
        assert_eq!(r.headlines, ["Medians against plain with 15.000 ms: new 40.000 ms (+166.67 %)."]);
        let table = |name: &str| &r.tables.iter().find(|t| t.name == name).expect("it is there").rows;
        // Of plan `plain`: 10 and 20 ms; what warms up or loads is not in it.
        let plain = &table("plans")[0];
        assert_eq!(
            plain[..5],
            ["plain".into(), Cell::Count(2), Cell::Count(2), Cell::Number(15.0), Cell::Number(15.0)]
        );
        assert_eq!((&plain[7], &plain[8]), (&Cell::Number(20.0), &Cell::Number(30.0)));
        assert_eq!(table("processes").len(), 3);
        let parts: Vec<_> =
            table("parts").iter().map(|r| (r[0].clone(), r[1].clone(), r[6].clone())).collect();
        let expected =
            [("plain", "vkCmdDispatch", 20.0), ("plain", "vkCmdDraw", 4.0), ("new", "vkCmdDraw", 7.0)];
        assert_eq!(parts, expected.map(|(a, b, c)| (a.into(), b.into(), Cell::Number(c))));
        let groups: Vec<_> =
            r.distributions[0].courses(&r.series).map(|(g, s)| (&*g.name, s.points.len())).collect();
        assert_eq!(groups, [("plain", 2), ("new", 1)]);
    }
}
