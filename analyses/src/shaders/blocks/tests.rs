//! Traces of known numbers: the report, profiles as files, and LLVM's tools as a judge.

use super::profile::{Profile, Record};
use super::*;
use crate::context::sample;
use crate::report::Unit;
use std::process::Command;
use trace::Memory;
use trace::Source;
use trace::Value::{Text, U64};

/// Two frames of the sample's shaders. In the second the compute shader does not run.
fn trace(sample: u64) -> Memory {
    let mut m = sample::trace();
    m.put(&trace::tables::FRAMES, &[2, 8, 4, 2, 0, 0].map(U64));
    for frame in [1, 2] {
        for pass in ["blocks", "other"] {
            let run = [Text(pass), U64(frame), Text("invocations"), Text("atomic"), U64(sample)];
            let run = run.into_iter().chain([Text("knuth"), Text("exit"), U64(1)]);
            m.put(&BLOCK_RUNS, &run.collect::<Vec<_>>());
        }
    }
    for of in [
        [1, 0, 0, 0, 100],
        [1, 0, 1, 0, 100],
        [1, 1, 0, 0, 10],
        [2, 0, 0, 0, 60],
        [2, 0, 1, 0, 60],
        [2, 1, 0, 0, 0],
    ] {
        let [frame, entry, function, block, n] = of.map(U64);
        m.put(&BLOCK_COUNTS, &[Text("blocks"), frame, entry, function, block, n]);
        m.put(&BLOCK_COUNTS, &[Text("other"), frame, entry, function, block, U64(7)]);
    }
    m
}

fn cell<'a>(t: &'a Table, row: usize, name: &str, unit: Unit) -> &'a Cell {
    let at = t.columns.iter().position(|c| c.name == name && c.unit == unit);
    &t.rows[row][at.unwrap_or_else(|| panic!("{name} of {}", t.name))]
}

#[test]
fn every_number_of_a_known_trace() {
    let r = QUESTION.answer(&trace(1)).unwrap();
    // 160 times 10 of 160 times 13 and 10 times 20; 4 of 17 and 20.
    assert_eq!(
        r.headlines,
        [
            "The hottest block, with 70.18 % of all executed instructions, is fragment main (sky.frag, 1f2e3d4c), block 0 (%5).",
            "Never executed: 1 of 4 blocks of shaders that ran, 10.81 % of their instructions; the largest is fragment main (sky.frag, 1f2e3d4c), \
             function shade, block 1 (%45), sky.frag:17."
        ]
    );
    for t in &r.tables {
        assert!(t.rows.iter().all(|row| row.len() == t.columns.len()), "{}", t.name);
    }
    let shaders = &r.tables[0];
    let of = |row, name, unit| cell(shaders, row, name, unit).clone();
    // main's one block of 10, shade's of 3; the loop of 4 never ran.
    assert_eq!(of(0, "entries", Unit::Executions), Cell::Count(160));
    assert_eq!(of(0, "blocks", Unit::Count), Cell::Count(3));
    assert_eq!(of(0, "unused", Unit::Count), Cell::Count(1));
    assert_eq!(of(0, "nearly unused", Unit::Count), Cell::Count(1));
    assert_eq!(of(0, "size", Unit::Instructions), Cell::Count(17));
    assert_eq!(of(0, "unused", Unit::Instructions), Cell::Count(4));
    assert_eq!(of(0, "unused", Unit::Percent), Cell::Number(100.0 * 4.0 / 17.0));
    assert_eq!(of(0, "executed", Unit::Instructions), Cell::Count(160 * 13));
    assert_eq!(of(1, "entries", Unit::Executions), Cell::Count(10));
    // 330 executions: the two of 160 are 97 %, so that the third belongs to the hot ones too.
    assert_eq!((of(0, "hot", Unit::Count), of(1, "hot", Unit::Count)), (Cell::Count(2), Cell::Count(1)));
    let unused = &r.tables[1];
    assert_eq!(unused.rows.len(), 1);
    assert_eq!(cell(unused, 0, "source", Unit::Text), &"sky.frag:17".into());
    let hottest = &r.tables[2];
    assert_eq!(hottest.rows.len(), 3);
    assert_eq!(cell(hottest, 0, "of all", Unit::Percent), &Cell::Number(100.0 * 1600.0 / 2280.0));
    assert_eq!(cell(hottest, 0, "an entry", Unit::Ratio), &Cell::Number(1.0));
    let frames = &r.tables[3];
    assert_eq!(cell(frames, 0, "blocks", Unit::Executions), &Cell::Count(210));
    assert_eq!(cell(frames, 0, "instructions", Unit::Instructions), &Cell::Count(1500));
    assert_eq!(cell(frames, 1, "instructions a pixel", Unit::Ratio), &Cell::Number(780.0 / 8.0));
    // 80 a frame twice, 5 a frame; 10 and 10 / 16 a pixel.
    let points = |n: usize| r.series[n].points.clone();
    let bar = |at: f64, n| (Cell::Number(at), Cell::Count(n));
    assert_eq!(points(0), [bar(4.0, 1), bar(64.0, 2)]);
    assert_eq!(points(1), [bar(0.5, 1), bar(8.0, 2)]);
    assert_eq!(r.notes[1], "Counted by pass blocks; also there: other.");
}

