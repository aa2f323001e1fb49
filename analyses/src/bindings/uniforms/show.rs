//! The tables.

use super::columns;
use super::members::{Measured, Members, RATES, Rate};
use super::places::Places;
use crate::bindings::resources::{Member, Model};
use crate::report::{self, Cell, Cost, Report, Table, counted};
use std::collections::BTreeMap;

/// Rows of tables that may be long.
const LISTED: usize = 60;
/// Values of a member that are listed.
const TOP: usize = 4;

pub(super) fn report(model: &Model, members: &Members, places: &Places) -> Report {
    let mut report = Report::new("uniforms", "Uniform blocks and push constants");
    let why = "the capture's calls were followed; nothing was measured while something ran";
    report.cost = Cost::Nothing { why: why.into() };
    let mut order: Vec<&Measured> = members.all.iter().filter(|m| m.executions != 0).collect();
    order.sort_by_key(|m| (std::cmp::Reverse(m.executions), m.pipeline, m.member));
    report.headlines = headlines(model, &order);
    report.tables.push(rates(&order));
    report.tables.push(all(model, members, &order));
    report.tables.push(values(model, members, &order));
    report.tables.push(zeros(model, members, &order));
    report.tables.push(replaced(model, places));
    report.tables.push(copies(model, places));
    report.tables.push(traffic(model, places));
    report.tables.push(causes(model));
    let mut note = |n: String| report.notes.push(n);
    if order.is_empty() {
        note("No draw's shaders use a uniform block or push constants, as far as was followed.".into());
    }
    if order.len() > LISTED {
        note(format!("Of {} members those with most executions are listed, {LISTED} at most.", order.len()));
    }
    let unreadable = model.pipelines.iter().filter(|p| p.unreadable).count();
    if unreadable != 0 {
        note(format!(
            "{unreadable} pipelines have a shader that could not be read: all of their blocks counts as used, and their members are not \
             known."
        ));
    }
    let (unknown, blocks) = (model.blocks.iter().filter(|b| b.unknown).count(), model.blocks.len());
    if unknown != 0 {
        note(format!(
            "Of {blocks} blocks at draws, {unknown} have bytes that are not known; table `invocation_blocks` says why."
        ));
    }
    if model.frames.len() == 1 {
        note("There is one frame: what is constant over it is called constant over the capture.".into());
    }
    report
}

/// How much of what shaders are given never changes, and how much nobody reads.
fn headlines(model: &Model, order: &[&Measured]) -> Vec<String> {
    let all: u64 = order.iter().map(|m| m.bytes).sum();
    if all == 0 {
        return vec![];
    }
    let [(constant, bytes, _), (unused, unused_bytes, _)] =
        [Rate::Capture, Rate::Unused].map(|r| sums(order, r));
    let mut said = vec![format!(
        "Of {} of uniform blocks and push constants ({all} bytes), {constant} ({} of the bytes) never {}, and {unused} ({}) no \
         shader reads.",
        counted(order.len() as u64, "member"),
        report::share(bytes, all),
        if constant == 1 { "changes" } else { "change" },
        report::share(unused_bytes, all)
    )];
    let constants = order.iter().filter(|m| shown(m) == Rate::Capture);
    if let Some(most) =
        constants.max_by_key(|m| (m.bytes * m.executions, std::cmp::Reverse((m.pipeline, m.member))))
    {
        said.push(format!(
            "Most of what never changes, by size and executions, is {} ({} bytes) of {}: a constant would do.",
            name(model, most),
            most.bytes,
            model.pipelines[most.pipeline as usize].words()
        ));
    }
    said
}

fn member<'m>(model: &'m Model, m: &Measured) -> &'m Member {
    &model.pipelines[m.pipeline as usize].members[m.member]
}

/// `camera (0.1) view`
pub(crate) fn name(model: &Model, m: &Measured) -> String {
    let pipeline = &model.pipelines[m.pipeline as usize];
    let of = member(model, m);
    if of.push {
        return format!("push {}", of.name);
    }
    let slot = pipeline.slot(of.set, of.binding).map(|s| &pipeline.slots[s]).filter(|s| !s.name.is_empty());
    match slot {
        Some(s) => format!("{} ({}.{}) {}", s.name, of.set, of.binding, of.name),
        None => format!("({}.{}) {}", of.set, of.binding, of.name),
    }
}

/// How many members are so, their bytes and executions.
fn sums(order: &[&Measured], rate: Rate) -> (u64, u64, u64) {
    let of = order.iter().filter(|m| shown(m) == rate);
    of.fold((0, 0, 0), |(n, bytes, executions), m| (n + 1, bytes + m.bytes, executions + m.executions))
}

fn rates(order: &[&Measured]) -> Table {
    let row = |rate: Rate| {
        let (members, bytes, executions) = sums(order, rate);
        vec![rate.words().into(), members.into(), bytes.into(), executions.into()]
    };
    columns::RATES.table(RATES.into_iter().filter(|_| !order.is_empty()).map(row))
}

/// As what it is listed: what no shader reads is unused, whatever it was.
fn shown(m: &Measured) -> Rate {
    if m.used { m.rate } else { Rate::Unused }
}

