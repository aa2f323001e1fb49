//! The timeline of subgroups: how long they took, how many were in flight, what ran beside what, when nothing ran (Warp
//! Trace).
//!
//! *Definition.* A span is a subgroup in an entry point, from its entry to the last of its exits, in ticks of the clock that
//! the shader read. *In flight* at a time are the spans that have begun and not ended. Over a frame (from the first begin to
//! the last end): *occupancy* = Σ ticks of spans / length; *busy* = ticks with at least one in flight; a *gap* is a time in
//! which none is; two pipelines *overlap* in the ticks in which both have some in flight. *Fullness* of a span = invocations
//! that entered / N, and *SIMT efficiency*, where pass `simt` ran too, that of the entry point's blocks: divergence
//! within its spans. *Pieces* = exits / spans: more than 1 where subgroups leave in parts.
//!
//! Shaders that others call (closest hit, any hit, miss, intersection, callable) lie within their callers' spans: they have
//! durations, but are not in flight a second time. Percentiles are those of `stats`.
//!
//! *Caveats.* A tick is what the device makes it: Vulkan does not say how long it is, and nothing here guesses; ns stand
//! nowhere. The device's clock may advance in steps of many ticks: spans shorter than a step have no length, and gaps
//! shorter than one are not seen. Clocks of subgroups (`clock=subgroup`) order nothing: then there are durations only.
//! Draws are not told apart within a pipeline. Multiprocessors are known where the device says them; else all
//! is on *unit 0*, and its lanes are no places on the device. Probes slow what they measure: each span's record takes time
//! before and after it, in which the device has less in flight than it would.

mod chart;
mod columns;
mod lanes;
mod spans;
mod trace_events;

use crate::context::Context;
use crate::report::plot;
use crate::report::sheet::Sheet;
use crate::report::{Cell, File, Mark, Report, Series, Table, most, share};
use crate::stats::Sample;
use crate::{Question, Session};
use spans::{Load, Span, Spans, Sweep, unit_words};
use std::collections::BTreeMap;
use trace::tables::{NOWHERE, SIMT, TIMELINE, TIMELINE_EXITS};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "timeline",
    about: "when subgroups ran: durations, how many were in flight, overlap of pipelines, times when nothing ran",
    wants: &[&TIMELINE, &TIMELINE_EXITS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// Frames that are drawn: the first.
const PICTURES: usize = 8;
/// Points of a curve over a frame.
const POINTS: usize = 240;
/// Gaps that are listed of each frame: the longest.
const GAPS: usize = 10;

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let spans = Spans::read(trace, context)?;
    let efficiency = efficiency(trace, context)?;
    let mut report = Report::new(QUESTION.name, "Timeline of subgroups");
    durations(&mut report, context, &spans.whole, &efficiency);
    report.tables.push(exits(trace, context)?);
    report.series.extend(histograms(context, &spans.whole));
    if spans.own_clocks {
        report.notes.push(
            "Each subgroup read its own clock (shaderSubgroupClock), as the device has no other, or as clock=subgroup \
             was asked for: nothing is said of when one ran beside another."
                .into(),
        );
    } else {
        over_time(&mut report, context, &spans);
    }
    notes(&mut report, &spans);
    Ok(report)
}

fn notes(report: &mut Report, spans: &Spans) {
    if spans.whole.is_empty() {
        report.notes.push("No subgroup was seen from its entry to an exit.".into());
        return;
    }
    report.notes.push(format!(
        "Times are ticks of the {} clock, read by shaders. Vulkan does not say how long a tick is; none was \
             measured here.",
        if spans.own_clocks { "subgroup's" } else { "device's" }
    ));
    if spans.whole.iter().all(|s| s.sm == NOWHERE) {
        report.notes.push(
            "The device does not say where subgroups ran (it has no VK_NV_shader_sm_builtins), or sm=no was asked for: \
             unit 0 stands for all of it."
                .into(),
        );
    }
    if !spans.endless.is_empty() {
        report.notes.push(format!(
            "{} subgroups have an entry and no exit after it: they are in no number. Their exits did not fit the log, \
             all their invocations became helpers at once, or the shader never ended.",
            spans.endless.len()
        ));
    }
}

