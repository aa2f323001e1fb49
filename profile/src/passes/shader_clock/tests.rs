use super::*;
use crate::ShaderHash;
use crate::pass::{Launch, LogRecord};
use crate::passes::by_name;
use crate::rewrite::{Device, Variant, instrument};
use crate::testing::{TRACE, entry, everywhere, frame, function_text, invalid, of_text, rows, scenes};
use trace::{Memory, Source};

fn pass(options: &str) -> Box<dyn Pass> {
    by_name(&format!("shader-clock:{options}")).expect("it has these")
}

/// The clock is read behind everything else at the entry, and nothing stands between it and the application's own work.
#[test]
fn golden_assembly() {
    let Some(v) = of_text(pass("sm=yes"), TRACE) else { return };
    let text = function_text(&v.words, "main").expect("it is there");
    let calls: Vec<&str> = text.lines().filter(|l| l.contains("clock") || l.contains("OpTraceRay")).collect();
    assert_eq!(calls.len(), 3, "{text}");
    assert!(calls[0].starts_with("OpFunctionCall %void %clock_begin %"), "{text}");
    assert!(calls[1].starts_with("OpTraceRayKHR"), "{text}");
    assert_eq!(calls[2], "OpFunctionCall %void %clock_end %uint_0");
    assert!(text.contains("%clock_end %uint_0\nOpReturn\n"), "{text}");
}

#[test]
fn ray_generation_shaders_alone_have_it_and_every_way_out_its_probe() {
    let all = everywhere(&|| pass(""));
    assert!(!all.is_empty());
    for v in all {
        assert_eq!(v.stage, Stage::RayGeneration);
        let mut probes: Vec<u32> = v.regions[0].sites.iter().filter_map(|s| s.probe).map(|p| p.0).collect();
        assert!(v.regions[0].sites.iter().all(|s| s.probe.is_some_and(|p| p.1 == WORDS)));
        probes.sort_unstable();
        assert!(v.probes > 0 && probes.into_iter().eq(0..v.probes), "each its own");
    }
}

#[test]
fn both_clocks_and_the_multiprocessor_are_valid_in_every_scene_with_reordering_too() {
    let mut all = 0;
    for (path, module) in scenes() {
        for options in ["clock=subgroup", "sm=yes", "clock=subgroup+sm=yes"] {
            for (model, name, _) in crate::rewrite::entries(&module) {
                for with in [&[][..], &["ser"], &["ser:reorder=no"]] {
                    let others = with.iter().map(|w| by_name(w).expect("it is there"));
                    let passes: Vec<_> = [pass(options)].into_iter().chain(others).collect();
                    let hash = ShaderHash::of(&module);
                    let v = instrument(&module, hash, model, &name, &passes, Device::default())
                        .expect("it goes well");
                    let Some(v) = v else { continue };
                    assert_eq!(invalid(&v.words, "vulkan1.3"), None, "{} {options} {with:?}", path.display());
                    all += 1;
                }
            }
        }
    }
    assert!(all > 8, "{all}");
}

#[test]
fn options_say_what_is_needed() {
    let of = |what: &str| by_name(what).map(|p| p.needs(Stage::RayGeneration));
    let auto = Needs { launches: true, some_clock: true, sm_if_there: true, ..Needs::default() };
    assert_eq!(of("shader-clock"), Ok(Some(auto)));
    let own = Needs { some_clock: false, own_clock: true, sm_if_there: false, ..auto };
    assert_eq!(of("shader-clock:clock=subgroup+sm=no"), Ok(Some(own)));
    let placed = Needs { own_clock: false, clock: true, sm_builtins: true, ..own };
    assert_eq!(of("shader-clock:sm=yes+clock=device"), Ok(Some(placed)));
    assert_eq!(pass("").needs(Stage::Miss), None);
    assert!(by_name("shader-clock:sm").err().expect("no such option").contains("\"sm\""));
}

fn record<'a>(v: &'a Variant, words: &'a [u32]) -> LogRecord<'a> {
    LogRecord { entry: 0, site: &v.regions[0].sites[0], words }
}

#[test]
fn records_become_rows_of_their_launches() {
    let Some(v) = of_text(pass(""), TRACE) else { return };
    let no = u32::MAX;
    // Two launches of one command; the second's clock is past 32 bits on its way, or begins anew, or is another's.
    let words = [
        [9, 0, 4, 2, 1, 5, 100, 0, 130, 0, 3 << 16 | 7, 4 << 16 | 1],
        [9, 13, 4, 2, 1, 7, no, 1, 10, 2, no, no],
        [9, 13, 4, 2, 1, 6, no, 0, 9, 0, no, no],
        [9, 0, 4, 2, 1, 1, 100, 0, 90, 0, 0, 0],
    ];
    let launches: Vec<Launch> = [4, 9, 9].map(|action| Launch { action, ..Launch::default() }).into();
    let data = |records| FrameData { launches: &launches, ..frame(8, vec![entry(&v, &[])], records) };
    let mut out = Memory::default();
    let all = words.iter().map(|w| record(&v, w)).collect();
    pass("").decode(&data(all), &mut out).expect("these are records");
    let high = 1u64 << 32;
    assert_eq!(
        rows(&out, &SHADER_CLOCK),
        [
            [2, 1, 3, 4, 2, 1, 5, 100, 130, 3, 7, 4, 1],
            [2, 2, 3, 4, 2, 1, 7, 2 * high - 1, 2 * high + 10, NOWHERE, NOWHERE, NOWHERE, NOWHERE],
            [2, 2, 3, 4, 2, 1, 6, high - 1, high + 9, NOWHERE, NOWHERE, NOWHERE, NOWHERE],
            [2, 1, 3, 4, 2, 1, 1, 100, 100, 0, 0, 0, 0],
        ]
    );
    assert!(
        out.read(&SHADER_CLOCK).expect("memory is readable").text("clock").iter().all(|c| &**c == "device")
    );
    let unknown = [&[8], &words[0][1..]].concat();
    for (words, expected) in [
        (&words[0][..5], "5 words are no record of pass shader-clock"),
        (&unknown, "launch 0 of action 8, which the frame did not submit"),
    ] {
        let done = pass("").decode(&data(vec![record(&v, words)]), &mut out);
        assert_eq!(done, Err(Error::Record { word_offset: 0, why: expected.into() }));
    }
}
