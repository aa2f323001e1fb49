//! How two contents differ: how many values, how far, where first, and in which box; and whether that is within a bound.
//!
//! Guarantees: two contents without a difference hold the same values; a difference is [`Difference::within`] if and only if no
//! more values differ, and no more are further off, than [`Tolerance`] allows. Bytes that are no texels, and whole
//! numbers, are within no bound. Bits of a format that are no value are not looked at.

use super::Tolerance;
use super::apart::apart;
use crate::hooks::screenshot::format::{Stored, name, stored, texel_bytes};
use crate::hooks::screenshot::{Area, Content};
use std::fmt;

/// Where something differs first.
#[derive(Clone, Debug, PartialEq)]
pub enum First {
    /// Nowhere: one of both is not there, or another size.
    Whole(String),
    /// A byte of memory: which one, what it was, and what it is.
    Byte(u64, u8, u8),
    /// A texel: its place, what it was, and what it is.
    Texel([u32; 2], Vec<Stored>, Vec<Stored>),
}

/// See the module's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Values (channels of texels, and bytes that are none) that were compared.
    pub values: u64,
    /// Those that differ.
    pub differing: u64,
    /// Those of them that are further off than the bound.
    pub beyond: u64,
    /// How far off the worst is, in steps of its format; infinite where there are none.
    pub most_off: f64,
    /// The format of the worst.
    pub format: Option<String>,
    /// Where it begins: what is further off than the bound, if anything is, or else what differs.
    pub first: First,
    /// The box around all texels that differ: first column and row, last column and row.
    pub around: Option<[u32; 4]>,
    /// Whether all of it is within the bound.
    pub within: bool,
}

impl Difference {
    /// Of a content that is not there, or is another one altogether.
    pub fn whole(why: &str) -> Self {
        Difference {
            values: 0,
            differing: 0,
            beyond: 0,
            most_off: f64::INFINITY,
            format: None,
            first: First::Whole(why.to_owned()),
            around: None,
            within: false,
        }
    }

    /// Of two contents; nothing where they hold the same.
    pub fn of(before: &Content, after: &Content, tolerance: Tolerance) -> Option<Self> {
        if before.bytes == after.bytes {
            return None;
        }
        if before.bytes.len() != after.bytes.len() || before.areas != after.areas {
            return Some(Self::whole("it has another size or format"));
        }
        let mut sum: Option<Difference> = None;
        // (each byte that is no part of a texel is a value)
        let mut values = before.bytes.len() as u64;
        let mut left = [before.bytes.clone(), after.bytes.clone()];
        for a in &before.areas {
            let (seen, found) = of_area(a, before, after, tolerance);
            values = values - (a.row_texels_bytes() * a.height as usize) as u64 + seen;
            sum = [sum, found].into_iter().flatten().reduce(Difference::with);
            // (what is left is no texel)
            for row in rows(a) {
                left.iter_mut().for_each(|bytes| bytes[row.clone()].fill(0));
            }
        }
        let found = of_bytes(&left[0], &left[1]);
        sum = [sum, found].into_iter().flatten().reduce(Difference::with);
        sum.map(|d| Difference { values, ..d })
    }

    fn with(self, other: Difference) -> Difference {
        let format = if other.most_off > self.most_off { other.format } else { self.format };
        Difference {
            values: self.values,
            differing: self.differing + other.differing,
            beyond: self.beyond + other.beyond,
            most_off: self.most_off.max(other.most_off),
            format,
            first: if self.beyond == 0 && other.beyond > 0 { other.first } else { self.first },
            around: self.around.or(other.around),
            within: self.within && other.within,
        }
    }
}

/// The bytes of each row of texels.
fn rows(a: &Area) -> impl Iterator<Item = std::ops::Range<usize>> {
    let (at, each, row) = (a.offset, a.row_bytes, a.row_texels_bytes());
    (0..a.height as usize).map(move |y| at + y * each..at + y * each + row)
}

