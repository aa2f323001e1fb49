//! The report `lifetimes` on a scene whose lifetimes are plain arithmetic.

use crate::measured::measured;

#[test]
fn lifetimes_of_compute_shaders() {
    let Some(m) = measured("closed_compute", "lifetimes") else { return };
    let of = |pipeline: &str, of: &str| {
        let id = m.of("balance", pipeline)["pipeline"].clone();
        let rows = m.table("shaders").into_iter().filter(|r| r["pipeline"] == id && r["of"] == of);
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows.len(), 1, "{pipeline}");
        ["lived", "mean", "min", "max"]
            .map(|c| rows[0][c].as_f64().unwrap_or_else(|| panic!("{c}: {rows:?}")))
    };
    let (all, subgroups) = ((m.frames * 256) as f64, (m.frames * 256 / m.n) as f64);
    // An invocation goes one of two ways, its subgroup both.
    assert_eq!(of("half", "invocation"), [all, 3.0, 3.0, 3.0]);
    assert_eq!(of("half", "subgroup"), [subgroups, 4.0, 4.0, 4.0]);
    assert_eq!(m.of("balance", "half")["balance"], 0.75);
    // Two blocks, or three for every fourth; the subgroup always three.
    assert_eq!(of("quarter", "invocation"), [all, 2.25, 2.0, 3.0]);
    assert_eq!(of("quarter", "subgroup"), [subgroups, 3.0, 3.0, 3.0]);
    // Half leave after blocks 0 and 1. The others go round: two trips of 6 blocks (header, test, 5, 7, 9, 10), a third with block
    // 6 as well; in that a quarter leaves from block 8, after 2 + 6 + 6 + 6. The rest ends it with 7, makes one more of 6, and
    // comes by header, test and 11: 2 + 6 + 6 + 7 + 6 + 3. Their subgroup comes by all of these, and by 1 and 8.
    let [_, mean, min, max] = of("returns", "invocation");
    assert_eq!((min, max), (2.0, 30.0));
    assert!((mean - (2.0 / 2.0 + 20.0 / 4.0 + 30.0 / 4.0)).abs() < 1e-9, "{mean}");
    // Parts of subgroups are put together from the log.
    assert_eq!(of("returns", "subgroup"), [subgroups, 32.0, 32.0, 32.0]);
    assert!(m.notes().is_empty(), "{:?}", m.notes());
}
