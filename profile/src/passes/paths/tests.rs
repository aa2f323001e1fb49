use super::{ENTRY, TRACE as TRACE_SITE};
use crate::pass::{FrameData, LogRecord};
use crate::passes::by_name;
use crate::testing::{
    BRANCH, TRACE, assembled, entry, everywhere, frame, function_text, of_text, rewritten, rows,
};
use trace::Memory;
use trace::tables::{PATH_CALLS, PATH_SUBGROUPS};

#[test]
fn golden_assembly() {
    let Some(v) = of_text(by_name("paths").expect("it is registered"), TRACE) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
%3 = OpLoad %v3uint %4
%5 = OpLoad %v3uint %6
OpFunctionCall %void %set_work %3 %5
OpFunctionCall %void %set_subgroup
OpFunctionCall %void %set_first
OpFunctionCall %void %paths_enter %uint_1 %uint_2
%7 = OpLoad %8 %world
OpFunctionCall %void %paths_trace %uint_0 %uint_2
OpTraceRayKHR %7 %uint_0 %uint_0 %uint_0 %uint_0 %uint_0 %9 %float_0 %9 %float_0 %hits
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
    assert_eq!((v.counters, v.probes), (0, 2));
}

#[test]
fn every_trace_call_is_taken_and_nothing_else() {
    let all = everywhere(&|| by_name("paths").expect("it is registered"));
    assert!(all.len() > 2, "{}", all.len());
    for v in all {
        let kinds: Vec<u32> = v.regions[0].sites.iter().map(|s| s.kind).collect();
        let (entry, calls) = kinds.split_last().expect("it has sites");
        assert!(*entry == ENTRY && !calls.is_empty() && calls.iter().all(|k| *k == TRACE_SITE));
    }
    let Some(module) = assembled(BRANCH, "vulkan1.2") else { return };
    let pass = by_name("paths").expect("it is registered");
    assert!(rewritten("no traces", &module, "vulkan1.3", &[pass], Default::default()).is_empty());
}

/// Two subgroups, and a third that has the first one's number in another window; calls of one that never entered.
#[test]
fn records_become_calls_by_subgroup() {
    let Some(v) = of_text(by_name("paths:lanes=32").expect("it is registered"), TRACE) else { return };
    let sites = &v.regions[0].sites;
    let (trace, enter) = (&sites[0], &sites[1]);
    let log: [(&_, &[u32]); 9] = [
        (enter, &[0, 16, 0xff]),
        (enter, &[1, 24, 0x0f]),
        (trace, &[1, 0x0e]),
        (trace, &[0, 0xff]),
        (trace, &[0, 0x03]),
        (trace, &[7, 0x01]),
        (enter, &[0, 32, 0xf0]),
        (trace, &[0, 0x80]),
        (trace, &[1, 0x02]),
    ];
    let records: Vec<_> = log.iter().map(|&(site, words)| LogRecord { entry: 0, site, words }).collect();
    let data = frame(32, vec![entry(&v, &[])], records);
    let mut out = Memory::default();
    let pass = by_name("paths:lanes=32").expect("it is registered");
    pass.decode(&data, &mut out).expect("they are records");
    let subgroups = [[2, 3, 0, 16, 0xff, 0], [2, 3, 1, 24, 0x0f, 0], [2, 3, 2, 32, 0xf0, 0]];
    assert_eq!(rows(&out, &PATH_SUBGROUPS), subgroups);
    let calls: Vec<_> = rows(&out, &PATH_CALLS).iter().map(|r| [r[2], r[3], r[7]]).collect();
    assert_eq!(calls, [[1, 0, 0x0e], [0, 0, 0xff], [0, 1, 0x03], [2, 0, 0x80], [1, 1, 0x02]]);
    let data = FrameData { subgroup_size: 64, ..data };
    let e = pass.decode(&data, &mut out);
    assert!(e.is_err_and(|e| e.to_string().contains("give lanes=64")));
}