/// What is in flight when: tables, curves, pictures and the file for Perfetto.
fn over_time(report: &mut Report, context: &Context, spans: &Spans) {
    let frames: Vec<(&[Span], Sweep)> =
        spans.frames().filter_map(|s| Some((s, Sweep::new(s, context)?))).collect();
    let sweeps: Vec<&Sweep> = frames.iter().map(|f| &f.1).collect();
    report.headlines.splice(0..0, idle(context, &sweeps));
    report.tables.insert(0, whole(&sweeps));
    report.tables.push(units(&sweeps));
    report.tables.push(pipelines(context, &sweeps));
    report.tables.push(overlap(context, &sweeps));
    report.tables.push(gaps(context, &sweeps));
    for (spans, sweep) in frames.iter().take(PICTURES) {
        report.series.push(Series {
            name: format!("in_flight_frame_{}", sweep.frame),
            ..columns::IN_FLIGHT.series(
                &format!("Subgroups in flight, frame {}", sweep.frame),
                Mark::Line,
                sweep.parts(POINTS).into_iter().map(|(x, y)| (x.into(), y.into())),
            )
        });
        let timeline = chart::chart(context, spans, sweep);
        match plot::timeline(&timeline).map(|figure| figure.png()).transpose() {
            Ok(content) => report.files.extend(content.map(|content| File {
                name: format!("timeline_frame_{}.png", sweep.frame),
                about: format!("the subgroups of frame {} as a picture", sweep.frame),
                content,
            })),
            Err(e) => report.notes.push(format!("Frame {} was not drawn: {e}.", sweep.frame)),
        }
        report.timelines.push(timeline);
    }
    if frames.len() > PICTURES {
        report.notes.push(format!("Of {} frames the first {PICTURES} are drawn.", frames.len()));
    }
    if !spans.whole.is_empty() {
        let (content, left_out) = trace_events::render(context, &spans.whole);
        report.files.push(File {
            name: "timeline.perfetto.json".into(),
            about: "all frames, for ui.perfetto.dev or chrome://tracing; a nanosecond there is a tick".into(),
            content: content.into_bytes(),
        });
        if left_out > 0 {
            report
                .notes
                .push(format!("timeline.perfetto.json holds the first spans; {left_out} are left out."));
        }
    }
}

fn mean(sum: u64, of: u64) -> Cell {
    if of == 0 { Cell::Missing } else { Cell::Number(sum as f64 / of as f64) }
}

/// Σ of some spans.
#[derive(Default)]
struct Some {
    ticks: Vec<u64>,
    entered: u64,
    slots: u64,
    exits: u64,
    /// Of pass simt: active and all slots.
    simt: (u64, u64),
}

impl Some {
    fn sum(&self) -> u64 {
        added(self.ticks.iter().copied())
    }
}

/// Which entry point subgroups spend most time in.
fn longest(context: &Context, entries: &BTreeMap<u64, Some>) -> Option<String> {
    let all = added(entries.values().map(Some::sum));
    let (entry, of) = most(entries, |e| e.1.sum())?;
    let (whose, sum) = (context.whose_words(*entry), of.sum());
    Some(format!("{} of subgroups' time is in {whose}: {sum} of {all} ticks.", share(sum, all)))
}

/// How long nothing ran, and where longest.
fn idle(context: &Context, sweeps: &[&Sweep]) -> Option<String> {
    let (all, busy) = (length(sweeps), added(sweeps.iter().map(|s| s.all.busy)));
    if all == 0 {
        return None;
    }
    let gaps = sweeps.iter().flat_map(|s| s.gaps.iter().map(|g| (s.frame, g)));
    let Some((frame, gap)) = most(gaps, |g| g.1.end - g.1.begin) else {
        return Some("Something ran all the time.".into());
    };
    let [after, before] = [gap.after, gap.before].map(|entry| context.entry_words(entry));
    Some(format!(
        "Nothing ran for {} of the time from the first subgroup to the last; the longest, {} ticks, in frame {frame} between {after} and \
         {before}.",
        share(all.saturating_sub(busy), all),
        gap.end - gap.begin
    ))
}

