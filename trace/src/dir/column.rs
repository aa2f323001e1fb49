//! One column of one chunk, as bytes: encodings before compression.
//!
//! | encoding | of | bytes |
//! |--:|---|---|
//! | 0 | whole numbers | each as a number of up to ten bytes (seven bits a byte, the lowest first) |
//! | 1 | whole numbers | each one's difference from the one before (the first one's from 0), modulo 2^64, zigzag, as in 0 |
//! | 2 | numbers | eight planes: the lowest byte of each, then the next byte of each … |
//! | 3 | words | how many distinct texts; each as its length in bytes and its bytes; for each row which text, all numbers as in 0 |
//! | 4 | whole numbers | the one that all rows have, as in 0 |
//! | 5 | numbers | the eight bytes of the one that all rows have |
//!
//! Guarantees: what is read is what was written, every bit of a number included. Refuses rows that the bytes do not have,
//! and bytes that the rows do not use.

use super::bytes::{Bad, Cursor, put_varint, varint_len, varints};
use super::limits;
use crate::{ColumnData, Kind, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;
use zstd::bulk::Decompressor;

const PLAIN: u8 = 0;
const DELTA: u8 = 1;
const PLANES: u8 = 2;
const DICTIONARY: u8 = 3;
const ALIKE: u8 = 4;
const ALIKE_NUMBERS: u8 = 5;

/// Rows of a column that are not on disk yet.
#[derive(Debug)]
pub enum Pending {
    U64(Vec<u64>),
    F64(Vec<f64>),
    Text { numbers: HashMap<Arc<str>, u32>, texts: Vec<Arc<str>>, rows: Vec<u32>, bytes: usize },
}

impl Pending {
    /// None yet.
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::U64 => Pending::U64(vec![]),
            Kind::F64 => Pending::F64(vec![]),
            Kind::Text => Pending::Text { numbers: HashMap::new(), texts: vec![], rows: vec![], bytes: 0 },
        }
    }

    /// Whether the value is of the column's kind, and not too long.
    pub fn takes(&self, value: &Value<'_>) -> Result<(), String> {
        match (self, value) {
            (Pending::Text { .. }, Value::Text(t)) if t.len() > limits::TEXT => {
                Err(format!("a text of {} bytes; {} is the most", t.len(), limits::TEXT))
            }
            (Pending::U64(_), Value::U64(_))
            | (Pending::F64(_), Value::F64(_))
            | (Pending::Text { .. }, Value::Text(_)) => Ok(()),
            _ => Err(format!("{value:?} is of another kind")),
        }
    }

    /// Adds a value that [`Pending::takes`] said yes to.
    pub fn push(&mut self, value: &Value<'_>) {
        match (self, value) {
            (Pending::U64(c), Value::U64(v)) => c.push(*v),
            (Pending::F64(c), Value::F64(v)) => c.push(*v),
            (Pending::Text { numbers, texts, rows, bytes }, Value::Text(t)) => {
                let number = match numbers.get(*t) {
                    Some(&n) => n,
                    None => {
                        let (n, t) = (texts.len() as u32, Arc::<str>::from(*t));
                        *bytes += t.len();
                        texts.push(t.clone());
                        numbers.insert(t, n);
                        n
                    }
                };
                rows.push(number);
            }
            _ => unreachable!("asked before"),
        }
    }

    /// Bytes of distinct texts.
    pub fn text_bytes(&self) -> usize {
        match self {
            Pending::Text { bytes, .. } => *bytes,
            _ => 0,
        }
    }

    /// The rows as bytes, and the encoding; none are pending then.
    pub fn drain(&mut self, out: &mut Vec<u8>) -> u8 {
        out.clear();
        match self {
            Pending::U64(c) => {
                let encoding = encode_u64(c, out);
                c.clear();
                encoding
            }
            Pending::F64(c) if c.len() > 1 && c.iter().all(|v| v.to_bits() == c[0].to_bits()) => {
                out.extend(c[0].to_bits().to_le_bytes());
                c.clear();
                ALIKE_NUMBERS
            }
            Pending::F64(c) => {
                for plane in 0..8 {
                    out.extend(c.iter().map(|v| v.to_bits().to_le_bytes()[plane]));
                }
                c.clear();
                PLANES
            }
            Pending::Text { numbers, texts, rows, bytes } => {
                put_varint(out, texts.len() as u64);
                for t in texts.iter() {
                    put_varint(out, t.len() as u64);
                    out.extend_from_slice(t.as_bytes());
                }
                rows.iter().for_each(|&n| put_varint(out, n.into()));
                numbers.clear();
                texts.clear();
                rows.clear();
                *bytes = 0;
                DICTIONARY
            }
        }
    }
}

