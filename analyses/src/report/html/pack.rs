//! Columns of numbers as bytes that a script reads as typed arrays.
//!
//! ```text
//! length of the header:4 (little-endian)  header (JSON)  zeros to a multiple of 8  arrays, each at a multiple of 8
//! ```
//!
//! An array is written in the narrowest type that holds every value exactly; the header says which (`u1`, `u2`, `u4`, `f4`,
//! `f8`: kind and bytes), where it begins behind the header, and how many. Few different fractions become places in a list.
//! All of it is then compressed (zlib) and written as base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;

/// Different values up to which an array of fractions is written as places in a list of them.
const LISTED: usize = 1 << 16;

/// Arrays behind one another.
#[derive(Default)]
pub struct Pack {
    bytes: Vec<u8>,
}

impl Pack {
    /// Appends bytes; what the header says of them.
    fn array(&mut self, kind: &str, count: usize, bytes: impl IntoIterator<Item = u8>) -> Value {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.bytes.len();
        self.bytes.extend(bytes);
        json!({ "t": kind, "at": at, "n": count })
    }

    /// Whole numbers.
    pub fn whole(&mut self, values: &[u64]) -> Value {
        let most = values.iter().copied().max().unwrap_or(0);
        let n = values.len();
        match most {
            0..=0xff => self.array("u1", n, values.iter().map(|&v| v as u8)),
            0x100..=0xffff => self.array("u2", n, values.iter().flat_map(|&v| (v as u16).to_le_bytes())),
            0x1_0000..=0xffff_ffff => {
                self.array("u4", n, values.iter().flat_map(|&v| (v as u32).to_le_bytes()))
            }
            // (exact up to 2⁵³, which is what a script can show)
            _ => self.array("f8", n, values.iter().flat_map(|&v| (v as f64).to_le_bytes())),
        }
    }

    /// A file.
    pub fn file(&mut self, bytes: &[u8]) -> Value {
        self.array("u1", bytes.len(), bytes.iter().copied())
    }

    /// Any numbers; one that is not finite is none.
    pub fn numbers(&mut self, values: &[f64]) -> Value {
        let whole = |v: &f64| *v >= 0.0 && v.fract() == 0.0 && *v <= u32::MAX.into();
        if values.iter().all(whole) {
            return self.whole(&values.iter().map(|&v| v as u64).collect::<Vec<_>>());
        }
        let mut list: Vec<f64> = vec![];
        let mut known: HashMap<u64, u64> = HashMap::new();
        // (many alike: places in a list are half as long or less)
        let most = LISTED.min(values.len() / 4);
        let mut places = Vec::with_capacity(values.len());
        for v in values {
            let v = if v.is_finite() { *v } else { f64::NAN };
            let place = *known.entry(v.to_bits()).or_insert(list.len() as u64);
            if place == list.len() as u64 {
                list.push(v);
                if list.len() > most {
                    break;
                }
            }
            places.push(place);
        }
        if list.len() <= most {
            let (places, list) = (self.whole(&places), self.plain(&list));
            return json!({ "t": "listed", "places": places, "list": list, "n": values.len() });
        }
        self.plain(values)
    }

    fn plain(&mut self, values: &[f64]) -> Value {
        let n = values.len();
        let narrow = |v: &f64| v.is_nan() || f64::from(*v as f32) == *v;
        if values.iter().all(narrow) {
            self.array("f4", n, values.iter().flat_map(|&v| (v as f32).to_le_bytes()))
        } else {
            self.array("f8", n, values.iter().flat_map(|&v| v.to_le_bytes()))
        }
    }

    /// Words: places in a list of those that there are.
    pub fn words<'a>(&mut self, words: impl Iterator<Item = Option<&'a str>>) -> Value {
        let mut list: Vec<&str> = vec![];
        let mut known: HashMap<&str, u64> = HashMap::new();
        let mut places = vec![];
        for word in words {
            // (0 is none)
            places.push(word.map_or(0, |w| {
                *known.entry(w).or_insert_with(|| {
                    list.push(w);
                    list.len() as u64
                })
            }));
        }
        let n = places.len();
        json!({ "t": "words", "places": self.whole(&places), "list": list, "n": n })
    }

    /// The whole block behind this header, compressed, in base64.
    pub fn finish(self, header: &Value) -> Result<String, String> {
        let header = serde_json::to_vec(header).map_err(|e| e.to_string())?;
        let length = u32::try_from(header.len()).map_err(|_| "a header of more than 4 GiB".to_owned())?;
        let padding = (4 + header.len()).next_multiple_of(8) - 4 - header.len();
        let mut out = ZlibEncoder::new(Vec::new(), Compression::best());
        let written = [&length.to_le_bytes()[..], &header, &vec![0; padding], &self.bytes]
            .into_iter()
            .try_for_each(|part| out.write_all(part));
        let bytes = written.and_then(|()| out.finish()).map_err(|e| e.to_string())?;
        Ok(STANDARD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_as_narrow_as_their_values_allow() {
        let mut p = Pack::default();
        let kind = |v: Value| v["t"].as_str().map(str::to_owned).unwrap_or_default();
        assert_eq!(kind(p.whole(&[0, 255])), "u1");
        assert_eq!(kind(p.whole(&[256])), "u2");
        assert_eq!(kind(p.whole(&[1 << 20])), "u4");
        assert_eq!(kind(p.whole(&[1 << 40])), "f8");
        assert_eq!(kind(p.numbers(&[1.0, 2.0])), "u1");
        assert_eq!(kind(p.numbers(&[0.5, f64::NAN])), "f4");
        assert_eq!(kind(p.numbers(&[0.1])), "f8");
        let many = vec![0.1; 9];
        assert_eq!(p.numbers(&many)["list"]["n"], 1);
        assert!(p.bytes.len() % 8 != 0 || p.whole(&[3])["at"].as_u64().is_some_and(|at| at % 8 == 0));
        let words = p.words([Some("a"), None, Some("b"), Some("a")].into_iter());
        assert_eq!(words["list"], json!(["a", "b"]));
    }
}