fn durations(report: &mut Report, context: &Context, spans: &[Span], simt: &BTreeMap<u64, (u64, u64)>) {
    let mut stages: BTreeMap<&str, Some> = BTreeMap::new();
    let mut entries: BTreeMap<u64, Some> = BTreeMap::new();
    for s in spans {
        let stage = context.entry(s.entry).map_or("?", |e| &*e.stage);
        for of in [stages.entry(stage).or_default(), entries.entry(s.entry).or_default()] {
            of.ticks.push(s.ticks());
            of.entered += s.active;
            of.slots += context.subgroup_size(s.frame).unwrap_or(0);
            of.exits += s.exits;
        }
    }
    for (&entry, of) in &mut entries {
        of.simt = simt.get(&entry).copied().unwrap_or_default();
        let stage = stages.get_mut(context.entry(entry).map_or("?", |e| &*e.stage));
        stage.into_iter().for_each(|s| s.simt = (s.simt.0 + of.simt.0, s.simt.1 + of.simt.1));
    }
    let table = |sheet: Sheet, rows: Vec<(Vec<Cell>, Some)>| {
        let cells = |(mut cells, s): (Vec<Cell>, Some)| {
            let (n, sum) = (s.ticks.len() as u64, s.sum());
            let ticks = Sample::new(s.ticks);
            cells.extend([Cell::Count(n), mean(sum, n)]);
            for p in [0.0, 50.0, 90.0, 99.0, 100.0] {
                cells.push(ticks.percentile(p).map_or(Cell::Missing, Cell::whole));
            }
            cells.extend([Cell::Count(sum), Cell::share(s.entered, s.slots), mean(s.exits, n)]);
            cells.push(Cell::share(s.simt.0, s.simt.1));
            cells
        };
        sheet.table(rows.into_iter().map(cells))
    };
    report.headlines.extend(longest(context, &entries));
    let stages = stages.into_iter().map(|(k, s)| (vec![Cell::from(k)], s)).collect();
    report.tables.push(table(columns::STAGES, stages));
    let entries = entries.into_iter().map(|(k, s)| (context.entry_cells(k), s)).collect();
    report.tables.push(table(columns::SHADERS, entries));
}

/// Active and all slots of each entry point's blocks, where pass `simt` ran.
fn efficiency(trace: &dyn Source, context: &Context) -> Result<BTreeMap<u64, (u64, u64)>, Unreadable> {
    let mut of: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let t = trace.read(&SIMT)?;
    for row in 0..t.len() {
        let n = context.subgroup_size(t.u64("frame")[row]).unwrap_or(0);
        let into = of.entry(t.u64("entry")[row]).or_default();
        into.0 += t.u64("invocations")[row];
        into.1 += t.u64("executions")[row] * n;
    }
    Ok(of)
}

/// Where subgroups left.
fn exits(trace: &dyn Source, context: &Context) -> Result<Table, Unreadable> {
    // Entry point, function, block, word offset, how; exits and invocations.
    type Place = (u64, u64, u64, u64, String);
    let mut places: BTreeMap<Place, (u64, u64)> = BTreeMap::new();
    let t = trace.read(&TIMELINE_EXITS)?;
    for row in 0..t.len() {
        let of = |column| t.u64(column)[row];
        let how = t.text("how")[row].to_string();
        let key = (of("entry"), of("function"), of("block"), of("word_offset"), how);
        let into = places.entry(key).or_default();
        into.0 += 1;
        into.1 += of("active");
    }
    let row = |((entry, function, block, _, how), (exits, left)): (_, (u64, u64))| {
        let mut cells = context.block_cells(entry, function, block);
        cells.extend([Cell::Text(how), exits.into(), left.into()]);
        cells
    };
    Ok(columns::EXITS.table(places.into_iter().map(row)))
}

/// How many spans of each stage took how long: buckets of powers of two, in four parts each.
fn histograms(context: &Context, spans: &[Span]) -> Vec<Series> {
    let mut stages: BTreeMap<&str, BTreeMap<u64, u64>> = BTreeMap::new();
    for s in spans {
        let stage = context.entry(s.entry).map_or("?", |e| &*e.stage);
        let t = s.ticks();
        let step = (t.max(1).ilog2() as u64).saturating_sub(2);
        *stages.entry(stage).or_default().entry(t >> step << step).or_default() += 1;
    }
    let series = |(stage, buckets): (&str, BTreeMap<u64, u64>)| Series {
        name: format!("durations_{}", stage.replace('-', "_")),
        ..columns::DURATIONS.series(
            &format!("Durations of {stage} subgroups"),
            Mark::Bars,
            buckets.into_iter().map(|(t, n)| (t.into(), n.into())),
        )
    };
    stages.into_iter().map(series).collect()
}

