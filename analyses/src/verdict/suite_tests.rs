//! Suites, made up: what many units come to together, and what every format says of them.

use super::compare::{Compared, Row, Wanted, compare};
use super::export::report;
use super::runs::{run, wanted};
use super::suite::{Standing, SuiteCompared, SuiteSide, SuiteUnit, judged, worst};
use super::suite_export::{as_benchmark, as_csv, as_json, as_junit, as_markdown, as_text, headline};
use super::{Metric, Verdict};
use serde_json::Value;
use trace::Nanos;
use trace::run::Run;

/// A run all of whose frames take so much longer.
fn slow(seed: u64, by: f64) -> Run {
    let mut run = run(seed, 0.0, &["plain"]);
    for f in &mut run.frames {
        f.gpu = f.gpu.map(|n| Nanos((n.0 as f64 * (1.0 + by)) as u64));
    }
    run
}

fn compared(by: f64, wanted: &Wanted) -> Compared {
    compare(&slow(1, 0.0), &slow(2, by), wanted).expect("two runs")
}

fn unit(name: &str, compared: Option<Compared>) -> SuiteUnit {
    let (standing, why) = match &compared {
        Some(_) => (Standing::Compared, String::new()),
        None => (Standing::New, "the base's suite has no such unit".to_owned()),
    };
    SuiteUnit { name: name.into(), standing, why, compared }
}

fn suite(units: Vec<SuiteUnit>) -> SuiteCompared {
    judged("nightly", [SuiteSide::default(), SuiteSide::default()], units, vec!["Said of all.".into()])
}

#[test]
fn what_is_found_among_many_has_to_be_surer() {
    let (same, mut slower) = (compared(0.0, &wanted()), compared(0.05, &wanted()));
    assert_eq!((same.verdict, slower.verdict), (Verdict::NoChange, Verdict::Regression));
    // p of 5e-5 is significant among 200 questions, and not among more.
    slower.rows[0].judged.p = 5e-5;
    // (frames would make it a regression whatever the capture's row says, and are another family)
    let alone = |c: &Compared| {
        let rows = c.rows.iter().filter(|r| r.level == "capture").cloned().collect();
        Compared { rows, ..c.clone() }
    };
    let among = |n: usize| {
        let mut units: Vec<SuiteUnit> = (0..n).map(|k| unit(&format!("u{k}"), Some(alone(&same)))).collect();
        units.push(unit("slow", Some(alone(&slower))));
        suite(units)
    };
    let few = among(100);
    assert_eq!((few.verdict, few.complete), (Verdict::Regression, true));
    let row = |s: &SuiteCompared| {
        s.units.last().and_then(|u| u.compared.clone()).expect("it").rows[0].judged.clone()
    };
    assert!((row(&few).p_adjusted / row(&few).p - 101.0).abs() < 1e-6, "{:?}", row(&few));
    let many = among(1000);
    assert_eq!(many.verdict, Verdict::Inconclusive);
    assert!(row(&many).why.contains("among 1001 questions"), "{:?}", row(&many));
    // Decided again among fewer, it is what it was.
    let again = suite(vec![many.units.last().cloned().expect("it")]);
    assert_eq!((again.verdict, row(&again).why.as_str()), (Verdict::Regression, ""));
}

#[test]
fn each_unit_has_its_own_least_effect_and_what_has_no_figures_keeps_its_reason() {
    let mut lenient = wanted();
    lenient.ask.effect = 0.2;
    lenient.metrics = vec![Metric::Median, Metric::P99];
    let all =
        suite(vec![unit("a", Some(compared(0.05, &lenient))), unit("b", Some(compared(0.0, &wanted())))]);
    let a = all.units[0].compared.as_ref().expect("it was compared");
    assert_eq!(a.rows[0].judged.verdict, Verdict::NoChange);
    assert!(a.rows[1].judged.why.contains("p99 needs 100 frames"), "{:?}", a.rows[1].judged);
    assert_eq!(worst(a).map(|r| r.metric.as_str()), Some("median"));
}

