//! The rewrite on every module there is and on an assembly; records become rows.

use super::Rays;
use super::fields::{ENTER, Field, Layout};
use crate::pass::{At, FrameData, Launch, LogRecord};
use crate::rewrite::{Device, Site};
use crate::testing::{
    TRACE, entry, everywhere, frame, function_text, glsl, of_text, rewritten, rows, variant,
};
use crate::{Pass as _, Stage};
use trace::tables::{NOT_KNOWN, RAY_LAUNCHES, RAYS, RayEvent, WARPS};
use trace::{Memory, Source};

fn make(options: &str) -> Box<dyn crate::Pass> {
    Box::new(Rays::new(&crate::passes::options(options)).expect("it knows them"))
}

#[test]
fn golden_assembly() {
    let Some(v) = of_text(make("lanes=32"), TRACE) else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/passes/rays/after.spvasm");
    let text = function_text(&v.words, "main").expect("it has one");
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default(), "{text}");
    // What is constant is not recorded: of nine operands none is left but what is a composite.
    let layout = Layout::of(&v.regions[0].sites[0].data).expect("it has one");
    assert_eq!((layout.lanes, layout.each(), layout.constants.len()), (1, 1, 13));
}

#[test]
fn options_are_known() {
    assert!(
        Rays::new(&crate::passes::options("lanes=128:sm=no:clock=subgroup")).is_ok()
            && Rays::new(&crate::passes::options("")).is_ok()
    );
    for wrong in ["lanes=48", "sm=maybe", "clock"] {
        assert!(Rays::new(&crate::passes::options(wrong)).is_err_and(|e| e.contains("pass rays")), "{wrong}");
    }
    assert_ne!(make("clock=auto").key(), make("").key());
}

#[test]
fn every_module_is_rewritten_validly() {
    for options in
        ["", "clock=device:sm=yes:lanes=128", "clock=subgroup:sm=no", "sm=yes:lanes=32+probe-triangles"]
    {
        let all = everywhere(&|| make(options));
        assert!(all.is_empty() || all.len() > 25, "{}", all.len());
        for v in all {
            let kinds: Vec<u32> = v.regions[0].sites.iter().map(|s| s.kind).collect();
            let has = |k: RayEvent| kinds.contains(&(k as u32));
            let entered = match v.stage {
                Stage::RayGeneration => kinds.contains(&ENTER),
                Stage::Intersection => has(RayEvent::Intersection),
                Stage::AnyHit => has(RayEvent::AnyHit),
                Stage::Miss => has(RayEvent::Miss),
                Stage::ClosestHit => has(RayEvent::ClosestHit),
                Stage::Callable => has(RayEvent::Callable),
                _ => true,
            };
            assert!(entered, "{:?}: {kinds:?}", v.stage);
            let count = |k: RayEvent| kinds.iter().filter(|n| **n == k as u32).count();
            assert_eq!(count(RayEvent::Begin), count(RayEvent::End), "{:?}: {kinds:?}", v.stage);
        }
    }
}

/// Where subgroup operations hang any-hit shaders, these have none, nor have intersection shaders.
#[test]
fn shaders_amid_a_traversal_ask_no_subgroup_where_that_hangs() {
    let any_hit = "#version 460
        #extension GL_EXT_ray_tracing : require
        layout(location = 0) rayPayloadInEXT uint seen;
        void main() { seen++; if (seen > 3u) ignoreIntersectionEXT; }";
    let intersection = "#version 460
        #extension GL_EXT_ray_tracing : require
        void main() { if (gl_RayTminEXT > 0.1) reportIntersectionEXT(1.0, 0u); }";
    let of = [("rahit", any_hit), ("rint", intersection)];
    for ((stage, source), lone_any_hits) in of.into_iter().flat_map(|of| [(of, false), (of, true)]) {
        let Some(m) = glsl(stage, source, &["--target-env", "vulkan1.2"]) else { return };
        let device = Device { lone_any_hits, subgroup_size: 32, ..Device::default() };
        let v = rewritten(source, &m, "vulkan1.2", &[make("")], device).pop().expect("it has events");
        let m = crate::spirv::Module::read(&v.words).expect("it is a module");
        let asks = |i: &crate::spirv::Inst| {
            let op = format!("{:?}", i.op());
            op.starts_with("GroupNonUniform")
        };
        let reached = m.reachable(v.facts.functions[0].id);
        let any = reached.iter().any(|f| m.functions[*f].insts().any(asks));
        assert_eq!(any, !lone_any_hits);
        let layout = Layout::of(&v.regions[0].sites[0].data).expect("it has one");
        assert_eq!((layout.alone, layout.lanes), (lone_any_hits, 1));
    }
}

fn site(kind: u32, probe: u32, layout: &Layout) -> Site {
    Site {
        function: 0,
        block: 0,
        word_offset: if kind == RayEvent::Begin as u32 { 77 } else { 0 },
        line: None,
        kind,
        counter: None,
        probe: Some((probe, layout.head())),
        each: Some((layout.lanes, layout.each())),
        data: layout.data(),
    }
}

fn launch(action: u32, group: Option<u32>) -> Launch {
    Launch {
        action,
        command: u64::from(action) - 1,
        pipeline: 7,
        hit_groups: 2,
        no_any_hit: 1,
        missing: "intersections with triangles of group 4".into(),
        entries: vec![(3, group)],
        ..Launch::default()
    }
}

