use super::*;
use crate::rays::events::model::{Model, Order};
use crate::rays::events::{Events, text};
use crate::report::text as report_text;

/// Invocations and subgroups of two, as numbers; objects are numbers too.
fn known(lines: &str) -> Events {
    text::events(lines, 2)
}

fn indices(events: &Events, method: &str, options: Options) -> Vec<u32> {
    let work = Work::new(events, &events.launches[0]);
    swizzle(by_name(method).unwrap(), &work, &options).indices
}

const ONE: &str = "begin, miss";
const TWO: &str = "begin, miss, begin, miss";

/// The thesis's Figure 3.6 in small: subgroups of two, sorted by rays, ties by subgroup.
#[test]
fn numrays_by_hand() {
    // Rays: 2 1 | 1 2 | 2 1. Sorted: 1, 2, 5 have one, 0, 3, 4 two.
    let events = known(&[TWO, ONE, ONE, TWO, TWO, ONE].join("\n"));
    let o = Options::DEFAULT;
    assert_eq!(indices(&events, "identity", o), [0, 1, 2, 3, 4, 5]);
    assert_eq!(indices(&events, "numrays", o), [1, 2, 5, 0, 3, 4]);
    // Tiles of four columns: 2 1 1 2 | 2 1.
    let tiled = Options { tile: Some([4, 1]), ..o };
    assert_eq!(indices(&events, "tiled-numrays", tiled), [1, 2, 0, 3, 5, 4]);
    assert_eq!(indices(&events, "tiled-numrays", Options { tile: Some([6, 1]), ..o }), [1, 2, 5, 0, 3, 4]);
    // Efficiency: begins and misses. Identity: 4 + 4 + 4 events; sorted 2 + 4 + 4 of 18 active.
    let work = Work::new(&events, &events.launches[0]);
    let of = |m: &str| {
        let (_, packing) = work.packing(by_name(m).unwrap(), &o);
        work.replayer.efficiency(&packing).percent().unwrap()
    };
    assert!((of("identity") - 100.0 * 18.0 / 24.0).abs() < 1e-9);
    assert!((of("numrays") - 100.0 * 18.0 / 20.0).abs() < 1e-9);
    assert!((of("rounds") - 100.0 * 18.0 / 20.0).abs() < 1e-9);
}

/// Lanes that are not in the order of pixels, and a subgroup that begins above another: places are unpacked by subgroup.
#[test]
fn places_are_subgroup_by_subgroup() {
    let mut events = known(&[ONE, TWO, ONE, TWO].join("\n"));
    // Subgroup 9 has pixels 1 and 0 in its lanes 0 and 1, subgroup 4 pixels 2 and 3.
    events.launches[0].subgroup = vec![9, 9, 4, 4];
    events.launches[0].lane = vec![1, 0, 0, 1];
    // Places 1, 0, 2, 3. Sorted with ties by subgroup, in the order of places: 0, 2 | 1, 3.
    assert_eq!(indices(&events, "numrays", Options::DEFAULT), [2, 0, 1, 3]);
    // In which order the device began them changes nothing.
    events.launches[0].subgroup = vec![4, 4, 9, 9];
    assert_eq!(indices(&events, "numrays", Options::DEFAULT), [2, 0, 1, 3]);
}

#[test]
fn objects_are_compared_one_by_one() {
    let mut events =
        known(&["begin, chit", "begin, chit, begin, chit", "begin, chit", "begin, chit"].join("\n"));
    events.objects = vec![crate::rays::events::Object { instance: 0, primitive: 0, geometry: 0 }; 3];
    let l = &mut events.launches[0];
    // Sequences: [1], [1, 0], [2], [0].
    let hits: Vec<usize> = (0..l.code.len())
        .filter(|at| events.codes[usize::from(l.code[*at])].kind == trace::tables::RayEvent::ClosestHit)
        .collect();
    for (at, object) in hits.iter().zip([1, 1, 0, 2, 0]) {
        l.object[*at] = object;
    }
    // [0], then [1, 0] before its beginning [1], then [2].
    assert_eq!(indices(&events, "objects", Options::DEFAULT), [3, 1, 0, 2]);
    assert_eq!(indices(&events, "tiled-objects", Options { tile: Some([2, 1]), seed: 0 }), [1, 0, 3, 2]);
}

#[test]
fn random_is_seeded() {
    let events = known(&vec![ONE; 64].join("\n"));
    let of = |seed| indices(&events, "random", Options { seed, ..Options::DEFAULT });
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    assert_ne!(of(1), (0..64).collect::<Vec<_>>());
}

/// Subgroups of two begin in the order 1, 2, 0: the longest is put where the device began first, and lanes stay lanes.
#[test]
fn the_longest_subgroups_start_first() {
    const THREE: &str = "begin, miss, begin, miss, begin, miss";
    let mut events = known(&[ONE, ONE, TWO, ONE, ONE, THREE, TWO].join("\n"));
    // The last subgroup is not full, and stays.
    events.launches[0].subgroup = vec![2, 2, 0, 0, 1, 1, 3];
    let made = indices(&events, "identity-longest", Options::DEFAULT);
    assert_eq!(made, [0, 1, 4, 5, 2, 3, 6]);
    // Equally long ones stay where they are, whichever began first.
    let mut events = known(&[TWO, ONE, ONE, TWO].join("\n"));
    events.launches[0].subgroup = vec![1, 1, 0, 0];
    assert_eq!(indices(&events, "identity-longest", Options::DEFAULT), [0, 1, 2, 3]);
}

