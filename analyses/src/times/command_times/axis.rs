//! From a device's clock to the CPU's.
//!
//! *Definition.* Between two moments that are known on both clocks the one runs evenly against the other; before the first
//! and after the last as between the two next to it, or, with one only, at the same pace. So drift is followed.

use trace::{Calibration, Nanos};

/// One device's axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// In the order of the device's clock.
    known: Vec<(u64, u64)>,
}

impl Axis {
    /// Of what is known of this device.
    pub fn new(calibrations: &[Calibration], device: u64) -> Axis {
        let of = calibrations.iter().filter(|c| c.device == device);
        let mut known: Vec<(u64, u64)> = of.map(|c| (c.gpu.0, c.cpu.0)).collect();
        known.sort_unstable();
        // Neither clock stands still, nor goes back.
        known.dedup_by(|next, kept| next.0 == kept.0 || next.1 <= kept.1);
        Axis { known }
    }

    /// Nothing is known: times stay on the device's clock.
    pub fn is_unknown(&self) -> bool {
        self.known.is_empty()
    }

    /// A moment of the device on the CPU's clock; never before its begin.
    pub fn cpu(&self, gpu: Nanos) -> Nanos {
        let at = self.known.partition_point(|k| k.0 <= gpu.0);
        let (a, b) = match self.known.len() {
            0 => return gpu,
            1 => (self.known[0], (self.known[0].0 + 1, self.known[0].1 + 1)),
            n => {
                let right = at.clamp(1, n - 1);
                (self.known[right - 1], self.known[right])
            }
        };
        let pace = i128::from(b.1 - a.1);
        let offset = (i128::from(gpu.0) - i128::from(a.0)) * pace / i128::from(b.0 - a.0);
        Nanos((i128::from(a.1) + offset).clamp(0, u64::MAX.into()) as u64)
    }
}

/// What is to be said of both clocks; none if nothing is known.
pub fn clock_note(calibrations: &[Calibration]) -> Option<String> {
    let worst = calibrations.iter().map(|c| c.deviation).max()?;
    let mut note = format!(
        "GPU and CPU are on one axis: {} readings of both clocks, at most {} ns apart",
        calibrations.len(),
        worst.0
    );
    // From one repetition to the next the device's times begin anew: clocks do not differ by a hundredth by themselves.
    let (mut gained, mut span) = (0.0, 0.0);
    for (a, b) in calibrations.iter().zip(&calibrations[1..]).filter(|(a, b)| a.device == b.device) {
        let (ran, passed) = (b.gpu.0 as f64 - a.gpu.0 as f64, b.cpu.0 as f64 - a.cpu.0 as f64);
        if (ran - passed).abs() * 100.0 <= passed {
            gained += ran - passed;
            span += passed;
        }
    }
    if span >= 1e8 {
        note += &format!("; the GPU's clock gained {:+.1} µs in {:.1} s", gained / 1e3, span / 1e9);
    }
    Some(note + ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(pairs: &[(u64, u64)]) -> Vec<Calibration> {
        let one = |p: &(u64, u64)| Calibration {
            device: 3,
            gpu: Nanos(p.0),
            cpu: Nanos(p.1),
            deviation: Nanos(2_000),
        };
        pairs.iter().map(one).collect()
    }

    #[test]
    fn drift_is_followed() {
        // In the second second the device's clock is slow by a tenth.
        let c = known(&[(0, 500), (1000, 1500), (1900, 2500)]);
        let axis = Axis::new(&c, 3);
        let cpu = |n| axis.cpu(Nanos(n)).0;
        assert_eq!((cpu(0), cpu(400), cpu(1000)), (500, 900, 1500));
        assert_eq!((cpu(1450), cpu(1900), cpu(2800)), (2000, 2500, 3500));
        assert!(Axis::new(&c, 4).is_unknown());
        assert_eq!(Axis::new(&c, 4).cpu(Nanos(7)), Nanos(7));
    }

    #[test]
    fn one_reading_gives_the_offset() {
        let axis = Axis::new(&known(&[(100, 900)]), 3);
        assert_eq!(axis.cpu(Nanos(150)), Nanos(950));
        assert_eq!(axis.cpu(Nanos(50)), Nanos(850));
        assert_eq!(Axis::new(&known(&[(1000, 10)]), 3).cpu(Nanos(0)), Nanos(0));
    }

    #[test]
    fn order_is_kept_whatever_the_readings() {
        let axis = Axis::new(&known(&[(0, 5), (10, 5), (20, 4), (30, 50)]), 3);
        let all: Vec<u64> = (0..60).map(|n| axis.cpu(Nanos(n)).0).collect();
        assert!(all.is_sorted(), "{all:?}");
    }

    #[test]
    fn what_is_said() {
        assert_eq!(clock_note(&[]), None);
        let note = clock_note(&known(&[(0, 0), (1_000_003_000, 1_000_000_000)])).unwrap();
        assert_eq!(
            note,
            "GPU and CPU are on one axis: 2 readings of both clocks, at most 2000 ns apart; the GPU's clock gained +3.0 µs in 1.0 s."
        );
        // The same again after a pause of 3 s, in which the device's times stood still.
        let (a, b) = ((1_000_003_000, 1_000_000_000), (1_000_003_000, 4_000_000_000));
        let note = clock_note(&known(&[(0, 0), a, b, (2_000_006_000, 5_000_000_000)])).unwrap();
        assert!(note.ends_with("gained +6.0 µs in 2.0 s."), "{note}");
    }
}