/// A launch, another that is executed twice, one of them in two windows; a call that skips closest hits for some.
#[test]
fn records_become_rows() {
    let enter = Layout { lanes: 1, more: 8, ..Layout::default() };
    let begin = Layout {
        lanes: 1,
        words: vec![(Field::T as u8, None), (Field::Flags as u8, None)],
        ..Layout::default()
    };
    let hit = Layout {
        lanes: 1,
        sm: true,
        words: vec![(Field::Instance as u8, Some(Field::FlagsLow as u8))],
        ..Layout::default()
    };
    let v = variant(
        Stage::RayGeneration,
        vec![
            site(ENTER, 0, &enter),
            site(RayEvent::Begin as u32, 1, &begin),
            site(RayEvent::ClosestHit as u32, 2, &hit),
        ],
    );
    let sites = &v.regions[0].sites;
    let size = [4, 2, 1, 0, 0, 0];
    let entered = |mask: u32, action: u32, start: u32, works: &[u32]| {
        [&[mask, action, start][..], &size, works].concat()
    };
    let one = 1f32.to_bits();
    let log: Vec<(u32, usize, Vec<u32>)> = vec![
        (0, 0, entered(0b11, 5, 0, &[0, 1])),
        (0, 0, entered(0b101, 5, 0, &[4, 6])),
        (0, 1, vec![0b101, 4, one, 8, 6, one, 0]),
        (0, 2, vec![0b10, 3 << 16 | 9, 6, 5 | 1 << 24]),
        (0, 0, entered(0b1, 9, 40, &[2])),
        (0, 1, vec![0b1, 2, one, 0]),
        (0, 0, entered(0b1, 9, 60, &[2])),
        (0, 1, vec![0b1, 2, one, 0]),
        // The next window: the log begins anew.
        (1, 0, entered(0b1, 5, 0, &[7])),
        (1, 1, vec![0b1, 7, one, 0]),
        (1, 0, entered(0b1, 9, 20, &[3])),
        (1, 0, entered(0b1, 9, 30, &[3])),
        (1, 1, vec![0b1, 3, one, 0]),
    ];
    let each = |f: &mut crate::EachRecord<'_>| {
        log.iter().try_for_each(|(part, s, words)| {
            f(At { part: *part, word: 0 }, LogRecord { entry: 0, site: &sites[*s], words })
        })
    };
    let launches = [launch(5, Some(2)), launch(9, None), launch(9, Some(1))];
    let data = FrameData { log: Some(&each), launches: &launches, ..frame(8, vec![entry(&v, &[])], vec![]) };
    let mut out = Memory::default();
    Rays::default().decode(&data, &mut out).expect("it is readable");
    let rays: Vec<Vec<u64>> =
        rows(&out, &RAYS).into_iter().map(|r| [&r[..8], &r[8..9], &r[13..14], &r[18..]].concat()).collect();
    let n = NOT_KNOWN;
    let begin = |launch, work, subgroup, lane, kind, flags, group| {
        vec![2, launch, work, subgroup, lane, kind, 3, 77, flags, n, group, 0, n, n]
    };
    let expected = [
        begin(0, 4, 1, 0, 1, 8, 2),
        begin(0, 6, 1, 2, 0, 0, 2),
        vec![2, 0, 6, 1, 2, 8, 3, 0, 1, 5, 2, 0, 3, 9],
        begin(1, 2, 0, 0, 0, 0, n),
        begin(2, 2, 0, 0, 0, 0, 1),
        begin(0, 7, 2, 0, 0, 0, 2),
        begin(2, 3, 1, 0, 0, 0, 1),
    ];
    assert_eq!(rays, expected);
    let t = out.read(&RAYS).expect("it is in memory");
    assert_eq!(t.f64("t"), [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    let warps: Vec<Vec<u64>> = rows(&out, &WARPS).into_iter().map(|r| r[1..].to_vec()).collect();
    // Of a call that both trace, two events: those whose flags skip closest hits begin occlusion.
    let expected = [
        [0, 1, 0, 3, 77, 0b100, 0, 0, n, n],
        [0, 1, 1, 3, 77, 0b1, 0, 0, n, n],
        [0, 1, 8, 3, 0, 0b10, 0, 0, 3, 9],
        [1, 0, 0, 3, 77, 0b1, 0, 0, n, n],
        [2, 0, 0, 3, 77, 0b1, 0, 0, n, n],
        [0, 2, 0, 3, 77, 0b1, 0, 0, n, n],
        [2, 1, 0, 3, 77, 0b1, 0, 0, n, n],
    ];
    assert_eq!(warps, expected);
    assert_eq!(
        rows(&out, &RAY_LAUNCHES),
        [[2, 0, 7, 4, 4, 2, 1, 2, 0, 1], [2, 1, 7, 8, 4, 2, 1, 2, 0, 1], [2, 2, 7, 8, 4, 2, 1, 2, 0, 1]]
    );
    // Events of what never began, and launches that nobody submitted.
    for (s, words, why) in [
        (1, vec![0b1, 2, one, 0], "before any ray generation shader"),
        (0, entered(1, 6, 0, &[0]), "which the frame did not submit"),
        (0, entered(1, 5, 0, &[8]), "invocation 8 of a launch of [4, 2, 1]"),
    ] {
        let each = |f: &mut crate::EachRecord<'_>| {
            f(At::default(), LogRecord { entry: 0, site: &sites[s], words: &words })
        };
        let data =
            FrameData { log: Some(&each), launches: &launches, ..frame(8, vec![entry(&v, &[])], vec![]) };
        let wrong = Rays::default().decode(&data, &mut Memory::default()).expect_err("it is wrong");
        assert!(wrong.to_string().contains(why), "{wrong}");
    }
}
