//! From counters to the counts of every block and edge.
//!
//! Guarantees: a count that follows from others is exact where those are. Where additions were lost (`add=plain`) the
//! counters may contradict each other; what then comes out as less than nothing is recorded as 0.

use super::options::{Options, Places};
use crate::pass::{EntryData, Error, FrameData, Result, Sink};
use crate::rewrite::placement::{Flow, Way};
use trace::Value;
use trace::tables::{BLOCK_COUNTS, BLOCK_RUNS, EDGE_COUNTS};

/// A site's kind: a counter.
pub(super) const PLACE: u32 = 0;
/// A function whose counts follow from some: copies, their stride, and the words of a [`Flow`].
pub(super) const FLOW: u32 = 1;
/// A function whose blocks have counters: copies, their stride, and for each block its counter's number and 1, or 0.
pub(super) const EACH: u32 = 2;

/// A function's counts.
struct Solved {
    function: u32,
    blocks: Vec<u64>,
    /// From, to, count; to the number of blocks: out of the function.
    edges: Vec<(u32, u32, u64)>,
}

/// Records a frame.
pub fn decode(o: &Options, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
    let (copies, flush) = (u64::from(o.copies), if o.hold { "exit" } else { "direct" });
    let run = [
        Value::Text(o.name),
        Value::U64(frame.frame),
        Value::Text(o.unit()),
        Value::Text(if o.plain { "plain" } else { "atomic" }),
        Value::U64(o.every.into()),
        Value::Text(if o.places == Places::Knuth { "knuth" } else { "direct" }),
        Value::Text(flush),
        Value::U64(copies),
    ];
    out.put(&BLOCK_RUNS, &run);
    for e in &frame.entries {
        for s in solve(e)? {
            let row = |n: [u64; 3]| {
                let at = [frame.frame, e.entry.into(), s.function.into()].map(Value::U64);
                let text = [Value::Text(o.name)];
                text.into_iter().chain(at).chain(n.map(Value::U64))
            };
            for (b, &n) in s.blocks.iter().enumerate() {
                // The entry point's beginning is always there: it says that the entry point was measured.
                if n > 0 || (s.function, b) == (0, 0) {
                    let row: Vec<_> = row([b as u64, n, 0]).take(6).collect();
                    out.put(&BLOCK_COUNTS, &row);
                }
            }
            for &(from, to, n) in s.edges.iter().filter(|e| e.2 > 0) {
                let row: Vec<_> = row([from.into(), to.into(), n]).collect();
                out.put(&EDGE_COUNTS, &row);
            }
        }
    }
    Ok(())
}

fn solve(e: &EntryData<'_>) -> Result<Vec<Solved>> {
    let broken =
        || Error::Record { word_offset: 0, why: "the variant's sites are not those of this pass".into() };
    let mut all: Vec<Solved> = Vec::new();
    for site in e.region.sites.iter().filter(|s| s.kind == FLOW || s.kind == EACH) {
        let (&[copies, stride], data) = site.data.split_first_chunk().ok_or_else(broken)?;
        let counter = |n: u32| -> u64 {
            let of = |copy| e.counters.get((copy * stride + n) as usize).copied().unwrap_or(0);
            (0..copies).map(of).fold(0, u64::wrapping_add)
        };
        let blocks = e.variant.facts.functions.get(site.function as usize).ok_or_else(broken)?.blocks.len();
        let mut solved = Solved { function: site.function, blocks: vec![0; blocks], edges: vec![] };
        if site.kind == EACH {
            for (b, &c) in data.iter().enumerate().filter(|c| *c.1 > 0) {
                *solved.blocks.get_mut(b).ok_or_else(broken)? = counter(c - 1);
            }
            all.push(solved);
            continue;
        }
        let flow = Flow::of_words(data).ok_or_else(broken)?;
        let executed = |f: u32, b: u32| all.iter().find(|s| s.function == f)?.blocks.get(b as usize).copied();
        let entered = flow.entered(executed).ok_or_else(broken)?;
        let counts = flow.placement.solve(counter, entered);
        for (link, n) in flow.placement.links.iter().zip(counts) {
            let n = match u64::try_from(n) {
                Ok(n) => n,
                Err(_) if e.variant.replays > 1 => {
                    let why = format!("a block of function {} would have {n} executions", site.function);
                    return Err(Error::Record { word_offset: 0, why: why + e.variant.of_several_replays() });
                }
                Err(_) => 0,
            };
            match link.way {
                Way::Block(b) => *solved.blocks.get_mut(b).ok_or_else(broken)? = n,
                Way::Edge(a, b) => solved.edges.push((a as u32, b as u32, n)),
                Way::Exit(b) | Way::Leave(b) => solved.edges.push((b as u32, blocks as u32, n)),
                Way::Entry | Way::End(_) | Way::Part(_) | Way::Meet(_) => {}
            }
        }
        all.push(solved);
    }
    Ok(all)
}