/// Values of an area, and what differs there.
fn of_area(a: &Area, before: &Content, after: &Content, t: Tolerance) -> (u64, Option<Difference>) {
    let size = texel_bytes(a.format).unwrap_or(1);
    let (channels, texels) =
        (stored(a.format, &[0; 16]).len() as u64, u64::from(a.width) * u64::from(a.height));
    let (mut found, mut least_bits): (Option<Difference>, u32) = (None, u32::MAX);
    for (y, row) in (0..).zip(rows(a)) {
        let both = [&before.bytes[row.clone()], &after.bytes[row]];
        if both[0] == both[1] {
            continue;
        }
        let texels = both[0].chunks_exact(size).zip(both[1].chunks_exact(size));
        for (x, (one, other)) in (0..).zip(texels).filter(|(_, (one, other))| one != other) {
            let (was, is) = (stored(a.format, one), stored(a.format, other));
            let off: Vec<(f64, u32)> =
                was.iter().zip(&is).map(|(a, b)| apart(*a, *b)).filter(|d| d.0 > 0.0).collect();
            if off.is_empty() {
                continue;
            }
            let far = off.iter().filter(|(steps, bits)| *steps > t.most_off(*bits)).count() as u64;
            let first = First::Texel([x, y], was, is);
            let d = found.get_or_insert_with(|| Difference {
                values: 0,
                differing: 0,
                beyond: 0,
                most_off: 0.0,
                format: Some(name(a.format)),
                first: first.clone(),
                around: Some([x, y, x, y]),
                within: true,
            });
            if d.beyond == 0 && far > 0 {
                d.first = first;
            }
            d.differing += off.len() as u64;
            d.beyond += far;
            for (steps, bits) in off {
                d.within &= steps.is_finite();
                d.most_off = d.most_off.max(steps);
                least_bits = least_bits.min(bits);
            }
            if let Some(b) = &mut d.around {
                *b = [b[0].min(x), b[1].min(y), b[2].max(x), b[3].max(y)];
            }
        }
    }
    let values = channels * texels;
    if let Some(d) = &mut found {
        // (of a format whose channels have several widths the narrowest that differs decides how many may)
        let few = d.differing <= t.most_values(least_bits, values);
        d.within &= few && d.beyond <= t.most_far(values);
    }
    (values, found)
}

/// Memory: nothing may differ.
fn of_bytes(before: &[u8], after: &[u8]) -> Option<Difference> {
    let first = before.iter().zip(after).position(|(a, b)| a != b)?;
    let differing = before.iter().zip(after).filter(|(a, b)| a != b).count() as u64;
    Some(Difference {
        values: 0,
        differing,
        beyond: differing,
        most_off: f64::INFINITY,
        format: None,
        first: First::Byte(first as u64, before[first], after[first]),
        around: None,
        within: false,
    })
}

/// As people read it: `first at pixel (1, 1): [205, 7, 7, 255] and not [204, …]; 1 of 65536 values differs, by up to 1 step of …`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.first {
            First::Whole(why) => return f.write_str(why),
            First::Byte(at, was, is) => write!(f, "first at byte {at}: {is} and not {was}")?,
            First::Texel([x, y], was, is) => {
                write!(f, "first at pixel ({x}, {y}): {} and not {}", texel(is), texel(was))?
            }
        }
        let s = if self.differing == 1 { "differs" } else { "differ" };
        write!(f, "; {} of {} values {s}", self.differing, self.values)?;
        if let (Some(format), true) = (&self.format, self.most_off.is_finite()) {
            let steps = if self.most_off == 1.0 { "step" } else { "steps" };
            write!(f, " by up to {} {steps} of {format}", short(self.most_off))?;
        }
        match self.around {
            Some([x, y, right, bottom]) if [x, y] != [right, bottom] => {
                write!(f, ", in columns {x} to {right} and rows {y} to {bottom}")
            }
            _ => Ok(()),
        }
    }
}

fn short(steps: f64) -> String {
    if steps.fract() == 0.0 { format!("{steps}") } else { format!("{steps:.1}") }
}

