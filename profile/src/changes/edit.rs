//! Edits of a decoded call, by the names of its members.
//!
//! Guarantees: only 32-bit numbers are overwritten, where a [`View`] says that they lie. Refuses nothing: a member that is not there
//! is not edited.

use gfxr_parse::image::Image;
use gfxr_parse::view::View;

/// A number to be put somewhere in a call's image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where.
    pub at: u32,
    /// What.
    pub value: u32,
}

/// The same value for a member that is a number.
pub fn set(of: View<'_>, name: &str, value: u32) -> Option<Edit> {
    of.definition(name).map(|(_, at)| Edit { at, value })
}

/// The same value for all elements of an array of 32-bit numbers.
pub fn set_all(of: View<'_>, name: &str, value: u32) -> Vec<Edit> {
    let (at, n) = of.array(name).unwrap_or((0, 0));
    (0..n as u32).map(|i| Edit { at: at + i * 4, value }).collect()
}

/// Makes edits; whether anything is another now.
pub fn apply(image: &mut Image, edits: &[Edit]) -> bool {
    let mut changed = false;
    for e in edits {
        if image.u32(e.at) != e.value {
            image.edit_u32(e.at, e.value);
            changed = true;
        }
    }
    changed
}
