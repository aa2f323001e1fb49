//! The registry's numbers as words of the tables.
//!
//! Refuses nothing: a number without a name is its number.

use crate::table::Value;
use gfxr_parse::schema::enum_named;

/// A value of an enum, by its full name.
pub fn value(of: &str, value: u32) -> Value {
    let found = enum_named(of).and_then(|e| e.value(value));
    found.map_or_else(|| value.to_string().into(), Value::Word)
}

/// The bits of a mask, by their full names, separated by blanks.
pub fn bits(of: &str, value: u64) -> Value {
    let Some(e) = enum_named(of) else { return value.to_string().into() };
    e.bits(value).collect::<Vec<_>>().join(" ").into()
}

/// Bytes in hexadecimal; those that are not there are `--`.
pub fn hex(bytes: &[u8], there: &[bool]) -> Value {
    let digits = b"0123456789abcdef";
    let byte = |(i, b): (usize, &u8)| match there.get(i) {
        Some(false) => ['-'; 2],
        _ => [digits[usize::from(b >> 4)].into(), digits[usize::from(b & 15)].into()],
    };
    bytes.iter().enumerate().flat_map(byte).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_registrys() {
        assert_eq!(value("VkAttachmentLoadOp", 1), Value::Word("VK_ATTACHMENT_LOAD_OP_CLEAR"));
        assert_eq!(value("VkAttachmentLoadOp", 77), "77".into());
        let usage =
            "VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT";
        assert_eq!(bits("VkCommandBufferUsageFlagBits", 5), usage.into());
        assert_eq!(hex(&[0, 0xAB, 3], &[true, true, false]), "00ab--".into());
    }
}
