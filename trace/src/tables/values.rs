//! What pass `values` records.

use crate::Table;
use crate::table::{count, text};

/// Words of what loads give.
pub static VALUE_SITES: Table = Table {
    name: "value_sites",
    about: "a 32-bit word of what a load of an entry point gives",
    version: 1,
    columns: &[
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("site", "number", "its number in the entry point, from 0"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count("word_offset", "words", "where the load stands in the original module"),
        text("class", "what is read: uniform, push, storage, texture"),
        text("kind", "what the word is: float, int, uint, bool, half of 64 bits"),
        text("name", "what is read, in the shader's words, with the component"),
        text("file", "source file of the block's first instruction that has a line"),
        count("line", "line", "that line, from 1; 0 where the module carries none"),
    ],
};

/// How often they were read.
pub static VALUES: Table = Table {
    name: "values",
    about: "how often a word was read in one frame; absent where it was not",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "with `site`, a row of `value_sites`"),
        count("site", "number", "which"),
        count(
            "executions",
            "invocations",
            "how often an invocation read it; helper invocations do not count",
        ),
        count("zeros", "invocations", "how often it was zero (all bits)"),
        count(
            "overflow",
            "invocations",
            "how often it was a value that found no slot, and is in no row of `values_seen`",
        ),
    ],
};

/// The values that have slots.
pub static VALUES_SEEN: Table = Table {
    name: "values_seen",
    about: "a value other than zero, and how often it was read in one frame",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "with `site`, a row of `value_sites`"),
        count("site", "number", "which"),
        count("value", "bits", "the word"),
        count("executions", "invocations", "how often"),
    ],
};

/// Registers of HyperLogLog.
pub static VALUE_REGISTERS: Table = Table {
    name: "value_registers",
    about: "a register of HyperLogLog (256 of them) over the values other than zero of one frame, for words with overflow",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "with `site`, a row of `value_sites`"),
        count("site", "number", "which"),
        count("register", "index", "which, from 0; those that are not here are 0"),
        count("rank", "number", "one more than the most leading zeros, of 24 bits of the hash"),
    ],
};

/// Changes from action to action.
pub static VALUE_CHANGES: Table = Table {
    name: "value_changes",
    about: "how often a word of a uniform block or push constants changed from one action to the next that reads it, of \
            one entry point in one recording of a command buffer, in one frame",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "with `site`, a row of `value_sites`"),
        count("site", "number", "which"),
        count("actions", "actions", "draws, dispatches and traces that read it"),
        count("pairs", "pairs", "of these, one after the other in one recording"),
        count("changes", "pairs", "those in which both saw one value each, and not the same"),
        count("unknown", "pairs", "those in which one saw several values"),
    ],
};

/// Which register of HyperLogLog a value goes to, and its rank there. The probe of pass `values` does the same.
pub fn register_of(word: u32) -> (usize, u64) {
    // murmur3's finalizer, a bijection.
    let h = (word ^ (word >> 16)).wrapping_mul(0x85eb_ca6b);
    let h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    let h = h ^ (h >> 16);
    ((h >> 24) as usize, u64::from((h & 0xff_ffff).leading_zeros()) - 8 + 1)
}

/// How many distinct values the registers of HyperLogLog stand for (Flajolet et al. 2007), with linear counting where many
/// registers are empty. A register's rank is 0 where no value came.
pub fn hyperloglog(ranks: &[u64]) -> f64 {
    let m = ranks.len() as f64;
    let alpha = 0.7213 / (1.0 + 1.079 / m);
    let sum: f64 = ranks.iter().map(|&r| 0.5f64.powi(r.min(64) as i32)).sum();
    let estimate = alpha * m * m / sum;
    let empty = ranks.iter().filter(|&&r| r == 0).count();
    if estimate <= 2.5 * m && empty > 0 { m * (m / empty as f64).ln() } else { estimate }
}
