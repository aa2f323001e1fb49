//! What the shaders of `closed_compute` do, block by block.

use super::machine::{Lane, Tally, Walk, run};
use super::{Entry, Unit};

/// Workgroups of each dispatch, invocations of each.
const GROUPS: u32 = 4;
const LOCAL: u32 = 64;
/// Dispatches of `loads` in a frame.
const TIMES: u32 = 4;
/// Dispatches in a frame, without the one that draws the picture.
const ROWS: u32 = 13;
/// The push constant `trips`.
const TRIPS: u32 = 5;

/// A dispatch of a shader.
fn dispatch(n: u32, groups: u32, tally: &mut Tally, main: impl Fn(&mut Walk)) {
    for group in 0..groups {
        run(n, (0..LOCAL).map(|x| Lane { x, y: group }), tally, &main);
    }
}

/// Everything that the scene's compute pipelines do in a frame.
pub fn entries(n: u32, frame: u32) -> Vec<Entry> {
    let whole = |pipeline: &'static str, groups: u32, main: &dyn Fn(&mut Walk)| {
        let mut tally = Tally::default();
        dispatch(n, groups, &mut tally, main);
        Entry { pipeline, index: 0, unit: Unit::Subgroup, tally, other: None }
    };
    let mut of_loads = Tally::default();
    for time in 0..TIMES {
        dispatch(n, GROUPS, &mut of_loads, |w| loads(w, frame, time, ROWS - TIMES + time));
    }
    vec![
        whole("half", GROUPS, &half),
        whole("quarter", GROUPS, &quarter),
        whole("one", GROUPS, &|w| one(w, n)),
        whole("loops", GROUPS, &loops),
        whole("returns", GROUPS, &returns),
        Entry {
            other: Some(whole("cases", GROUPS, &|w| cases(w, true)).tally),
            ..whole("cases", GROUPS, &|w| cases(w, false))
        },
        whole("calls", GROUPS, &calls),
        whole("jumps", GROUPS, &jumps),
        whole("branches", GROUPS, &branches),
        Entry { pipeline: "loads", index: 0, unit: Unit::Subgroup, tally: of_loads, other: None },
        whole("show", ROWS, &show),
    ]
}

fn half(w: &mut Walk) {
    w.block(0);
    w.fork(|i| i.x.is_multiple_of(2), |w| w.block(1), |w| w.block(2));
    w.block(3);
    w.returns();
}

fn quarter(w: &mut Walk) {
    w.block(0);
    w.when(|i| i.x % 4 == 1, |w| w.block(1));
    w.block(2);
    w.returns();
}

fn one(w: &mut Walk, n: u32) {
    w.block(0);
    w.when(|i| i.x.is_multiple_of(n), |w| w.block(1));
    w.block(2);
    w.returns();
}

fn loops(w: &mut Walk) {
    w.block(0);
    w.repeat([1, 2, 4], |_, k| k < TRIPS, |w, _| w.block(3));
    w.block(5);
    w.repeat([6, 7, 9], |i, k| k < i.x % 8, |w, _| w.block(8));
    w.block(10);
    w.repeat(
        [11, 12, 19],
        |_, a| a < 3,
        |w, a| {
            w.block(13);
            w.repeat([14, 15, 17], |i, b| b < i.x % 2 + a, |w, _| w.block(16));
            w.block(18);
        },
    );
    w.block(20);
    w.returns();
}

fn returns(w: &mut Walk) {
    w.block(0);
    w.when(
        |i| i.x % 2 == 1,
        |w| {
            w.block(1);
            w.returns();
        },
    );
    w.block(2);
    w.repeat(
        [3, 4, 10],
        |_, k| k < 4,
        |w, k| {
            // `k == 2 && …`: the second condition has a block of its own.
            w.block(5);
            w.when(|_| k == 2, |w| w.block(6));
            w.block(7);
            w.when(
                |i| k == 2 && i.x % 4 == 2,
                |w| {
                    w.block(8);
                    w.returns();
                },
            );
            w.block(9);
        },
    );
    w.block(11);
    w.returns();
}

