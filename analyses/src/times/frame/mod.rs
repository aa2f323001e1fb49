//! One frame, draw by draw: what each pass, pipeline, and draw, dispatch and trace takes by itself, in the order of submission.
//!
//! *Input.* [`Action`] records, as a walk over the capture gives them, and the own time of each, where the frame was timed command by
//! command. *Definitions.* Draws, dispatches and traces are counted in the frame, from 1, and passes, too; those outside of passes are of
//! pass 0. The own time is the time between the end of the command before and the end of this one (see `times::command_times`). A share is of the
//! sum of all own times: what copies, clears and barriers take is not in it.
//!
//! *Caveats.* Commands run side by side on a GPU: an own time says how much longer the queue was busy. What leaving a draw out would gain,
//! `what-if` asks. On a tiled device, and on the processor, a render pass is drawn at its end.

pub mod bound;
mod columns;
mod line;
mod names;
pub mod state;

use crate::report::{Cell, Report, Table, capitalized, counted, most, share};
pub(crate) use columns::SHEETS;
pub use names::Frame;
use names::{draw, kinds, named, pass};
use std::collections::BTreeMap;
use trace::actions::Action;
use trace::names::recorded_shaders;

/// The name of the report.
pub const NAME: &str = "frame";

/// The report on it.
pub fn report(of: &Frame<'_>) -> Report {
    let mut report = Report::new(NAME, &format!("Frame {}, draw by draw", of.number));
    let passes = groups(of, |a| (a.pass, pass(a)));
    let pipelines = groups(of, |a| (a.pipeline, a.pipeline_words()));
    report.headlines = headlines(of, &passes, &pipelines);
    report.tables = vec![by_pass(of, &passes), by_pipeline(of, &pipelines), draws(of)];
    report.tables.retain(|t| !t.rows.is_empty());
    report.timelines.extend(line::timeline(of));
    report
}

/// Draws, dispatches and traces that have something in common, and what they take.
#[derive(Default)]
struct Group {
    /// Rows of the actions.
    actions: Vec<usize>,
    own: u64,
}

/// By number and name, in this order.
type Groups = BTreeMap<(u64, String), Group>;

fn groups(of: &Frame<'_>, key: impl Fn(&Action) -> (u64, String)) -> Groups {
    let mut all = Groups::new();
    for (n, action) in of.actions.iter().enumerate() {
        let group = all.entry(key(action)).or_default();
        group.actions.push(n);
        group.own += of.own.get(n).copied().flatten().unwrap_or(0);
    }
    all
}

fn total(of: &Frame<'_>) -> u64 {
    of.own.iter().flatten().sum()
}

fn ms(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}

fn headlines(of: &Frame<'_>, passes: &Groups, pipelines: &Groups) -> Vec<String> {
    let total = total(of);
    let work = kinds(of, 0..of.actions.len());
    let in_passes = counted(passes.keys().filter(|k| k.0 != 0).count() as u64, "render pass");
    let what = format!("Frame {} has {work} in {in_passes}", of.number);
    let dearest = most(0..of.actions.len(), |n| of.own.get(*n).copied().flatten().unwrap_or(0));
    let Some(n) = dearest.filter(|_| total > 0) else { return vec![format!("{what}; no times are known.")] };
    let own = of.own[n].unwrap_or(0);
    let mut lines = vec![format!(
        "{} takes the most time, with {}: {} of {} ({}).",
        capitalized(&draw(of, n)),
        named(of, n),
        ms(own),
        ms(total),
        share(own, total)
    )];
    let dearest = |all: &Groups| {
        let (key, group) = most(all, |g| g.1.own)?;
        let n = kinds(of, group.actions.iter().copied());
        Some([key.1.clone(), share(group.own, total), format!("({} in {n})", ms(group.own))])
    };
    if let (Some([pass, of_pass, in_pass]), Some([pipeline, of_pipeline, with])) =
        (dearest(passes), dearest(pipelines))
    {
        lines.push(format!(
            "{what}: of their time, {of_pass} goes to {pass} {in_pass}, and {of_pipeline} to {pipeline} {with}."
        ));
    }
    lines
}

fn own(of: &Frame<'_>, n: usize) -> [Cell; 2] {
    match of.own.get(n).copied().flatten() {
        Some(ns) => [Cell::Number(ns as f64 / 1e6), Cell::share(ns, total(of))],
        None => [Cell::Missing, Cell::Missing],
    }
}

/// Every draw, dispatch and trace.
fn draws(of: &Frame<'_>) -> Table {
    let row = |(n, a): (usize, &Action)| {
        let [time, share] = own(of, n);
        let shaders = of.shaders.get(n).map_or_else(String::new, |s| recorded_shaders(s).join(", "));
        vec![
            Cell::Count(n as u64 + 1),
            a.kind.clone().into(),
            time,
            share,
            Cell::Count(a.pass),
            a.pipeline_words().into(),
            shaders.into(),
            a.labels.join(" › ").into(),
            Cell::Count(a.block),
        ]
    };
    columns::DRAWS.table(of.actions.iter().enumerate().map(row))
}

