//! Where pass `simt` counts, and how.
//!
//! By flow: a function's counters are where its placement wants them, and the other blocks follow. What a steady loop
//! repeats is counted by an addition in each round, and added to memory, with the invocations that went round, where the loop
//! is left: nothing in such a loop is an operation of subgroups, so that drivers may unroll it as they would have. What else an
//! invocation is expected at again and again is held in registers (`rewrite/held.rs`), the rest added at once.
//!
//! Directly: every block counts at its beginning.

use crate::Stage;
use crate::rewrite::placement::{Flow, Insertions, Program, Way};
use crate::rewrite::{Probes, Shader, Site, expected, most_often};
use crate::spirv::{Inst, Place, Result};
use std::collections::HashMap;

pub(super) static PROBES: Probes = crate::probes!("simt");

/// A [`Site::kind`]: a block with counters.
pub(super) const BLOCK: u32 = 0;
/// Another: a function whose blocks' counts follow from counters (its words are a flow's).
pub(super) const FLOW: u32 = 2;

/// Blocks of a shader that count in a replay, where it is not said otherwise: with 26 of 130 pygfx's frame takes 4.1 times as long on
/// an NVIDIA H100, with 22 and with 16 1.2 times.
pub(super) const MOST_BLOCKS: usize = 24;

/// What is counted at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counting {
    /// Popcounts up to this are told apart.
    pub exact_counts: u32,
    /// How many numbers a shader holds at most.
    pub most_held: usize,
}

impl Counting {
    /// Counters of a place.
    pub fn counters(self, stage: Stage) -> u32 {
        self.exact_counts + 2 + u32::from(stage == Stage::Fragment)
    }
}

/// How a measured way is counted.
#[derive(Clone, Copy)]
enum How {
    /// At once.
    AtOnce,
    /// In a register of one of the invocations that are there.
    Held(u32),
    /// In a register of all that go round a steady loop.
    Repeated(u32),
}

/// A way that is measured.
struct Measured {
    function: u32,
    way: Way,
    /// Its first counter.
    first: u32,
    how: How,
}

/// Counts every block where it begins.
pub(super) fn directly(counting: Counting, s: &mut Shader) -> Result<()> {
    let here = s.import(&PROBES, "simt_here")?;
    let told = s.constant(counting.exact_counts);
    let blocks = s.blocks();
    let spread = s.spread(blocks.len());
    for (n, (function, block)) in blocks.into_iter().enumerate() {
        let (counter, in_region) = s.reserve_counters(counting.counters(s.stage))?;
        let first = s.constant(counter);
        if spread.counts(n) {
            let call = s.call(here, &[first, told]);
            s.at_begin(function, block, vec![call]);
        }
        let site = s.block_site(function, block, BLOCK);
        s.site(Site { counter: Some(in_region), ..site });
    }
    Ok(())
}

/// A steady loop's function, the blocks that it is left to, and its registers with their counters.
type Steady = (u32, Vec<usize>, Vec<(u32, u32)>);

