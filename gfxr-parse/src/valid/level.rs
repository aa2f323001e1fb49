//! How much of a call has been checked.

/// How much is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing yet.
    #[default]
    Decoded,
    /// What memory safety rests on.
    Memory,
    /// That, and what the specification says of values.
    Usage,
}
