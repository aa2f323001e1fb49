//! When a process has warmed up.
//!
//! *Settled*: of its last [`LAST`] turns, the straight line of least squares through their times neither rises nor falls by more
//! than [`BOUND`] of their mean from the first to the last, or by no more than twice its standard error: what is left is noise and
//! no trend. Until then, or until a cap, turns are left out.

/// Turns that are looked at.
const LAST: usize = 8;
/// How far a line may rise over these, as a share of their mean.
const BOUND: f64 = 0.01;

/// Whether times, of all turns so far, have settled.
pub fn settled(times: &[f64]) -> bool {
    let Some(from) = times.len().checked_sub(LAST) else { return false };
    let last = &times[from..];
    let n = LAST as f64;
    let (x, y) = ((n - 1.0) / 2.0, last.iter().sum::<f64>() / n);
    let along = |k: usize| k as f64 - x;
    let squares: f64 = (0..LAST).map(|k| along(k).powi(2)).sum();
    let slope: f64 = last.iter().enumerate().map(|(k, t)| along(k) * (t - y)).sum::<f64>() / squares;
    let left: f64 = last.iter().enumerate().map(|(k, t)| (t - y - slope * along(k)).powi(2)).sum();
    let error = (left / (n - 2.0) / squares).sqrt();
    let rise = slope.abs() * (n - 1.0);
    rise <= BOUND * y.abs() || slope.abs() <= 2.0 * error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flat_or_only_noisy_has_settled_and_what_falls_has_not() {
        assert!(!settled(&[5.0; LAST - 1]) && settled(&[5.0; LAST]));
        let line = |by: f64| (0..LAST).map(|k| 100.0 + by * k as f64).collect::<Vec<_>>();
        // 7 steps: 0.1 each is 0.7 %, 0.2 each is 1.4 %.
        assert!(settled(&line(0.1)) && settled(&line(-0.1)) && !settled(&line(0.2)) && !settled(&line(-0.2)));
        assert!(settled(&[100.0, 104.0, 97.0, 103.0, 99.0, 105.0, 96.0, 101.0]));
        // Times that halve towards a floor settle when the rest is small.
        let cold: Vec<f64> = (0..30).map(|k| 100.0 + 100.0 * 0.5f64.powi(k)).collect();
        let at = (0..30).find(|n| settled(&cold[..*n])).expect("it settles");
        assert!((12..=18).contains(&at), "{at}");
    }
}
