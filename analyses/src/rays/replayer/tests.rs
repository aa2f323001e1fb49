use super::*;
use crate::rays::events::hash;
use crate::rays::events::model::Model;
use crate::rays::events::text;
use std::collections::HashMap;

/// Synthetic events in the thesis's words; the first place is the leftmost digit.
fn words(lines: &str, n: u32) -> String {
    let events = text::events(lines, n);
    let replayer = Replayer::new(&events, &events.launches[0]);
    let members: Vec<u32> = (0..events.launches[0].threads() as u32).collect();
    let warp = replayer.warp(&members);
    let word = |e: &Synthetic| {
        let mask: String = (0..n).map(|l| if e.mask >> l & 1 == 1 { '1' } else { '0' }).collect();
        format!("{} {mask}", text::word(events.codes[usize::from(e.code)]))
    };
    warp.iter().map(word).collect::<Vec<_>>().join(", ")
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
    // Who still has a ray of another call before the next of this one is waited for: each call as often as the one with the most.
    assert_eq!(
        words("begin1, miss, begin1, miss\nbegin1, chit, obegin2, miss, begin1, miss", 2),
        "begin1 11, chit 01, obegin2 01, miss 11, begin1 11, miss 11"
    );
}

#[test]
fn a_call_is_the_same_however_many_rays_it_lies_in() {
    assert_eq!(
        words("begin, chit, nested, miss, end, end, begin, miss\nbegin, miss, begin, miss", 2),
        "begin 11, chit 10, begin 10, miss 11, begin 11, miss 11"
    );
    assert_eq!(words("begin, chit, call3\nbegin, miss, call3", 2), "begin 11, miss 01, chit 10, call3 11");
}

#[test]
fn nobody_executes_nothing() {
    let events = text::events("begin, miss", 4);
    let replayer = Replayer::new(&events, &events.launches[0]);
    let e = replayer.efficiency(&Packing::recorded(&events.launches[0]));
    assert_eq!((e.counted.synthetic.events, e.counted.synthetic.active, e.percent()), (2, 2, Some(25.0)));
}

/// The least number of events of these calls in which sequences can be executed: by trying every order. `counted` says of each
/// call what an event of it costs.
fn least(sequences: &[Vec<u16>], counted: &[usize]) -> usize {
    fn go(
        at: &mut Vec<usize>,
        of: &[Vec<u16>],
        counted: &[usize],
        memo: &mut HashMap<Vec<usize>, usize>,
    ) -> usize {
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
            best = best.min(counted[usize::from(choice)] + go(at, of, counted, memo));
            *at = before;
        }
        memo.insert(at.clone(), best);
        best
    }
    go(&mut vec![0; sequences.len()], sequences, counted, &mut HashMap::new())
}

/// What a ray, or a callable, may be in lines of events: traversal, nested rays and callables of callables.
const WORDS: [&str; 8] = [
    "begin, int1, miss",
    "begin, int1, int2, chit1",
    "begin, int2, int1, chit2, nested1, miss, end",
    "begin, ahit3, int2, ahit3, miss",
    "obegin, miss4",
    "call1, call2",
    "call2",
    "begin, chit1, call2, call1",
];

/// Against every order, tried one by one: no order has fewer events than the bound, of all calls, of those that count, and of
/// each; the one that is found is never below the best, and on average close to it.
#[test]
fn no_order_exceeds_the_bound_and_ours_is_close_to_the_best() {
    let (mut ours, mut best, mut bound, mut proved) = (0, 0, 0, 0);
    for case in 0..300u64 {
        let random = |of: u64, below: u64| (hash(case, of) % below) as usize;
        let line = |lane: u64| {
            let words: Vec<&str> =
                (0..1 + random(lane, 3) as u64).map(|i| WORDS[random(100 + lane * 16 + i, 8)]).collect();
            words.join(", ")
        };
        let events = text::events(&[0, 1, 2, 3].map(line).join("\n"), 4);
        let launch = &events.launches[0];
        let replayer = Replayer::new(&events, launch);
        let e = replayer.efficiency(&Packing::recorded(launch));
        let warp = replayer.warp(&[0, 1, 2, 3]);
        let sequences: Vec<Vec<u16>> = (0..4)
            .map(|lane| {
                let codes = launch.code[launch.events(lane)].iter().copied();
                codes.filter(|c| events.codes[usize::from(*c)].kind.of_warps()).collect()
            })
            .collect();
        for (lane, expected) in sequences.iter().enumerate() {
            let own: Vec<u16> = warp.iter().filter(|e| e.mask >> lane & 1 == 1).map(|e| e.code).collect();
            assert_eq!(own, *expected, "each invocation's calls in its own order");
        }
        let costs = |of: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..events.codes.len()).map(|c| usize::from(of(c))).collect()
        };
        let sums = |f: &dyn Fn(&Shares) -> u64| e.codes.iter().map(f).sum::<u64>() as usize;
        let all =
            [sums(&|s| s.bound.events), least(&sequences, &costs(&|_| true)), sums(&|s| s.synthetic.events)];
        assert!(all.is_sorted(), "bound, best, ours: {all:?}");
        let thesis =
            least(&sequences, &costs(&|c| events.codes[c].kind != trace::tables::RayEvent::Callable));
        let s = e.counted;
        assert!(
            s.bound.events as usize <= thesis && thesis <= s.synthetic.events as usize,
            "{s:?}, {thesis}"
        );
        for (code, s) in e.codes.iter().enumerate() {
            // (of one call alone the best order has as many as the invocation with the most of it)
            assert_eq!(s.bound.events as usize, least(&sequences, &costs(&|c| c == code)));
            assert_eq!(s.bound.active, s.synthetic.active);
        }
        proved += usize::from(all[0] == all[2]);
        (bound, best, ours) = (bound + all[0], best + all[1], ours + all[2]);
    }
    println!(
        "{bound} events at least, {best} at best, {ours} ours; {proved} of 300 are proved the best by the bound"
    );
    assert!(ours * 100 <= best * 105, "{ours} events, {best} at best");
}

/// Two callables in turn, once more by some: the model took them one by one, and a device did not.
#[test]
fn callables_are_waited_for() {
    assert_eq!(
        words("begin, chit, call1, call2, call1\nbegin, chit, call2, call1\nbegin, miss, call1", 3),
        "begin 111, miss 001, chit 110, call1 101, call2 110, call1 110"
    );
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
        let active: Vec<u64> = e.codes.iter().map(|c| c.synthetic.active).collect();
        assert_eq!(active, expected);
        let percent = e.percent().unwrap();
        assert!((20.0..100.0).contains(&percent), "{percent}");
        let singles = Packing {
            threads: (0..launch.threads() as u32).collect(),
            starts: (0..=launch.threads() as u32).collect(),
        };
        let alone = replayer.efficiency(&singles);
        assert_eq!(
            (alone.counted.synthetic.events, alone.counted.synthetic.active),
            (active.iter().sum(), active.iter().sum())
        );
    }
}
