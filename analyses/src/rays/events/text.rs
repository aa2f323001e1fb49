//! Events from words, for tests: an invocation a line, as in the listings of Cheung's thesis.
//!
//! `begin, int1, int2, repint, chit`. A number behind a name is the shader's; a call returns before the next begin and at the
//! line's end, unless `end` stands there; `nested` is a begin within the innermost ray.

use super::{Code, Events, Launch, NO};
use trace::tables::RayEvent;

/// Invocations, and how many there are in a subgroup: they are put into them in order.
pub fn events(lines: &str, n: u32) -> Events {
    let mut rows: Vec<Vec<Code>> = vec![];
    for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (mut row, mut open) = (vec![], 0);
        for word in line.split(", ") {
            let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
            let number = word[name.len()..].parse().unwrap_or(0);
            let (kind, place) = match name {
                "begin" | "nested" => (RayEvent::Begin, 100 + number),
                "obegin" => (RayEvent::OcclusionBegin, 200 + number),
                "int" => (RayEvent::Intersection, 0),
                "repint" => (RayEvent::ReportIntersection, 10),
                "ahit" => (RayEvent::AnyHit, 0),
                "ignore" => (RayEvent::IgnoreIntersection, 20),
                "terminate" => (RayEvent::TerminateRay, 21),
                "miss" => (RayEvent::Miss, 0),
                "chit" => (RayEvent::ClosestHit, 0),
                "call" => (RayEvent::Callable, 0),
                "end" => (RayEvent::End, 0),
                _ => panic!("{word}"),
            };
            let end = Code { kind: RayEvent::End, entry: 0, place: 0 };
            if kind.begins() && name != "nested" {
                row.extend(std::iter::repeat_n(end, open));
                open = 0;
            }
            open += usize::from(kind.begins());
            open -= usize::from(kind == RayEvent::End);
            let entry = if kind.begins() { 0 } else { number };
            row.push(Code { kind, entry, place });
        }
        row.extend(std::iter::repeat_n(Code { kind: RayEvent::End, entry: 0, place: 0 }, open));
        rows.push(row);
    }
    let mut codes: Vec<Code> = rows.iter().flatten().copied().collect();
    codes.sort();
    codes.dedup();
    let threads = rows.len() as u32;
    let mut l = Launch {
        size: [threads, 1, 1],
        n,
        starts: vec![0],
        subgroup: (0..threads).map(|t| t / n).collect(),
        lane: (0..threads).map(|t| (t % n) as u8).collect(),
        ..Launch::default()
    };
    for row in rows {
        l.code.extend(row.iter().map(|c| codes.binary_search(c).unwrap() as u16));
        l.starts.push(l.code.len());
    }
    l.object = vec![NO; l.code.len()];
    l.t = vec![0.0; l.code.len()];
    Events { launches: vec![l], codes, objects: vec![] }
}

/// A code in the same words.
pub fn word(code: Code) -> String {
    let number = |n: u32| if n == 0 { String::new() } else { n.to_string() };
    let name = match code.kind {
        RayEvent::Begin => return format!("begin{}", number(code.place - 100)),
        RayEvent::OcclusionBegin => return format!("obegin{}", number(code.place - 200)),
        RayEvent::Intersection => "int",
        RayEvent::ReportIntersection => "repint",
        RayEvent::AnyHit => "ahit",
        RayEvent::IgnoreIntersection => "ignore",
        RayEvent::TerminateRay => "terminate",
        RayEvent::Miss => "miss",
        RayEvent::ClosestHit => "chit",
        RayEvent::Callable => "call",
        RayEvent::End => "end",
        _ => "query",
    };
    format!("{name}{}", number(code.entry))
}
