//! How much memory an input may ask for at once: from the named limits and from the schema.
//!
//! A buffer that grows is at most twice as large as what it holds. A decoded call's image is at most as many times
//! larger than its bytes as the struct that grows most, [`growth`]; a pointer's record is ten times its shortest
//! preamble. Data up to `TRUSTED_SIZE` are allocated as declared. Refuses nothing: it is arithmetic.

use std::sync::LazyLock;

use gfxr_parse::image::Ptr;
use gfxr_parse::limits::{MAX_IMAGE_BYTES, TRUSTED_SIZE};
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Member, Shape, Special, StructDef, Ty};

use crate::inputs::Target;

/// What is asked for whatever the input: the state of decompressors and of threads, small tables.
const FIXED: usize = 1 << 20;

/// `replay`'s limit (`link.rs`, of the same name) on memory for results whose contents the capture left out.
const MAX_SPARE: usize = 256 << 20;

/// `replay`'s table of objects (`objects.rs`): ids below its `DENSE` lie in an array of entries of 40 bytes at most, which
/// doubles.
const OBJECT_TABLE: usize = (1 << 22) * 40;

/// What records of a few kilobytes may ask for: eight bytes an invocation of the largest launch that `analyses` takes
/// (`limits.rs`, `INVOCATIONS`).
const MOST_OF_RECORDS: usize = 8 << 27;

/// The fewest bytes on the wire that the decoder asks for before it sets memory aside for an element, as it counts
/// them.
fn wire_min(def: &StructDef) -> usize {
    let member = |m: &Member| match (m.shape, m.ty) {
        (Shape::Absent, _) => 0,
        (Shape::Value, Ty::Struct(_)) => 1,
        (Shape::Value, ty) => ty.c_layout().0,
        _ => 4,
    };
    if def.special != Special::None { 1 } else { def.members.iter().map(member).sum::<usize>().max(1) }
}

/// How many times larger than its bytes a decoded call's memory can get, and by which struct.
pub fn growth() -> (usize, &'static str) {
    static GROWTH: LazyLock<(usize, &str)> = LazyLock::new(|| {
        let structs = STRUCTS.iter().map(|s| ((s.size as usize).div_ceil(wire_min(s)), s.name));
        let record = (size_of::<Ptr>().div_ceil(4), "a pointer's record");
        structs.chain([record]).max().expect("not empty")
    });
    *GROWTH
}

/// The most that an input may ask for at once, whose largest piece of data (uncompressed) has so many bytes.
pub fn largest_allocation(target: Target, data: u64) -> usize {
    let data = usize::try_from(data).unwrap_or(usize::MAX);
    let image = data.saturating_mul(growth().0).min(MAX_IMAGE_BYTES);
    // Printed, a byte of an array takes up to four, a number of an enum up to a name.
    let grown = image.max(data.saturating_mul(100)).saturating_mul(2);
    let trusted = match target {
        Target::Call | Target::RoundTrip => 0,
        Target::Container => 2 * TRUSTED_SIZE,
        Target::Echo | Target::Resources => MAX_SPARE.max(OBJECT_TABLE),
        Target::Trace | Target::Run => MOST_OF_RECORDS,
    };
    FIXED + grown.max(trusted)
}
