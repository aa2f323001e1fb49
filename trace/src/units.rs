//! Time, in the two units it is measured in.
//!
//! A device counts in ticks of its own length; everything that leaves a measurement is in nanoseconds. The two
//! are types, so that a tick is never added to a nanosecond. Going from one to the other takes the device's
//! period, and a difference of ticks takes the number of bits that the device's counter has.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::Add;

/// A span of time in nanoseconds; 584 years fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The span in milliseconds.
    pub fn as_millis(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add for Nanos {
    type Output = Nanos;

    /// Stays at the largest value rather than wrap.
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(spans: I) -> Nanos {
        spans.fold(Nanos(0), Add::add)
    }
}

impl From<std::time::Duration> for Nanos {
    fn from(duration: std::time::Duration) -> Nanos {
        Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// A reading of a device's counter, or a difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticks(pub u64);

impl Ticks {
    /// The ticks from `earlier` to this reading, of a counter with `valid_bits` bits that may have wrapped once
    /// in between. A counter without valid bits counts nothing: 0.
    pub fn since(self, earlier: Ticks, valid_bits: u32) -> Ticks {
        let mask = match valid_bits {
            0 => 0,
            1..64 => (1 << valid_bits) - 1,
            _ => u64::MAX,
        };
        Ticks(self.0.wrapping_sub(earlier.0) & mask)
    }

    /// These ticks as time, where one takes `period` nanoseconds (Vulkan's `timestampPeriod`); rounded to the
    /// nearest nanosecond. Exact up to 2⁵³ ticks, which is 104 days of 1 ns.
    pub fn to_nanos(self, period: f32) -> Nanos {
        if period == 1.0 {
            return Nanos(self.0);
        }
        Nanos((self.0 as f64 * f64::from(period)).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{Nanos, Ticks};

    #[test]
    fn a_difference_of_ticks_survives_one_wrap() {
        assert_eq!(Ticks(250).since(Ticks(200), 64), Ticks(50));
        assert_eq!(Ticks(5).since(Ticks(u64::MAX - 4), 64), Ticks(10));
        assert_eq!(Ticks(5).since(Ticks((1 << 36) - 5), 36), Ticks(10));
        // Bits above the valid ones are undefined and must not count.
        assert_eq!(Ticks(0xF0_0000_0007).since(Ticks(3), 36), Ticks(4));
        assert_eq!(Ticks(9).since(Ticks(3), 0), Ticks(0));
    }

    #[test]
    fn ticks_become_time_by_the_device_s_period() {
        assert_eq!(Ticks(u64::MAX).to_nanos(1.0), Nanos(u64::MAX));
        assert_eq!(Ticks(1_000_000).to_nanos(52.083_332), Nanos(52_083_332));
        assert_eq!(Ticks(3).to_nanos(0.5), Nanos(2));
    }

    #[test]
    fn sums_do_not_wrap() {
        assert_eq!([Nanos(2), Nanos(3)].into_iter().sum::<Nanos>(), Nanos(5));
        assert_eq!(Nanos(u64::MAX) + Nanos(1), Nanos(u64::MAX));
    }

    #[test]
    fn nanoseconds_become_milliseconds() {
        assert_eq!(Nanos(16_000_000).as_millis(), 16.0);
    }
}