/// The median's row, and one of a frame, with figures of our own.
#[test]
fn a_comparison_begins_with_what_decides() {
    let mut all = compared(0.05, &wanted());
    all.rows.retain(|r| r.level == "capture" && r.metric == "median");
    let j = &mut all.rows[0].judged;
    (j.base, j.new, j.change, j.interval) = (10.0, 33.1, Some(2.31), Some([1.98, 2.62]));
    let frame = Row { level: "frame", frame: Some(3), ..all.rows[0].clone() };
    all.rows.push(frame);
    let said = [
        "a|b.gfxr, plain, median: 33.1000 ms after 10.0000 ms (+231.00 %, 99 %: +198.00 % to +262.00 %): regression.",
        "The frame that lost most is frame 3: +231.00 %.",
    ];
    assert_eq!(report(&all).headlines, said);
    let text = as_text(&suite(vec![unit("slow", Some(all.clone()))]));
    assert!(text.contains(&format!("\nslow: {}\n", said[0])), "{text}");
    // Four pairs that know it to 4 %: see `needed`.
    all.rows.truncate(1);
    all.verdict = Verdict::Inconclusive;
    let j = &mut all.rows[0].judged;
    (j.new, j.change, j.interval) = (10.0, Some(0.0), Some([-0.04, 0.04].map(f64::exp_m1)));
    (j.processes, j.paired, j.verdict) = ([4, 4], true, Verdict::Inconclusive);
    j.why = "the interval straddles the least effect that matters".into();
    let said = [
        "a|b.gfxr, plain, median: 10.0000 ms after 10.0000 ms (+0.00 %, 99 %: -3.92 % to +4.08 %): inconclusive, as the interval straddles \
         the least effect that matters.",
        "4 processes of a side tell the change to ± 4.00 %; about 7 would tell it to ± 2.00 %, the least effect.",
    ];
    assert_eq!(report(&all).headlines, said);
}

#[test]
fn every_format_says_the_same_of_a_suite() {
    let mut units = vec![
        unit("fine", Some(compared(0.0, &wanted()))),
        unit("slow", Some(compared(0.05, &wanted()))),
        unit("fresh", None),
    ];
    let lost =
        SuiteUnit { standing: Standing::Missing, why: "not measured | <here>".into(), ..unit("lost", None) };
    units.push(lost);
    let all = suite(units);
    assert_eq!((all.verdict, all.complete), (Verdict::Regression, false));
    let line = headline(&all);
    assert_eq!(
        line,
        "regression, and not complete: suite nightly, 4 units: 1 regression, 1 missing, 1 no change, 1 new"
    );
    let text = as_text(&all);
    assert!(
        text.starts_with(&line)
            && text.contains("lost: missing, not measured")
            && text.contains("Said of all.")
    );
    assert!(text.contains("\nslow: regression: GPU times"), "{text}");
    let json: Value = serde_json::from_str(&as_json(&all)).expect("JSON");
    assert_eq!((&json["verdict"], &json["units"][3]["standing"]), (&"regression".into(), &"missing".into()));
    assert!(json["units"][2]["compared"].is_null() && json["units"][1]["compared"]["rows"].is_array());
    let page = as_markdown(&all);
    assert_eq!(
        (page.matches("<details open>").count(), page.matches("</details>").count()),
        (1, 2),
        "{page}"
    );
    let table: Vec<&str> = page.lines().filter(|l| l.starts_with('|')).take(6).collect();
    assert!(table.iter().all(|l| l.replace("\\|", "").matches('|').count() == 10), "{page}");
    assert!(page.contains("| slow | **regression** |") && page.contains("| lost | **missing** |"), "{page}");
    let xml = as_junit(&all);
    assert_eq!((xml.matches("<testsuite ").count(), xml.matches("</testsuite>").count()), (4, 4), "{xml}");
    assert!(xml.contains("<error type=\"missing\" message=\"not measured | &lt;here&gt;\"/>"), "{xml}");
    assert!(xml.contains("skipped=\"1\"") && xml.contains("<failure type=\"regression\""), "{xml}");
    let bench: Value = serde_json::from_str(&as_benchmark(&all)).expect("JSON");
    assert_eq!((bench.as_array().map(Vec::len), &bench[1]["name"]), (Some(2), &"slow, plain, median".into()));
    let csv = as_csv(&all);
    assert_eq!(csv.lines().count(), 41, "{csv}");
    assert!(csv.lines().nth(21).is_some_and(|l| l.starts_with("slow,1700000001,base,a|b.gfxr,")), "{csv}");
    // Nothing that could be compared is no verdict.
    let none = suite(vec![unit("fresh", None)]);
    assert_eq!((none.verdict, none.complete), (Verdict::Inconclusive, true));
    assert_eq!(as_csv(&none), "");
}
