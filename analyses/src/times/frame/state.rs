//! The state of a frame's draws: what their pipelines were made with, what was set and bound before each, and what their passes draw to.
//!
//! *Input.* Records of the capture's calls, in the registry's words. Guarantees: rows in the order in which they came. Refuses nothing: of more than
//! [`MOST_ROWS`] rows the first are given, and the number of the others is known.

use super::columns;
use super::names::Frame;
use crate::report::{Cell, MOST_ROWS, Table};
use trace::actions::Attachment;

/// A value that was set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Row of an action: it had the value, or its pipeline has it.
    pub of: usize,
    /// A member of the pipeline's create info, or a command without vkCmd.
    pub what: String,
    /// The value; of a command all that it was given.
    pub value: String,
}

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Of pipelines, each by the first action that has it.
    pub pipelines: Vec<Setting>,
    /// Of draws, dispatches and traces.
    pub draws: Vec<Setting>,
    /// Of passes.
    pub attachments: Vec<Attachment>,
    /// How many of draws were left out, as there were too many.
    pub lacking: usize,
}

/// The tables that have rows; and how many rows they lack.
pub fn tables(of: &Frame<'_>, state: &State) -> (Vec<Table>, usize) {
    let set = |s: &Setting, key: Cell| vec![key, s.what.as_str().into(), s.value.as_str().into()];
    let pipelines =
        state.pipelines.iter().take(MOST_ROWS).map(|s| set(s, of.actions[s.of].pipeline_words().into()));
    let draws = state.draws.iter().take(MOST_ROWS).map(|s| set(s, Cell::Count(s.of as u64 + 1)));
    let attachments = state.attachments.iter().take(MOST_ROWS).map(|a| {
        let image = trace::names::object("image", a.image.0, &a.image.1);
        let [width, height] = a.extent.map(|n| Cell::Count(n.into()));
        let mut row = vec![Cell::Count(a.pass), Cell::Count(a.index), a.what.into(), image.into()];
        row.extend([a.format.as_str().into(), width, height, Cell::Count(a.samples.into())]);
        row.extend(a.ops.iter().map(|op| Cell::from(op.as_str())));
        row
    });
    let mut tables = vec![
        columns::ATTACHMENTS.table(attachments),
        columns::STATE.table(pipelines),
        columns::SET.table(draws),
    ];
    tables.retain(|t| !t.rows.is_empty());
    let all = [state.pipelines.len(), state.draws.len(), state.attachments.len()];
    (tables, state.lacking + all.map(|n| n.saturating_sub(MOST_ROWS)).iter().sum::<usize>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::unexplained;
    use crate::report::Report;
    use trace::actions::Action;

    #[test]
    fn state_stands_by_draw_pipeline_and_pass() {
        let actions =
            [Action { pipeline: 7, ..Action::default() }, Action { pipeline: 7, ..Action::default() }];
        let of = Frame { number: 3, actions: &actions, own: &[None, None], shaders: &[] };
        let one = |of, what: &str, value: &str| Setting { of, what: what.into(), value: value.into() };
        let state = State {
            pipelines: vec![one(0, "pRasterizationState.cullMode", "VK_CULL_MODE_BACK_BIT")],
            draws: vec![one(1, "SetLineWidth", "lineWidth 2.0"); MOST_ROWS + 2],
            attachments: vec![Attachment {
                pass: 1,
                what: "colour",
                image: (9, "target".into()),
                format: "R8G8B8A8_UNORM".into(),
                extent: [64, 32],
                samples: 4,
                ops: ["CLEAR".into(), "STORE".into()],
                ..Attachment::default()
            }],
            lacking: 3,
        };
        let (tables, lacking) = tables(&of, &state);
        assert_eq!(lacking, 5);
        let names: Vec<(&str, usize)> = tables.iter().map(|t| (&*t.name, t.rows.len())).collect();
        assert_eq!(names, [("attachments", 1), ("state", 1), ("set", MOST_ROWS)]);
        assert_eq!(tables[0].rows[0][3], Cell::Text("image 9 \"target\"".into()));
        assert_eq!(tables[1].rows[0][0], Cell::Text("pipeline 7".into()));
        assert_eq!(tables[2].rows[0][0], Cell::Count(2));
        let mut report = Report::new(super::super::NAME, "x");
        report.tables = tables;
        assert_eq!(unexplained(&report), Vec::<String>::new());
        assert_eq!(super::tables(&of, &State::default()).0.len(), 0);
    }
}
