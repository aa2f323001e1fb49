//! Many questions at once: Benjamini and Hochberg's correction, which keeps the expected share of false findings among all
//! findings at or below what is asked for.

/// Adjusted p, in the order of the ones given: of m, the k-th least becomes the least of p·m/k over it and all greater ones.
pub fn adjusted(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut by: Vec<usize> = (0..m).collect();
    by.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut out = vec![1.0; m];
    let mut least = 1.0f64;
    for (k, &at) in by.iter().enumerate().rev() {
        least = least.min(p[at] * m as f64 / (k + 1) as f64);
        // (never below itself, however a product was rounded)
        out[at] = least.max(p[at]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 0.01·4/1 = 0.04, 0.02·4/2 = 0.04, 0.03·4/3 = 0.04, 0.5
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&adjusted(&[0.5, 0.01, 0.03, 0.02]), &[0.5, 0.04, 0.04, 0.04]));
        assert!(close(&adjusted(&[0.2]), &[0.2]));
        assert!(adjusted(&[]).is_empty());
        assert_eq!(adjusted(&[1.0, 1.0]), [1.0, 1.0]);
    }

    #[test]
    fn never_below_what_it_was_and_in_the_same_order() {
        let mut random = oorandom::Rand64::new(2);
        for m in 1..40 {
            let p: Vec<f64> = (0..m).map(|_| random.rand_float()).collect();
            let q = adjusted(&p);
            assert!(p.iter().zip(&q).all(|(p, q)| q >= p && *q <= 1.0), "{p:?} {q:?}");
            for (a, b) in (0..m).flat_map(|a| (0..m).map(move |b| (a, b))) {
                assert!(p[a] > p[b] || q[a] <= q[b], "{p:?} {q:?}");
            }
        }
    }
}
