use super::fold::{BLOCK, CALLED, COUNTED, ENTER, LANE, LEAVE, ROOM};
use crate::Stage;
use crate::pass::LogRecord;
use crate::passes::by_name;
use crate::rewrite::{Site, Variant};
use crate::testing::{BRANCH, TRACE, entry, everywhere, frame, function_text, of_text, rows, variant};
use trace::Memory;
use trace::tables::DIVERGENCE;

#[test]
fn golden_assembly() {
    let Some(v) = of_text(by_name("divergence").expect("it is registered"), BRANCH) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
%3 = OpLoad %v3uint %gl_WorkGroupID
%4 = OpLoad %v3uint %gl_NumWorkGroups
%5 = OpLoad %uint %lane
OpFunctionCall %void %set_work_group %3 %4 %5 %uint_8
OpFunctionCall %void %set_first
OpFunctionCall %void %divergence_begin %uint_0 %uint_2 %uint_0 %false
%6 = OpLoad %uint %lane
%7 = OpULessThan %bool %6 %uint_4
OpSelectionMerge %8 None
OpBranchConditional %7 %9 %8
%9 = OpLabel
OpFunctionCall %void %divergence_once_known %uint_6
OpReturn
%8 = OpLabel
OpFunctionCall %void %divergence_meet
OpFunctionCall %void %divergence_once_known %uint_12
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
    assert_eq!((v.counters, v.probes), (18, 1));
}

#[test]
fn golden_assembly_of_a_trace() {
    let Some(v) = of_text(by_name("divergence").expect("it is registered"), TRACE) else { return };
    let text = function_text(&v.words, "main").unwrap_or_default();
    let calls: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("OpFunctionCall %void ")).collect();
    let expected = [
        "%set_work %3 %5",
        "%set_subgroup",
        "%set_first",
        "%divergence_land %uint_2 %uint_2",
        "%divergence_lane %uint_3",
        "%divergence_here %uint_1 %uint_2",
        "%divergence_land %uint_0 %uint_2",
    ];
    assert_eq!(calls, expected, "{text}");
}

#[test]
fn every_block_and_every_way_out_is_taken() {
    for v in everywhere(&|| by_name("divergence").expect("it is registered")) {
        let of = |kind| v.regions[0].sites.iter().filter(|s| s.kind == kind).count();
        let reached = v.facts.functions.iter().flat_map(|f| &f.blocks).filter(|b| b.reached).count();
        let (rays, launches) = (v.stage.is_ray_tracing(), v.stage == Stage::RayGeneration);
        assert_eq!((of(BLOCK), of(COUNTED)), if rays { (reached, 0) } else { (0, reached) });
        assert_eq!(of(ROOM), usize::from(!rays));
        assert_eq!((of(ENTER), of(CALLED)), (usize::from(launches), usize::from(rays && !launches)));
        assert_eq!(of(LANE), usize::from(launches));
        assert!(launches || of(LEAVE) == 0);
        assert!(rays == (v.counters == 0));
    }
}

/// A variant with one site of each kind; blocks 0 to 2.
fn sites(stage: Stage) -> Variant {
    let site = |kind, block| Site {
        function: 0,
        block,
        word_offset: 0,
        line: None,
        kind,
        counter: None,
        probe: None,
        each: None,
        data: vec![],
    };
    let all = vec![
        site(BLOCK, 0),
        site(BLOCK, 1),
        site(BLOCK, 2),
        site(ENTER, 0),
        site(CALLED, 0),
        site(LEAVE, 0),
        site(LANE, 0),
    ];
    variant(stage, all)
}

/// [`sites`]' index of a kind that is no block.
fn at(kind: u32) -> usize {
    kind as usize + 2
}

/// Rows by (entry's index, block): executions, active, early, indirect, not launched, control flow, helper, unattributed.
fn folded(variants: &[Variant], n: u32, log: &[(usize, usize, &[u32])]) -> Vec<Vec<u64>> {
    folded_of(variants, n, log, |_| 7)
}

/// The same with a pipeline for each entry point.
fn folded_of(
    variants: &[Variant],
    n: u32,
    log: &[(usize, usize, &[u32])],
    pipeline: impl Fn(usize) -> u64,
) -> Vec<Vec<u64>> {
    let entries = variants.iter().enumerate().map(|(i, v)| crate::EntryData {
        entry: i as u32,
        pipeline: pipeline(i),
        ..entry(v, &[])
    });
    let site = |e: usize, s: usize| &variants[e].regions[0].sites[s];
    let records =
        log.iter().map(|&(entry, s, words)| LogRecord { entry, site: site(entry, s), words }).collect();
    let data = frame(n, entries.collect(), records);
    let mut out = Memory::default();
    let pass = by_name("divergence:lanes=32").expect("it is registered");
    pass.decode(&data, &mut out).expect("they are records");
    let rows = rows(&out, &DIVERGENCE);
    for r in &rows {
        assert_eq!(r[4] * u64::from(n), r[5] + r[6] + r[7] + r[9..].iter().sum::<u64>(), "all slots: {r:?}");
    }
    rows.into_iter().map(|r| [&r[1..2], &r[3..]].concat()).collect()
}