fn zigzag(previous: u64, n: u64) -> u64 {
    let difference = n.wrapping_sub(previous) as i64;
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn unzigzag(previous: u64, z: u64) -> u64 {
    previous.wrapping_add((z >> 1) ^ (z & 1).wrapping_neg())
}

/// The shortest of the encodings.
fn encode_u64(values: &[u64], out: &mut Vec<u8>) -> u8 {
    if values.len() > 1 && values.iter().all(|n| *n == values[0]) {
        put_varint(out, values[0]);
        return ALIKE;
    }
    let deltas = || {
        let mut previous = 0;
        values.iter().map(move |&n| zigzag(std::mem::replace(&mut previous, n), n))
    };
    let plain: usize = values.iter().map(|&n| varint_len(n)).sum();
    let delta: usize = deltas().map(varint_len).sum();
    out.reserve(plain.min(delta));
    if delta < plain {
        deltas().for_each(|n| put_varint(out, n));
        DELTA
    } else {
        values.iter().for_each(|&n| put_varint(out, n));
        PLAIN
    }
}

/// What was compressed, which must be as long as was said; it lies where the last one did. Memory grows with what is there,
/// or with the rows, not with what is promised.
fn decompress<'a>(
    stored: &[u8],
    length: usize,
    rows: usize,
    at: usize,
    (decompressor, raw): &'a mut (Decompressor<'static>, Vec<u8>),
) -> Result<&'a [u8], Bad> {
    let bad = |e: std::io::Error| Bad::new(at, format!("zstd cannot decompress a column: {e}"));
    raw.clear();
    if length <= rows.saturating_mul(BYTES_A_ROW) {
        raw.reserve(length);
        decompressor.decompress_to_buffer(stored, raw).map_err(bad)?;
    } else {
        let decoder = zstd::stream::read::Decoder::with_buffer(stored).map_err(bad)?.single_frame();
        decoder.take(length as u64 + 1).read_to_end(raw).map_err(bad)?;
    }
    if raw.len() != length {
        return Err(Bad::new(at, format!("a column has other than the {length} bytes that were said")));
    }
    Ok(raw)
}

/// The most bytes that a row of numbers takes.
const BYTES_A_ROW: usize = 10;

