//! From a device's counter, which has few bits and wraps around, to nanoseconds that only grow.

use trace::{Nanos, Ticks};

/// One device's time. Guarantees: right as long as two readings after each other are less than half the counter's range
/// apart, however often it wraps in all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    last: Option<u64>,
    /// Ticks from the first reading to the last.
    total: i64,
}

impl Clock {
    /// Ticks from the first reading ever to this one, of a counter with `valid_bits` bits; what was read a little
    /// earlier than the first is the first's.
    pub fn ticks(&mut self, raw: u64, valid_bits: u32) -> Ticks {
        let last = self.last.unwrap_or(raw);
        let forward = Ticks(raw).since(Ticks(last), valid_bits).0;
        let half = 1u64 << (valid_bits.clamp(1, 64) - 1);
        // Queues are not in step: a reading may lie before the last one.
        let step = if forward < half {
            forward as i64
        } else {
            -(Ticks(last).since(Ticks(raw), valid_bits).0 as i64)
        };
        self.total = self.total.saturating_add(step);
        self.last = Some(raw);
        Ticks(self.total.max(0) as u64)
    }

    /// The same in nanoseconds.
    pub fn nanos(&mut self, raw: u64, valid_bits: u32, period: f32) -> Nanos {
        self.ticks(raw, valid_bits).to_nanos(period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_grows_over_many_wraps() {
        let mut clock = Clock::default();
        // Steps of 100 of a counter of 8 bits, with rubbish above them.
        let read: Vec<u64> = (0..20u64).map(|i| clock.ticks((i * 100) & 0xFF | 0xAB00, 8).0).collect();
        assert_eq!(read, (0..20).map(|i| i * 100).collect::<Vec<u64>>());
    }

    #[test]
    fn a_reading_before_the_last_one_goes_back() {
        let mut clock = Clock::default();
        assert_eq!(clock.ticks(250, 8), Ticks(0));
        assert_eq!(clock.ticks(10, 8), Ticks(16));
        assert_eq!(clock.ticks(252, 8), Ticks(2));
        assert_eq!(clock.ticks(240, 8), Ticks(0), "nothing lies before the first");
        assert_eq!(clock.ticks(0, 8), Ticks(6));
    }

    #[test]
    fn a_counter_of_36_bits_with_a_period_of_52_08_ns_wraps_every_hour() {
        const BITS: u32 = 36;
        let (period, range) = (52.08_f32, 1u64 << BITS);
        let mut clock = Clock::default();
        let mut read = |ticks: u64| clock.nanos((ticks % range) | 0xABC0_0000_0000_0000, BITS, period).0;
        let begin = range - 1000;
        assert_eq!(read(begin), 0);
        // 2000 ticks later, behind the wrap; and ten hours on, in steps of 25 minutes (half the range is 29.8).
        assert_eq!(read(begin + 2000), 104_160);
        let step = 28_800_000_000_u64; // 1499.9 s
        let mut ticks = begin + 2000;
        for _ in 0..24 {
            ticks += step;
            read(ticks);
        }
        let expected = (24.0 * 28.8e9 + 2000.0) * f64::from(52.08_f32);
        assert!((read(ticks) as f64 - expected).abs() < 1.0);
    }

    #[test]
    fn all_bits_and_the_period() {
        let mut clock = Clock::default();
        assert_eq!(clock.nanos(u64::MAX - 1, 64, 10.0), Nanos(0));
        assert_eq!(clock.nanos(3, 64, 10.0), Nanos(50));
        assert_eq!(clock.nanos(7, 0, 10.0), Nanos(50), "a counter without bits counts nothing");
    }
}
