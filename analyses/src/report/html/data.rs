//! What the page is given: reports as a header of names and numbers behind it.
//!
//! Guarantees: every shape of a report that holds something is there, in the report's order.

use super::pack::Pack;
use crate::explain::meanings;
use crate::report::plot::{self, Figure, TITLE};
use crate::report::shapes::{Listing, Timeline, Tree};
use crate::report::sheet::Thing;
use crate::report::{Cell, Column, Cost, Image, Picture, Report, Table, Unit};
use serde_json::{Value, json};

/// Where reports are from: a trace, a run, a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it is, in a word.
    pub kind: String,
    /// What is known of it: the capture, the device, what was measured.
    pub facts: Vec<(String, String)>,
    /// What a reader has to know.
    pub notes: Vec<String>,
    /// The frame that reports are of which do not say one.
    pub frame: Option<u64>,
    /// What it answers; with each, what the question was.
    pub reports: Vec<(Report, String)>,
}

/// Everything, packed.
pub fn pack(title: &str, inputs: &[Input]) -> Result<String, String> {
    let mut pack = Pack::default();
    let mut reports = vec![];
    for (n, input) in inputs.iter().enumerate() {
        for (r, about) in &input.reports {
            reports.push(report(&mut pack, n, r, about));
        }
    }
    let header = json!({
        "version": 1,
        "program": concat!("reray-replay ", env!("CARGO_PKG_VERSION")),
        "title": title,
        "inputs": inputs.iter().map(input).collect::<Vec<_>>(),
        "reports": reports,
    });
    pack.finish(&header)
}

fn input(i: &Input) -> Value {
    json!({ "name": i.name, "kind": i.kind, "facts": i.facts, "notes": i.notes, "frame": i.frame })
}

fn report(p: &mut Pack, input: usize, r: &Report, about: &str) -> Value {
    let cost = match &r.cost {
        Cost::Measured { of, without, with } => {
            json!({ "of": of, "without": without.as_millis(), "with": with.as_millis() })
        }
        Cost::Nothing { why } => json!({ "none": why }),
        Cost::Unknown { why } => json!({ "unknown": why }),
    };
    let tables: Vec<Value> =
        r.tables.iter().filter(|t| !t.rows.is_empty()).map(|t| table(p, t, &r.analysis)).collect();
    json!({
        "input": input,
        "analysis": r.analysis,
        "about": about,
        "title": r.title,
        "headlines": r.headlines,
        "notes": r.notes,
        "failures": r.failures,
        "cost": cost,
        "tables": tables,
        "figures": plot::of_series(r).iter().map(|(name, f)| figure(name, f)).collect::<Vec<_>>(),
        "images": r.images.iter().map(|i| image(p, i)).collect::<Vec<_>>(),
        "pictures": r.pictures.iter().map(|i| picture(p, i)).collect::<Vec<_>>(),
        "trees": r.trees.iter().map(|t| tree(p, t)).collect::<Vec<_>>(),
        "timelines": r.timelines.iter().map(|t| timeline(p, t)).collect::<Vec<_>>(),
        "listings": r.listings.iter().map(|l| listing(p, l)).collect::<Vec<_>>(),
    })
}

/// How a column's numbers are shown.
fn column(c: &Column) -> Value {
    let unit = if c.unit == Unit::Text { "text" } else { c.unit.symbol() };
    json!({ "name": c.name, "unit": unit, "digits": c.unit.decimals() })
}

/// Cells of one column: numbers, words, or (where it has both) values as they are.
fn cells<'a>(p: &mut Pack, cells: impl Iterator<Item = &'a Cell> + Clone) -> Value {
    let has = |f: fn(&Cell) -> bool| cells.clone().any(f);
    let words = has(|c| matches!(c, Cell::Text(_)));
    let numbers = has(|c| matches!(c, Cell::Count(_) | Cell::Number(_)));
    match (words, numbers) {
        (true, true) => json!({ "t": "mixed", "values": cells.collect::<Vec<_>>() }),
        (true, false) => p.words(cells.map(|c| match c {
            Cell::Text(t) => Some(t.as_str()),
            _ => None,
        })),
        _ => p.numbers(&cells.map(|c| c.number().unwrap_or(f64::NAN)).collect::<Vec<_>>()),
    }
}

