//! Pass `blocks`: how often basic blocks and the edges between them are run.
//!
//! Counters are where [`crate::rewrite::placement`] wants them: as few as give all counts (Knuth and Stevenson), or one a block. What is
//! counted is said by [`options`]: invocations, added one by one or by one for its subgroup, or comings-by of subgroups.
//!
//! *Counts of invocations are conserved*: whatever the subgroups do, each invocation comes by each place as often as the
//! shader says, so what goes into a block comes out of it, and few counters give all counts, exactly. *Comings-by of
//! subgroups are not*: where invocations part, their subgroup runs both sides, and where they meet again it goes on once,
//! or twice where they do not meet; so the counts of two sides say nothing of the block behind them. There every block
//! is counted, but for those that are nothing but the rest of the block before them (one way leads in, one way led there,
//! nobody leaves): invocations that branch together without a condition come by together.
//!
//! Helper invocations never count. Fragments that early tests take away do not run, as without the pass ([`early`]). Recorded: `block_counts`, `edge_counts` and `block_runs`.

mod decode;
mod early;
mod options;
mod put;
#[cfg(test)]
mod tests;

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::placement::{Flow, Known, Program, Way};
use crate::rewrite::{Shader, Site, expected, leaders};
use crate::{Needs, Stage};
use decode::{EACH, FLOW, PLACE};
use options::{Mode, Options, Places};
use put::Count;

/// Blocks of a shader that count in a replay, where it is not said otherwise: with 130 pygfx's frame takes 1.2 times as long on an
/// NVIDIA H100, with 65 1.07 times, with 43 1.04 times.
const MOST_BLOCKS: usize = 64;

/// See the module's header.
#[derive(Default)]
pub struct Blocks {
    options: Options,
}

impl Blocks {
    /// With options as on the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        Ok(Blocks { options: Options::read(options)? })
    }
}

impl Pass for Blocks {
    fn name(&self) -> &'static str {
        self.options.name
    }

    fn key(&self) -> String {
        self.options.key()
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: self.options.mode != Mode::Lane, ..Needs::default() })
    }

    fn spreads(&self) -> Option<usize> {
        Some(MOST_BLOCKS)
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let (o, wrong) = (&self.options, Error::shader(shader.hash));
        let program = Program::of_invocations(shader);
        let (mut counts, mut sites) = (Vec::new(), Vec::new());
        for &f in &program.order {
            let known = &program.functions[f];
            let first = counts.len();
            let data = match (o.places, o.mode) {
                (Places::Knuth, Mode::Lane | Mode::Lanes) => {
                    let flow = Flow::new(known, first as u32);
                    counts.extend(flow.placement.measured().map(|(way, counter)| (f, way, counter)));
                    (FLOW, flow.words())
                }
                _ => {
                    let follows = o.places == Places::Knuth;
                    let each = each(shader, f, known, follows, first as u32);
                    let mut counted: Vec<(u32, usize)> = Vec::new();
                    for (b, &c) in each.iter().enumerate().filter(|e| *e.1 > 0) {
                        if !counted.iter().any(|k| k.0 == c) {
                            counted.push((c, b));
                        }
                    }
                    counted.sort_unstable();
                    counts.extend(counted.into_iter().map(|(c, b)| (f, Way::Block(b), c - 1)));
                    (EACH, each)
                }
            };
            sites.push((f, data));
        }
        let stride = counts.len() as u32;
        let copied = stride.saturating_mul(o.copies);
        let (first, in_region) = shader.reserve_counters(copied).map_err(&wrong)?;
        let again = shader.entered_again();
        let often = expected(shader);
        let of = |shader: &Shader, f: usize, way: Way| {
            let (blocks, at) = (&shader.facts.functions[f].blocks, way.blocks());
            let repeated = again[f] || at.iter().all(|&b| blocks[b].depth > 0);
            (at[at.len() - 1] as u32, repeated, way.often(&often[f]))
        };
        let mut wanted = Vec::new();
        for (f, way, counter) in counts {
            let (block, repeated, often) = of(shader, f, way);
            shader.site(site(shader, f as u32, block, PLACE, Some(in_region + counter), vec![]));
            wanted.push(Count { function: f as u32, way, counter, repeated, often });
        }
        for (f, (kind, mut data)) in sites {
            data.splice(0..0, [o.copies, stride]);
            shader.site(site(shader, f as u32, 0, kind, Some(in_region), data));
        }
        if o.early {
            early::keep(shader);
        }
        let spread = shader.spread(wanted.len());
        let mut places = 0..;
        wanted.retain(|_| places.next().is_some_and(|n| spread.counts(n)));
        put::put(shader, o, &wanted, first, stride).map_err(&wrong)?;
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        decode::decode(&self.options, frame, out)
    }
}

fn site(shader: &Shader, function: u32, block: u32, kind: u32, counter: Option<u32>, data: Vec<u32>) -> Site {
    let blocks = &shader.facts.functions[function as usize].blocks;
    let word_offset = blocks.get(block as usize).map_or(0, |b| b.word_offset);
    let line = blocks.get(block as usize).and_then(|b| b.line.clone());
    Site { function, block, word_offset, line, kind, counter, probe: None, each: None, data }
}

/// For each block its counter's number and 1; 0 where the entry does not lead. With `follows`, what is only the rest of
/// the block before it has that block's.
fn each(shader: &Shader, f: usize, known: &Known, follows: bool, first: u32) -> Vec<u32> {
    let blocks = &shader.facts.functions[f].blocks;
    let leaders = leaders(blocks, |b| !follows || known.shape.leaves.contains(&b));
    let (mut each, mut next) = (vec![0; blocks.len()], first);
    for b in (0..blocks.len()).filter(|b| blocks[*b].reached) {
        let leader = leaders[b] as usize;
        if leader == b {
            next += 1;
            each[b] = next;
        } else {
            each[b] = each[leader];
        }
    }
    each
}
