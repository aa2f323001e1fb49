use super::*;
use crate::context::sample;
use crate::report::{Cell, text};
use trace::{Memory, Value};

fn subgroup(m: &mut Memory, number: u64, first: u64, mask: u64, calls: &[(u64, u64)]) {
    m.put(&PATH_SUBGROUPS, &[1, 1, number, first, mask, 0].map(Value::U64));
    for (n, (place, mask)) in calls.iter().enumerate() {
        m.put(&PATH_CALLS, &[1, 1, number, n as u64, 0, 0, *place, *mask, 0].map(Value::U64));
    }
}

/// N = 8, one place in a loop. Subgroups 0 and 2 (works 0 and 8) loop with halves, 4 (work 16) traces once, 7 (work 24)
/// never. The first work comes last, so that order is by work.
fn known() -> Memory {
    let mut m = sample::trace();
    subgroup(&mut m, 4, 16, 0xff, &[(70, 0xff)]);
    subgroup(&mut m, 2, 8, 0xff, &[(70, 0xff), (70, 0xf0), (70, 0xc0)]);
    subgroup(&mut m, 7, 24, 0xff, &[]);
    subgroup(&mut m, 0, 0, 0xff, &[(70, 0xff), (70, 0x0f), (70, 0x01)]);
    m
}

#[test]
fn golden_text() {
    // Paths: none 8, 1 for 8 + 4 + 4, 11 for 2 + 3, 111 for 2 + 1. Calls: 3 + 3 + 1 ran. Window 2: {0, 2} take 2 + 1 + 1,
    // {4, 7} one: 5 of 7. All: 3 + 1 + 1 = 5 of 7.
    let expected = "\
Paths of trace calls

Compaction over whole launches would save 28.57 % of 7 calls of subgroups, all in compute work (99aabbcc) of pipeline 8.

pipeline  stage    shader            entry    entered      entered      calls         rays  paths
                                            subgroups  invocations  subgroups  invocations
       8  compute  99aabbccddeeff00  work           4           32          7           35      4

pipeline  stage    shader            entry  path  rays      took it  took it
                                                        invocations        %
       8  compute  99aabbccddeeff00  work   1        1           16    50.00
       8  compute  99aabbccddeeff00  work   none     0            8    25.00
       8  compute  99aabbccddeeff00  work   11       2            5    15.62
       8  compute  99aabbccddeeff00  work   111      3            3     9.38

pipeline  stage    shader            entry  window           ran     needed  saved
                                                       subgroups  subgroups      %
       8  compute  99aabbccddeeff00  work   1                  7          7   0.00
       8  compute  99aabbccddeeff00  work   2                  7          5  28.57
       8  compute  99aabbccddeeff00  work   unbounded          7          5  28.57

Cost of measuring: not known, the frame was not timed without the probes
";
    assert_eq!(text::render(&QUESTION.answer(&known()).unwrap()), expected);
}

/// The same call is the n-th at one place: two places are two calls, whatever their numbers.
#[test]
fn only_calls_of_one_place_are_put_together() {
    let mut m = sample::trace();
    subgroup(&mut m, 0, 0, 0xff, &[(70, 0x01), (90, 0x02)]);
    subgroup(&mut m, 1, 8, 0xff, &[(90, 0x02), (70, 0x01)]);
    subgroup(&mut m, 2, 16, 0xff, &[(95, 0x01)]);
    let rows = QUESTION.answer(&m).unwrap().tables.remove(2).rows;
    let numbers: Vec<_> = rows.iter().map(|r| (r[4].clone(), r[5].clone(), r[6].clone())).collect();
    let row = |w: &str, needed| (w.into(), Cell::Count(5), Cell::Count(needed));
    assert_eq!(numbers, [row("1", 5), row("2", 3), row("unbounded", 3)]);
}

/// Invocations of two launches are never put together; parts of a split subgroup are.
#[test]
fn launches_are_apart_and_parts_are_joined() {
    let mut m = sample::trace();
    subgroup(&mut m, 0, 0, 0xff, &[(70, 0x0f)]);
    subgroup(&mut m, 1, 0, 0xff, &[(70, 0xf0)]);
    let rows = QUESTION.answer(&m).unwrap().tables.remove(2).rows;
    assert_eq!(rows.last().expect("unbounded")[5..7], [Cell::Count(2), Cell::Count(2)]);
    // A launch of 16 subgroups, each of which makes 4 calls, by a quarter of its invocations each time: 64 ran; the first call of
    // all takes 16 · 2 / 8.
    let mut m = sample::trace();
    for n in 0..16 {
        let quarters = [0x03, 0x0c, 0x30, 0xc0].map(|mask| (70, mask));
        subgroup(&mut m, n, 8 * n, 0xff, &quarters);
    }
    let rows = QUESTION.answer(&m).unwrap().tables.remove(2).rows;
    let needed: Vec<_> = rows.iter().map(|r| r[6].clone()).collect();
    assert_eq!(needed, [64, 32, 16, 16, 16].map(Cell::Count));
    assert_eq!(rows[1][7], Cell::Number(50.0));
}

#[test]
fn strays_and_nothing_are_said() {
    let mut m = known();
    m.put(&PATH_CALLS, &[1, 1, 99, 0, 0, 0, 70, 1, 0].map(Value::U64));
    assert!(QUESTION.answer(&m).unwrap().notes[0].starts_with("1 calls are of subgroups"));
    let notes = QUESTION.answer(&Memory::default()).unwrap().notes;
    assert_eq!(notes, ["No entry point that may trace rays was entered."]);
}
