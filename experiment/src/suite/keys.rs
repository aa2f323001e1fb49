//! Values of a suite file's keys: what is written in words, read as what it means.
//!
//! Guarantees: what makes no sense is refused while it is read, so that the reader knows its line. Refuses more than
//! [`MOST_FRAMES`] frames of one bench.

use crate::values::{duration, percent};
use analyses::verdict::{METRICS, Metric};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;
use std::marker::PhantomData;
use trace::select::Ranges;
use trace::tolerance::Tolerance;

/// Most frames of a `[[bench]]`.
pub const MOST_FRAMES: u64 = 10_000;

/// `"2%"`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Share {
    /// As it is written.
    pub words: String,
    /// As a share: 0.02.
    pub share: f64,
}

impl TryFrom<String> for Share {
    type Error = String;
    fn try_from(words: String) -> Result<Self, String> {
        Ok(Share { share: percent(&words)?, words })
    }
}

/// `"10m"`, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Time(pub String);

impl TryFrom<String> for Time {
    type Error = String;
    fn try_from(words: String) -> Result<Self, String> {
        duration(&words).map(|_| Time(words))
    }
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct MetricName(pub Metric);

impl TryFrom<String> for MetricName {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        Metric::named(&name).map(MetricName).ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|m| m.name()).collect();
            format!("no metric {name}; there are {}", names.join(", "))
        })
    }
}

/// A text, or a number taken as one: `gpu = 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Of;
        impl Visitor<'_> for Of {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a whole number")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Text, E> {
                Ok(Text(v.to_owned()))
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Text, E> {
                Ok(Text(v.to_string()))
            }
        }
        from.deserialize_any(Of)
    }
}

/// How far pictures may be apart: `"exact"`, or ULP of 32-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pictures(pub Tolerance);

impl<'de> Deserialize<'de> for Pictures {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let words = Text::deserialize(from)?.0;
        words.parse().map(Pictures).map_err(D::Error::custom)
    }
}

/// One, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Many<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Of<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Of<T> {
            type Value = Many<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of them")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Many<T>, E> {
                T::deserialize(de::value::StrDeserializer::new(v)).map(|one| Many(vec![one]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Many<T>, A::Error> {
                let mut all = vec![];
                while let Some(one) = list.next_element()? {
                    all.push(one);
                }
                Ok(Many(all))
            }
        }
        from.deserialize_any(Of(PhantomData))
    }
}

/// `61`, `"10-12"`, or a list of such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frames(pub Vec<u64>);

impl Frames {
    fn of(text: &str) -> Result<Frames, String> {
        let ranges: Ranges = text.parse()?;
        let mut all = vec![];
        for &(first, last) in ranges.all() {
            if first == 0 {
                return Err("frames are counted from 1".into());
            }
            if last - first >= MOST_FRAMES {
                return Err(format!("{text}: {MOST_FRAMES} frames at most, the last of them named"));
            }
            all.extend(first..=last);
        }
        Ok(Frames(all))
    }
}

impl<'de> Deserialize<'de> for Frames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Of;
        impl<'de> Visitor<'de> for Of {
            type Value = Frames;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a frame's number, a range as in \"10-12\", or a list of such")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Frames, E> {
                Frames::of(v).map_err(E::custom)
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Frames, E> {
                Frames::of(&v.to_string()).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Frames, A::Error> {
                let mut all = vec![];
                while let Some(Frames(some)) = list.next_element()? {
                    all.extend(some);
                }
                match all.len() as u64 {
                    0 => Err(A::Error::custom("no frame in it; leave frames out to replay captures whole")),
                    n if n > MOST_FRAMES => Err(A::Error::custom(format!("{MOST_FRAMES} frames at most"))),
                    _ => Ok(Frames(all)),
                }
            }
        }
        from.deserialize_any(Of)
    }
}
