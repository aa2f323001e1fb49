//! What selects: numbers (`1,50-52,90-`) and names (`vkCmd*`).
//!
//! Guarantees: ranges are inclusive at both ends; names match as a whole, `*` for any letters and `?` for one. Refuses
//! ranges that run backwards and empty patterns.

use std::fmt;
use std::str::FromStr;

/// A list of numbers and ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    given: Vec<(u64, u64)>,
    /// The same in order, none of which touch.
    apart: Vec<(u64, u64)>,
}

impl Ranges {
    /// Is this number among them?
    pub fn contains(&self, n: u64) -> bool {
        let behind = self.apart.partition_point(|r| r.0 <= n);
        behind > 0 && n <= self.apart[behind - 1].1
    }
    /// First and last number, if they are one range.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        match self.given[..] {
            [range] => Some(range),
            _ => None,
        }
    }
    /// The ranges as they were given, both ends included.
    pub fn all(&self) -> &[(u64, u64)] {
        &self.given
    }
    /// The largest number among them.
    pub fn last(&self) -> u64 {
        self.apart.last().map_or(0, |r| r.1)
    }
}

impl FromStr for Ranges {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |t: &str| t.trim().parse::<u64>().map_err(|_| format!("\"{t}\" is not a number"));
        let part = |part: &str| match part.split_once('-') {
            None => number(part).map(|n| (n, n)),
            Some((a, b)) => {
                let first = if a.trim().is_empty() { 0 } else { number(a)? };
                let last = if b.trim().is_empty() { u64::MAX } else { number(b)? };
                if first > last { Err(format!("\"{part}\" runs backwards")) } else { Ok((first, last)) }
            }
        };
        let given = text.split(',').map(part).collect::<Result<Vec<(u64, u64)>, _>>()?;
        let mut sorted = given.clone();
        sorted.sort_unstable();
        let mut apart: Vec<(u64, u64)> = vec![];
        for (first, last) in sorted {
            match apart.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => apart.push((first, last)),
            }
        }
        Ok(Ranges { given, apart })
    }
}

impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, &(a, b)) in self.given.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            match b {
                _ if a == b => write!(f, "{comma}{a}")?,
                u64::MAX => write!(f, "{comma}{a}-")?,
                b => write!(f, "{comma}{a}-{b}")?,
            }
        }
        Ok(())
    }
}

/// A pattern for names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// Does the whole name match?
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Where to go back to: after the last star, one letter further on.
        let mut back: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    back = Some((p + 1, n));
                    p += 1;
                }
                Some(&c) if c == b'?' || c == name[n] => (p, n) = (p + 1, n + 1),
                _ => match back {
                    Some((after, from)) => {
                        (p, n) = (after, from + 1);
                        back = Some((after, from + 1));
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == b'*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Glob {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Err("an empty pattern matches nothing".to_string())
        } else {
            Ok(Glob(text.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let r: Ranges = "1,50-52,90-".parse().unwrap();
        let hit: Vec<u64> =
            [0, 1, 2, 49, 50, 52, 53, 89, 90, 1 << 60].into_iter().filter(|&n| r.contains(n)).collect();
        assert_eq!(hit, [1, 50, 52, 90, 1 << 60]);
        assert_eq!(
            [r.to_string(), "-2,7-".parse::<Ranges>().unwrap().to_string()],
            ["1,50-52,90-", "0-2,7-"]
        );
        assert_eq!("3-3".parse::<Ranges>().unwrap().last(), 3);
        assert_eq!("-2".parse::<Ranges>().unwrap().all(), [(0, 2)]);
        // In any order, within each other and side by side.
        let some: Ranges = "30-,7,1-5,3-4,6,20-22,21-25".parse().unwrap();
        let held: Vec<u64> = (0..40).filter(|n| some.contains(*n)).collect();
        assert_eq!(held, (1..=7).chain(20..=25).chain(30..40).collect::<Vec<_>>());
        assert_eq!((some.to_string().as_str(), some.last()), ("30-,7,1-5,3-4,6,20-22,21-25", u64::MAX));
        for bad in ["", "x", "5-3", "1,,2", "1-2-3"] {
            assert!(bad.parse::<Ranges>().is_err(), "{bad}");
        }
    }

    #[test]
    fn globs() {
        let m = |pattern: &str, name: &str| pattern.parse::<Glob>().unwrap().matches(name);
        assert!(m("vkCmd*", "vkCmdDraw") && m("*Draw*", "vkCmdDrawIndexed") && m("vkCmdDraw", "vkCmdDraw"));
        assert!(m("*", "x") && m("v?CmdDraw", "vkCmdDraw") && m("a*b*c", "aXbXbXc") && m("*aab", "aaab"));
        assert!(!m("vkCmd", "vkCmdDraw") && !m("vkCmd*", "vkQueueSubmit") && !m("?", "") && !m("a*b", "ac"));
    }
}
