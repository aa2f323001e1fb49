//! The statistics against SciPy and NumPy (golden.json, written by golden.py).

use super::*;
use serde_json::Value;

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("numbers").iter().map(|n| n.as_f64().expect("a number")).collect()
}

/// The same to nine digits; very small numbers to as many of their own.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-6)
}

#[test]
fn they_are_what_scipy_says() {
    let all: Value = serde_json::from_str(include_str!("golden.json")).expect("JSON");
    let (mut welch, mut pairs) = (0, 0);
    for c in all["samples"].as_array().expect("samples") {
        let (a, b) = (numbers(&c["a"]), numbers(&c["b"]));
        let r = Ranked::new(&a, &b);
        let is = |what: &str, got: f64, wanted: &Value| {
            let wanted = wanted[what].as_f64().expect("a number");
            assert!(close(got, wanted), "{what}: {got} for {wanted} of {a:?} {b:?}");
        };
        is("u", r.u(), c);
        is("normal_p", r.p(), c);
        is("ks", ks(&a, &b).expect("values"), c);
        is("wasserstein", wasserstein(&a, &b).expect("values"), c);
        let t = |e: Estimate, of: &Value| {
            is("p", e.p(), of);
            is("freedom", e.freedom, of);
            // (statrs finds quantiles to seven digits)
            let [low, high] = ["low", "high"].map(|k| of[k].as_f64().expect("a number"));
            let half = (high - low) / 2.0;
            assert!((e.half(0.01) / half - 1.0).abs() < 1e-6 && close(e.at, low + half), "{e:?} for {of}");
        };
        if !c["welch"].is_null() {
            t(Estimate::difference(&a, &b).expect("two values"), &c["welch"]);
            welch += 1;
        }
        if !c["pairs"].is_null() && a.len() > 1 {
            let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
            t(Estimate::of(&differences).expect("two values"), &c["pairs"]);
            pairs += 1;
        }
    }
    assert!(welch >= 30 && pairs >= 20, "{welch} {pairs}");
    for f in all["families"].as_array().expect("families") {
        let q = adjusted(&numbers(&f["p"]));
        assert!(q.iter().zip(numbers(&f["adjusted"])).all(|(a, b)| close(*a, b)), "{q:?} {f}");
    }
    for s in all["student"].as_array().expect("quantiles") {
        let [p, n, t] = ["p", "n", "t"].map(|k| s[k].as_f64().expect("a number"));
        assert!((quantile(p, n) / t - 1.0).abs() < 1e-6, "{p} {n}: {} for {t}", quantile(p, n));
    }
    for s in all["percentiles"].as_array().expect("percentiles") {
        let values = numbers(&s["values"]);
        let sample = Sample::new(values.iter().map(|v| *v as u64).collect());
        for (p, wanted) in numbers(&s["p"]).into_iter().zip(numbers(&s["found"])) {
            assert_eq!(sample.percentile(p), Some(wanted), "{p} of {values:?}");
            assert_eq!(percentile_of(&mut values.clone(), p), Some(wanted), "{p} of {values:?}");
        }
    }
}
