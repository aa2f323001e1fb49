//! Who runs when: an order that the seed decides.

use oorandom::Rand64;

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
    fn every_number_is_there_once_and_the_seed_decides_where() {
        let rounds = |seed: u64| {
            let mut random = Rand64::new(seed.into());
            (0..100).map(|_| shuffled(5, &mut random)).collect::<Vec<_>>()
        };
        let all = rounds(3);
        assert_eq!(all, rounds(3));
        assert_ne!(all, rounds(4));
        let mut first = [0; 5];
        for mut round in all {
            first[round[0]] += 1;
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3, 4]);
        }
        assert!(first.iter().all(|n| (8..=34).contains(n)), "{first:?}");
    }
}