/// They are the other method's subgroups, lane by lane, in an order in which none is longer than the one before it.
#[test]
fn longest_first_leaves_subgroups_whole() {
    let made = Model { width: 52, height: 30, ..Model::SMALL }.trace(false);
    let launch = &made.events.launches[0];
    let work = Work::new(&made.events, launch);
    for (of, longest) in [("identity", "identity-longest"), ("rounds", "rounds-longest")] {
        let (_, plain) = work.packing(by_name(of).unwrap(), &Options::DEFAULT);
        let (_, sorted) = work.packing(by_name(longest).unwrap(), &Options::DEFAULT);
        let all = |p: &crate::rays::replayer::Packing| {
            let mut all: Vec<Vec<u32>> = (0..p.len()).map(|s| p.warp(s).to_vec()).collect();
            all.sort();
            all
        };
        assert_eq!(all(&plain), all(&sorted), "{longest}");
        assert_eq!(
            work.replayer.efficiency(&plain).counted,
            work.replayer.efficiency(&sorted).counted,
            "{longest}"
        );
        let full = |s: &usize| sorted.warp(*s).len() == launch.n as usize;
        let mut begun: Vec<usize> = (0..sorted.len()).filter(full).collect();
        begun.sort_by_key(|s| launch.subgroup[work.recorded.warp(*s)[0] as usize]);
        let lengths: Vec<usize> = begun.iter().map(|s| work.replayer.warp(sorted.warp(*s)).len()).collect();
        assert!(lengths.is_sorted_by(|a, b| a >= b), "{longest}: {lengths:?}");
        assert!(lengths.first() > lengths.last(), "{longest}");
    }
}

/// Every method, with tiles that fit and that do not, gives a permutation; no work leaves its tile; equal ones on one worker.
#[test]
fn every_swizzle_is_a_permutation() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for tile in [16, 0] {
        let order = Order { warp: [8, 4], tile, quadrants: [2, 3, 1, 4] };
        let made = Model { width: 52, height: 30, order, ..Model::SMALL }.trace(false);
        let launch = &made.events.launches[0];
        let work = Work::new(&made.events, launch);
        for method in METHODS {
            for tile in [[16, 16], [1, 1], [32, 8], [1000, 7]] {
                let options = Options { tile: Some(tile), seed: 3 };
                let s = swizzle(*method, &work, &options);
                s.check().unwrap();
                assert_eq!(one.install(|| swizzle(*method, &Work::new(&made.events, launch), &options)), s);
                if method.tile(&work, &options) == Some([16, 16]) {
                    for (a, b) in s.indices.iter().enumerate() {
                        let [x, y, _] = launch.pixel(a);
                        let [u, v, _] = launch.pixel(*b as usize);
                        assert_eq!((x / 16, y / 16), (u / 16, v / 16), "{}", method.name());
                    }
                }
            }
        }
    }
}

/// Ours beats the six, and spreads work no further than the tiled ones of the default tile.
#[test]
fn rounds_beats_the_six() {
    let order = Order::TILED;
    let made = Model { width: 256, height: 144, samples: 3, bounces: 12, side: 22, order, ..Model::SMALL }
        .trace(false);
    let work = Work::new(&made.events, &made.events.launches[0]);
    let of = |m: &dyn Method| {
        let (_, packing) = work.packing(m, &Options::DEFAULT);
        (work.replayer.efficiency(&packing).percent().unwrap(), spread(&work, &packing))
    };
    let all: Vec<(&str, (f64, f64))> = METHODS.iter().map(|m| (m.name(), of(*m))).collect();
    println!("{all:#?}");
    let (others, ours) = (&all[..6], all[6]);
    assert_eq!((ours.0, all.len()), ("rounds", 9));
    for (name, (efficiency, _)) in others {
        assert!(ours.1.0 > *efficiency, "{name}: {efficiency}, ours {}", ours.1.0);
    }
    let tiled =
        others.iter().filter(|m| m.0.starts_with("tiled")).map(|m| m.1.1).fold(f64::INFINITY, f64::min);
    assert!(ours.1.1 < tiled, "{} against {tiled}", ours.1.1);
}

#[test]
fn files_come_back_and_damage_is_found() {
    let swizzle = Swizzle {
        frame: 7,
        launch: 1,
        size: [3, 2, 1],
        method: "numrays".into(),
        seed: 5,
        indices: vec![3, 1, 2, 0, 5, 4],
    };
    let bytes = swizzle.bytes();
    assert_eq!(Swizzle::of_bytes(&bytes).unwrap(), swizzle);
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        assert!(Swizzle::of_bytes(&bad).is_err(), "byte {at}");
        assert!(Swizzle::of_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
    // Sound in its sum and no permutation all the same.
    for (indices, why) in
        [(vec![0, 1, 2, 3, 4, 4], "twice"), (vec![0, 1, 2, 3, 4, 9], "outside"), (vec![0], "1 indices")]
    {
        let wrong = Swizzle { indices, ..swizzle.clone() };
        assert!(Swizzle::of_bytes(&wrong.bytes()).unwrap_err().contains(why));
    }
    let npy = swizzle.npy();
    assert!(
        npy.starts_with(
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<u4', 'fortran_order': False, 'shape': (6,), }"
        )
    );
    assert_eq!((npy.len(), &npy[128..132]), (128 + 24, &[3u8, 0, 0, 0][..]));
    let two = super::npy("<f4", &[2, 3], [0u8; 24].into_iter());
    assert!(String::from_utf8_lossy(&two).contains("'shape': (2, 3), }"));
}

#[test]
fn the_report_is_printed_as_it_was() {
    let made = Model::SMALL.trace(true);
    let text = report_text::render(&QUESTION.answer(&made.memory()).unwrap());
    crate::report::printed::hold("rays/repack/printed.txt", &text);
}
