//! Events of rays for reading: invocation by invocation, indented as they nest; or a line of CSV or JSON each.
//!
//! Text puts the events of an invocation together. Devices mix them, and a trace may be larger than memory, so that is done for
//! so many chosen events at a time ([`GATHERED`]): an invocation whose events lie farther apart comes again, marked "goes on".
//! CSV and JSON keep the table's order, and say beside its columns the event's name and how many rays it lies in.
//!
//! Guarantees: memory is bounded by [`GATHERED`] and the launches' sizes; what is not chosen is unpacked only as far as it takes
//! to see that. Refuses what the tables do not say soundly: launches that `ray_launches` does not have, kinds that are not known.

#[cfg(test)]
mod tests;
mod text;
mod warps;

use crate::context::Context;
use crate::report::records;
use std::collections::{BTreeMap, HashMap};
use trace::tables::{RAY_LAUNCHES, RAYS, RayEvent, WARPS};
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

/// Which invocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invocations {
    /// By linear launch index, both ends included.
    Ranges(Vec<(u64, u64)>),
    /// By column, row and layer.
    At([u64; 3]),
}

/// Ranges of numbers, both ends included; none: all.
pub type Ranges = Option<Vec<(u64, u64)>>;

/// What is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Of these frames.
    pub frames: Ranges,
    /// Of these launches of a frame.
    pub launches: Ranges,
    /// Of these invocations; subgroups' events are not asked.
    pub invocations: Option<Invocations>,
    /// Of these kinds; none: all.
    pub kinds: Vec<RayEvent>,
    /// At most so many.
    pub limit: Option<u64>,
}

fn within(ranges: &Ranges, n: u64) -> bool {
    ranges.as_ref().is_none_or(|all| all.iter().any(|(a, b)| (*a..=*b).contains(&n)))
}

/// Frame and launch.
type Key = (u64, u64);

/// A launch as the text names it.
struct Launch {
    size: [u64; 3],
    pipeline: u64,
}

fn launches(trace: &dyn Source) -> Result<BTreeMap<Key, Launch>, Unreadable> {
    let t = trace.read(&RAY_LAUNCHES)?;
    let of = |row: usize| {
        let of = |name: &str| t.u64(name)[row];
        (
            (of("frame"), of("launch")),
            Launch { size: ["width", "height", "depth"].map(of), pipeline: of("pipeline") },
        )
    };
    Ok((0..t.len()).map(of).collect())
}

/// Who takes what is written; `false` ends it.
pub type Take<'a> = dyn FnMut(&str) -> bool + 'a;

struct Dump<'a> {
    context: Context,
    launches: BTreeMap<Key, Launch>,
    chosen: &'a Chosen,
    left: u64,
}

impl<'a> Dump<'a> {
    fn new(trace: &dyn Source, chosen: &'a Chosen) -> Result<Self, Unreadable> {
        let (context, launches) = (Context::read(trace)?, launches(trace)?);
        Ok(Dump { context, launches, chosen, left: chosen.limit.unwrap_or(u64::MAX) })
    }

    fn launch(&self, table: &Table, key: Key) -> Result<&Launch, Unreadable> {
        self.launches.get(&key).ok_or_else(|| {
            Unreadable(format!(
                "table {}: frame {}, launch {} is not in ray_launches; record the trace again",
                table.name, key.0, key.1
            ))
        })
    }

    fn wants_launch(&self, key: Key) -> bool {
        within(&self.chosen.frames, key.0) && within(&self.chosen.launches, key.1)
    }

    fn wants_kind(&self, kind: RayEvent) -> bool {
        self.chosen.kinds.is_empty() || self.chosen.kinds.contains(&kind)
    }

    fn wants_invocation(&self, key: Key, invocation: u64) -> Result<bool, Unreadable> {
        Ok(match &self.chosen.invocations {
            None => true,
            Some(Invocations::Ranges(all)) => all.iter().any(|(a, b)| (*a..=*b).contains(&invocation)),
            Some(Invocations::At([x, y, z])) => {
                let [w, h, d] = self.launch(&RAYS, key)?.size;
                *x < w && *y < h && *z < d && invocation == x + w * (y + h * z)
            }
        })
    }
}

fn kind(table: &Table, number: u64) -> Result<RayEvent, Unreadable> {
    crate::events::kind(table, number)
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
