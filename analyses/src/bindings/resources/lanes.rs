//! Where a member's scalars lie, and how its values are printed.
//!
//! Guarantees: padding between elements, columns and rows is not part of a value. A type that is not known here, or an array
//! whose inner strides do not follow from what is said, is taken as all bytes from its first to its last, printed as hexadecimal words.

use super::pipelines::Member;
use super::words::Words;

/// A scalar's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Float,
    Int,
    Uint,
    Bool,
    Bits,
}

/// Where a member's scalars lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Offsets of words in the block, and which of their bits belong to the member.
    pub words: Vec<(u32, u32)>,
    printer: Printer,
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printer {
    kind: Scalar,
    bytes: u32,
    /// Of each scalar, in the order of the type.
    offsets: Vec<u32>,
    /// Scalars in a row, column or vector; rows or columns in an element.
    shape: (usize, usize),
}

/// Scalars that are printed of a value.
const PRINTED: usize = 16;

struct Shape {
    kind: Scalar,
    bytes: u64,
    /// Columns and rows; 1 and n for vectors.
    columns: u64,
    rows: u64,
    elements: Vec<u64>,
}

fn scalar(word: &str) -> Option<(Scalar, u64)> {
    Some(match word {
        "float" => (Scalar::Float, 4),
        "double" => (Scalar::Float, 8),
        "int" => (Scalar::Int, 4),
        "uint" => (Scalar::Uint, 4),
        "bool" => (Scalar::Bool, 4),
        _ => {
            let bits = word.strip_suffix("_t")?;
            let at = bits.find(|c: char| c.is_ascii_digit())?;
            let kind = match &bits[..at] {
                "float" => Scalar::Float,
                "int" => Scalar::Int,
                "uint" => Scalar::Uint,
                _ => return None,
            };
            let bytes = bits[at..].parse::<u64>().ok()? / 8;
            matches!(bytes, 1 | 2 | 4 | 8).then_some((kind, bytes))?
        }
    })
}

/// What stands before `vec` and `mat`.
fn prefix(word: &str) -> Option<(Scalar, u64)> {
    Some(match word {
        "" => (Scalar::Float, 4),
        "d" => (Scalar::Float, 8),
        "i" => (Scalar::Int, 4),
        "u" => (Scalar::Uint, 4),
        "b" => (Scalar::Bool, 4),
        _ => {
            let kind = match &word[..1] {
                "f" => Scalar::Float,
                "i" => Scalar::Int,
                "u" => Scalar::Uint,
                _ => return None,
            };
            (kind, word[1..].parse::<u64>().ok().filter(|b| matches!(b, 8 | 16 | 32 | 64))? / 8)
        }
    })
}

fn shape(kind: &str) -> Option<Shape> {
    let (base, arrays) = kind.split_at(kind.find('[').unwrap_or(kind.len()));
    let elements = arrays.split(['[', ']']).filter(|n| !n.is_empty()).map(|n| n.parse().ok());
    let elements: Vec<u64> = elements.collect::<Option<_>>()?;
    let of = |(kind, bytes), columns, rows| Shape { kind, bytes, columns, rows, elements };
    if let Some(s) = scalar(base) {
        return Some(of(s, 1, 1));
    }
    if let Some((p, n)) = base.split_once("vec") {
        return Some(of(prefix(p)?, 1, n.parse().ok().filter(|n| (1..=16).contains(n))?));
    }
    let (p, n) = base.split_once("mat")?;
    let (columns, rows) = n.split_once('x').unwrap_or((n, n));
    let one = |n: &str| n.parse::<u64>().ok().filter(|n| (2..=4).contains(n));
    Some(of(prefix(p)?, one(columns)?, one(rows)?))
}

impl Lanes {
    /// Those of a member.
    pub fn of(m: &Member) -> Lanes {
        Lanes::typed(m).unwrap_or_else(|| {
            let (begin, end) = (m.offset & !3, m.offset + m.bytes);
            let offsets: Vec<u32> = (begin..end).step_by(4).map(|o| o as u32).collect();
            let mask = |o: &u32| {
                let bytes = (0..4).filter(|b| (m.offset..end).contains(&(u64::from(*o) + b)));
                (*o, bytes.fold(0, |mask, b| mask | 0xff << (8 * b)))
            };
            let words = offsets.iter().map(mask).collect();
            Lanes { words, printer: Printer { kind: Scalar::Bits, bytes: 4, offsets, shape: (4, 1) } }
        })
    }

