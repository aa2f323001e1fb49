use super::{KINDS, WORDS};
use crate::pass::{Error, FrameData, LogRecord};
use crate::passes::by_name;
use crate::rewrite::{Device, Variant, instrument};
use crate::testing::{BRANCH, entry, everywhere, frame, function_text, invalid, of_text, rows, scenes};
use crate::{Needs, ShaderHash, Stage};
use trace::tables::{NOWHERE, TIMELINE, TIMELINE_EXITS};
use trace::{Memory, Source};

#[test]
fn golden_assembly() {
    let Some(v) = of_text(by_name("timeline").expect("it is registered"), BRANCH) else { return };
    let text = function_text(&v.words, "main").expect("it is there");
    let calls: Vec<&str> = text.lines().filter(|l| l.contains("OpFunctionCall")).collect();
    // (the entry's work id and subgroup number come first)
    let timeline: Vec<&str> = calls.iter().copied().filter(|l| l.contains("timeline")).collect();
    assert_eq!(
        timeline,
        [
            "OpFunctionCall %void %timeline_begin %uint_2",
            "OpFunctionCall %void %timeline_end %uint_0",
            "OpFunctionCall %void %timeline_end %uint_1",
        ]
    );
    assert!(
        calls.iter().position(|l| l.contains("set_subgroup")) < calls.iter().position(|l| *l == timeline[0])
    );
    assert!(text.contains("OpFunctionCall %void %timeline_end %uint_0\nOpReturn\n"), "{text}");
}

#[test]
fn every_way_out_of_every_stage_has_its_probe() {
    for v in everywhere(&|| by_name("timeline").expect("it is registered")) {
        let sites = &v.regions[0].sites;
        assert_eq!(sites.iter().filter(|s| s.kind == 0).count(), 1, "one entry");
        assert!(sites.len() > 1 && sites.iter().all(|s| (s.kind as usize) < KINDS.len()));
        let mut probes: Vec<u32> = sites.iter().filter_map(|s| s.probe).map(|p| p.0).collect();
        assert!(sites.iter().all(|s| s.probe.is_some_and(|p| p.1 == WORDS)));
        probes.sort_unstable();
        assert!(probes.into_iter().eq(0..v.probes), "each its own");
    }
}

#[test]
fn both_clocks_and_the_multiprocessor_are_valid_in_every_scene() {
    let (mut with_sm, mut all) = (0, 0);
    for (path, module) in scenes() {
        for options in ["clock=subgroup", "sm=yes", "clock=subgroup+sm=yes"] {
            for (model, name, _) in crate::rewrite::entries(&module) {
                let pass = by_name(&format!("timeline:{options}")).expect("it has these");
                let hash = ShaderHash::of(&module);
                let v = instrument(&module, hash, model, &name, &[pass], Device::default());
                let v = v.expect("it goes well").expect("every stage has a timeline");
                assert_eq!(invalid(&v.words, "vulkan1.3"), None, "{} {options}", path.display());
                all += 1;
                with_sm += usize::from(
                    crate::testing::bytes(&v.words).windows(26).any(|w| w == b"SPV_NV_shader_sm_builtins\0"),
                );
            }
        }
    }
    assert_eq!(with_sm * 3, all * 2, "two of the three ask");
}

/// What is not asked for is as good as the device has it.
#[test]
fn the_best_of_the_device_is_taken() {
    let (_, module) = scenes().swap_remove(0);
    let (model, name, _) = crate::rewrite::entries(&module).swap_remove(0);
    for (own_clock, sm_builtins) in [(false, false), (true, false), (false, true), (true, true)] {
        let device = Device { own_clock, sm_builtins, ..Device::default() };
        let make = |what: &str| {
            let pass = by_name(what).expect("it has these");
            let v = instrument(&module, ShaderHash::of(&module), model, &name, &[pass], device);
            v.expect("it goes well").expect("every stage has a timeline")
        };
        let v = make("timeline");
        assert_eq!(invalid(&v.words, "vulkan1.3"), None);
        let own = if own_clock { "subgroup" } else { "device" };
        let sm = if sm_builtins { "yes" } else { "no" };
        assert_eq!(v, make(&format!("timeline:clock={own}+sm={sm}")));
        // The trace says whose clock it was.
        let words = [[0, 10, 0, 1, 2, 3], [0, 20, 0, 1, 2, 3]];
        let sites = &v.regions[0].sites;
        let (begin, end) = (sites.iter().find(|s| s.kind == 0), sites.iter().find(|s| s.kind != 0));
        let record = |site: Option<&'_ crate::rewrite::Site>, n: usize| LogRecord {
            entry: 0,
            site: sites.iter().find(|s| Some(*s) == site).expect("it is there"),
            words: &words[n],
        };
        let data = frame(8, vec![entry(&v, &[])], vec![record(begin, 0), record(end, 1)]);
        let mut out = Memory::default();
        by_name("timeline").expect("it is registered").decode(&data, &mut out).expect("these are records");
        let clocks = out.read(&TIMELINE).expect("memory is readable");
        assert!(clocks.len() == 1 && clocks.text("clock").iter().all(|c| &**c == own));
    }
}

