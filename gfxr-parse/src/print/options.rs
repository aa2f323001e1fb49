//! What is printed and how, and what printing a block gives beside the text.

/// What stands in place of bytes.
pub const PLACEHOLDER: &str = "[Binary data]";

/// What becomes of bytes that mean nothing as numbers (shader code, memory contents).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Binaries {
    /// `"[Binary data]"` where upstream writes it; other arrays of bytes are written out as numbers.
    #[default]
    Placeholder,
    /// `"[Binary data]"` for every array of bytes.
    None,
    /// Collected in [`super::Printer::take_blobs`]; the value is the file's name.
    Collect,
}

/// How to print.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Flags by the names of their bits.
    pub expand_flags: bool,
    /// Bytes.
    pub binaries: Binaries,
}

/// A number that depends on all the blocks before, to be put into the output by whoever has seen them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Where in the output it belongs.
    pub at: usize,
    /// Which count it is.
    pub kind: CounterKind,
    /// It is printed; else it only counts.
    pub shown: bool,
}

/// See [`Counter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterKind {
    /// How many commands have been recorded into this command buffer so far, this one counted.
    Command(u64),
    /// How many submissions and presents there have been so far, this one counted.
    Submit,
}

/// Bytes for a file of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The file's name: block index, then what it is.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// A record was written.
    Yes,
    /// Blocks of this kind have no form in print (Direct3D 12, types this build does not know).
    Skipped,
}
