//! Bytes that differ: where, and how they read as numbers.
//!
//! Guarantees: bytes that only one side wrote are no difference where the other side's are unknown, but are counted. Device addresses
//! that lead to the same place of the same object are equal. Refuses more than [`LARGEST`] bytes of an object in a frame: these are
//! only said to differ.

use super::rows::Written;
use gfxr_parse::blocks::Blocks;

/// Bytes of an object that are laid together, at most.
pub const LARGEST: u64 = 1 << 28;

/// A range of bytes that differ, with those of either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub at: u64,
    /// Of the first capture.
    pub a: Vec<u8>,
    /// Of the second.
    pub b: Vec<u8>,
}

/// What was written, laid together: from which byte on, the bytes, and which of them were written.
pub struct Laid {
    from: u64,
    bytes: Vec<u8>,
    written: Vec<bool>,
}

/// Lays together what a frame writes to an object; none where it is too much or cannot be read.
pub fn lay(blocks: &Blocks<'_>, writes: &[Written]) -> Option<Laid> {
    let from = writes.iter().map(|w| w.offset).min().unwrap_or(0);
    let to = writes.iter().map(|w| w.offset.saturating_add(w.bytes)).max().unwrap_or(0);
    let size = to - from;
    // (nothing lies where numbers end, whatever a damaged capture says)
    if size > LARGEST || to > u64::MAX >> 1 {
        return None;
    }
    let mut laid = Laid { from, bytes: vec![0; size as usize], written: vec![false; size as usize] };
    for w in writes {
        let bytes = blocks.bytes(w.block, w.at, w.bytes)?;
        let at = (w.offset - from) as usize;
        laid.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
        laid.written[at..at + bytes.len()].fill(true);
    }
    Some(laid)
}

impl Laid {
    /// How many bytes were written.
    pub fn written(&self) -> u64 {
        self.written.iter().filter(|w| **w).count() as u64
    }

    fn byte(&self, at: u64) -> Option<u8> {
        let i = usize::try_from(at.checked_sub(self.from)?).ok()?;
        self.written.get(i).copied()?.then(|| self.bytes[i])
    }

    fn end(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }
}

/// Where two differ, in words of 4 bytes, neighbours together; and how many bytes only one side wrote.
pub fn compare(a: &Laid, b: &Laid, same: &dyn Fn(u64, u64) -> bool) -> (Vec<Run>, u64) {
    let (from, to) = (a.from.min(b.from), a.end().max(b.end()));
    let (mut runs, mut alone): (Vec<Run>, u64) = (vec![], 0);
    let mut at = from & !3;
    while at < to {
        let word = |of: &Laid| [0, 1, 2, 3].map(|i| of.byte(at + i));
        let (x, y) = (word(a), word(b));
        at += 4;
        if x == y {
            continue;
        }
        alone += x.iter().zip(&y).filter(|(x, y)| x.is_some() != y.is_some()).count() as u64;
        let both = x.iter().zip(&y).any(|(x, y)| x.is_some() && y.is_some() && x != y);
        if !both {
            continue;
        }
        let begin = at - 4;
        let whole = begin & !7;
        let long = |of: &Laid| -> Option<u64> {
            (0..8).rev().try_fold(0, |n, i| Some(n << 8 | u64::from(of.byte(whole + i)?)))
        };
        if let (Some(x), Some(y)) = (long(a), long(b))
            && same(x, y)
        {
            continue;
        }
        let plain = |w: [Option<u8>; 4]| w.into_iter().flatten().collect::<Vec<u8>>();
        match runs.last_mut() {
            Some(last) if last.at + last.a.len() as u64 == begin && last.a.len() == last.b.len() => {
                last.a.extend(plain(x));
                last.b.extend(plain(y));
            }
            _ => runs.push(Run { at: begin, a: plain(x), b: plain(y) }),
        }
    }
    (runs, alone)
}

/// The same of plain bytes.
pub fn of_plain(a: &[u8], b: &[u8], same: &dyn Fn(u64, u64) -> bool) -> Vec<Run> {
    let laid = |of: &[u8]| Laid { from: 0, bytes: of.to_vec(), written: vec![true; of.len()] };
    compare(&laid(a), &laid(b), same).0
}

/// Bytes as they are shown: words of 4 bytes in hexadecimal, with the number that they are as a float where that is a usual one.
pub fn shown(bytes: &[u8]) -> String {
    const WORDS: usize = 4;
    let word = |c: &[u8]| {
        let hex: String = c.iter().rev().map(|b| format!("{b:02x}")).collect();
        match <[u8; 4]>::try_from(c).map(u32::from_le_bytes) {
            Ok(bits) if is_usual(f32::from_bits(bits)) => format!("0x{hex} ({})", f32::from_bits(bits)),
            Ok(bits) if bits < 1 << 16 => bits.to_string(),
            _ => format!("0x{hex}"),
        }
    };
    let all: Vec<String> = bytes.chunks(4).take(WORDS).map(word).collect();
    let more = if bytes.len() > WORDS * 4 { " …" } else { "" };
    if bytes.is_empty() { "nothing".into() } else { all.join(" ") + more }
}

/// A float that programs use, which few integers look like.
pub fn is_usual(n: f32) -> bool {
    n.is_finite() && (1e-6..1e9).contains(&n.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never(_: u64, _: u64) -> bool {
        false
    }

    #[test]
    fn runs_are_words_and_neighbours_are_together() {
        let a = vec![0u8; 32];
        let mut b = a.clone();
        b[5] = 1;
        b[8] = 2;
        b[20] = 3;
        let runs = of_plain(&a, &b, &never);
        assert_eq!(runs.iter().map(|r| (r.at, r.a.len())).collect::<Vec<_>>(), [(4, 8), (20, 4)]);
        assert_eq!(runs[0].b, [0, 1, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn addresses_of_the_same_place_are_equal() {
        let (a, b) = (0x1000_0000_0000u64.to_le_bytes(), 0x2000_0000_0000u64.to_le_bytes());
        assert_eq!(of_plain(&a, &b, &|x, y| x == y >> 1).len(), 0);
        assert_eq!(of_plain(&a, &b, &never).len(), 1);
    }

    #[test]
    fn what_only_one_side_wrote_is_counted() {
        let a = Laid { from: 0, bytes: vec![1; 8], written: vec![true; 8] };
        let b = Laid { from: 4, bytes: vec![1; 8], written: vec![true; 8] };
        assert_eq!(compare(&a, &b, &never), (vec![], 8));
    }

    #[test]
    fn words_are_shown_as_they_are_meant() {
        assert_eq!(shown(&1f32.to_le_bytes()), "0x3f800000 (1)");
        assert_eq!(shown(&7u32.to_le_bytes()), "7");
        assert_eq!(shown(&[]), "nothing");
    }
}