fn all(model: &Model, members: &Members, order: &[&Measured]) -> Table {
    let row = |m: &&Measured| {
        let of = member(model, m);
        vec![
            model.pipelines[m.pipeline as usize].words().into(),
            name(model, m).into(),
            (&*of.kind).into(),
            of.offset.into(),
            m.bytes.into(),
            if of.used.is_empty() { "no shader".into() } else { (&*of.used).into() },
            m.executions.into(),
            shown(m).words().into(),
            Cell::share(m.changes, m.pairs),
            if m.unknown == 0 { Cell::Count(m.values.len() as u64) } else { Cell::Missing },
            Cell::share(m.zeros, m.executions),
            m.unknown.into(),
            first(model, members, m),
        ]
    };
    columns::MEMBERS.table(order.iter().take(LISTED).map(row))
}

fn lanes<'m>(members: &'m Members, m: &Measured) -> &'m crate::bindings::resources::Lanes {
    let layout = members.all.iter().position(|o| (o.pipeline, o.member) == (m.pipeline, m.member));
    &members.lanes[layout.expect("it is one of them")]
}

fn first(model: &Model, members: &Members, m: &Measured) -> Cell {
    let words = m.values.first().and_then(|v| lanes(members, m).printer().words(&model.words, v.0));
    words.map_or(Cell::Missing, Cell::Text)
}

fn values(model: &Model, members: &Members, order: &[&Measured]) -> Table {
    let mut rows = vec![];
    for m in order.iter().filter(|m| m.values.len() > 1).take(LISTED / TOP) {
        for (n, (contents, times)) in m.values.iter().take(TOP).enumerate() {
            rows.push(vec![
                if n == 0 { name(model, m).into() } else { "".into() },
                lanes(members, m).printer().words(&model.words, *contents).map_or(Cell::Missing, Cell::Text),
                (*times).into(),
                Cell::share(*times, m.executions),
            ]);
        }
    }
    columns::VALUES.table(rows)
}

fn zeros(model: &Model, _: &Members, order: &[&Measured]) -> Table {
    let mut of: Vec<_> = order.iter().filter(|m| m.zeros != 0 && m.used).collect();
    of.sort_by_key(|m| std::cmp::Reverse(m.zeros * m.bytes));
    let row = |m: &&&Measured| {
        vec![
            name(model, m).into(),
            (&*member(model, m).kind).into(),
            m.zeros.into(),
            Cell::share(m.zeros, m.executions),
            model.pipelines[m.pipeline as usize].words().into(),
        ]
    };
    columns::ZEROS.table(of.iter().take(LISTED).map(row))
}

fn replaced(model: &Model, places: &Places) -> Table {
    let mut of: Vec<_> = places.replaced.iter().filter(|r| r.1.same != 0).collect();
    of.sort_by_key(|(key, r)| (std::cmp::Reverse(r.same * r.bytes), **key));
    let row = |((p, set, binding), r): &(&(u32, u32, u32), &super::places::Replaced)| {
        let pipeline = &model.pipelines[*p as usize];
        let slot = pipeline.slot(*set, *binding).map(|s| pipeline.slots[s].words());
        vec![
            pipeline.words().into(),
            slot.unwrap_or_else(|| format!("{set}.{binding}")).into(),
            r.pairs.into(),
            r.moved.into(),
            r.same.into(),
            Cell::share(r.same, r.moved),
            r.bytes.into(),
        ]
    };
    columns::REPLACED.table(of.iter().take(LISTED).map(row))
}

fn copies(model: &Model, places: &Places) -> Table {
    let row = |c: &super::places::Copies| {
        let (p, set, binding) = c.reader;
        let pipeline = model.pipelines.get(p as usize);
        let slot = pipeline.and_then(|p| p.slot(set, binding).map(|s| p.slots[s].words()));
        vec![
            slot.unwrap_or_else(|| format!("{set}.{binding}")).into(),
            pipeline.map_or(Cell::Missing, |p| p.words().into()),
            c.bytes.into(),
            c.places.into(),
            c.buffers.into(),
            c.frames.into(),
            Cell::Number((c.more * c.bytes) as f64 / model.frame_count()),
        ]
    };
    columns::COPIES.table(places.copies.iter().take(LISTED).map(row))
}

fn traffic(model: &Model, places: &Places) -> Table {
    let mut of: Vec<_> = places.traffic.iter().collect();
    of.sort_by_key(|(id, t)| (std::cmp::Reverse(t.uploaded.max(t.read)), **id));
    let row = |(id, t): &(&u64, &super::places::Traffic)| {
        let buffer = model.buffers.get(id);
        let name = buffer.map_or("", |b| &b.name);
        vec![
            trace::names::object("buffer", **id, name).into(),
            buffer.map_or(Cell::Missing, |b| Cell::Count(b.bytes)),
            buffer
                .filter(|b| !b.memory_flags.is_empty())
                .map_or(Cell::Missing, |b| (&*b.memory_flags).into()),
            t.writes.into(),
            t.uploaded.into(),
            t.same.into(),
            t.frames_written.into(),
            t.bound.into(),
            t.read.into(),
            t.frames_read.into(),
        ]
    };
    columns::BUFFERS.table(of.iter().take(LISTED).map(row))
}

/// Everything that was uploaded, by how.
fn causes(model: &Model) -> Table {
    let mut of: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for u in &model.uploads {
        let sum = of.entry(&u.cause).or_default();
        [u.writes, u.bytes, u.same_bytes].iter().zip(sum).for_each(|(n, sum)| *sum += n);
    }
    let row = |(cause, [writes, all, same]): (&str, [u64; 3])| {
        let each = Cell::Number(all as f64 / model.frame_count());
        vec![cause.into(), writes.into(), all.into(), each, same.into(), Cell::share(same, all)]
    };
    columns::UPLOADS.table(of.into_iter().map(row))
}
