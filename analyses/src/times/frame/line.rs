//! A frame's own times as a timeline: passes and draws end to end, in the order of submission.
//!
//! Guarantees: a span is as long as the own times of what it stands for. Refuses nothing; what was not timed has no length.

use super::names::{Frame, pass};
use crate::report::shapes::{Span, SpanKind, Timeline};
use crate::report::{Column, Unit};

/// The lanes.
const LANES: [&str; 2] = ["passes", "draws"];

/// The timeline; none where nothing was timed.
pub fn timeline(of: &Frame<'_>) -> Option<Timeline> {
    if of.own.iter().flatten().sum::<u64>() == 0 {
        return None;
    }
    let (mut kinds, mut spans): (Vec<SpanKind>, Vec<Span>) = (vec![], vec![]);
    // (a draw is named by its number, and a pass is open once: no kind comes twice)
    let mut kind = |name: String, group: String| {
        kinds.push(SpanKind { name, group });
        kinds.len() as u32 - 1
    };
    let (mut now, mut open): (u64, Option<(u64, usize)>) = (0, None);
    for (n, action) in of.actions.iter().enumerate() {
        let own = of.own.get(n).copied().flatten().unwrap_or(0);
        let (begin, end) = (now as f64 / 1e6, (now + own) as f64 / 1e6);
        match open {
            Some((pass, at)) if pass == action.pass => {
                spans[at].end = end;
                spans[at].value = end - spans[at].begin;
            }
            _ => {
                open = Some((action.pass, spans.len()));
                let kind = kind(pass(action), "passes".to_owned());
                spans.push(Span { lane: 0, kind, begin, end, value: end - begin });
            }
        }
        let draw = trace::names::draw(None, None, n as u64 + 1, &action.kind);
        let name = format!("{draw}, {}", action.pipeline_words());
        let kind = kind(name, action.pipeline_words());
        spans.push(Span { lane: 1, kind, begin, end, value: end - begin });
        now += own;
    }
    spans.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    Some(Timeline {
        name: "own_times".to_owned(),
        title: format!("Own times of frame {}, end to end", of.number),
        time: Column::new("own times before", Unit::Milliseconds),
        value: Column::new("own time", Unit::Milliseconds),
        frame: Some(of.number),
        lanes: LANES.map(str::to_owned).to_vec(),
        kinds,
        spans,
    })
}
