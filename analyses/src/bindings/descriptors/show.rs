//! The tables and files.

use super::answer::Answer;
use super::columns;
use super::evaluate::Cost;
use super::partition::{LEAST_MAX_SETS, PLANS, Plan};
use super::redundancy::{Count, Pairs};
use crate::bindings::resources::{Model, NOTHING, Pipeline};
use crate::report::{Cell, File, Report, Table, counted, most, share};
use std::collections::BTreeMap;

/// Rows of tables that may be long.
const LISTED: usize = 60;

pub(super) fn report(model: &Model, answer: &Answer) -> Report {
    let mut report = Report::new("bindings", "Descriptors: redundancy, and partitions into sets");
    let why = "the capture's calls were followed; nothing was measured while something ran";
    report.cost = crate::report::Cost::Nothing { why: why.into() };
    report.headlines = headlines(model, answer);
    report.tables.push(whole(answer));
    report.tables.push(partitions(model, answer));
    let (slots, all) = slots(model, answer);
    report.tables.push(slots);
    report.tables.push(recordings(model, answer));
    report.tables.push(mapping(model, answer));
    report.files.push(File {
        name: "redundancy-recordings.csv".into(),
        about: "the redundancy of every slot in every recording".into(),
        content: every(model, answer).into_bytes(),
    });
    for plan in PLANS {
        report.files.push(File {
            name: format!("repartition-{}.json", plan.name()),
            about: format!(
                "partition `{}`: by pipeline layout, set, binding, new set, new binding",
                plan.name()
            ),
            content: json(answer, plan).into_bytes(),
        });
    }
    notes(model, answer, all, &mut report);
    report
}

/// Which partition writes fewest descriptors, and which slot changes most.
fn headlines(model: &Model, answer: &Answer) -> Vec<String> {
    let before = answer.whole(Plan::AsIs).descriptors;
    let with = |plan: Plan| (plan, answer.whole(plan));
    let best = PLANS.into_iter().map(with).min_by_key(|(_, cost)| (cost.descriptors, cost.calls, cost.binds));
    let descriptors = counted(before, "descriptor");
    let partition = match best {
        _ if before == 0 => None,
        Some((plan, cost)) if cost.descriptors < before => Some(format!(
            "Partition `{}` would need {} instead of {descriptors} ({} fewer), and {}.",
            plan.name(),
            cost.descriptors,
            share(before - cost.descriptors, before),
            match answer.whole(Plan::AsIs).calls {
                calls if calls == cost.calls => "as many bind calls".to_owned(),
                calls => format!("{} instead of {}", cost.calls, counted(calls, "bind call")),
            }
        )),
        _ => Some(format!("No partition needs fewer than {descriptors}.")),
    };
    let counted = model.pipelines.iter().zip(&answer.redundancy.pipelines);
    let slots =
        counted.flat_map(|(p, c)| p.slots.iter().zip(&c.slots).map(move |(slot, pairs)| (p, slot, pairs)));
    let mut all = Pairs::default();
    slots.clone().for_each(|s| all.add(s.2));
    let changes = most(slots, |s| s.2.known - s.2.equal).map(|(p, slot, pairs)| {
        let same = share(all.equal, all.known);
        let (changed, of) = (pairs.known - pairs.equal, pairs.known);
        format!(
            "Slots held what they had held before in {same} of cases; {} of {} changed most: in {changed} of {of}.",
            slot.words(),
            p.words()
        )
    });
    partition.into_iter().chain(changes).collect()
}

fn percent(pairs: &Pairs) -> Cell {
    pairs.redundancy().map_or(Cell::Missing, |r| Cell::Number(100.0 * r))
}

fn less(before: u64, after: u64) -> Cell {
    let change = 100.0 * (after as f64 - before as f64) / before as f64;
    if before == 0 { Cell::Missing } else { Cell::Number(change) }
}

fn cost_cells(cost: Cost, before: Cost) -> Vec<Cell> {
    let counts = [cost.kept, cost.binds, cost.calls].map(Cell::Count);
    let mut cells =
        vec![cost.sets.into(), cost.descriptors.into(), less(before.descriptors, cost.descriptors)];
    cells.extend(counts);
    cells
}