    fn typed(m: &Member) -> Option<Lanes> {
        let s = shape(&m.kind)?;
        // (lines are columns, or rows where these lie together)
        let matrix = s.columns > 1;
        let (lines, long) = if m.row_major && matrix { (s.rows, s.columns) } else { (s.columns, s.rows) };
        let one = (lines - 1) * m.matrix_stride + long * s.bytes;
        let at_line = |line: u64, n: u64| line * if matrix { m.matrix_stride } else { 0 } + n * s.bytes;
        let scalar_at = |column: u64, row: u64| match m.row_major && matrix {
            true => at_line(row, column),
            false => at_line(column, row),
        };
        let mut offsets = vec![];
        for element in elements(&s.elements, m, one)? {
            for column in 0..s.columns {
                for row in 0..s.rows {
                    offsets.push(u32::try_from(m.offset + element + scalar_at(column, row)).ok()?);
                }
            }
        }
        let mut words: Vec<(u32, u32)> = vec![];
        for o in &offsets {
            match s.bytes {
                8 => words.extend([(*o, u32::MAX), (o.checked_add(4)?, u32::MAX)]),
                n => {
                    let mask = (u64::from(u32::MAX) >> (32 - 8 * n)) as u32;
                    words.push((o & !3, mask << (8 * (o & 3))));
                }
            }
        }
        words.sort_unstable();
        words.dedup_by(|b, a| {
            a.0 == b.0 && {
                a.1 |= b.1;
                true
            }
        });
        let shape = (s.rows as usize, s.columns as usize);
        Some(Lanes { words, printer: Printer { kind: s.kind, bytes: s.bytes as u32, offsets, shape } })
    }

    /// How many bytes they are, without padding.
    pub fn bytes(&self) -> u64 {
        self.words.iter().map(|w| u64::from(w.1.count_ones() / 8)).sum()
    }

    /// Whether its words are all known there; then `each` got them.
    pub fn read(&self, words: &Words, contents: u32, mut each: impl FnMut(u32)) -> bool {
        self.words.iter().all(|(offset, mask)| {
            let word = words.word(contents, *offset);
            word.inspect(|w| each(w & mask)).is_some()
        })
    }

    /// How it is printed.
    pub fn printer(&self) -> &Printer {
        &self.printer
    }
}

/// Where elements begin.
fn elements(counts: &[u64], m: &Member, one: u64) -> Option<Vec<u64>> {
    if m.array_stride == 0 {
        return counts.iter().all(|n| *n == 1).then(|| vec![0]);
    }
    let outer = m.bytes.checked_sub(one)? / m.array_stride + 1;
    let all =
        if counts.is_empty() { Some(outer) } else { counts.iter().try_fold(1u64, |n, c| n.checked_mul(*c)) };
    let all = all?;
    if all > 1 << 20 || m.bytes < one {
        return None;
    }
    if all == outer {
        return Some((0..all).map(|n| n * m.array_stride).collect());
    }
    let [n, inner] = counts else { return None };
    let rest = m.bytes.checked_sub(one + n.checked_sub(1)? * m.array_stride)?;
    let stride = if *inner > 1 { rest / (inner - 1) } else { 0 };
    let fits = stride * inner.saturating_sub(1) == rest && (stride >= one || *inner == 1);
    fits.then(|| (0..*n).flat_map(|a| (0..*inner).map(move |b| a * m.array_stride + b * stride)).collect())
}

impl Printer {
    /// The value in these contents, as its type writes it; `None` where it is not known.
    pub fn words(&self, words: &Words, contents: u32) -> Option<String> {
        let (row, columns) = self.shape;
        let of_element = row * columns;
        let mut out = String::new();
        for (n, &offset) in self.offsets.iter().take(PRINTED).enumerate() {
            if n > 0 {
                let between = [(of_element, " | "), (row, "; "), (1, ", ")];
                out += between.into_iter().find(|(every, _)| n % every == 0).map_or(", ", |b| b.1);
            }
            out += &self.one(words, contents, offset)?;
        }
        if self.offsets.len() > PRINTED {
            out += " …";
        }
        Some(if self.offsets.len() > 1 { format!("({out})") } else { out })
    }

    fn one(&self, words: &Words, contents: u32, offset: u32) -> Option<String> {
        let low = words.word(contents, offset & !3)?;
        let bits = match self.bytes {
            8 => u64::from(low) | u64::from(words.word(contents, offset + 4)?) << 32,
            n => u64::from(low) >> (8 * (offset & 3)) & (u64::MAX >> (64 - 8 * n)),
        };
        let shift = 64 - 8 * self.bytes;
        Some(match (self.kind, self.bytes) {
            (Scalar::Float, 4) => format!("{:?}", f32::from_bits(low)),
            (Scalar::Float, 8) => format!("{:?}", f64::from_bits(bits)),
            (Scalar::Float, 2) => format!("{:?}", half(bits as u16)),
            (Scalar::Int, _) => (((bits << shift) as i64) >> shift).to_string(),
            (Scalar::Uint, _) => bits.to_string(),
            (Scalar::Bool, _) => (bits != 0).to_string(),
            _ => format!("{low:#010x}"),
        })
    }
}

/// A 16-bit float.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        e => (1024.0 + fraction) * 2f32.powi(e - 25),
    }
}
