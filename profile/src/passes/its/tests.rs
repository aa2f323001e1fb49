use crate::Error;
use crate::pass::FrameData;
use crate::passes::by_name;
use crate::rewrite::{Site, Variant};
use crate::testing::{BRANCH, entry, everywhere, frame, function_text, of_text, rows};
use trace::tables::ITS;
use trace::{Memory, Source};

#[test]
fn golden_assembly() {
    let Some(v) = of_text(by_name("its").expect("it is registered"), BRANCH) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
OpFunctionCall %void %its_enter %uint_6
%3 = OpLoad %uint %lane
%4 = OpULessThan %bool %3 %uint_4
OpSelectionMerge %5 None
OpBranchConditional %4 %6 %5
%6 = OpLabel
OpFunctionCall %void %its_exit %uint_0
OpReturn
%5 = OpLabel
OpFunctionCall %void %its_exit %uint_3
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
}

fn kinds(v: &Variant) -> Vec<u32> {
    let mut kinds: Vec<u32> = v.regions[0].sites.iter().map(|s: &Site| s.kind).collect();
    kinds.sort_unstable();
    kinds
}

#[test]
fn every_way_out_of_every_stage_is_there() {
    let all = everywhere(&|| by_name("its").expect("it is registered"));
    assert!(all.iter().all(|v| kinds(v)[..2] != [0, 0] && kinds(v)[0] == 0), "one entry, then exits");
    let mut seen: Vec<u32> = all.iter().flat_map(kinds).collect();
    seen.sort_unstable();
    seen.dedup();
    // Nothing where the compiler is absent; then the scenes' are the only ones.
    assert!(seen == [0, 1, 2, 3, 4, 5] || seen.starts_with(&[0, 1]), "{seen:?}");
}

#[test]
fn counters_become_records() {
    let Some(v) = of_text(by_name("its").expect("it is registered"), BRANCH) else { return };
    let counters = [3, 12, 1, 4, 20, 2, 5, 32, 0];
    let data = frame(8, vec![entry(&v, &counters)], vec![]);
    let mut out = Memory::default();
    let pass = by_name("its").expect("it is registered");
    pass.decode(&data, &mut out).expect("the counters are there");
    let of: Vec<Vec<u64>> = rows(&out, &ITS).into_iter().map(|r| [&r[..4], &r[5..]].concat()).collect();
    assert_eq!(of, [[2, 3, 0, 1, 3, 12, 1], [2, 3, 0, 2, 4, 20, 2], [2, 3, 0, 0, 5, 32, 5]]);
    let names = out.read(&ITS).expect("memory is readable");
    assert_eq!(names.text("kind").iter().map(|k| &**k).collect::<Vec<_>>(), ["return", "return", "entry"]);
    let data = FrameData { entries: vec![entry(&v, &counters[..7])], ..data };
    let why = "the counters of block 0 are not there".to_owned();
    assert_eq!(pass.decode(&data, &mut out), Err(Error::Record { word_offset: 6, why }));
}
