//! Offsets in a call's image by the C names of parameters and members, found while compiling.
//!
//! For code that runs for every call and knows which command or struct it reads: [`member!`](crate::member),
//! [`param!`](crate::param), [`argument!`](crate::argument) and [`size_of_struct!`](crate::size_of_struct) are constants.
//! Guarantees: they are those of the tables, and are found even where the code around them is never run (each is a
//! `const` item, which `cargo check` looks at too). Refuses to compile a name that the tables do not have:
//!
//! ```
//! assert_eq!(gfxr_parse::member!("VkMappedMemoryRange", "memory"), 16);
//! ```
//! ```compile_fail
//! gfxr_parse::member!("VkMappedMemoryRange", "memroy");
//! ```
//! ```compile_fail
//! gfxr_parse::argument!("vkFreeMemroy", "memory");
//! ```

use super::generated::{COMMANDS, COMMANDS_BY_NAME, STRUCTS};
use super::{CommandDef, Member, StructDef};
use std::cmp::Ordering;

/// The offset of a struct's member: `member!("VkMappedMemoryRange", "memory")`, a constant `u32`.
#[macro_export]
macro_rules! member {
    ($of:expr, $name:expr) => {{
        const FOUND: u32 = $crate::schema::offsets::member($of, $name);
        FOUND
    }};
}

/// The offset of a command's parameter in the image of a call: `param!("vkFreeMemory", "memory")`, a constant `u32`.
#[macro_export]
macro_rules! param {
    ($command:expr, $name:expr) => {{
        const FOUND: u32 = $crate::schema::offsets::argument($command, $name) as u32 * 8;
        FOUND
    }};
}

/// A parameter's place among its command's: `argument!("vkFreeMemory", "memory")`, a constant `usize`.
#[macro_export]
macro_rules! argument {
    ($command:expr, $name:expr) => {{
        const FOUND: usize = $crate::schema::offsets::argument($command, $name);
        FOUND
    }};
}

/// A struct's size in bytes: `size_of_struct!("VkMappedMemoryRange")`, a constant `u32`.
#[macro_export]
macro_rules! size_of_struct {
    ($of:expr) => {{
        const FOUND: u32 = $crate::schema::offsets::structure($of).size;
        FOUND
    }};
}

/// See [`member!`](crate::member).
pub const fn member(of: &str, name: &str) -> u32 {
    let members = structure(of).members;
    members[position(members, name)].at
}

/// See [`argument!`](crate::argument).
pub const fn argument(of: &str, name: &str) -> usize {
    position(command(of).params, name)
}

/// The struct with this canonical name.
pub const fn structure(name: &str) -> &'static StructDef {
    let (mut low, mut high) = (0, STRUCTS.len());
    while low < high {
        let middle = (low + high) / 2;
        match compare(STRUCTS[middle].name, name) {
            Ordering::Equal => return &STRUCTS[middle],
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    panic!("no struct has this name")
}

/// The command with this name.
const fn command(name: &str) -> &'static CommandDef {
    let (mut low, mut high) = (0, COMMANDS_BY_NAME.len());
    while low < high {
        let middle = (low + high) / 2;
        let found = &COMMANDS[COMMANDS_BY_NAME[middle] as usize];
        match compare(found.name, name) {
            Ordering::Equal => return found,
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    panic!("no command has this name")
}

const fn position(members: &[Member], name: &str) -> usize {
    let mut i = 0;
    while i < members.len() {
        if matches!(compare(members[i].name, name), Ordering::Equal) {
            return i;
        }
        i += 1;
    }
    panic!("no member or parameter has this name")
}

/// As `Ord` does, which constants cannot ask.
const fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return if a[i] < b[i] { Ordering::Less } else { Ordering::Greater };
        }
        i += 1;
    }
    if a.len() == b.len() {
        Ordering::Equal
    } else if a.len() < b.len() {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}