fn table(p: &mut Pack, t: &Table, analysis: &str) -> Value {
    let meanings = meanings(analysis, t);
    let columns = t.columns.iter().enumerate().map(|(n, c)| {
        let mut of = column(c);
        if let Some(m) = meanings.as_ref().and_then(|all| all.get(n)) {
            of["about"] = m.about.into();
            of["thing"] = m.thing.map(Thing::name).into();
        }
        of["cells"] = cells(p, t.rows.iter().map(|row| &row[n]));
        of
    });
    let columns: Vec<Value> = columns.collect();
    json!({ "name": t.name, "rows": t.rows.len(), "columns": columns })
}

/// A figure is painted by the browser; its title stands above it there.
fn figure(name: &str, f: &Figure) -> Value {
    json!({ "name": name, "title": f.title, "note": f.note, "size": f.size, "top": TITLE, "elements": f.elements() })
}

fn image(p: &mut Pack, i: &Image) -> Value {
    let pixels: Vec<f64> = i.pixels.iter().map(|&v| f64::from(v)).collect();
    json!({
        "name": i.name, "title": i.title, "value": column(&i.value), "width": i.width, "height": i.height,
        "pixels": p.numbers(&pixels),
    })
}

fn picture(p: &mut Pack, i: &Picture) -> Value {
    json!({ "title": i.title, "about": i.about, "pass": i.pass, "png": p.file(&i.png) })
}

fn tree(p: &mut Pack, t: &Tree) -> Value {
    let columns = t.columns.iter().enumerate().map(|(n, c)| {
        let mut of = column(c);
        of["cells"] = cells(p, t.nodes.iter().map(|node| node.values.get(n).unwrap_or(&Cell::Missing)));
        of
    });
    let columns: Vec<Value> = columns.collect();
    let depths: Vec<u64> = t.nodes.iter().map(|n| n.depth.into()).collect();
    json!({
        "name": t.name, "title": t.title, "columns": columns, "depths": p.whole(&depths),
        "names": p.words(t.nodes.iter().map(|n| Some(n.name.as_str()))),
    })
}

fn timeline(p: &mut Pack, t: &Timeline) -> Value {
    let numbers = |p: &mut Pack, of: fn(&crate::report::shapes::Span) -> f64| {
        p.numbers(&t.spans.iter().map(of).collect::<Vec<_>>())
    };
    json!({
        "name": t.name, "title": t.title, "time": column(&t.time), "value": column(&t.value), "frame": t.frame,
        "lanes": p.words(t.lanes.iter().map(|l| Some(l.as_str()))),
        "kinds": t.kinds.iter().map(|k| json!([k.name, k.group])).collect::<Vec<_>>(),
        "lane": numbers(p, |s| s.lane.into()),
        "kind": numbers(p, |s| s.kind.into()),
        "begin": numbers(p, |s| s.begin),
        "length": numbers(p, |s| s.end - s.begin),
        "values": numbers(p, |s| s.value),
    })
}

fn listing(p: &mut Pack, l: &Listing) -> Value {
    // Sets of values, each with the line that it stands beside.
    let sets: Vec<(u64, &Vec<Cell>)> =
        (0..).zip(&l.lines).flat_map(|(n, line)| line.values.iter().map(move |set| (n, set))).collect();
    let columns = l.columns.iter().enumerate().map(|(n, c)| {
        let mut of = column(c);
        of["cells"] = cells(p, sets.iter().map(|(_, set)| set.get(n).unwrap_or(&Cell::Missing)));
        of
    });
    let columns: Vec<Value> = columns.collect();
    let lines: Vec<u64> = sets.iter().map(|s| s.0).collect();
    json!({
        "name": l.name, "title": l.title, "columns": columns, "lines": p.whole(&lines),
        "text": l.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"),
    })
}
