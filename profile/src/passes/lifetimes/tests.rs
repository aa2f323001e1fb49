use super::{BUCKETS, COUNTERS, bounds, bucket};
use crate::pass::{FrameData, LogRecord};
use crate::passes::by_name;
use crate::testing::{BRANCH, entry, everywhere, frame, function_text, of_text, rows};
use trace::tables::{LIFETIME_SUMS, LIFETIMES};
use trace::{Memory, Source};

#[test]
fn golden_assembly() {
    let Some(v) = of_text(by_name("lifetimes").expect("it is registered"), BRANCH) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
%3 = OpLoad %v3uint %gl_WorkGroupID
%4 = OpLoad %v3uint %gl_NumWorkGroups
%5 = OpLoad %uint %lane
OpFunctionCall %void %set_work_group %3 %4 %5 %uint_8
OpFunctionCall %void %set_subgroup
OpFunctionCall %void %set_first
OpFunctionCall %void %lifetimes_enter
OpFunctionCall %void %lifetimes_block
%6 = OpLoad %uint %lane
%7 = OpULessThan %bool %6 %uint_4
OpSelectionMerge %8 None
OpBranchConditional %7 %9 %8
%9 = OpLabel
OpFunctionCall %void %lifetimes_block
OpFunctionCall %void %lifetimes_exit %uint_0 %uint_0
OpReturn
%8 = OpLabel
OpFunctionCall %void %lifetimes_block
OpFunctionCall %void %lifetimes_exit %uint_0 %uint_0
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
    assert_eq!((v.counters, v.probes), (COUNTERS, 1));
}

#[test]
fn every_stage_is_taken() {
    let all = everywhere(&|| by_name("lifetimes").expect("it is registered"));
    assert!(all.iter().all(|v| v.counters == COUNTERS && v.regions[0].sites.len() == 1));
    assert!(all.len() > 25, "{}", all.len());
}

#[test]
fn buckets_hold_what_falls_into_them() {
    for n in (0..2000).chain([4095, 4096, 1 << 20, u32::MAX - 1, u32::MAX]) {
        let (low, high) = bounds(bucket(n));
        assert!((low..=high).contains(&n.into()), "{n}: {low} to {high}");
        assert!(n >= 256 || low == high);
    }
    assert_eq!(bucket(u32::MAX), BUCKETS - 1);
}

/// One subgroup of 8 left whole after 5 blocks; another in three parts, of which the first and the last counted; of a third
/// only a part is there.
#[test]
fn parts_of_subgroups_are_put_together() {
    let Some(v) = of_text(by_name("lifetimes").expect("it is registered"), BRANCH) else { return };
    let mut counters = vec![0; COUNTERS as usize];
    counters[5] = 8;
    counters[bucket(300)] = 9;
    counters[BUCKETS] = 8 * 5 + 9 * 300;
    counters[BUCKETS + 1 + 5] = 1;
    counters[2 * BUCKETS + 1] = 5;
    let site = &v.regions[0].sites[0];
    let words = [[4, 8, 3, 290], [9, 8, 4, 7], [4, 8, 4, 0], [4, 8, 1, 10]];
    let records: Vec<_> = words.iter().map(|words| LogRecord { entry: 0, site, words }).collect();
    let data = frame(8, vec![entry(&v, &counters)], records);
    let mut out = Memory::default();
    by_name("lifetimes").expect("it is registered").decode(&data, &mut out).expect("they are records");
    let expected = [[2, 3, 5, 5, 8], [2, 3, 256, 511, 9], [2, 3, 5, 5, 1], [2, 3, 256, 511, 1]];
    assert_eq!(rows(&out, &LIFETIMES), expected);
    assert_eq!(rows(&out, &LIFETIME_SUMS), [[2, 3, 17, 2740, 0], [2, 3, 2, 305, 1]]);
    let of = out.read(&LIFETIMES).expect("memory is readable");
    let of: Vec<&str> = of.text("of").iter().map(|o| &**o).collect();
    assert_eq!(of, ["invocation", "invocation", "subgroup", "subgroup"]);
    let short = FrameData { records: vec![LogRecord { entry: 0, site, words: &[4, 8, 3] }], ..data };
    let e = by_name("lifetimes").expect("it is registered").decode(&short, &mut out);
    assert!(e.is_err_and(|e| e.to_string().contains("3 words is too short")));
}
