//! Spans as rows for CSV, and as slices for a timeline.

use super::{object, places};
use crate::report::perfetto::{Slice, Timeline};
use crate::report::{Cell, Column, Table, Unit};
use trace::{CommandTime, FrameTime, TimeNames};

/// Every span, one a row.
pub fn rows(names: &TimeNames, records: &[CommandTime]) -> Table {
    let text = |s: String| Cell::Text(s);
    let rows = records.iter().zip(places(records)).map(|(r, p)| {
        let path = names.path(r.node);
        let (own, around) = path.split_last().unwrap_or((&"", &[]));
        vec![
            Cell::Count(r.frame),
            Cell::Count(r.submit),
            Cell::Count(r.queue),
            Cell::Count(r.command_buffer),
            text(object(names, r.command_buffer)),
            Cell::Count(r.position.into()),
            Cell::Count(r.index.into()),
            text(r.kind.name().to_owned()),
            text((*own).to_owned()),
            text(around.join(" › ")),
            text(object(names, r.pipeline)),
            Cell::Count(r.isolated.into()),
            Cell::Count(r.begin.0),
            Cell::Count(r.end.0),
            Cell::Count(p.time().0),
        ]
    });
    let columns = [
        ("frame", Unit::Count),
        ("submit", Unit::Count),
        ("queue", Unit::Count),
        ("command_buffer", Unit::Count),
        ("command_buffer_name", Unit::Text),
        ("position", Unit::Count),
        ("index", Unit::Count),
        ("kind", Unit::Text),
        ("name", Unit::Text),
        ("within", Unit::Text),
        ("pipeline", Unit::Text),
        ("isolated", Unit::Count),
        ("begin_ns", Unit::Count),
        ("end_ns", Unit::Count),
        ("time_ns", Unit::Count),
    ];
    Table {
        name: "spans".to_owned(),
        columns: columns.map(|(name, unit)| Column::new(name, unit)).into(),
        rows: rows.collect(),
    }
}

/// The spans as a timeline: a process a device, a thread a queue; and the replay's frames on the CPU, end to end, on a
/// clock of their own.
pub fn perfetto(names: &TimeNames, records: &[CommandTime], frames: &[FrameTime], device: &str) -> Timeline {
    let mut timeline = Timeline::default();
    for (r, p) in records.iter().zip(places(records)) {
        let process = timeline.process(r.device, &format!("{device} (VkDevice {})", r.device));
        let queue = object(names, r.queue);
        timeline.thread(process, r.queue, &format!("VkQueue {queue}"));
        let path = names.path(r.node);
        let mut args = vec![
            ("frame", Cell::Count(r.frame)),
            ("submit", Cell::Count(r.submit)),
            ("command_buffer", Cell::Text(object(names, r.command_buffer))),
            ("index", Cell::Count(r.index.into())),
            ("measured_begin_ns", Cell::Count(r.begin.0)),
            ("measured_end_ns", Cell::Count(r.end.0)),
        ];
        if r.pipeline != 0 {
            args.push(("pipeline", Cell::Text(object(names, r.pipeline))));
        }
        timeline.slices.push(Slice {
            process,
            thread: r.queue,
            name: path.last().copied().unwrap_or_default().to_owned(),
            category: r.kind.name(),
            begin: p.begin,
            time: p.time(),
            args,
        });
    }
    let process =
        timeline.process(0, "replay on the CPU (a clock of its own; waits between frames left out)");
    timeline.thread(process, 1, "frames");
    let mut begin = trace::Nanos(0);
    for f in frames {
        timeline.slices.push(Slice {
            process,
            thread: 1,
            name: format!("frame {}", f.frame),
            category: "frame",
            begin,
            time: f.cpu,
            args: vec![("gpu_ns", f.gpu.map_or(Cell::Missing, |n| Cell::Count(n.0)))],
        });
        begin = begin + f.cpu;
    }
    timeline
}