fn whole(sweeps: &[&Sweep]) -> Table {
    let row = |s: &&Sweep| {
        vec![
            s.frame.into(),
            s.all.spans.into(),
            s.length().into(),
            mean(s.all.ticks, s.length()),
            s.all.most.into(),
            Cell::share(s.all.busy, s.length()),
            (s.gaps.len() as u64).into(),
            s.gaps.iter().map(|g| g.end - g.begin).max().unwrap_or(0).into(),
        ]
    };
    columns::FRAMES.table(sweeps.iter().map(row))
}

/// Loads of all frames, by key.
fn sums<'s>(sweeps: &[&'s Sweep], of: impl Fn(&'s Sweep) -> &'s BTreeMap<u64, Load>) -> BTreeMap<u64, Load> {
    let mut all: BTreeMap<u64, Load> = BTreeMap::new();
    for (&key, load) in sweeps.iter().flat_map(|&s| of(s)) {
        let into = all.entry(key).or_default();
        into.spans += load.spans;
        into.busy = into.busy.saturating_add(load.busy);
        into.ticks = into.ticks.saturating_add(load.ticks);
        into.most = into.most.max(load.most);
    }
    all
}

fn loads(sheet: Sheet, rows: Vec<(Vec<Cell>, Load)>, length: u64) -> Table {
    let cells = |(mut cells, l): (Vec<Cell>, Load)| {
        let rest = [Cell::share(l.busy, length), mean(l.ticks, length), l.most.into()];
        cells.extend([l.spans.into(), l.busy.into()].into_iter().chain(rest));
        cells
    };
    sheet.table(rows.into_iter().map(cells))
}

fn length(sweeps: &[&Sweep]) -> u64 {
    added(sweeps.iter().map(|s| s.length()))
}

/// Ticks added up: clocks may have any distance, and the largest number is as good as what is beyond it.
fn added(ticks: impl Iterator<Item = u64>) -> u64 {
    ticks.fold(0, u64::saturating_add)
}

fn units(sweeps: &[&Sweep]) -> Table {
    let rows = sums(sweeps, |s| &s.units).into_iter().map(|(k, l)| (vec![unit_words(k).into()], l));
    loads(columns::UNITS, rows.collect(), length(sweeps))
}

fn pipelines(context: &Context, sweeps: &[&Sweep]) -> Table {
    let rows = sums(sweeps, |s| &s.pipelines).into_iter();
    let rows = rows.map(|(k, l)| (vec![context.pipeline_words(k).into()], l)).collect();
    loads(columns::PIPELINES, rows, length(sweeps))
}

/// What ran beside what.
fn overlap(context: &Context, sweeps: &[&Sweep]) -> Table {
    let busy = sums(sweeps, |s| &s.pipelines);
    let mut pairs: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for (&pair, ticks) in sweeps.iter().flat_map(|s| &s.beside) {
        let sum: &mut u64 = pairs.entry(pair).or_default();
        *sum = sum.saturating_add(*ticks);
    }
    let row = |((a, b), both): ((u64, u64), u64)| {
        let shorter = [a, b].iter().filter_map(|p| busy.get(p)).map(|l| l.busy).min().unwrap_or(0);
        let words = [a, b].map(|p| Cell::Text(context.pipeline_words(p)));
        words.into_iter().chain([both.into(), Cell::share(both, shorter)]).collect()
    };
    columns::OVERLAP.table(pairs.into_iter().map(row))
}

fn gaps(context: &Context, sweeps: &[&Sweep]) -> Table {
    let mut rows = vec![];
    for s in sweeps {
        let mut longest: Vec<_> = s.gaps.iter().collect();
        longest.sort_by_key(|g| (std::cmp::Reverse(g.end - g.begin), g.begin));
        rows.extend(longest.into_iter().take(GAPS).map(|g| {
            vec![
                s.frame.into(),
                (g.begin - s.begin).into(),
                (g.end - g.begin).into(),
                context.entry_words(g.after).into(),
                context.entry_words(g.before).into(),
            ]
        }));
    }
    columns::GAPS.table(rows)
}

#[cfg(test)]
mod tests;
