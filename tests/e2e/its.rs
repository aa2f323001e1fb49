//! The report `its` on scenes whose entries and exits are plain arithmetic.

use crate::measured::measured;

#[test]
fn entries_and_exits_of_compute_shaders() {
    let Some(m) = measured("closed_compute", "its") else { return };
    let subgroups = m.frames * 256 / m.n;
    // One way out for all.
    for pipeline in ["half", "quarter", "one", "loops"] {
        let row = m.of("shaders", pipeline);
        assert_eq!((&row["entries"], &row["exits"]), (&subgroups.into(), &subgroups.into()), "{pipeline}");
        assert_eq!((&row["exits / entries"], &row["split %"]), (&1.0.into(), &0.0.into()), "{pipeline}");
    }
    // Three ways out, each taken by a part of every subgroup.
    let row = m.of("shaders", "returns");
    assert_eq!((&row["entries"], &row["exits"]), (&subgroups.into(), &(3 * subgroups).into()));
    assert_eq!((&row["exits / entries"], &row["split %"]), (&3.0.into(), &100.0.into()));
    let exits: Vec<u64> = m
        .table("exits")
        .iter()
        .filter(|e| e["pipeline"] == row["pipeline"])
        .map(|e| e["left"].as_u64().expect("a number"))
        .collect();
    // A half, a quarter from within the loop, and the rest.
    let all = m.frames * 256;
    assert_eq!(exits, [all / 2, all / 4, all / 4]);
}

/// Every invocation that enters an any-hit shader leaves it by one of its three ways.
#[test]
fn any_hit_shaders_leave_by_three_ways() {
    let Some(m) = measured("closed_rays", "its") else { return };
    let of = |kind: &str| -> u64 {
        let rows = m.table("exits");
        let ours = rows.iter().filter(|e| e["stage"] == "any-hit" && e["leaves by"] == kind);
        ours.map(|e| e["left"].as_u64().expect("a number")).sum()
    };
    // The plane's 16 rows: 64 first rays, and 32 second ones from even columns. Of every four columns the first ignores,
    // the second (which traces once) ends its ray.
    let second = 32 / 2;
    let per_row = [16 + second, 16, 64 + 32 - 16 - second - 16];
    let is = [of("ignore-intersection"), of("terminate-ray"), of("return")];
    assert_eq!(is, per_row.map(|n| n * 16 * m.frames));
}
