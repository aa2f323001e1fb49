//! How far two distributions are apart.
//!
//! *Kolmogorov–Smirnov's D*: the greatest distance between both empirical distribution functions, from 0 to 1. Its *p* is exact,
//! of independent values, with ties: the share of ways to deal the values out of which D is at least as great, by counting paths
//! (as Hodges does), which are looked at only where a group of equals ends. *Wasserstein-1*: the area between both functions, in
//! the values' unit: how far values have to move on average to make one sample of the other.

/// D of two samples; none if one is empty.
pub fn ks(first: &[f64], second: &[f64]) -> Option<f64> {
    let mut most = 0.0f64;
    walk(first, second, |_, _, a, b| most = most.max((a - b).abs()))?;
    Some(most)
}

/// Wasserstein-1 of two samples; none if one is empty.
pub fn wasserstein(first: &[f64], second: &[f64]) -> Option<f64> {
    let mut area = 0.0;
    walk(first, second, |from, to, a, b| area += (to - from) * (a - b).abs())?;
    Some(area)
}

/// Tells each step from one value to the next, and both shares at or below the first of these.
fn walk(first: &[f64], second: &[f64], mut take: impl FnMut(f64, f64, f64, f64)) -> Option<()> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let [a, b] = [first, second].map(|s| {
        let mut sorted = s.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    });
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = |i: usize, j: usize| match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.min(*y),
            (Some(x), None) => *x,
            (None, Some(y)) => *y,
            (None, None) => f64::NAN,
        };
        let at = next(i, j);
        while a.get(i).is_some_and(|v| *v == at) {
            i += 1;
        }
        while b.get(j).is_some_and(|v| *v == at) {
            j += 1;
        }
        let to = if i < a.len() || j < b.len() { next(i, j) } else { at };
        take(at, to, i as f64 / a.len() as f64, j as f64 / b.len() as f64);
    }
    Some(())
}

/// The exact p of their D; none if one is empty.
pub fn ks_p(first: &[f64], second: &[f64]) -> Option<f64> {
    let d = ks(first, second)?;
    let mut all: Vec<f64> = first.iter().chain(second).copied().collect();
    all.sort_by(f64::total_cmp);
    // Where a group of equals ends: only there a path's distance counts.
    let counts = |seen: usize| seen == 0 || seen == all.len() || all[seen - 1] != all[seen];
    let (n, m) = (first.len(), second.len());
    let reaches =
        |i: usize, j: usize| counts(i + j) && (i as f64 / n as f64 - j as f64 / m as f64).abs() >= d - 1e-12;
    // The share of paths to (i, j) that never reached d.
    let mut row = vec![0.0f64; m + 1];
    for i in 0..=n {
        for j in 0..=m {
            let below = if i == 0 { 0.0 } else { row[j] * i as f64 / (i + j) as f64 };
            let left = if j == 0 { 0.0 } else { row[j - 1] * j as f64 / (i + j) as f64 };
            let share = if i + j == 0 { 1.0 } else { below + left };
            row[j] = if reaches(i, j) { 0.0 } else { share };
        }
    }
    Some((1.0 - row[m]).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let (a, b) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
        // Wholly apart; each value moves by 3. Two of 20 ways are as far apart.
        assert_eq!(ks(&a, &b), Some(1.0));
        assert!((wasserstein(&a, &b).expect("values") - 3.0).abs() < 1e-12);
        assert!((ks_p(&a, &b).expect("values") - 0.1).abs() < 1e-12);
        assert_eq!((ks(&a, &a), wasserstein(&a, &a), ks_p(&a, &a)), (Some(0.0), Some(0.0), Some(1.0)));
        // Of unlike sizes: 0 against 0 and 1: half of the one has to move by 1.
        assert_eq!((ks(&[0.0], &[0.0, 1.0]), wasserstein(&[0.0], &[0.0, 1.0])), (Some(0.5), Some(0.5)));
        assert_eq!((ks(&[], &b), wasserstein(&a, &[]), ks_p(&[], &[])), (None, None, None));
    }

    #[test]
    fn a_sample_that_is_moved_is_as_far_as_it_was_moved() {
        let mut random = crate::loop_times::stats::Random::new(5);
        let a: Vec<f64> = (0..200).map(|_| random.unit()).collect();
        for by in [0.25, 2.0, -3.0] {
            let moved: Vec<f64> = a.iter().map(|v| v + by).collect();
            let w = wasserstein(&a, &moved).expect("values");
            assert!((w - by.abs()).abs() < 1e-9, "{w} for {by}");
            assert_eq!(ks(&a, &moved), ks(&moved, &a));
        }
    }
}
