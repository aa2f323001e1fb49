//! What the shaders of `closed_fragment` do, block by block. Who shares a subgroup is the driver's affair, so that only what
//! invocations do is known, not what subgroups do.
//!
//! An invocation here is a fragment: a pixel whose middle its draw's triangle covers, until it is discarded or demoted. Helper
//! invocations are in no number: neither those that a driver runs beside a triangle's edge so that derivatives can be taken
//! (`edge` has some; how many is the driver's affair), nor what a fragment goes on to be when it was demoted (`demotes`).
//! Whether a discarded one goes on as a helper is the driver's affair, too; it is not counted either way.

use super::machine::{Lane, Tally, Walk, run};
use super::{Entry, Unit};

const TILE: u32 = 64;

/// A pipeline, what is pushed to each of its draws, which pixels its triangle covers, and what its fragments do.
type Draws<'a> = (&'static str, &'a [u32], &'a dyn Fn(u32, u32) -> bool, &'a dyn Fn(&mut Walk, u32));

/// The pixels of a tile, of which there are as many as the triangle covers.
fn tile(covers: impl Fn(u32, u32) -> bool) -> Vec<Lane> {
    let all = (0..TILE).flat_map(|y| (0..TILE).map(move |x| Lane { x, y }));
    all.filter(|at| covers(at.x, at.y)).collect()
}

/// Everything that the scene's pipelines do in a frame: three vertices a draw, and the fragments.
pub fn entries() -> Vec<Entry> {
    let whole = |_: u32, _: u32| true;
    // The edge runs from (32.5, 0) to (0, 32.5); a pixel's middle is half a pixel further.
    let half = |x: u32, y: u32| 2 * (x + y) + 2 < 65;
    let all: [Draws; 7] = [
        ("half", &[0], &whole, &|w, _| one_or_other(w, |i| i.x % 2 == 0)),
        ("regions", &[0], &whole, &|w, _| regions(w)),
        ("ways", &[0, 1], &whole, &|w, way| {
            w.load(("push", 0), |_| 0, |_| way.into());
            one_or_other(w, |_| way == 1);
        }),
        ("loops", &[0], &whole, &|w, _| loops(w)),
        ("kills", &[0], &whole, &|w, _| kills(w)),
        ("demotes", &[0], &whole, &|w, _| demotes(w)),
        ("edge", &[0], &half, &|w, _| edge(w)),
    ];
    let mut entries = Vec::new();
    for (pipeline, ways, covers, main) in all {
        let (mut vertices, mut fragments) = (Tally::default(), Tally::default());
        for way in ways {
            run(1, (0..3).map(|x| Lane { x, y: 0 }), &mut vertices, |w| shape(w, pipeline == "edge"));
            run(1, tile(covers), &mut fragments, |w| main(w, *way));
        }
        entries.push(Entry { pipeline, index: 0, unit: Unit::Invocation, tally: vertices, other: None });
        entries.push(Entry { pipeline, index: 1, unit: Unit::Invocation, tally: fragments, other: None });
    }
    entries
}

fn shape(w: &mut Walk, edge: bool) {
    w.load(("push", 0), |_| 0, |_| edge.into());
    w.block(0);
    w.when(|_| edge, |w| w.block(1));
    w.block(2);
    w.returns();
}

fn one_or_other(w: &mut Walk, on: impl Fn(Lane) -> bool) {
    w.block(0);
    w.fork(on, |w| w.block(1), |w| w.block(2));
    w.block(3);
    w.returns();
}

fn regions(w: &mut Walk) {
    w.block(0);
    w.when(
        |i| i.y < 32,
        |w| {
            w.block(1);
            w.when(|i| i.x < 16, |w| w.block(2));
            w.block(3);
        },
    );
    w.block(4);
    w.returns();
}

fn loops(w: &mut Walk) {
    w.block(0);
    w.repeat([1, 2, 4], |i, k| k < i.x % 4, |w, _| w.block(3));
    w.block(5);
    w.returns();
}

fn kills(w: &mut Walk) {
    w.block(0);
    w.when(
        |i| (i.x ^ i.y) % 2 == 1,
        |w| {
            w.block(1);
            w.kills();
        },
    );
    w.block(2);
    w.when(|i| i.y < 16, |w| w.block(3));
    w.block(4);
    w.returns();
}

fn demotes(w: &mut Walk) {
    w.block(0);
    w.when(
        |i| i.y % 2 == 1,
        |w| {
            w.block(1);
            w.demoted();
        },
    );
    w.block(2);
    w.when(|i| i.x < 32, |w| w.block(3));
    w.block(4);
    w.returns();
}

fn edge(w: &mut Walk) {
    w.block(0);
    w.when(|i| i.x % 2 == 0, |w| w.block(1));
    w.block(2);
    w.returns();
}
