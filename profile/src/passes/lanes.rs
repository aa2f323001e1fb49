//! The option that passes with masks in their records share: `lanes=32`, `64` (unless said otherwise) or `128`, the largest
//! subgroup that a mask holds. Fewer make smaller records; a device with larger subgroups is refused when records are read.

use crate::pass::{Error, FrameData, Result};

/// How many words a mask has: 1, 2 or 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes(u32);

impl Lanes {
    /// From what follows the pass's name on the command line.
    pub fn of(pass: &str, options: &[String]) -> std::result::Result<Self, String> {
        match options.join("+").as_str() {
            "" | "lanes=64" => Ok(Lanes(2)),
            "lanes=32" => Ok(Lanes(1)),
            "lanes=128" => Ok(Lanes(4)),
            _ => Err(format!("pass {pass} takes lanes=32, lanes=64 or lanes=128; {options:?} was given")),
        }
    }

    /// Words of a mask.
    pub fn words(self) -> u32 {
        self.0
    }

    /// A mask that lies at the begin of these words.
    pub fn mask(self, words: &[u32]) -> Result<u128> {
        let bits = |(n, w): (usize, &u32)| u128::from(*w) << (32 * n);
        match words.get(..self.0 as usize) {
            Some(words) => Ok(words.iter().enumerate().map(bits).fold(0, |a, b| a | b)),
            None => Err(short(words)),
        }
    }

    /// Whether the device's subgroups fit.
    pub fn hold(self, frame: &FrameData<'_>) -> Result<()> {
        if frame.subgroup_size > 32 * self.0 {
            let why = format!(
                "masks of {} invocations, where a subgroup has {}: give lanes={}",
                32 * self.0,
                frame.subgroup_size,
                frame.subgroup_size.next_power_of_two()
            );
            return Err(Error::Record { word_offset: 0, why });
        }
        Ok(())
    }
}

/// A record with fewer words than its probe writes.
pub fn short(words: &[u32]) -> Error {
    Error::Record { word_offset: 0, why: format!("a record of {} words is too short", words.len()) }
}

/// A word of a record.
pub fn word(words: &[u32], at: usize) -> Result<u32> {
    words.get(at).copied().ok_or_else(|| short(words))
}

#[cfg(test)]
mod tests {
    use super::Lanes;

    #[test]
    fn masks_are_read_and_options_checked() {
        let of = |text: &str| Lanes::of("x", &crate::passes::options(text)).map(Lanes::words);
        assert_eq!((of(""), of("lanes=32"), of("lanes=128")), (Ok(2), Ok(1), Ok(4)));
        assert!(of("lanes=48").is_err_and(|e| e.contains("lanes=48")));
        let lanes = Lanes::of("x", &crate::passes::options("")).expect("the default");
        assert_eq!(lanes.mask(&[5, 1, 9]), Ok(5 | 1 << 32));
        assert!(lanes.mask(&[5]).is_err_and(|e| e.to_string().contains("too short")));
    }
}