thread_local! {
    /// What decompresses, and where to: made once for each thread.
    static ROOM: RefCell<Option<(Decompressor<'static>, Vec<u8>)>> = const { RefCell::new(None) };
}

/// Appends the rows of a column as it is stored: compressed, of so many bytes before that.
pub fn read(
    stored: &[u8],
    length: usize,
    encoding: u8,
    rows: usize,
    at: usize,
    into: &mut ColumnData,
) -> Result<(), Bad> {
    ROOM.with_borrow_mut(|room| {
        let room = match room {
            Some(room) => room,
            None => {
                let made = Decompressor::new().map_err(|e| Bad::new(at, format!("zstd: {e}")))?;
                room.insert((made, vec![]))
            }
        };
        decode(decompress(stored, length, rows, at, room)?, encoding, rows, at, into)
    })
}

/// Appends the rows that these bytes hold to a column.
fn decode(raw: &[u8], encoding: u8, rows: usize, at: usize, into: &mut ColumnData) -> Result<(), Bad> {
    let here = |bad: Bad| Bad::new(at, format!("in byte {} of the column: {}", bad.at, bad.why));
    let mut c = Cursor::new(raw, 0);
    // (each row has a byte at least, or all have the same: no more is reserved than is there)
    let alike = matches!(encoding, ALIKE | ALIKE_NUMBERS) && rows <= limits::CHUNK_ROWS;
    if rows > raw.len() && !alike {
        return Err(Bad::new(at, format!("{rows} rows do not fit into the column's {} bytes", raw.len())));
    }
    match (encoding, into) {
        (PLAIN, ColumnData::U64(out)) => {
            out.reserve(rows);
            c.take(varints(raw, rows, |n| out.push(n)).map_err(here)?, "values").map_err(here)?;
        }
        (DELTA, ColumnData::U64(out)) => {
            out.reserve(rows);
            let mut previous = 0;
            let used = varints(raw, rows, |n| {
                previous = unzigzag(previous, n);
                out.push(previous);
            });
            c.take(used.map_err(here)?, "differences").map_err(here)?;
        }
        (ALIKE, ColumnData::U64(out)) => {
            let n = c.varint("the value").map_err(here)?;
            out.resize(out.len() + rows, n);
        }
        (ALIKE_NUMBERS, ColumnData::F64(out)) => {
            let n = f64::from_bits(c.u64("the number").map_err(here)?);
            out.resize(out.len() + rows, n);
        }
        (PLANES, ColumnData::F64(out)) => {
            let planes = c.take(rows * 8, "a column of numbers").map_err(here)?;
            let [a, b, d, e, f, g, h, i]: [&[u8]; 8] = std::array::from_fn(|p| &planes[p * rows..][..rows]);
            out.reserve(rows);
            out.extend((0..rows).map(|r| {
                f64::from_bits(u64::from_le_bytes([a[r], b[r], d[r], e[r], f[r], g[r], h[r], i[r]]))
            }));
        }
        (DICTIONARY, ColumnData::Text(out)) => {
            let count = c.varint("the number of texts").map_err(here)?;
            let mut texts: Vec<Arc<str>> = vec![];
            for _ in 0..count {
                let length = c.varint("a text's length").map_err(here)?;
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let text = std::str::from_utf8(c.take(length, "a text").map_err(here)?);
                texts.push(text.map_err(|_| Bad::new(at, "a text is no UTF-8"))?.into());
            }
            out.reserve(rows);
            for _ in 0..rows {
                let n = c.varint("which text").map_err(here)?;
                let text = usize::try_from(n).ok().and_then(|n| texts.get(n));
                out.push(text.ok_or_else(|| Bad::new(at, format!("there is no text {n}")))?.clone());
            }
        }
        (encoding, _) => {
            return Err(Bad::new(at, format!("encoding {encoding} is none of this column's kind")));
        }
    }
    if c.at() != raw.len() {
        return Err(Bad::new(at, format!("{rows} rows leave {} bytes over", raw.len() - c.at())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(kind: Kind, values: &[Value<'_>]) -> (u8, usize, ColumnData) {
        let mut pending = Pending::new(kind);
        for v in values {
            pending.takes(v).unwrap();
            pending.push(v);
        }
        let mut raw = vec![];
        let encoding = pending.drain(&mut raw);
        let mut data = match kind {
            Kind::U64 => ColumnData::U64(vec![]),
            Kind::F64 => ColumnData::F64(vec![]),
            Kind::Text => ColumnData::Text(vec![]),
        };
        decode(&raw, encoding, values.len(), 0, &mut data).unwrap();
        let alike = matches!(encoding, ALIKE | ALIKE_NUMBERS);
        for rows in [values.len() - 1, values.len() + 1].into_iter().filter(|_| !alike) {
            assert!(decode(&raw, encoding, rows, 0, &mut data.clone()).is_err(), "{rows}");
        }
        (encoding, raw.len(), data)
    }

    #[test]
    fn whole_numbers_take_the_shorter_way() {
        let far = [u64::MAX, 0, 1, u64::MAX / 2, u64::MAX - 1, 1 << 63];
        let (_, _, data) = through(Kind::U64, &far.map(Value::U64));
        assert_eq!(data, ColumnData::U64(far.to_vec()));
        let close: Vec<u64> = (0..1000).map(|n| 1_000_000_000_000 - n).collect();
        let values: Vec<Value<'_>> = close.iter().map(|&n| Value::U64(n)).collect();
        let (encoding, bytes, data) = through(Kind::U64, &values);
        assert_eq!((encoding, bytes), (DELTA, 6 + 999));
        assert_eq!(data, ColumnData::U64(close));
    }

    #[test]
    fn numbers_keep_every_bit() {
        let values = [0.0, -0.0, 1.5, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 2.0];
        let (_, bytes, data) = through(Kind::F64, &values.map(Value::F64));
        assert_eq!(bytes, 48);
        let ColumnData::F64(data) = data else { panic!("{data:?}") };
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&data), bits(&values));
    }

    #[test]
    fn equal_texts_lie_there_once() {
        let (encoding, bytes, data) = through(Kind::Text, &["main", "", "main", "é"].map(Value::Text));
        assert_eq!((encoding, bytes), (DICTIONARY, 1 + 5 + 1 + 3 + 4));
        assert_eq!(data, ColumnData::Text(["main", "", "main", "é"].map(Arc::from).to_vec()));
    }

    #[test]
    fn what_is_alike_lies_there_once() {
        let (encoding, bytes, data) = through(Kind::U64, &[Value::U64(u64::MAX); 9]);
        assert_eq!((encoding, bytes, data), (ALIKE, 10, ColumnData::U64(vec![u64::MAX; 9])));
        let (encoding, bytes, data) = through(Kind::F64, &[Value::F64(-0.0); 9]);
        assert_eq!((encoding, bytes), (ALIKE_NUMBERS, 8));
        let ColumnData::F64(data) = data else { panic!("{data:?}") };
        assert!(data.len() == 9 && data.iter().all(|n| n.to_bits() == (-0.0f64).to_bits()));
        // (a few bytes must not make more rows than a chunk has)
        let mut data = ColumnData::U64(vec![]);
        assert!(decode(&[1], ALIKE, limits::CHUNK_ROWS + 1, 0, &mut data).is_err());
    }

    #[test]
    fn other_kinds_are_refused() {
        assert!(Pending::new(Kind::U64).takes(&Value::Text("a")).is_err());
        let long = "a".repeat(limits::TEXT + 1);
        assert!(Pending::new(Kind::Text).takes(&Value::Text(&long)).is_err());
        let mut data = ColumnData::F64(vec![]);
        assert!(decode(&[1], PLAIN, 1, 0, &mut data).unwrap_err().why.contains("encoding 0"));
        let bomb = zstd::bulk::compress(&vec![0; 1 << 20], 1).unwrap();
        let mut room = (Decompressor::new().unwrap(), vec![]);
        assert!(decompress(&bomb, 1000, 1, 7, &mut room).unwrap_err().why.contains("1000 bytes"));
        assert!(decompress(&bomb, 1000, 1000, 7, &mut room).unwrap_err().why.contains("zstd cannot"));
        assert_eq!(decompress(&bomb, 1 << 20, 1, 7, &mut room).unwrap().len(), 1 << 20);
        assert_eq!(decompress(&bomb, 1 << 20, 1 << 20, 7, &mut room).unwrap().len(), 1 << 20);
    }
}