/// What a group takes.
fn taken(of: &Frame<'_>, group: &Group) -> [Cell; 3] {
    let known = group.actions.iter().any(|n| of.own.get(*n).is_some_and(Option::is_some));
    let [time, share] = match known {
        true => [Cell::Number(group.own as f64 / 1e6), Cell::share(group.own, total(of))],
        false => [Cell::Missing, Cell::Missing],
    };
    [Cell::Count(group.actions.len() as u64), time, share]
}

fn by_pass(of: &Frame<'_>, passes: &Groups) -> Table {
    let row = |((number, name), group): (&(u64, String), &Group)| {
        let first = &of.actions[group.actions[0]];
        let name = if *number == 0 { name } else { trace::names::pass_name(&first.pass_name) };
        let labels = first.pass_labels.join(trace::names::WITHIN);
        [vec![Cell::Count(*number), name.into(), labels.into()], taken(of, group).to_vec()].concat()
    };
    columns::PASSES.table(passes.iter().map(row))
}

fn by_pipeline(of: &Frame<'_>, pipelines: &Groups) -> Table {
    let mut sorted: Vec<(&(u64, String), &Group)> = pipelines.iter().collect();
    sorted.sort_by_key(|p| std::cmp::Reverse(p.1.own));
    let row = |(_, group): (&(u64, String), &Group)| {
        let shaders =
            of.shaders.get(group.actions[0]).map_or_else(String::new, |s| recorded_shaders(s).join(", "));
        let name = of.actions[group.actions[0]].pipeline_words();
        [vec![name.into(), shaders.into()], taken(of, group).to_vec()].concat()
    };
    columns::PIPELINES.table(sorted.into_iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::unexplained;

    fn action(pass: u64, pipeline: u64, name: &str) -> Action {
        Action {
            pass,
            pass_name: if pass == 0 { String::new() } else { format!("target {pass}") },
            pipeline,
            pipeline_name: name.to_owned(),
            kind: if pass == 0 { "Dispatch" } else { "DrawIndexed" }.to_owned(),
            labels: vec!["world".to_owned()],
            block: 10 + pass,
            ..Action::default()
        }
    }

    #[test]
    fn the_dearest_draw_pass_and_pipeline_are_named() {
        let actions =
            [action(0, 5, ""), action(1, 7, "shadow"), action(2, 8, "lit cube"), action(2, 8, "lit cube")];
        let own = [Some(500_000), Some(1_000_000), Some(2_000_000), Some(500_000)];
        let shaders = vec!["vert:5e13c19e9c699f02 frag:07d5d1da".to_owned(); 4];
        let of = Frame { number: 20, actions: &actions, own: &own, shaders: &shaders };
        let r = report(&of);
        assert_eq!(
            r.headlines,
            [
                "Frame 20 · pass 2 (target 2) · draw 3 (DrawIndexed) takes the most time, with pipeline 8 \"lit cube\": 2.000 ms of 4.000 ms (50.00 %).",
                "Frame 20 has 3 draws and 1 dispatch in 2 render passes: of their time, 62.50 % goes to pass 2 (target 2) (2.500 ms in 2 draws), and 62.50 % to pipeline 8 \"lit cube\" (2.500 ms in 2 draws).",
            ]
        );
        assert_eq!(unexplained(&r), Vec::<String>::new());
        let names: Vec<(&str, usize)> = r.tables.iter().map(|t| (&*t.name, t.rows.len())).collect();
        assert_eq!(names, [("passes", 3), ("pipelines", 3), ("draws", 4)]);
        assert_eq!(r.tables[1].rows[0][0], Cell::Text("pipeline 8 \"lit cube\"".into()), "the dearest first");
        assert_eq!(r.tables[1].rows[0][1], Cell::Text("vert 5e13c19e, frag 07d5d1da".into()));
        assert_eq!(named(&of, 0), "pipeline 5 (vert 5e13c19e, frag 07d5d1da)");
        assert_eq!(named(&of, 1), "pipeline 7 \"shadow\"");
        // End to end: three passes, the last as long as its two draws.
        let line = &r.timelines[0];
        let of_lane = |lane| line.spans.iter().filter(move |s| s.lane == lane).map(|s| (s.begin, s.end));
        assert_eq!(of_lane(0).collect::<Vec<_>>(), [(0.0, 0.5), (0.5, 1.5), (1.5, 4.0)]);
        assert_eq!(of_lane(1).collect::<Vec<_>>(), [(0.0, 0.5), (0.5, 1.5), (1.5, 3.5), (3.5, 4.0)]);
        // The draws' times add up to those of the passes and to those of the pipelines.
        let sum = |t: &Table, column: usize| t.rows.iter().filter_map(|r| r[column].number()).sum::<f64>();
        assert_eq!([sum(&r.tables[0], 4), sum(&r.tables[1], 3), sum(&r.tables[2], 2)], [4.0; 3]);
    }

    #[test]
    fn without_times_the_frame_is_told_all_the_same() {
        let actions = [action(1, 7, "")];
        let of = Frame { number: 1, actions: &actions, own: &[None], shaders: &[] };
        let r = report(&of);
        assert_eq!(r.headlines, ["Frame 1 has 1 draw in 1 render pass; no times are known."]);
        assert_eq!(r.tables[2].rows[0][2], Cell::Missing);
        let of = Frame { number: 1, actions: &[], own: &[], shaders: &[] };
        assert_eq!(report(&of).tables.len(), 0);
    }
}