fn whole(answer: &Answer) -> Table {
    let before = answer.whole(Plan::AsIs);
    let row = |plan: Plan| {
        let mut row: Vec<Cell> = vec![plan.name().into()];
        row.extend(cost_cells(answer.whole(plan), before));
        row
    };
    columns::WHOLE.table([Plan::AsIs].into_iter().chain(PLANS).map(row))
}

fn names(model: &Model, pipelines: &[u32]) -> String {
    let words = |p: &u32| model.pipelines[*p as usize].words();
    let some: Vec<String> = pipelines.iter().take(3).map(words).collect();
    match pipelines.len() {
        n if n > 3 => format!("{} and {} more", some.join(", "), n - 3),
        _ => some.join(", "),
    }
}

/// Classes with most descriptors first.
fn by_size(answer: &Answer) -> Vec<u32> {
    let mut order: Vec<u32> = (0..answer.classes.len() as u32).collect();
    order.retain(|c| answer.classes[*c as usize].count[0] != 0);
    order.sort_by_key(|c| std::cmp::Reverse(answer.cost(*c, Plan::AsIs).descriptors));
    order
}

fn partitions(model: &Model, answer: &Answer) -> Table {
    let mut rows = vec![];
    for n in by_size(answer).into_iter().take(LISTED) {
        let class = &answer.classes[n as usize];
        let before = answer.cost(n, Plan::AsIs);
        for plan in [Plan::AsIs].into_iter().chain(PLANS) {
            let Some((places, cost)) = answer.plans.get(&(n, plan)) else { continue };
            let in_layout = places.iter().map(|p| u64::from(p.0) + 1).max().unwrap_or(0);
            let stays: Vec<String> =
                class.fixed.iter().map(|(set, why)| format!("set {set}: {why}")).collect();
            let stays =
                if class.whole.is_empty() { stays.join(", ") } else { format!("all: {}", class.whole) };
            let mut row: Vec<Cell> = vec![names(model, &class.pipelines).into(), plan.name().into()];
            row.push(Cell::Count(in_layout));
            row.extend(cost_cells(*cost, before));
            row.push(stays.into());
            rows.push(row);
        }
    }
    columns::PARTITIONS.table(rows)
}

fn slots(model: &Model, answer: &Answer) -> (Table, usize) {
    let mut rows = vec![];
    let mut order: Vec<(usize, &Pipeline, &Count)> = model
        .pipelines
        .iter()
        .zip(&answer.redundancy.pipelines)
        .enumerate()
        .map(|(n, (p, c))| (n, p, c))
        .filter(|(_, _, c)| c.invocations != 0)
        .collect();
    order.sort_by_key(|(n, _, c)| (std::cmp::Reverse(c.invocations), *n));
    for (_, pipeline, counted) in order {
        for (slot, pairs) in pipeline.slots.iter().zip(&counted.slots) {
            rows.push(vec![
                pipeline.words().into(),
                slot.words().into(),
                (&*slot.kind).into(),
                slot.descriptors().into(),
                counted.invocations.into(),
                pairs.known.into(),
                percent(pairs),
                pairs.unknown.into(),
                if slot.used.is_empty() { "no shader".into() } else { (&*slot.used).into() },
            ]);
        }
    }
    let all = rows.len();
    rows.truncate(LISTED);
    (columns::SLOTS.table(rows), all)
}