fn texel(channels: &[Stored]) -> String {
    let one = |s: &Stored| match s {
        Stored::Steps(n, _) | Stored::Whole(n) => n.to_string(),
        Stored::Number { value, .. } => format!("{}", *value as f32),
    };
    format!("[{}]", channels.iter().map(one).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay::ash::vk::Format as F;

    /// A picture of so many columns, whose texels are these bytes.
    fn picture(format: F, width: u32, bytes: Vec<u8>) -> Content {
        let row_bytes = width as usize * texel_bytes(format).expect("a format of the table");
        let height = (bytes.len() / row_bytes) as u32;
        Content::new(bytes, [Area { offset: 0, width, height, row_bytes, format }])
    }

    fn of(a: &Content, b: &Content) -> Option<Difference> {
        Difference::of(a, b, Tolerance::default())
    }

    #[test]
    fn one_step_is_rounding_and_two_are_not() {
        // 40 × 25 texels of 4 channels: 4000 values, of which 2^-10 are 3.
        let plain = picture(F::R8G8B8A8_UNORM, 40, vec![204; 4000]);
        assert_eq!(of(&plain, &plain.clone()), None);
        let mut now = plain.clone();
        now.bytes[4 * (3 * 40 + 7) + 1] = 205;
        let d = of(&plain, &now).expect("a value differs");
        assert_eq!((d.values, d.differing, d.beyond, d.most_off, d.within), (4000, 1, 0, 1.0, true));
        assert_eq!(d.around, Some([7, 3, 7, 3]));
        assert_eq!(
            d.to_string(),
            "first at pixel (7, 3): [204, 205, 204, 204] and not [204, 204, 204, 204]; 1 of 4000 values differs by up to 1 \
             step of R8G8B8A8_UNORM"
        );
        assert!(!Difference::of(&plain, &now, Tolerance::EXACT).expect("it differs").within);
        (now.bytes[0], now.bytes[3999]) = (203, 205);
        let d = of(&plain, &now).expect("three values differ");
        assert!(d.within && d.around == Some([0, 0, 39, 24]), "{d}");
        assert!(d.to_string().ends_with(", in columns 0 to 39 and rows 0 to 24"), "{d}");
        // A fourth is more than rounding does; so is one that is two steps off.
        now.bytes[400] = 205;
        assert!(!of(&plain, &now).expect("four values differ").within);
        let mut far = plain.clone();
        far.bytes[9] = 202;
        let d = of(&plain, &far).expect("one value differs");
        assert_eq!((d.beyond, d.most_off, d.within), (1, 2.0, false));
        assert!(Difference::of(&plain, &far, Tolerance::ulps(1 << 17)).expect("it differs").within);
        // What is too far off is what is shown first, whatever else differs before it.
        far.bytes[0] = 203;
        let d = of(&plain, &far).expect("two values differ");
        assert!(matches!(d.first, First::Texel([2, 0], ..)) && d.around == Some([0, 0, 2, 0]), "{d}");
    }

    #[test]
    fn whole_numbers_and_memory_are_exact() {
        let plain = picture(F::R8_UINT, 4, vec![7; 16]);
        let mut now = plain.clone();
        now.bytes[5] = 8;
        let d = Difference::of(&plain, &now, Tolerance::ulps(u32::MAX)).expect("it differs");
        assert!(!d.within && d.beyond == 1 && d.most_off.is_infinite());
        assert_eq!(d.to_string(), "first at pixel (1, 1): [8] and not [7]; 1 of 16 values differs");
        let memory = |bytes: &[u8]| Content::new(bytes.to_vec(), []);
        let d =
            Difference::of(&memory(&[1, 2]), &memory(&[1, 3]), Tolerance::ulps(u32::MAX)).expect("memory");
        assert_eq!(
            (d.within, d.to_string().as_str()),
            (false, "first at byte 1: 3 and not 2; 1 of 2 values differs")
        );
        let d = of(&memory(&[1]), &memory(&[1, 1])).expect("another size");
        assert!(!d.within && d.to_string() == "it has another size or format");
    }

    #[test]
    fn floats_may_all_be_off_a_little() {
        let of_floats = |all: &[f32]| {
            picture(F::R32_SFLOAT, all.len() as u32, all.iter().flat_map(|v| v.to_le_bytes()).collect())
        };
        let ulps = |v: f32, n: u32| f32::from_bits(v.to_bits() + n);
        let plain = [0.5, 3.0, 1e9, 0.0];
        let near = [ulps(0.5, 64), ulps(3.0, 7), ulps(1e9, 1), -0.0];
        let d = of(&of_floats(&plain), &of_floats(&near)).expect("three differ");
        assert_eq!((d.differing, d.most_off, d.within), (3, 64.0, true));
        assert!(!of(&of_floats(&plain), &of_floats(&[ulps(0.5, 65), 3.0, 1e9, 0.0])).expect("one").within);
        assert!(!of(&of_floats(&plain), &of_floats(&[f32::NAN, 3.0, 1e9, 0.0])).expect("one").within);
        // Zeros of both signs, and numbers that are none, are the same.
        assert_eq!(of(&of_floats(&[0.0, f32::NAN]), &of_floats(&[-0.0, -f32::NAN])), None);
    }

    #[test]
    fn what_lies_around_texels_is_memory() {
        let area = Area { offset: 4, width: 2, height: 2, row_bytes: 12, format: F::B8G8R8A8_SRGB };
        let plain = Content::new(vec![9; 32], [area]);
        let with = |at: usize| {
            let mut c = plain.clone();
            c.bytes[at] = 10;
            of(&plain, &c).expect("it differs")
        };
        // Texels are bytes 4 to 11 and 16 to 23; the others are no texels.
        assert!([4, 11, 16, 23].iter().all(|at| with(*at).within));
        assert!([0, 3, 12, 15, 24, 31].iter().all(|at| !with(*at).within));
        assert_eq!(
            with(16).first,
            First::Texel([0, 1], vec![Stored::Steps(9, 8); 4], {
                let mut is = vec![Stored::Steps(9, 8); 4];
                is[2] = Stored::Steps(10, 8);
                is
            })
        );
        // 16 channels, and 16 bytes around them.
        assert_eq!(with(12).values, 32);
        let mut both = plain.clone();
        (both.bytes[4], both.bytes[13]) = (10, 3);
        let d = of(&plain, &both).expect("it differs");
        assert_eq!((d.differing, d.beyond, d.within), (2, 1, false));
    }
}
