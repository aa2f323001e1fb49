//! Annotations: text that tools leave in a capture; above all `operation`, where the encoder says who it was.
//!
//! ```text
//! u32 kind (1 text, 2 JSON, 3 XML) | u32 label length | u64 data length | label | data
//! ```
//!
//! Guarantees: written back byte for byte. [`Annotation::operation`] never fails: what is no JSON, or lacks a member,
//! gives an [`Operation`] that knows less. Refuses blocks shorter than their lengths say.

use std::fmt;

use serde_json::Value;

use crate::container::fields::{Fields, Put, Text};
use crate::container::framing::{block_type, framed};
use crate::error::Result;

/// The label of the annotation that names the encoder.
pub const OPERATION: &str = "operation";

/// What an annotation's data are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationKind {
    /// Plain text.
    Text,
    /// JSON.
    Json,
    /// XML.
    Xml,
    /// A value not known to this build.
    Other(u32),
}

impl AnnotationKind {
    fn from_value(value: u32) -> Self {
        match value {
            1 => Self::Text,
            2 => Self::Json,
            3 => Self::Xml,
            other => Self::Other(other),
        }
    }
    /// Its value in the file.
    pub fn value(self) -> u32 {
        match self {
            Self::Text => 1,
            Self::Json => 2,
            Self::Xml => 3,
            Self::Other(value) => value,
        }
    }
}

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation<'a> {
    /// What the data are.
    pub kind: AnnotationKind,
    /// What they are about.
    pub label: Text<'a>,
    /// The data.
    pub data: Text<'a>,
    /// Bytes after the data; none in any known version.
    pub tail: &'a [u8],
}

impl<'a> Annotation<'a> {
    /// A new one.
    pub fn new(kind: AnnotationKind, label: &'a str, data: &'a str) -> Self {
        Annotation { kind, label: label.into(), data: data.into(), tail: &[] }
    }
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let kind = AnnotationKind::from_value(f.u32("annotation kind")?);
        let (label, data) = (f.u32("label length")?, f.u64("data length")?);
        let label = Text(f.bytes(label.into(), "label")?);
        Ok(Annotation { kind, label, data: Text(f.bytes(data, "annotation data")?), tail: f.rest() })
    }
    /// Writes the whole block.
    pub fn write(&self, out: &mut Vec<u8>) {
        framed(out, block_type::ANNOTATION, |out| {
            out.put_u32(self.kind.value());
            out.put_u32(self.label.0.len() as u32);
            out.put_u64(self.data.0.len() as u64);
            out.put(self.label.0);
            out.put(self.data.0);
            out.put(self.tail);
        });
    }
    /// What the encoder said about itself, if this is the annotation for it.
    pub fn operation(&self) -> Option<Operation> {
        (self.kind == AnnotationKind::Json && self.label.0 == OPERATION.as_bytes())
            .then(|| Operation::from_json(self.data.0))
    }
}

/// The JSON of the `operation` annotation.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Operation {
    /// `tool`: `capture`, `optimize`, …
    pub tool: Option<String>,
    /// `timestamp`, ISO 8601.
    pub timestamp: Option<String>,
    /// `gfxrecon-version` as written: `1.0.5-dev (dev:765c3d6*) Release`.
    pub gfxrecon_version: Option<String>,
    /// `vulkan-version`: the headers the encoder was built with.
    pub vulkan_version: Option<String>,
    /// Everything; null if it is no JSON.
    pub json: Value,
}

impl Operation {
    fn from_json(data: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(data).unwrap_or(Value::Null);
        let member = |name: &str| json.get(name).and_then(Value::as_str).map(str::to_string);
        Operation {
            tool: member("tool"),
            timestamp: member("timestamp"),
            gfxrecon_version: member("gfxrecon-version"),
            vulkan_version: member("vulkan-version"),
            json,
        }
    }
    /// The encoder's version, as numbers.
    pub fn version(&self) -> Option<Version> {
        self.gfxrecon_version.as_deref().and_then(Version::parse)
    }
    /// The encoder is one (1.0.1 or newer) that marks every frame's end with a block of its own, whatever the file's
    /// version says.
    pub fn explicit_frames(&self) -> bool {
        self.version().is_some_and(|v| v >= Version { major: 1, minor: 0, patch: 1 })
    }
}

/// A version of gfxreconstruct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
}

impl Version {
    /// Reads `major.minor.patch` at the start; whatever follows (`-dev (branch:hash) Release`) does not matter.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.trim_start();
        let end = numbers.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(numbers.len());
        let mut parts = numbers[..end].split('.').map(|n| n.parse::<u32>().ok());
        Some(Version { major: parts.next()??, minor: parts.next()??, patch: parts.next()?? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_encoders_write_them() {
        let parse = |t| Version::parse(t).map(|v| v.to_string());
        assert_eq!(parse("1.0.5-dev (dev:765c3d6*) Release").as_deref(), Some("1.0.5"));
        assert_eq!(parse("0.9.18-unknown (unknown-build-source)").as_deref(), Some("0.9.18"));
        assert_eq!(parse("1.0.1").as_deref(), Some("1.0.1"));
        for bad in ["", "1.0", "one.two.three", "1..2", "99999999999.0.0"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_operation_annotation_may_be_anything() {
        let of = |data| Annotation::new(AnnotationKind::Json, OPERATION, data).operation().unwrap();
        let full = of(r#"{"tool":"capture","timestamp":"2026-01-01T00:00:00Z",
            "gfxrecon-version":"1.0.1 (x:1)","vulkan-version":"1.4.357","more":[1]}"#);
        assert_eq!(full.tool.as_deref(), Some("capture"));
        assert_eq!(full.timestamp.as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(full.vulkan_version.as_deref(), Some("1.4.357"));
        assert!(full.explicit_frames());
        assert_eq!(full.json["more"][0], 1);
        assert!(!of(r#"{"gfxrecon-version":"1.0.0"}"#).explicit_frames());
        assert!(!of(r#"{"gfxrecon-version":7}"#).explicit_frames());
        assert_eq!(of("no JSON"), Operation::default());
        assert_eq!(Annotation::new(AnnotationKind::Text, OPERATION, "{}").operation(), None);
        assert_eq!(Annotation::new(AnnotationKind::Json, "other", "{}").operation(), None);
    }
}
