//! Spans that lie within each other, made so: each within the one around it, none before the one beside it has ended.
//!
//! A span's begin says that the device had *begun* everything before it, which may still run: work overlaps. What it
//! takes of the time is what is left after the span before it: `own = end − max(begin, end of the one before)`. So the
//! times of what lies side by side never add up to more than what encloses them.

use trace::{CommandTime, Nanos, SpanKind};

/// A span's place in time, without what others had already taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Begin.
    pub begin: Nanos,
    /// End; not before the begin.
    pub end: Nanos,
    /// Nothing that was timed lies within it.
    pub leaf: bool,
}

impl Place {
    /// How long.
    pub fn time(self) -> Nanos {
        Nanos(self.end.0.saturating_sub(self.begin.0))
    }
}

/// The places of records, in their order. What a queue submits never overlaps.
pub fn places(records: &[CommandTime]) -> Vec<Place> {
    struct Open {
        at: usize,
        depth: u32,
        /// Where the last span within it ended.
        last: u64,
    }
    let mut places: Vec<Place> = Vec::with_capacity(records.len());
    let mut open: Vec<Open> = Vec::new();
    let mut ends: Vec<((u64, u64), u64)> = Vec::new();
    for (at, r) in records.iter().enumerate() {
        let place = if r.kind == SpanKind::Submit {
            open.clear();
            let queue = (r.device, r.queue);
            let begin = ends.iter().find(|e| e.0 == queue).map_or(r.begin.0, |e| r.begin.0.max(e.1));
            let end = r.end.0.max(begin);
            ends.retain(|e| e.0 != queue);
            ends.push((queue, end));
            open.push(Open { at, depth: 0, last: begin });
            (begin, end)
        } else {
            // What is around it: the last span that is less deep; a command buffer's end ends all of its own.
            while open.len() > 1 && {
                let o = &open[open.len() - 1];
                o.depth >= r.depth || records[o.at].position != r.position
            } {
                open.pop();
            }
            let Some(outer) = open.last_mut() else {
                places.push(Place { begin: r.begin, end: r.end.max(r.begin), leaf: true });
                continue;
            };
            places[outer.at].leaf = false;
            let until = places[outer.at].end.0;
            let begin = r.begin.0.max(outer.last).min(until);
            let end = r.end.0.clamp(begin, until);
            outer.last = end;
            open.push(Open { at, depth: r.depth, last: begin });
            (begin, end)
        };
        places.push(Place { begin: Nanos(place.0), end: Nanos(place.1), leaf: true });
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::tests::span;
    use super::*;

    #[test]
    fn what_overlaps_is_counted_once() {
        let records = [
            span(SpanKind::Submit, 0, 1, 0, 100),
            span(SpanKind::Pass, 1, 2, 10, 90),
            span(SpanKind::Command, 2, 3, 10, 50),
            // Began while the one before still ran.
            span(SpanKind::Command, 2, 3, 12, 60),
            // Ends after its pass has, by a tick of the clock.
            span(SpanKind::Command, 2, 3, 61, 95),
            span(SpanKind::Command, 1, 4, 80, 99),
            // The next submission began before the first had ended.
            span(SpanKind::Submit, 0, 1, 90, 130),
        ];
        let places = places(&records);
        let times: Vec<u64> = places.iter().map(|p| p.time().0).collect();
        assert_eq!(times, [100, 80, 40, 10, 29, 9, 30]);
        let leaves: Vec<bool> = places.iter().map(|p| p.leaf).collect();
        assert_eq!(leaves, [false, false, true, true, true, true, true]);
    }

    #[test]
    fn queues_are_apart_and_orphans_stay_as_they_are() {
        let mut other = span(SpanKind::Submit, 0, 1, 50, 150);
        other.queue = 8;
        let records = [span(SpanKind::Command, 1, 1, 5, 7), span(SpanKind::Submit, 0, 1, 0, 100), other];
        let times: Vec<u64> = places(&records).iter().map(|p| p.time().0).collect();
        assert_eq!(times, [2, 100, 100]);
    }
}
