//! A set of commands: which ones a hook sees.
//!
//! Guarantees: a name that the schema does not have is never passed over, it panics.

use gfxr_parse::schema::{CommandDef, command_named, generated::COMMANDS};

/// Which commands a hook sees. The others cost it nothing.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    bits: Vec<u64>,
}

impl Commands {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }
    /// All.
    pub fn all() -> Self {
        Commands { bits: vec![u64::MAX; COMMANDS.len().div_ceil(64)] }
    }
    /// These; a name the schema does not have is a bug and panics.
    pub fn named(names: &[&str]) -> Self {
        let mut c = Commands { bits: vec![0; COMMANDS.len().div_ceil(64)] };
        for n in names {
            let i = index_of(command_named(n).unwrap_or_else(|| panic!("{n} is not in the schema")));
            c.bits[i / 64] |= 1 << (i % 64);
        }
        c
    }
    /// Whether it sees the command with this index.
    pub fn has(&self, index: usize) -> bool {
        self.bits.get(index / 64).is_some_and(|w| w >> (index % 64) & 1 != 0)
    }
}

/// A command's index in the schema's table.
pub fn index_of(c: &'static CommandDef) -> usize {
    COMMANDS.binary_search_by_key(&c.id, |d| d.id).expect("it is from the table")
}
