use super::*;
use crate::events::model::{Model, hash};
use crate::events::text;
use std::collections::HashMap;

/// Synthetic events in the thesis's words; the first place is the leftmost digit.
fn words(lines: &str, n: u32) -> String {
    let events = text::events(lines, n);
    let replayer = Replayer::new(&events, &events.launches[0]);
    let members: Vec<u32> = (0..events.launches[0].threads() as u32).collect();
    let warp = replayer.warp(&members, true);
    let word = |e: &Synthetic| {
        let mask: String = (0..n).map(|l| if e.mask >> l & 1 == 1 { '1' } else { '0' }).collect();
        format!("{} {mask}", text::word(events.codes[usize::from(e.code)]))
    };
    warp.events.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[test]
fn listing_3_1() {
    let threads = "\
begin, int1, miss
begin, int1, int2, repint, chit
begin, int2, repint, chit
begin, int2, repint, chit";
    assert_eq!(words(threads, 4), "begin 1111, int1 1100, int2 0111, miss 1000, chit 0111");
}

#[test]
fn whoever_is_behind_is_waited_for() {
    // The second has int1 twice: only one of its turns can be shared.
    assert_eq!(
        words("begin, int1, chit\nbegin, int1, int1, miss", 2),
        "begin 11, int1 11, int1 01, miss 01, chit 10"
    );
    // A second ray is begun when all have returned from the first.
    assert_eq!(
        words("begin, miss, begin, miss\nbegin, int1, chit, begin, miss", 2),
        "begin 11, int1 01, miss 10, chit 01, begin 11, miss 11"
    );
    // A ray of another call is begun first by those who have begun fewer.
    assert_eq!(
        words("begin1, miss, begin1, miss\nbegin1, chit, obegin2, miss, begin1, miss", 2),
        "begin1 11, miss 10, chit 01, begin1 10, miss 10, obegin2 01, miss 01, begin1 01, miss 01"
    );
}

#[test]
fn rays_within_rays_end_first() {
    assert_eq!(
        words("begin, chit, nested, miss, end, end, begin, miss\nbegin, miss, begin, miss", 2),
        "begin 11, miss 01, chit 10, begin 10, miss 10, begin 11, miss 11"
    );
    assert_eq!(words("begin, chit, call3\nbegin, miss, call3", 2), "begin 11, miss 01, chit 10, call3 11");
}

#[test]
fn nobody_executes_nothing() {
    let events = text::events("begin, miss", 4);
    let replayer = Replayer::new(&events, &events.launches[0]);
    let e = replayer.efficiency(&Packing::recorded(&events.launches[0]));
    assert_eq!((e.counted.events, e.counted.active, e.percent()), (2, 2, Some(25.0)));
}

/// The least number of events in which sequences of traversal can be executed: by trying every order.
fn least(sequences: &[Vec<u16>]) -> usize {
    fn go(at: &mut Vec<usize>, of: &[Vec<u16>], memo: &mut HashMap<Vec<usize>, usize>) -> usize {
        if let Some(known) = memo.get(at) {
            return *known;
        }
        let heads: Vec<Option<u16>> = at.iter().zip(of).map(|(i, s)| s.get(*i).copied()).collect();
        let mut choices: Vec<u16> = heads.iter().flatten().copied().collect();
        choices.sort_unstable();
        choices.dedup();
        let mut best = if choices.is_empty() { 0 } else { usize::MAX };
        for choice in choices {
            let before = at.clone();
            for (lane, head) in heads.iter().enumerate() {
                at[lane] += usize::from(*head == Some(choice));
            }
            best = best.min(1 + go(at, of, memo));
            *at = before;
        }
        memo.insert(at.clone(), best);
        best
    }
    go(&mut vec![0; sequences.len()], sequences, &mut HashMap::new())
}

/// Against the shortest common supersequence: never fewer events, each invocation's calls in its own order, and on average
/// within a tenth of the least.
#[test]
fn traversal_is_close_to_the_best_order() {
    let (mut ours, mut best) = (0, 0);
    for case in 0..300u64 {
        let random = |of: u64| hash(case, of);
        let rows: Vec<Vec<u16>> = (0..4)
            .map(|lane| (0..random(lane) % 6).map(|i| 1 + (random(100 + lane * 16 + i) % 3) as u16).collect())
            .collect();
        let lines: Vec<String> = rows
            .iter()
            .map(|r| {
                let calls: String = r.iter().map(|c| format!(", int{c}")).collect();
                format!("begin{calls}, miss")
            })
            .collect();
        let events = text::events(&lines.join("\n"), 4);
        let replayer = Replayer::new(&events, &events.launches[0]);
        let warp = replayer.warp(&[0, 1, 2, 3], true);
        for lane in 0..4 {
            let own: Vec<u16> =
                (warp.events.iter().filter(|e| e.mask >> lane & 1 == 1)).map(|e| e.code).collect();
            let expected: Vec<u16> = events.launches[0]
                .events(lane)
                .map(|at| events.launches[0].code[at])
                .filter(|c| events.codes[usize::from(*c)].kind.of_warps())
                .collect();
            assert_eq!(own, expected);
        }
        let least = least(&rows) + 2;
        assert!(warp.counted.events as usize >= least);
        ours += warp.counted.events as usize;
        best += least;
    }
    assert!(ours * 10 <= best * 11, "{ours} events, {best} at best");
}

/// Whatever the packing, each call is executed by as many invocations as have it; a packing of one each is fully diverged.
#[test]
fn active_invocations_are_the_events_of_rays() {
    for nested in [false, true] {
        let made = Model { nested, ..Model::SMALL }.trace(false);
        let launch = &made.events.launches[0];
        let replayer = Replayer::new(&made.events, launch);
        let mut expected = vec![0u64; made.events.codes.len()];
        launch.code.iter().for_each(|c| expected[usize::from(*c)] += 1);
        for (count, code) in expected.iter_mut().zip(&made.events.codes) {
            *count *= u64::from(code.kind.of_warps());
        }
        let recorded = Packing::recorded(launch);
        let e = replayer.efficiency(&recorded);
        let active: Vec<u64> = e.codes.iter().map(|c| c.active).collect();
        assert_eq!(active, expected);
        let percent = e.percent().unwrap();
        assert!((20.0..100.0).contains(&percent), "{percent}");
        let singles = Packing {
            threads: (0..launch.threads() as u32).collect(),
            starts: (0..=launch.threads() as u32).collect(),
        };
        let alone = replayer.efficiency(&singles);
        assert_eq!((alone.counted.events, alone.counted.active), (e.counted.active, e.counted.active));
    }
}
