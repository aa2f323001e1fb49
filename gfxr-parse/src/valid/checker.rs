//! A check under way, and how its rules read members and say what is wrong.

use crate::error::{Error, Result};
use crate::image::Image;
use crate::view::View;

/// See [`check`].
pub(super) struct Checker<'i> {
    pub(super) image: &'i Image,
    pub(super) usage: bool,
}

/// How many elements were expected.
#[cold]
pub(super) fn elements_of(count: u64, is_array: bool) -> String {
    match (count, is_array) {
        (_, false) => "one element".to_owned(),
        (1, true) => "1 element, as its count says".to_owned(),
        (n, true) => format!("{n} elements, as its count says"),
    }
}

#[cold]
pub(super) fn absent(wanted: &str) -> Error {
    Error::malformed(format!("expected {wanted}, found null"))
}

/// A number that is there, as its struct was checked.
pub(super) fn number(v: &View<'_>, name: &str) -> u32 {
    v.u32(name).unwrap_or(0)
}

/// Whether a pointer leads anywhere.
pub(super) fn leads(v: &View<'_>, name: &str) -> bool {
    v.array(name).is_some_and(|(at, _)| at != 0)
}

/// Each struct of an array.
pub(super) fn each(v: &View<'_>, name: &str, mut one: impl FnMut(&View<'_>) -> Result<()>) -> Result<()> {
    v.structs(name)
        .enumerate()
        .try_for_each(|(i, s)| one(&s).map_err(|e| e.within(&format!("[{i}]")).within(name)))
}

/// A count above 0 wants elements.
pub(super) fn counted(v: &View<'_>, count: &str, array: &str) -> Result<()> {
    match number(v, count) {
        n if n > 0 && !leads(v, array) => Err(absent(&elements_of(n.into(), true)).within(array)),
        _ => Ok(()),
    }
}
