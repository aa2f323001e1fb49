//! Spans as rows for CSV, and as slices for a timeline.

use super::axis::Axis;
use super::nest::places;
use super::sums::{named, object, pipeline};
use crate::report::perfetto::{Slice, Timeline};
use crate::report::{Cell, Column, Table, Unit};
use trace::{COUNTERS, Calibration, CommandCounters, CommandTime, CpuSpan, SpanKind, TimeNames};

/// Stages and hashes, as `vert:0123456789abcdef frag:…`.
fn shaders(names: &TimeNames, id: u64) -> String {
    let stages = names.shaders.get(&id).into_iter().flatten();
    stages.map(|(stage, hash)| format!("{stage}:{hash}")).collect::<Vec<_>>().join(" ")
}

/// Every span, one a row; counters are each span's own, without what lies within it.
pub fn rows(names: &TimeNames, records: &[CommandTime], counters: &[CommandCounters]) -> Table {
    let text = |s: String| Cell::Text(s);
    let has = |c: usize| counters.iter().any(|r| r.counts[c].is_some());
    let counted: Vec<usize> = (0..COUNTERS.len()).filter(|c| has(*c)).collect();
    let mut own = counters.iter().peekable();
    let rows = records.iter().zip(places(records)).enumerate().map(|(at, (r, p))| {
        let counts = own.next_if(|c| c.span == at as u64).map(|c| c.counts).unwrap_or_default();
        let path = names.path(r.node);
        let (own, around) = path.split_last().unwrap_or((&"", &[]));
        let mut row = vec![
            Cell::Count(r.frame),
            Cell::Count(r.repeat.into()),
            Cell::Count(r.submit),
            Cell::Count(r.queue),
            Cell::Count(r.command_buffer),
            text(object(names, r.command_buffer)),
            Cell::Count(r.position.into()),
            Cell::Count(r.execution.into()),
            Cell::Count(r.index.into()),
            Cell::Count(r.pass.into()),
            Cell::Count(r.draw.into()),
            text(r.kind.name().to_owned()),
            text((*own).to_owned()),
            text(around.join(" › ")),
            text(object(names, r.pipeline)),
            text(shaders(names, r.pipeline)),
            Cell::Count(r.isolated.into()),
            Cell::Count(r.begin.0),
            Cell::Count(r.end.0),
            Cell::Count(p.time().0),
        ];
        row.extend(counted.iter().map(|c| counts[*c].map_or(Cell::Missing, Cell::Count)));
        row
    });
    let columns = [
        ("frame", Unit::Count),
        ("repeat", Unit::Count),
        ("submit", Unit::Count),
        ("queue", Unit::Count),
        ("command_buffer", Unit::Count),
        ("command_buffer_name", Unit::Text),
        ("position", Unit::Count),
        ("execution", Unit::Count),
        ("index", Unit::Count),
        ("pass", Unit::Count),
        ("draw", Unit::Count),
        ("kind", Unit::Text),
        ("name", Unit::Text),
        ("within", Unit::Text),
        ("pipeline", Unit::Text),
        ("shaders", Unit::Text),
        ("isolated", Unit::Count),
        ("begin_ns", Unit::Count),
        ("end_ns", Unit::Count),
        ("time_ns", Unit::Count),
    ];
    let mut columns: Vec<Column> = columns.map(|(name, unit)| Column::new(name, unit)).into();
    columns.extend(counted.iter().map(|c| Column::new(COUNTERS[*c], Unit::Count)));
    Table { name: "spans".to_owned(), rows: rows.collect(), columns }
}

/// What a timeline is made of.
pub struct Recorded<'r> {
    /// What the others refer to.
    pub names: &'r TimeNames,
    /// The device's side.
    pub records: &'r [CommandTime],
    /// What was counted there.
    pub counters: &'r [CommandCounters],
    /// The CPU's side.
    pub cpu: &'r [CpuSpan],
    /// How the two clocks belong together.
    pub calibrations: &'r [Calibration],
    /// The device's name.
    pub device: &'r str,
}

