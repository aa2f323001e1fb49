use super::*;
use crate::shaders::simt;
use trace::tables::{FRAMES, SIMT, SIMT_GROUPS};

fn u64s(values: &[u64]) -> Vec<Value<'_>> {
    values.iter().map(|&n| Value::U64(n)).collect()
}

/// A trace of one block of which a sample counted: by group, executions of full subgroups of 8 and of half ones.
fn trace(groups: &[[u64; 2]]) -> Memory {
    let mut t = Memory::default();
    let frame: Vec<Value<'_>> = (FRAMES.columns.iter())
        .map(|c| match (c.kind, c.name) {
            (trace::Kind::Text, _) => Value::Text(""),
            (trace::Kind::F64, _) => Value::F64(0.0),
            (_, "frame") => Value::U64(2),
            (_, "subgroup_size") => Value::U64(8),
            _ => Value::U64(0),
        })
        .collect();
    t.put(&FRAMES, &frame);
    t.put(&SAMPLES, &u64s(&[3, 16, groups.len() as u64]));
    for (g, of) in (0..).zip(groups) {
        t.put(&SIMT_GROUPS, &u64s(&[g, 2, 3, 0, 0, 8, of[0], 8 * of[0]]));
        t.put(&SIMT_GROUPS, &u64s(&[g, 2, 3, 0, 0, 4, of[1], 4 * of[1]]));
    }
    let sum = |n: usize| groups.iter().map(|of| of[n]).sum::<u64>();
    t.put(&SIMT, &u64s(&[2, 3, 0, 0, 8, sum(0), 8 * sum(0)]));
    t.put(&SIMT, &u64s(&[2, 3, 0, 0, 4, sum(1), 4 * sum(1)]));
    t
}

fn whole(t: &Memory) -> (Vec<String>, Vec<Cell>) {
    let report = simt::QUESTION.answer(t).expect("it has all tables");
    let names = report.tables[0].columns.iter().map(|c| c.name.clone()).collect();
    (names, report.tables[0].rows[0].clone())
}

/// A ratio of sums over groups: held against the jackknife's formula, worked out here.
#[test]
fn intervals_are_those_of_the_jackknife() {
    // (Without one of four, counts are four thirds of what is left: whole numbers.)
    let groups = [[960, 480], [480, 960], [1440, 0], [960, 960]];
    let (names, cells) = whole(&trace(&groups));
    assert_eq!(
        names[1..7],
        ["executed", "± executed", "active", "± active", "efficiency", "± efficiency"].map(str::to_owned)
    );
    let efficiency = |of: &[[u64; 2]]| {
        let (full, half) = of.iter().fold((0, 0), |(f, h), g| (f + g[0], h + g[1]));
        100.0 * (8 * full + 4 * half) as f64 / (8 * (full + half)) as f64
    };
    let without: Vec<f64> = (0..4)
        .map(|n| {
            efficiency(&groups.iter().enumerate().filter(|g| g.0 != n).map(|g| *g.1).collect::<Vec<_>>())
        })
        .collect();
    let mean = without.iter().sum::<f64>() / 4.0;
    let error = (0.75 * without.iter().map(|x| (x - mean).powi(2)).sum::<f64>()).sqrt();
    // Student's t for 3 degrees of freedom at 99.5 %, from tables.
    let expected = 5.840_909 * error;
    let (Cell::Number(e), Cell::Number(half)) = (&cells[5], &cells[6]) else { panic!("{cells:?}") };
    assert!((e - efficiency(&groups)).abs() < 1e-9, "{e}");
    assert!((half - expected).abs() < 1e-4, "{half}, {expected}");
    // Of a sum, the error is that of a mean of four values, times four.
    let Cell::Number(half) = cells[2] else { panic!("{cells:?}") };
    let totals = [1440.0f64, 1440.0, 1440.0, 1920.0];
    let mean = totals.iter().sum::<f64>() / 4.0;
    let s2 = totals.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0;
    let expected = 5.840_909 * (16.0 * s2 / 4.0).sqrt();
    assert!((half - expected).abs() < 2.0, "{half}, {expected}");
}

#[test]
fn groups_that_agree_leave_no_doubt_and_what_only_one_knows_has_no_interval() {
    let (_, cells) = whole(&trace(&[[32, 16]; 16]));
    assert_eq!(cells[6], Cell::Number(0.0));
    let mut one = [[0, 0]; 16];
    one[3] = [16, 16];
    let (_, cells) = whole(&trace(&one));
    assert_eq!(cells[6], Cell::Missing);
}

/// Estimates of random work: at 99 % the truth lies in at least 98 % of the intervals.
#[test]
fn intervals_cover_the_truth() {
    let mut seed = 1u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    // 4096 subgroups: each runs the block up to 20 times, full or half full as its own chance will have it.
    let work: Vec<[u64; 2]> = (0..4096)
        .map(|_| {
            let (times, chance) = (1 + random() % 20, random() % 100);
            (0..times).fold([0, 0], |[f, h], _| if random() % 100 < chance { [f + 1, h] } else { [f, h + 1] })
        })
        .collect();
    let (full, half) = work.iter().fold((0, 0), |(f, h), g| (f + g[0], h + g[1]));
    let truth = 100.0 * (8 * full + 4 * half) as f64 / (8 * (full + half)) as f64;
    let mut covered = 0;
    const DRAWS: usize = 400;
    for _ in 0..DRAWS {
        let mut groups = [[0, 0]; 16];
        for of in &work {
            let n = random() % 256;
            if n < 16 {
                groups[n as usize][0] += 16 * of[0];
                groups[n as usize][1] += 16 * of[1];
            }
        }
        let (_, cells) = whole(&trace(&groups));
        let (Cell::Number(e), Cell::Number(half)) = (&cells[5], &cells[6]) else { panic!("{cells:?}") };
        covered += usize::from((e - truth).abs() <= *half);
    }
    assert!(covered * 100 >= DRAWS * 98, "{covered} of {DRAWS}");
}
