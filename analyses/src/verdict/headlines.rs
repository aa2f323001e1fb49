//! What a comparison's report begins with: the row that decides, the part that lost most, and how many processes would tell.
//!
//! Guarantees: numbers are those of the rows. How many processes it takes is an estimate: that processes go on to differ as they
//! did. Refuses nothing.

use super::compare::{Compared, Row};
use super::judge::Verdict;
use super::metrics::Scale;
use super::suite::worst;
use super::words::{change, changed, range, shown, what};
use crate::stats::student::quantile;

/// More processes than that are not worth saying.
const MOST: usize = 1000;

/// See the module's header.
pub fn headlines(of: &Compared) -> Vec<String> {
    let Some(row) = worst(of) else { return vec![] };
    let j = &row.judged;
    let level = 100.0 * (1.0 - of.alpha);
    let interval = j.interval.map_or(String::new(), |_| format!(", {level} %: {}", range(row)));
    let why = if j.why.is_empty() { String::new() } else { format!(", as {}", j.why) };
    let verdict = j.verdict.name();
    let mut said = vec![match j.change {
        Some(_) => {
            let [new, base] = [j.new, j.base].map(|v| row.value(v));
            let (title, metric, changed) = (row.title(), &row.metric, changed(row));
            format!("{title}, {metric}: {new} after {base} ({changed}{interval}): {verdict}{why}.")
        }
        None => format!("{}, {}: {verdict}{why}.", row.title(), row.metric),
    }];
    if of.verdict == Verdict::Regression {
        let levels = ["command", "pass", "frame", "block", "shader", "pipeline"];
        let worse = |r: &&Row| r.judged.verdict == Verdict::Regression && r.metric == row.metric;
        let lost = levels.into_iter().find_map(|level| shown(of, level).into_iter().find(worse));
        said.extend(lost.map(|r| format!("The {} that lost most is {}: {}.", r.level, what(r), changed(r))));
    }
    said.extend(more(of, row));
    said
}

/// How many processes would make an open interval as narrow as the least effect.
fn more(of: &Compared, row: &Row) -> Option<String> {
    let j = &row.judged;
    let [low, high] = j.interval.filter(|_| j.verdict == Verdict::Inconclusive)?;
    let half = match j.scale {
        Scale::Ratio => (high.ln_1p() - low.ln_1p()) / 2.0,
        Scale::Difference => (high - low) / 2.0,
    };
    let n = *j.processes.iter().min()?;
    let enough = needed(n, half, of.min_effect, of.alpha, j.paired)?;
    Some(format!(
        "{n} processes of a side tell the change to ± {}; about {enough} would tell it to ± {}, the least effect.",
        change(row, half).trim_start_matches('+'),
        change(row, of.min_effect).trim_start_matches('+')
    ))
}

/// Processes of a side whose interval has this half-width, if that of `n` has `half`; none where `n` are enough already.
fn needed(n: usize, half: f64, effect: f64, alpha: f64, paired: bool) -> Option<usize> {
    let t = |n: usize| quantile(1.0 - alpha / 2.0, (if paired { n - 1 } else { 2 * n - 2 }) as f64);
    let deviation = half * (n as f64).sqrt() / t(n);
    let wide = |n: usize| deviation * t(n) / (n as f64).sqrt() > effect;
    (n > 1 && wide(n)).then(|| (n + 1..=MOST).find(|n| !wide(*n)))?
}

#[cfg(test)]
mod tests {
    use super::needed;

    /// t at 99 % of 3, 4, 5 and 6 degrees of freedom is 5.841, 4.604, 4.032 and 3.707: over the root of the processes 2.920, 2.059, 1.646
    /// and 1.401, which is the first below half of the first.
    #[test]
    fn half_as_wide_takes_seven_instead_of_four() {
        assert_eq!(needed(4, 0.04, 0.02, 0.01, true), Some(7));
        assert_eq!(needed(4, 0.02, 0.0200001, 0.01, true), None);
        assert_eq!(needed(4, 100.0, 0.0001, 0.01, true), None);
    }
}
