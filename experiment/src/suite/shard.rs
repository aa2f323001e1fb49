//! Which shard a unit is in.
//!
//! The longest unit first, each goes to the shard that has the least so far; among equals the first. (Graham's LPT rule: the
//! fullest shard has at most 4/3 − 1/(3·N) of what the best split would give it.) What a unit is held to cost is counted, not timed:
//! plans × processes × (iterations + warm-up) × weight.
//!
//! Guarantees: a function of the costs and of N alone, so that every machine comes to the same split; every unit is in exactly one
//! shard. With more shards than units some are empty.

use std::str::FromStr;

/// Most shards.
const MOST_SHARDS: u32 = 100_000;

/// `2/8`: the second of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}

impl FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) if 1 <= index && index <= of && of <= MOST_SHARDS => Ok(Shard { index, of }),
            Some((_, of)) if of > MOST_SHARDS => Err(format!("{MOST_SHARDS} shards at most")),
            _ => Err("say it as I/N, I from 1 to N: 2/8 for the second of eight".into()),
        }
    }
}

/// The shard of each unit, from 1.
pub fn split(costs: &[f64], shards: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    // (stable: equals stay in the file's order)
    order.sort_by(|a, b| costs[*b].total_cmp(&costs[*a]));
    let mut sums = vec![0.0f64; shards.max(1) as usize];
    let mut of = vec![1; costs.len()];
    for unit in order {
        let mut least = 0;
        for (n, sum) in sums.iter().enumerate() {
            if *sum < sums[least] {
                least = n;
            }
        }
        sums[least] += costs[unit];
        of[unit] = least as u32 + 1;
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;
    use oorandom::Rand64;

    fn sums(costs: &[f64], shards: u32) -> Vec<f64> {
        let of = split(costs, shards);
        let sum = |s: u32| costs.iter().zip(&of).filter(|c| *c.1 == s).map(|c| c.0).sum();
        (1..=shards).map(sum).collect()
    }

    #[test]
    fn by_hand() {
        // 7 6 5 4 3 over two: 7, 6, 5 to the second (11), 4 to the first (11), 3 to the first, which stands first.
        assert_eq!(split(&[3.0, 4.0, 5.0, 6.0, 7.0], 2), [1, 1, 2, 2, 1]);
        assert_eq!(split(&[1.0, 1.0, 1.0], 2), [1, 2, 1]);
        assert_eq!(split(&[1.0, 2.0], 5), [2, 1]);
        assert_eq!(split(&[], 3), [] as [u32; 0]);
    }

    #[test]
    fn every_unit_is_in_one_shard_and_no_shard_has_too_much() {
        for seed in 0..50 {
            let mut random = Rand64::new(seed);
            let units = 1 + (random.rand_float() * 60.0) as usize;
            let costs: Vec<f64> = (0..units).map(|_| (1.0 + random.rand_float() * 5000.0).floor()).collect();
            let whole: f64 = costs.iter().sum();
            let longest = costs.iter().copied().fold(0.0, f64::max);
            for shards in 1..=40 {
                let of = split(&costs, shards);
                assert!(of.iter().all(|s| (1..=shards).contains(s)), "{seed} {shards}");
                assert_eq!(of, split(&costs, shards));
                let sums = sums(&costs, shards);
                assert!((sums.iter().sum::<f64>() - whole).abs() < 1e-6);
                // No split is below the mean, nor below the longest, nor below the two that have to share a shard.
                let mut sorted = costs.clone();
                sorted.sort_by(|a, b| b.total_cmp(a));
                let n = shards as usize;
                let shared = if units > n { sorted[n - 1] + sorted[n] } else { 0.0 };
                let fullest = sums.iter().copied().fold(0.0, f64::max);
                // (list scheduling's bound, which needs not know the best split; LPT's where the bound below is the best)
                assert!(
                    fullest <= whole / f64::from(shards) + longest * (1.0 - 1.0 / f64::from(shards)) + 1e-6
                );
                let least = (whole / f64::from(shards)).max(longest).max(shared);
                if units <= n {
                    assert_eq!(fullest, longest, "{seed} {shards}");
                    assert_eq!(sums.iter().filter(|s| **s > 0.0).count(), units);
                }
                assert!(fullest >= least - 1e-6, "{seed} {shards}: {fullest} {least}");
            }
        }
    }

    #[test]
    fn against_the_best_split_of_small_suites() {
        for seed in 0..40 {
            let mut random = Rand64::new(seed);
            let costs: Vec<f64> = (0..8).map(|_| (1.0 + random.rand_float() * 20.0).floor()).collect();
            for shards in 2..=3u32 {
                let all = (shards as usize).pow(8);
                let fullest = |mut code: usize| {
                    let mut sums = vec![0.0; shards as usize];
                    for c in &costs {
                        sums[code % shards as usize] += c;
                        code /= shards as usize;
                    }
                    sums.into_iter().fold(0.0, f64::max)
                };
                let best = (0..all).map(fullest).fold(f64::INFINITY, f64::min);
                let ours = sums(&costs, shards).into_iter().fold(0.0, f64::max);
                let bound = best * (4.0 / 3.0 - 1.0 / (3.0 * f64::from(shards)));
                assert!(ours <= bound + 1e-9, "{seed} {shards}: {ours} {best}");
            }
        }
    }

    #[test]
    fn shards_in_words() {
        assert_eq!("2/8".parse(), Ok(Shard { index: 2, of: 8 }));
        assert_eq!("1/1".parse(), Ok(Shard { index: 1, of: 1 }));
        for wrong in ["0/8", "9/8", "8", "a/b", "1/0", "1/", "-1/2", "1/200000"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