#[test]
fn samples_are_scaled_and_say_so() {
    let r = QUESTION.answer(&trace(4)).unwrap();
    assert_eq!(cell(&r.tables[0], 0, "entries", Unit::Executions), &Cell::Number(640.0));
    assert!(r.notes[1].starts_with("Estimated: one in 4"), "{:?}", r.notes);
}

#[test]
fn blocks_under_the_threshold_are_nearly_unused_and_shaders_that_did_not_run_are_not() {
    let mut m = trace(1);
    m.put(&BLOCK_COUNTS, &[Text("blocks"), U64(1), U64(0), U64(0), U64(0), U64(1_000_000)]);
    m.put(&BLOCK_COUNTS, &[Text("blocks"), U64(1), U64(0), U64(1), U64(1), U64(10)]);
    let r = QUESTION.answer(&m).unwrap();
    assert_eq!(cell(&r.tables[0], 0, "unused", Unit::Count), &Cell::Count(0));
    assert_eq!(cell(&r.tables[0], 0, "nearly unused", Unit::Count), &Cell::Count(1));
    let mut idle = sample::trace();
    let run = [Text("blocks"), U64(1), Text("subgroups"), Text("plain"), U64(1), Text("knuth")];
    idle.put(&BLOCK_RUNS, &run.into_iter().chain([Text("exit"), U64(1)]).collect::<Vec<_>>());
    idle.put(&BLOCK_COUNTS, &[Text("blocks"), U64(1), U64(0), U64(0), U64(0), U64(0)]);
    let r = QUESTION.answer(&idle).unwrap();
    assert_eq!(cell(&r.tables[0], 0, "unused", Unit::Percent), &Cell::Missing);
    assert!(r.tables[1].rows.is_empty());
    assert!(r.notes[0].contains("subgroups") && r.notes[1].contains("without atomics"), "{:?}", r.notes);
}

fn profile() -> Profile {
    Profile::of_trace(&trace(1), Some("blocks")).unwrap()
}

#[test]
fn a_profile_has_a_counter_a_block() {
    let p = profile();
    let names: Vec<_> = p.functions.keys().map(String::as_str).collect();
    let (fragment, compute) = ("1f2e3d4c00112233.main", "99aabbccddeeff00.work");
    assert_eq!(names, [format!("{fragment}.main"), format!("{fragment}.shade"), format!("{compute}.work")]);
    let counts: Vec<_> = p.functions.values().map(|r| r.counts.clone()).collect();
    assert_eq!(counts, [vec![160], vec![160, 0], vec![10]]);
    assert!(Profile::of_trace(&trace(1), Some("none")).is_err());
    assert_eq!(Profile::of_trace(&trace(3), None).unwrap().what, "invocations, 1 in 3");
}

