//! Which plan runs when: in each round every plan once, in an order that the seed decides.

use oorandom::Rand64;

/// One iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its round; those that warm up come first.
    pub round: u32,
    /// Which plan.
    pub plan: usize,
}

/// All turns, of so many rounds.
pub fn order(plans: usize, rounds: u32, seed: u64) -> Vec<Turn> {
    let mut random = Rand64::new(seed.into());
    let mut all = Vec::with_capacity(plans * rounds as usize);
    for round in 0..rounds {
        all.extend(shuffled(plans, &mut random).into_iter().map(|plan| Turn { round, plan }));
    }
    all
}

/// Numbers below `n` in an order that is as likely as any other (Fisher and Yates).
pub fn shuffled(n: usize, random: &mut Rand64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        all.swap(i, random.rand_range(0..i as u64 + 1) as usize);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_runs_once_a_round_and_the_seed_decides_when() {
        let all = order(5, 100, 3);
        assert_eq!(all, order(5, 100, 3));
        assert_ne!(all, order(5, 100, 4));
        let mut first = [0; 5];
        for (n, round) in all.chunks_exact(5).enumerate() {
            let mut plans: Vec<usize> = round.iter().map(|t| t.plan).collect();
            first[plans[0]] += 1;
            plans.sort_unstable();
            assert_eq!(plans, [0, 1, 2, 3, 4]);
            assert!(round.iter().all(|t| t.round == n as u32));
        }
        assert!(first.iter().all(|n| (8..=34).contains(n)), "{first:?}");
    }
}