#[test]
fn options_say_what_is_needed() {
    let of = |what: &str| by_name(what).map(|p| (p.needs(Stage::Compute), p.key()));
    let auto = Needs { subgroups: true, some_clock: true, sm_if_there: true, ..Needs::default() };
    assert_eq!(of("timeline"), Ok((Some(auto), "timeline 2 auto auto".into())));
    assert_eq!(of("timeline:clock=auto+sm=auto"), of("timeline"));
    let placed = Needs { sm_builtins: true, sm_if_there: false, ..auto };
    assert_eq!(of("timeline:sm=yes"), Ok((Some(placed), "timeline 2 auto sm".into())));
    let own = Needs { some_clock: false, own_clock: true, sm_if_there: false, ..auto };
    assert_eq!(of("timeline:clock=subgroup+sm=no"), Ok((Some(own), "timeline 2 subgroup nowhere".into())));
    let device = Needs { own_clock: false, clock: true, ..own };
    assert_eq!(of("timeline:sm=no+clock=device"), Ok((Some(device), "timeline 2 device nowhere".into())));
    let e = by_name("timeline:sm").err().expect("it has no such option");
    assert!(e.contains("\"sm\"") && e.contains("sm=auto|yes|no"), "{e}");
}

/// A record of this site of BRANCH's variant.
fn record<'a>(v: &'a Variant, site: usize, words: &'a [u32]) -> LogRecord<'a> {
    LogRecord { entry: 0, site: &v.regions[0].sites[site], words }
}

#[test]
fn records_become_spans() {
    let Some(v) = of_text(by_name("timeline").expect("it is registered"), BRANCH) else { return };
    let no = u32::MAX;
    // Sites 0 and 1 are exits, 2 is the entry. Subgroup 5 leaves in two pieces, 6 never, 7 came before the log began.
    // Then the number 5 is given again, in another window; its clock is past 32 bits.
    let words: [[u32; 6]; 8] = [
        [5, 100, 0, 8, no, no],
        [6, 105, 0, 8, no, no],
        [7, 110, 0, 1, no, no],
        [5, 130, 0, 4, no, no],
        [5, 120, 0, 4, no, no],
        [5, 10, 1, 8, 3, 9],
        [5, 30, 1, 8, 3, 9],
        [8, 40, 1, 2, 3, 9],
    ];
    let sites = [2, 2, 0, 1, 0, 2, 0, 2];
    let records: Vec<_> = sites.iter().zip(&words).map(|(&s, w)| record(&v, s, w)).collect();
    let data = frame(8, vec![entry(&v, &[])], records);
    let mut out = Memory::default();
    let pass = by_name("timeline").expect("it is registered");
    pass.decode(&data, &mut out).expect("these are records");
    let high = 1u64 << 32;
    assert_eq!(
        rows(&out, &TIMELINE),
        [
            [2, 3, 5, 100, 130, 8, 4, 2, NOWHERE, NOWHERE],
            [2, 3, 5, high + 10, high + 30, 8, 8, 1, 3, 9],
            [2, 3, 6, 105, 105, 8, 0, 0, NOWHERE, NOWHERE],
            [2, 3, 8, high + 40, high + 40, 2, 0, 0, 3, 9],
        ]
    );
    let exits: Vec<Vec<u64>> = rows(&out, &TIMELINE_EXITS).into_iter().map(|r| r[..7].to_vec()).collect();
    assert_eq!(
        exits,
        [
            [2, 3, 7, 110, 1, 0, 1],
            [2, 3, 5, 130, 4, 0, 2],
            [2, 3, 5, 120, 4, 0, 1],
            [2, 3, 5, high + 30, 8, 0, 1],
        ]
    );
    let exits = out.read(&TIMELINE_EXITS).expect("memory is readable");
    assert!(exits.text("how").iter().all(|h| &**h == "return"));
    let short = FrameData { records: vec![record(&v, 0, &words[0][..5])], ..data };
    let why = "5 words are no record of pass timeline".to_owned();
    assert_eq!(pass.decode(&short, &mut out), Err(Error::Record { word_offset: 0, why }));
}

#[test]
fn a_clock_of_32_bits_goes_on_where_it_begins_anew() {
    let Some(v) = of_text(by_name("timeline").expect("it is registered"), BRANCH) else { return };
    let no = u32::MAX;
    let times = |high: u32| -> Vec<Vec<u64>> {
        let words: [[u32; 6]; 4] = [
            [0, u32::MAX - 9, 0, 8, no, no],
            [0, 20, high, 8, no, no],
            [1, u32::MAX - 4, 0, 8, no, no],
            [1, u32::MAX - 2, 0, 8, no, no],
        ];
        let records: Vec<_> = [2, 0, 2, 0].iter().zip(&words).map(|(&s, w)| record(&v, s, w)).collect();
        let mut out = Memory::default();
        let pass = by_name("timeline").expect("it is registered");
        pass.decode(&frame(8, vec![entry(&v, &[])], records), &mut out).expect("these are records");
        rows(&out, &TIMELINE).into_iter().map(|r| r[3..5].to_vec()).collect()
    };
    let round = 1u64 << 32;
    let expected = [[round - 10, round + 20], [round - 5, round - 3]];
    assert_eq!(times(0), expected, "the upper word is not there");
    assert_eq!(times(1), expected, "it is there");
}