/// N = 8, six launched. Block 0 by all; two leave; block 1 by three of the four that are left, block 2 by the other.
#[test]
fn early_returns_and_control_flow() {
    let v = [sites(Stage::RayGeneration)];
    let log: [(usize, usize, &[u32]); 5] = [
        (0, at(ENTER), &[5, 0x3f]),
        (0, 0, &[5, 0x3f]),
        (0, at(LEAVE), &[5, 0x03]),
        (0, 1, &[5, 0x1c]),
        (0, 2, &[5, 0x20]),
    ];
    let expected =
        [[0, 0, 1, 6, 0, 2, 2, 0, 0, 0], [0, 1, 1, 3, 2, 2, 2, 1, 0, 0], [0, 2, 1, 1, 2, 2, 2, 3, 0, 0]];
    assert_eq!(folded(&v, 8, &log), expected);
}

/// Rows of a fragment shader's block 1 with these counters, N = 4.
fn of_counters(counters: &[u64]) -> crate::Result<Vec<Vec<u64>>> {
    let mut v = sites(Stage::Fragment);
    v.regions[0].sites[1].kind = COUNTED;
    v.regions[0].sites[1].counter = Some(0);
    let mut out = Memory::default();
    let pass = by_name("divergence:lanes=32").expect("it is registered");
    pass.decode(&frame(4, vec![entry(&v, counters)], vec![]), &mut out)?;
    Ok(rows(&out, &DIVERGENCE))
}

/// Ten executions of four: in nine it is known who has left. What never was there is the rest.
#[test]
fn counters_say_what_slots_were() {
    let row = |r: Vec<Vec<u64>>| r.into_iter().map(|r| r[3..].to_vec()).collect::<Vec<_>>();
    let of = of_counters(&[10, 20, 3, 4, 1, 3, 9]);
    assert_eq!(of.map(row), Ok(vec![vec![1, 10, 20, 3, 3, 3, 4, 9, 1]]));
    assert_eq!(of_counters(&[0; 7]), Ok(vec![]), "it was not executed");
    for (counters, why) in [
        (&[10, 20, 3, 4, 1, 3, 13][..], "have more than all slots"),
        (&[1, 1, 0, 0, 1, 5, 0], "have more than all slots"),
        (&[1, 1, 0, 0, 0, 0], "are not there"),
    ] {
        let e = of_counters(counters).expect_err("they are wrong").to_string();
        assert!(e.contains(why), "{e}");
    }
}

/// N = 8, ray generation of pipeline 7 with work ids 40 to 47. Two leave; closest-hit is called for three of the others, of
/// which one goes another way in it; the lane that finds the ray generation is not the first.
#[test]
fn what_is_called_knows_who_has_left() {
    let v = [sites(Stage::RayGeneration), sites(Stage::ClosestHit)];
    let lanes: Vec<[u32; 2]> = (40..48).map(|work| [5, work]).collect();
    let mut log: Vec<(usize, usize, &[u32])> = vec![(0, at(ENTER), &[5, 0xff]), (0, 0, &[5, 0xff])];
    log.extend(lanes.iter().map(|l| (0, at(LANE), &l[..])));
    log.extend([
        (0, at(LEAVE), &[5, 0x03][..]),
        (1, at(CALLED), &[6, 0x1c, 42]),
        (1, 0, &[6, 0x1c]),
        (1, 1, &[6, 0x18]),
        (1, at(CALLED), &[8, 0x20, 99]),
        (1, 0, &[8, 0x20]),
    ]);
    let expected = [
        [0, 0, 1, 8, 0, 0, 0, 0, 0, 0],
        // Once with two gone and three not called; once by who is in no launch that is known.
        [1, 0, 2, 4, 2, 3, 0, 0, 0, 7],
        [1, 1, 1, 2, 2, 3, 0, 1, 0, 0],
    ];
    assert_eq!(folded(&v, 8, &log), expected);
}

/// Shaders of a library are of another pipeline than the ray generation that calls them.
#[test]
fn shaders_of_a_library_find_their_caller() {
    let v = [sites(Stage::RayGeneration), sites(Stage::Miss)];
    let log: [(usize, usize, &[u32]); 5] = [
        (0, at(ENTER), &[5, 0xff]),
        (0, at(LANE), &[5, 40]),
        (0, at(LEAVE), &[5, 0x0f]),
        (1, at(CALLED), &[6, 0x30, 40]),
        (1, 0, &[6, 0x30]),
    ];
    let of = |e: usize| if e == 0 { 7 } else { 8 };
    assert_eq!(folded_of(&v, 8, &log, of), [[1, 0, 1, 2, 4, 2, 0, 0, 0, 0]]);
}

/// A block before its entry waits; one whose entry never comes is unattributed; a number that comes again is another one.
#[test]
fn order_and_loss() {
    let v = [sites(Stage::RayGeneration)];
    let log: [(usize, usize, &[u32]); 7] = [
        (0, 0, &[5, 0x0f]),
        (0, at(ENTER), &[5, 0x0f]),
        (0, at(LEAVE), &[5, 0x0f]),
        (0, 1, &[9, 0x01]),
        (0, at(ENTER), &[5, 0x0f]),
        (0, 0, &[5, 0x0f]),
        (0, 1, &[5, 0x01]),
    ];
    let expected = [[0, 0, 2, 8, 0, 0, 0, 0, 0, 0], [0, 1, 2, 2, 0, 0, 0, 3, 0, 3]];
    assert_eq!(folded(&v, 4, &log), expected);
}