#[test]
fn both_forms_come_back_and_damage_is_found() {
    let p = profile();
    assert_eq!(Profile::of_file(p.text().as_bytes()), Ok(p.clone()));
    let bytes = p.bytes();
    assert_eq!(Profile::of_file(&bytes), Ok(p));
    for cut in [0, 7, 8, 20, bytes.len() - 9, bytes.len() - 1] {
        assert!(Profile::of_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
    for at in 8..bytes.len() {
        let mut odd = bytes.clone();
        odd[at] ^= 4;
        assert!(Profile::of_bytes(&odd).is_err(), "{at}");
    }
    let text = profile().text();
    for (from, to, says) in [
        ("\n160\n", "\nmany\n", "no number"),
        (":ir", ":fe", "only profiles of kind :ir"),
        ("1f2e3d4c00112233.main.shade", "1f2e3d4c00112233.main.main", "there twice"),
    ] {
        let e = Profile::of_text(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(e.contains(says), "{e}");
    }
    let e = Profile::of_text(&text[..text.trim_end().len() - 4]).unwrap_err().to_string();
    assert!(e.contains("the file ends within"), "{e}");
}

#[test]
fn sums_are_exact_and_what_does_not_fit_is_refused() {
    let one = profile();
    let mut other = Profile { what: one.what.clone(), ..Profile::default() };
    other.functions.insert("elsewhere".into(), Record { hash: 3, counts: vec![u64::MAX, 1] });
    let (mut ab, mut ba) = (one.clone(), other.clone());
    ab.add(other.clone()).unwrap();
    ba.add(one.clone()).unwrap();
    assert_eq!(ab, ba);
    ab.add(one.clone()).unwrap();
    assert_eq!(ab.functions["1f2e3d4c00112233.main.shade"].counts, [320, 0]);
    assert!(ab.add(other).unwrap_err().to_string().contains("over 2^64"));
    let mut changed = one.clone();
    changed.functions.values_mut().next().unwrap().hash ^= 1;
    assert!(one.clone().add(changed).unwrap_err().to_string().contains("another structure"));
    let mut otherwise = one.clone();
    otherwise.what = "subgroups".into();
    assert!(one.clone().add(otherwise).unwrap_err().to_string().contains("do not add up"));
}

#[test]
fn traces_add_up_to_one_that_answers_as_they_do() {
    use super::merge::{MERGED, merge};
    let one = trace(1);
    let merged = merge(&[&one, &one, &one]).unwrap();
    let p = Profile::of_trace(&merged, Some("blocks")).unwrap();
    let mut sum = profile();
    sum.add(profile()).unwrap();
    sum.add(profile()).unwrap();
    assert_eq!(p, sum);
    // One trace merged is that trace; how traces are grouped does not matter.
    let same = merge(&[&one]).unwrap();
    assert_eq!(Profile::of_trace(&same, Some("other")), Profile::of_trace(&one, Some("other")));
    let grouped = merge(&[&merge(&[&one, &one]).unwrap(), &one]).unwrap();
    for table in MERGED {
        assert_eq!(grouped.read(table), merged.read(table), "{}", table.name);
    }
    assert_eq!(QUESTION.answer(&same).unwrap(), QUESTION.answer(&one).unwrap());
    let e = merge(&[&one, &trace(2)]).unwrap_err();
    assert!(e.0.contains("trace 2: pass blocks counted in another way"), "{e}");
    let mut changed = trace(1);
    changed.put(&trace::tables::EDGES, &[0, 0, 0, 0].map(U64));
    let e = merge(&[&one, &changed]).unwrap_err();
    assert!(e.0.contains("another structure"), "{e}");
    let mut large = trace(1);
    let row = [Text("blocks"), U64(1), U64(0), U64(0), U64(0), U64(u64::MAX - 99)];
    large.put(&BLOCK_COUNTS, &row);
    assert!(merge(&[&large]).unwrap_err().0.contains("over 2^64"));
}

/// Debian's llvm-profdata reads the text, adds two of them as we do, and shows the counters that went in.
#[test]
fn llvm_takes_the_text_and_adds_as_we_do() {
    if Command::new("llvm-profdata").arg("--version").output().is_err() {
        assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "llvm-profdata is not installed");
        eprintln!("skipped: llvm-profdata is not installed");
        return;
    }
    let folder = std::env::temp_dir().join(format!("profdata-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (one, mut other) = (profile(), profile());
    other.functions.values_mut().flat_map(|r| &mut r.counts).for_each(|n| *n = *n * 3 + 1);
    std::fs::write(file("a.proftext"), one.text()).unwrap();
    std::fs::write(file("b.proftext"), other.text()).unwrap();
    let run = |args: &[&str]| {
        let out = Command::new("llvm-profdata").args(args).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(out.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let mut sum = one.clone();
    sum.add(other).unwrap();
    // Through LLVM's indexed form and back.
    run(&["merge", "-o", &file("ab.profdata"), &file("a.proftext"), &file("b.proftext")]);
    let back = run(&["show", "--all-functions", "--counts", "--text", &file("ab.profdata")]);
    assert_eq!(Profile::of_text(&back), Ok(sum));
    run(&["merge", "-o", &file("a.profdata"), &file("a.proftext")]);
    let back = run(&["show", "--all-functions", "--counts", "--text", &file("a.profdata")]);
    assert_eq!(Profile::of_text(&back), Ok(one));
    std::fs::remove_dir_all(folder).unwrap();
}