/// The spans as a timeline: a process a device, a thread a queue; and the replay on the CPU, its frames with what they
/// submitted and waited for. Where the clocks are known together all is on the CPU's axis; else each is on its own.
pub fn perfetto(of: &Recorded<'_>) -> Timeline {
    let Recorded { names, records, counters, cpu, calibrations, device } = *of;
    let mut timeline = Timeline::default();
    let process = timeline.process(0, "CPU (replay)");
    timeline.thread(process, 1, "frames, submissions, waits");
    for c in cpu {
        let mut args = vec![("frame", Cell::Count(c.frame)), ("repeat", Cell::Count(c.repeat.into()))];
        args.extend(c.submit.map(|n| ("submit", Cell::Count(n))));
        let frame = c.name == "frame";
        timeline.slices.push(Slice {
            process,
            thread: 1,
            name: if frame { format!("frame {}", c.frame) } else { c.name.clone() },
            category: if frame { "frame" } else { "cpu" },
            begin: c.begin,
            time: trace::Nanos(c.end.0.saturating_sub(c.begin.0)),
            args,
        });
    }
    let mut axes: Vec<(u64, Axis)> = Vec::new();
    let mut own = counters.iter().peekable();
    for (at, (r, p)) in records.iter().zip(places(records)).enumerate() {
        let known = axes.iter().position(|a| a.0 == r.device).unwrap_or_else(|| {
            axes.push((r.device, Axis::new(calibrations, r.device)));
            axes.len() - 1
        });
        let axis = &axes[known].1;
        let clock = if axis.is_unknown() { ", a clock of its own" } else { "" };
        let process = timeline.process(r.device, &format!("{device} (VkDevice {}{clock})", r.device));
        timeline.thread(process, r.queue, &named(names, "queue", r.queue));
        let path = names.path(r.node);
        let mut name = path.last().copied().unwrap_or_default().to_owned();
        if r.kind == SpanKind::Submit {
            name = format!("submission {} (frame {})", r.submit, r.frame);
        } else if r.kind == SpanKind::Command && r.draw > 0 {
            name = trace::names::draw(None, None, r.draw.into(), &name);
        }
        let mut args = vec![
            ("frame", Cell::Count(r.frame)),
            ("repeat", Cell::Count(r.repeat.into())),
            ("submit", Cell::Count(r.submit)),
            ("measured_begin_ns", Cell::Count(r.begin.0)),
            ("measured_end_ns", Cell::Count(r.end.0)),
        ];
        if r.command_buffer != 0 {
            args.push(("command_buffer", Cell::Text(named(names, "command buffer", r.command_buffer))));
            args.push(("position", Cell::Count(r.position.into())));
            args.push(("execution", Cell::Count(r.execution.into())));
            args.push(("index", Cell::Count(r.index.into())));
            let numbers = [("pass", r.pass), ("draw", r.draw)];
            args.extend(
                numbers.into_iter().filter(|n| n.1 > 0).map(|(name, n)| (name, Cell::Count(n.into()))),
            );
        }
        if r.pipeline != 0 {
            args.push(("pipeline", Cell::Text(pipeline(names, r.pipeline))));
            args.push(("shaders", Cell::Text(shaders(names, r.pipeline))));
        }
        if let Some(c) = own.next_if(|c| c.span == at as u64) {
            let counted = COUNTERS.iter().zip(c.counts);
            args.extend(counted.filter_map(|(name, n)| n.map(|n| (*name, Cell::Count(n)))));
        }
        let (begin, end) = (axis.cpu(p.begin), axis.cpu(p.end));
        timeline.slices.push(Slice {
            process,
            thread: r.queue,
            name,
            category: r.kind.name(),
            begin,
            time: trace::Nanos(end.0.saturating_sub(begin.0)),
            args,
        });
    }
    timeline
}