fn recordings(model: &Model, answer: &Answer) -> Table {
    let row = |((recording, p), (frame, counted)): (&(u64, u32), &(u64, Count))| {
        let pipeline = &model.pipelines[*p as usize];
        let mut sum = Pairs::default();
        counted.slots.iter().for_each(|s| sum.add(s));
        let with = counted.slots.iter().zip(&pipeline.slots).filter(|s| s.0.redundancy().is_some());
        let least =
            with.min_by(|a, b| a.0.redundancy().partial_cmp(&b.0.redundancy()).expect("they are numbers"));
        vec![
            Cell::Count(*recording),
            Cell::Count(*frame),
            pipeline.words().into(),
            counted.invocations.into(),
            counted.runs.into(),
            counted.pairs().into(),
            percent(&sum),
            least.map_or(Cell::Missing, |l| l.1.words().into()),
            least.map_or(Cell::Missing, |l| percent(l.0)),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = answer.redundancy.recordings.iter().map(row).collect();
    rows.truncate(LISTED);
    columns::RECORDINGS.table(rows)
}

/// Where the best partition puts slots, of classes where one is better than what there is.
fn mapping(model: &Model, answer: &Answer) -> Table {
    let mut rows = vec![];
    for n in by_size(answer) {
        let (class, plan) = (&answer.classes[n as usize], answer.best(n));
        let Some((places, _)) = answer.plans.get(&(n, plan)).filter(|_| plan != Plan::AsIs) else { continue };
        for ((slot, pairs), to) in class.slots.iter().zip(&class.pairs).zip(places) {
            rows.push(vec![
                names(model, &class.pipelines).into(),
                plan.name().into(),
                slot.words().into(),
                percent(pairs),
                format!("{}.{}", to.0, to.1).into(),
            ]);
        }
    }
    rows.truncate(LISTED);
    columns::MAPPING.table(rows)
}

fn every(model: &Model, answer: &Answer) -> String {
    let mut out = "recording,frame,pipeline,draws,runs,set,binding,pairs,equal,unknown\n".to_owned();
    for ((recording, p), (frame, counted)) in &answer.redundancy.recordings {
        let pipeline = &model.pipelines[*p as usize];
        for (slot, pairs) in pipeline.slots.iter().zip(&counted.slots) {
            let numbers = [
                *recording,
                *frame,
                pipeline.id,
                counted.invocations,
                counted.runs,
                slot.set.into(),
                slot.binding.into(),
                pairs.known,
                pairs.equal,
                pairs.unknown,
            ];
            let cells: Vec<String> = numbers.iter().map(u64::to_string).collect();
            out += &cells.join(",");
            out.push('\n');
        }
    }
    out
}

/// `{"17": [[0,0,0,0],[0,1,2,0]], …}`
pub(super) fn json(answer: &Answer, plan: Plan) -> String {
    let mut all: BTreeMap<u64, Vec<[u32; 4]>> = BTreeMap::new();
    for ((n, p), (places, _)) in &answer.plans {
        let class = &answer.classes[*n as usize];
        if *p == plan {
            let to = |(slot, to): (&crate::bindings::resources::Slot, &(u32, u32))| {
                [slot.set, slot.binding, to.0, to.1]
            };
            let moves: Vec<[u32; 4]> = class.slots.iter().zip(places).map(to).collect();
            class.layouts.iter().for_each(|l| _ = all.insert(*l, moves.clone()));
        }
    }
    serde_json::to_string(&all).unwrap_or_default() + "\n"
}

fn notes(model: &Model, answer: &Answer, slots: usize, report: &mut Report) {
    let mut note = |n: String| report.notes.push(n);
    if answer.classes.iter().any(|c| c.count[0] != 0 && !c.limit.1) {
        note(format!(
            "The program did not ask for maxBoundDescriptorSets: partitions have at most {LEAST_MAX_SETS} sets, which every device has."
        ));
    }
    if answer.classes.iter().any(|c| c.pipelines.iter().any(|p| model.pipelines[*p as usize].layout == 0)) {
        note("Shader objects without a pipeline layout are in the tables and not in the files.".into());
    }
    let unknown: u64 = answer.redundancy.pipelines.iter().flat_map(|c| &c.slots).map(|s| s.unknown).sum();
    if unknown != 0 {
        note(format!(
            "Of {unknown} pairs a descriptor is not known; they count neither as equal nor as changed."
        ));
    }
    let lost = model.invocations.iter().filter(|i| i.pipeline == NOTHING).count();
    if lost != 0 {
        note(format!("{lost} draws ran with nothing known bound, and are left out."));
    }
    note(
        "Sets that pipelines of several layouts share are counted for each of these. An inline uniform block counts as one \
         descriptor."
            .into(),
    );
    let long = [
        (slots, "slots", "pipelines' slots"),
        (answer.redundancy.recordings.len(), "recordings", "pipelines in recordings"),
    ];
    for (n, table, what) in long {
        if n > LISTED {
            note(format!(
                "Table `{table}` lists {LISTED} of {n} {what}; redundancy-recordings.csv, in a folder, has all."
            ));
        }
    }
}