/// Counts where the counts of all blocks follow from.
pub(super) fn by_flow(counting: Counting, s: &mut Shader, program: &Program) -> Result<()> {
    let mut all: Vec<Measured> = Vec::new();
    let mut steady: Vec<Steady> = Vec::new();
    for &f in &program.order {
        let function = f as u32;
        let known = &program.functions[f];
        let flow = Flow::new(known, 0);
        let each = counting.counters(s.stage);
        let measured: Vec<(Way, u32)> = flow.placement.measured().collect();
        let (counter, in_region) = s.reserve_counters(each.saturating_mul(measured.len() as u32))?;
        let site = s.block_site(function, 0, FLOW);
        s.site(Site { counter: Some(in_region), data: flow.words(), ..site });
        let loops = known.shape.steady_loops();
        let mut of_loop: HashMap<usize, usize> = HashMap::new();
        for (way, n) in measured {
            let first = counter + n * each;
            let inside = |l: &(Vec<usize>, Vec<usize>)| way.blocks().iter().all(|b| l.0.contains(b));
            let how = match loops.iter().position(inside) {
                Some(l) => {
                    let register = s.held();
                    let at = *of_loop.entry(l).or_insert_with(|| {
                        steady.push((function, loops[l].1.clone(), vec![]));
                        steady.len() - 1
                    });
                    steady[at].2.push((register, first));
                    How::Repeated(register)
                }
                None => How::AtOnce,
            };
            all.push(Measured { function, way, first, how });
        }
    }
    let spread = s.spread(all.len());
    let mut places = 0..;
    all.retain(|_| places.next().is_some_and(|n| spread.counts(n)));
    for (_, _, registers) in &mut steady {
        registers.retain(|r| all.iter().any(|m| m.first == r.1));
    }
    hold(counting, s, &mut all);
    let mut insertions = Insertions::default();
    for m in &all {
        insertions.on(s, m.function, m.way, |s, taken| count(counting, s, m, taken))?;
    }
    for (function, left_to, registers) in steady {
        for b in left_to {
            let (f, block) = s.block(function, b as u32);
            let place = Place::begin(&s.module.functions[f], block);
            let insts = leave(counting, s, &registers)?;
            insertions.at(f, place, insts);
        }
    }
    insertions.put(s)?;
    flush(counting, s, &all)
}

/// Chooses what is held of what is measured outside of steady loops.
fn hold(counting: Counting, s: &mut Shader, all: &mut [Measured]) {
    if !s.may_hold() {
        return;
    }
    let often = expected(s);
    let at_once = all.iter().enumerate().filter(|m| matches!(m.1.how, How::AtOnce));
    let places = at_once.map(|(n, m)| (n, m.way.often(&often[m.function as usize])));
    let held = most_often(places.collect(), counting.most_held);
    for (_, m) in all.iter_mut().enumerate().filter(|m| held.contains(&m.0)) {
        m.how = How::Held(s.held());
    }
}

/// The instructions that count one execution of a way.
fn count(counting: Counting, s: &mut Shader, m: &Measured, taken: Option<u32>) -> Result<Vec<Inst>> {
    let (first, told) = (s.constant(m.first), s.constant(counting.exact_counts));
    match (m.how, taken) {
        (How::Repeated(register), _) => {
            let (one, mut insts) = (s.constant(1), Vec::new());
            s.raise_held(register, one, taken, &mut insts);
            Ok(insts)
        }
        (How::Held(register), None) => {
            let held = s.import(&PROBES, "simt_held")?;
            Ok(s.update_held(register, held, &[first, told]))
        }
        (_, Some(taken)) => {
            let here = s.import(&PROBES, "simt_here_if")?;
            Ok(vec![s.call(here, &[first, told, taken])])
        }
        (How::AtOnce, None) => {
            let here = s.import(&PROBES, "simt_here")?;
            Ok(vec![s.call(here, &[first, told])])
        }
    }
}

/// The instructions behind a steady loop.
fn leave(counting: Counting, s: &mut Shader, registers: &[(u32, u32)]) -> Result<Vec<Inst>> {
    let (repeated, told) = (s.import(&PROBES, "simt_repeated")?, s.constant(counting.exact_counts));
    let (none, mut insts) = (s.constant(0), Vec::new());
    for &(register, first) in registers {
        let times = s.load_held(register, &mut insts);
        let first = s.constant(first);
        insts.push(s.call(repeated, &[first, told, times]));
        s.store_held(register, none, &mut insts);
    }
    Ok(insts)
}

/// Has what is held added where invocations leave.
fn flush(counting: Counting, s: &mut Shader, all: &[Measured]) -> Result<()> {
    let mut body = Vec::new();
    for m in all {
        if let How::Held(register) = m.how {
            let add = s.import(&PROBES, "simt_flush")?;
            let held = s.load_held(register, &mut body);
            let arguments = [s.constant(m.first), s.constant(counting.exact_counts), held];
            body.push(s.call(add, &arguments));
        }
    }
    if !body.is_empty() {
        s.at_exits(body);
    }
    Ok(())
}
