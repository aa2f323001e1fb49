//! Events of rays for reading: invocation by invocation, indented as they nest; or a line of CSV or JSON each.
//!
//! Text puts the events of an invocation together. Devices mix them, and a trace may be larger than memory, so that is done for
//! so many chosen events at a time ([`GATHERED`]): an invocation whose events lie farther apart comes again, marked "goes on".
//! CSV and JSON keep the table's order, and say beside its columns the event's name and how many rays it lies in.
//!
//! Guarantees: memory is bounded by [`GATHERED`] and the launches' sizes; what is not chosen is unpacked only as far as it takes
//! to see that. Refuses what the tables do not say soundly: launches that `ray_launches` does not have, kinds that are not known.

mod chosen;
#[cfg(test)]
mod tests;
mod text;
mod warps;

pub use chosen::{Chosen, Invocations, Ranges, Take};

use crate::rays::events::kind;
use crate::report::records;
use chosen::{Dump, Key};
use std::collections::HashMap;
use trace::tables::{RAYS, RayEvent, WARPS};
use trace::{Columns, Source, Table, Unreadable, Value};

/// Events that are put together by invocation at a time.
pub const GATHERED: usize = 1 << 16;

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Indented, for reading.
    Text,
    /// A JSON object a line.
    Json,
    /// Comma-separated, with a line of names.
    Csv,
}

/// Events of rays.
pub fn rays(trace: &dyn Source, chosen: &Chosen, form: Form, take: &mut Take<'_>) -> Result<(), Unreadable> {
    let mut dump = Dump::new(trace, chosen)?;
    let names: Vec<&str> = RAYS.columns.iter().map(|c| c.name).collect();
    let (few, all) = (trace.parts(&RAYS, &["frame", "launch", "invocation"])?, trace.parts(&RAYS, &names)?);
    let (mut some, mut rows) = (Columns::new(&RAYS), Columns::new(&RAYS));
    // (open rays of invocations, and what the text puts together)
    let mut depths: HashMap<(Key, u64), u32> = HashMap::new();
    let mut text = text::Gathered::default();
    if form == Form::Csv && !take(&csv_head(&RAYS, true)) {
        return Ok(());
    }
    for part in 0..all.len() {
        few.read(part, &mut some)?;
        let mut wanted = vec![];
        let [frames, numbers, invocations] = ["frame", "launch", "invocation"].map(|c| some.u64(c));
        for row in 0..some.len() {
            let key = (frames[row], numbers[row]);
            if dump.wants_launch(key) && dump.wants_invocation(key, invocations[row])? {
                wanted.push(row);
            }
        }
        if wanted.is_empty() {
            continue;
        }
        all.read(part, &mut rows)?;
        for row in wanted {
            let kind = kind(&RAYS, rows.u64("kind")[row])?;
            let key = (rows.u64("frame")[row], rows.u64("launch")[row]);
            let invocation = rows.u64("invocation")[row];
            let open = depths.entry((key, invocation)).or_default();
            if kind == RayEvent::End {
                *open = open.saturating_sub(1);
            }
            let depth = *open;
            *open += u32::from(kind.begins());
            if *open == 0 {
                depths.remove(&(key, invocation));
            }
            if !dump.wants_kind(kind) {
                continue;
            }
            if dump.left == 0 {
                break;
            }
            dump.left -= 1;
            match form {
                Form::Text => {
                    text.add(key, invocation, text::Event::of(&rows, row, kind, depth));
                    if text.len() == GATHERED && !text.write(&dump, take)? {
                        return Ok(());
                    }
                }
                _ if !take(&line(&rows, row, form, kind, Some(depth))) => return Ok(()),
                _ => {}
            }
        }
        if dump.left == 0 {
            break;
        }
    }
    text.write(&dump, take).map(|_| ())
}

/// Events of subgroups, in the table's order.
pub fn warps(trace: &dyn Source, chosen: &Chosen, form: Form, take: &mut Take<'_>) -> Result<(), Unreadable> {
    let mut dump = Dump::new(trace, chosen)?;
    let names: Vec<&str> = WARPS.columns.iter().map(|c| c.name).collect();
    let all = trace.parts(&WARPS, &names)?;
    let mut rows = Columns::new(&WARPS);
    let mut last = None;
    if form == Form::Csv && !take(&csv_head(&WARPS, false)) {
        return Ok(());
    }
    for part in 0..all.len() {
        all.read(part, &mut rows)?;
        for row in 0..rows.len() {
            let key = (rows.u64("frame")[row], rows.u64("launch")[row]);
            let kind = kind(&WARPS, rows.u64("kind")[row])?;
            if !dump.wants_launch(key) || !dump.wants_kind(kind) {
                continue;
            }
            if dump.left == 0 {
                return Ok(());
            }
            dump.left -= 1;
            let mut out = String::new();
            match form {
                Form::Text => {
                    if last != Some(key) {
                        out.push_str(&text::head(&dump, &WARPS, key)?);
                        last = Some(key);
                    }
                    out.push_str(&warps::line(&dump.context, &rows, row, kind));
                }
                _ => out = line(&rows, row, form, kind, None),
            }
            if !take(&out) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The line of names.
fn csv_head(table: &Table, depth: bool) -> String {
    format!("{},event{}\n", records::csv_header(table).trim_end(), if depth { ",depth" } else { "" })
}

/// One row with all of its columns.
fn line(rows: &Columns, row: usize, form: Form, kind: RayEvent, depth: Option<u32>) -> String {
    let mut one = Columns::new(rows.table());
    let of = |c: &trace::Column| match c.kind {
        trace::Kind::U64 => Value::U64(rows.u64(c.name)[row]),
        trace::Kind::F64 => Value::F64(rows.f64(c.name)[row]),
        trace::Kind::Text => Value::Text(&rows.text(c.name)[row]),
    };
    one.push(&rows.table().columns.iter().map(of).collect::<Vec<_>>());
    let name = kind.name();
    match form {
        Form::Csv => {
            let depth = depth.map_or(String::new(), |d| format!(",{d}"));
            format!("{},{name}{depth}\n", records::csv(&one).trim_end_matches('\n'))
        }
        _ => {
            let depth = depth.map_or(String::new(), |d| format!(",\"depth\":{d}"));
            format!("{},\"event\":\"{name}\"{depth}}}\n", records::jsonl(&one).trim_end_matches("}\n"))
        }
    }
}