/// `apart`: ways that meet before the switch ends are gone by each group alone. That is the device's choice: llvmpipe joins
/// them, NVIDIA's does not.
fn cases(w: &mut Walk, apart: bool) {
    let case = |i: Lane| i.x % 6;
    w.block(0);
    w.switch(|i| case(i).into());
    w.only(|i| case(i) == 5, |w| w.block(1));
    if apart {
        w.only(
            |i| case(i) == 0,
            |w| {
                w.block(2);
                w.block(3);
            },
        );
        w.only(|i| case(i) == 1, |w| w.block(3));
    } else {
        w.only(|i| case(i) == 0, |w| w.block(2));
        // Who falls through meets those that come here directly.
        w.only(|i| case(i) <= 1, |w| w.block(3));
    }
    w.only(|i| case(i) == 2, |w| w.block(4));
    if apart {
        w.only(|i| case(i) == 3, |w| w.block(5));
        w.only(|i| case(i) == 4, |w| w.block(5));
    } else {
        w.only(|i| case(i) == 3 || case(i) == 4, |w| w.block(5));
    }
    w.block(6);
    w.returns();
}

fn add(w: &mut Walk) {
    w.call("add", |w| {
        w.block(0);
        w.returns();
    });
}

fn calls(w: &mut Walk) {
    w.block(0);
    add(w);
    w.when(
        |i| i.x >= 32,
        |w| {
            w.block(1);
            add(w);
            w.when(
                |i| i.x % 2 == 0,
                |w| {
                    w.block(2);
                    w.call("clipped", |w| {
                        w.block(0);
                        w.when(
                            |i| i.x + 3 > 40,
                            |w| {
                                w.block(1);
                                w.returns();
                            },
                        );
                        w.block(2);
                        add(w);
                        w.returns();
                    });
                },
            );
            w.block(3);
        },
    );
    w.block(4);
    w.returns();
}

fn jumps(w: &mut Walk) {
    w.block(0);
    w.repeat(
        [1, 2, 8],
        |_, k| k < 8,
        |w, k| {
            w.block(3);
            w.when(
                |i| k == i.x % 4 + 3,
                |w| {
                    w.block(4);
                    w.breaks();
                },
            );
            w.block(5);
            w.when(
                |_| k % 2 == 1,
                |w| {
                    w.block(6);
                    w.continues();
                },
            );
            w.block(7);
        },
    );
    w.block(9);
    w.repeat([10, 11, 13], |_, k| k < TRIPS, |w, _| w.block(12));
    w.block(14);
    w.when(|_| false, |w| w.block(15));
    w.block(16);
    w.returns();
}

fn branches(w: &mut Walk) {
    w.block(0);
    w.when(|_| true, |w| w.block(1));
    w.block(2);
    w.when(|_| false, |w| w.block(3));
    w.block(4);
    w.when(|i| i.y == 0, |w| w.block(5));
    w.block(6);
    w.when(|_| true, |w| w.block(7));
    w.block(8);
    w.when(|i| i.x < 16, |w| w.block(9));
    w.block(10);
    w.when(|i| i.x % 2 == 0, |w| w.block(11));
    w.block(12);
    w.returns();
}

/// In the order of the module; what several numbers are made of is loaded as often as it is written down.
fn loads(w: &mut Walk, frame: u32, time: u32, row: u32) {
    let same = |_: Lane| 0;
    let own = |i: Lane| u64::from(i.x);
    let first = row * GROUPS * LOCAL;
    w.block(0);
    w.load(("uniform", 0), same, |_| 0);
    w.load(("uniform", 1), same, |_| 42);
    w.load(("uniform", 2), same, |_| [11, 22][time as usize % 2]);
    w.load(("uniform", 3), same, |_| u64::from(100 + (frame - 1) * TIMES + time));
    w.load(("storage", 0), own, |_| 7);
    w.load(("storage", 1), own, own);
    w.load(("push", 0), same, |_| TRIPS.into());
    w.load(("storage", 2), same, |_| u64::from(63 - TRIPS));
    w.load(("storage", 3), own, |_| 7);
    w.load(("storage", 4), |_| 7, |_| 7);
    w.load(("texture", 0), |i| u64::from(i.x % 8), |i| u64::from(3 * 64 + i.x % 8));
    w.load(("texture", 1), |i| u64::from(i.x / 8), |i| u64::from(i.x / 8 * 64 + 2));
    w.load(("push", 1), same, |_| first.into());
    w.returns();
}

fn show(w: &mut Walk) {
    w.block(0);
    w.returns();
}
