//! What the shaders of `closed_rays` do, block by block. Who shares a subgroup is the driver's affair, so that only what
//! invocations do is known, not what subgroups do.

use super::machine::{Lane, Main, Tally, Walk, run};
use super::{Entry, Unit};

/// The places of the rays that are traced.
fn places() -> impl Iterator<Item = Lane> {
    all().filter(|i| i.y < 28)
}

fn all() -> impl Iterator<Item = Lane> {
    (0..32).flat_map(|y| (0..64).map(move |x| Lane { x, y }))
}

fn on_plane(i: &Lane) -> bool {
    i.y < 16
}

fn in_box(i: &Lane) -> bool {
    !on_plane(i) && i.x < 32
}

fn solid(i: &Lane) -> bool {
    in_box(i) && i.x % 8 < 4
}

/// The rays: the first of each place, and every second column's second.
fn first() -> impl Iterator<Item = Lane> {
    places()
}

fn second() -> impl Iterator<Item = Lane> {
    places().filter(|i| i.x % 2 == 0)
}

/// The intersection shader; whether the driver goes on with it where what it reported ends the ray.
///
/// The second rays end with the first hit. Whether an intersection shader is resumed behind a report that ends its ray is
/// the driver's choice: llvmpipe does, NVIDIA's (580, H200) does not. Either is right, if it does so everywhere.
fn of_box(resumed: bool) -> Tally {
    let mut tally = Tally::default();
    run(1, first().filter(in_box), &mut tally, |w| intersection(w, true));
    run(1, second().filter(in_box), &mut tally, |w| intersection(w, resumed));
    tally
}

/// Everything that the scene's pipeline does in a frame, in the order of its stages.
pub fn entries() -> Vec<Entry> {
    let hit = |i: &Lane| on_plane(i) && !i.x.is_multiple_of(4);
    let shaders: [(Vec<Lane>, Main); 9] = [
        (all().collect(), &camera),
        (first().filter(|i| !hit(i) && !solid(i)).collect(), &plain),
        (second().filter(|i| !hit(i) && !solid(i)).collect(), &plain),
        (first().filter(|i| hit(i) && i.y < 4).collect(), &plain),
        (places().filter(|i| i.y < 8 && i.x / 2 % 2 == 0).collect(), &plain),
        (places().filter(|i| i.y < 8 && i.x / 2 % 2 == 1).collect(), &odd),
        (first().filter(hit).collect(), &plane),
        (first().chain(second()).filter(on_plane).collect(), &any_hit),
        (first().filter(solid).collect(), &plain),
    ];
    let tally = |(lanes, main): (Vec<Lane>, Main)| {
        let mut tally = Tally::default();
        run(1, lanes, &mut tally, main);
        (tally, None)
    };
    let all = shaders.into_iter().map(tally).chain([(of_box(true), Some(of_box(false)))]);
    let entry = |(index, (tally, other))| {
        let unit = Unit::Invocation;
        Entry { pipeline: "closed", index, unit, tally, other }
    };
    (0..).zip(all).map(entry).collect()
}

fn plain(w: &mut Walk) {
    w.block(0);
    w.returns();
}

fn show(w: &mut Walk) {
    w.call("show", plain);
}

fn camera(w: &mut Walk) {
    w.block(0);
    w.when(
        |i| i.y >= 28,
        |w| {
            w.block(1);
            show(w);
            w.returns();
        },
    );
    w.block(2);
    w.trace();
    w.when(
        |i| i.x % 2 == 0,
        |w| {
            w.block(3);
            w.trace();
        },
    );
    w.block(4);
    w.when(|i| i.y < 8, |w| w.block(5));
    w.block(6);
    show(w);
    w.returns();
}

fn odd(w: &mut Walk) {
    w.block(0);
    w.when(|i| i.x % 2 == 1, |w| w.block(1));
    w.block(2);
    w.returns();
}

fn plane(w: &mut Walk) {
    w.block(0);
    w.when(
        |i| i.y < 4,
        |w| {
            w.block(1);
            w.trace();
        },
    );
    w.block(2);
    w.returns();
}

fn any_hit(w: &mut Walk) {
    w.block(0);
    for (rest, block) in [(0, 1), (1, 3)] {
        w.when(
            |i| i.x % 4 == rest,
            |w| {
                w.block(block);
                w.kills();
            },
        );
        w.block(block + 1);
    }
    w.returns();
}

fn intersection(w: &mut Walk, resumed: bool) {
    w.block(0);
    w.when(
        |i| i.x % 8 < 4,
        |w| {
            w.block(1);
            if !resumed {
                w.lost();
            }
        },
    );
    w.block(2);
    w.returns();
}
