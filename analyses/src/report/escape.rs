//! Text that comes from captures, traces and runs, made safe to show: on terminals, in logs, in XML and in Markdown.
//!
//! Whoever makes a capture chooses its labels, names of objects, shaders and applications, names of files and messages. Shown as
//! they are they could move a terminal's cursor, write the results of another run over ours, or look like a line of ours.
//!
//! Guarantees: what is shown holds no control character (C0 with ESC, DEL, C1), no mark of direction (bidi), nothing without
//! width, no separator of lines, and no byte that is not UTF-8. What is replaced stays readable, as JSON's escape of it: `\n`,
//! `\u001b`. So the same function serves JSON on a terminal, where it changes no value. A backslash that was there stays as it is:
//! these are for readers, and programs read JSON. Refuses nothing.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal or a reader could be misled by it.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'     // soft hyphen; marks of direction and without width
            | '\u{200b}'..='\u{200f}'             // without width, left-to-right and right-to-left marks
            | '\u{2028}'..='\u{202e}'             // separators of lines and paragraphs, embeddings and overrides
            | '\u{2060}'..='\u{206f}'             // joiners, invisible operators, isolates
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' // byte order mark, annotations
            | '\u{e0000}'..='\u{e007f}') // tags
}

fn escaped(text: &str, kept: &[char]) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !misleads(c) || kept.contains(&c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                // (writing to a string cannot fail)
                let _ = write!(out, "\\u{unit:04x}");
            }),
        }
    }
    out
}

/// Whether bytes are plain: ASCII that is printed, and the two that are kept. Most text is, and is passed on as it is.
fn plain(bytes: &[u8], kept: [u8; 2]) -> bool {
    // (masks of bytes, no early end, a row at a time: so many bytes are looked at at once)
    let mask = |is: bool| if is { u8::MAX } else { 0 };
    // As signed numbers, what is no ASCII lies below the control characters.
    let odd = |b: u8| (mask((b as i8) < 0x20) & mask(b != kept[0]) & mask(b != kept[1])) | mask(b == 0x7f);
    let (rows, rest) = bytes.as_chunks::<64>();
    let mut found = [0; 64];
    for row in rows {
        found.iter_mut().zip(row).for_each(|(f, b)| *f |= odd(*b));
    }
    let rest = rest.iter().fold(0, |all, b| all | odd(*b));
    found.iter().fold(rest, |all, f| all | f) == 0
}

/// A value, or a sentence that has values in it: it stays on its line.
pub fn line(text: &str) -> Cow<'_, str> {
    if plain(text.as_bytes(), [b' '; 2]) { Cow::Borrowed(text) } else { escaped(text, &[]).into() }
}

/// Text of several lines, whose values went through [`line()`]: line ends and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    if plain(text.as_bytes(), *b"\n\t") { Cow::Borrowed(text) } else { escaped(text, &['\n', '\t']).into() }
}

/// The same of bytes. What is no UTF-8 becomes U+FFFD.
pub fn bytes(text: &[u8]) -> Cow<'_, [u8]> {
    if plain(text, *b"\n\t") {
        Cow::Borrowed(text)
    } else {
        escaped(&String::from_utf8_lossy(text), &['\n', '\t']).into_bytes().into()
    }
}

/// A value in XML, HTML or SVG, as an element's text or between quotes. All that is left is legal in XML 1.0.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // (the two that are characters, and that XML does not have)
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A value in Markdown, in a table's cell, too: neither markup, nor a link, nor a picture, nor HTML.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ESC, C1's CSI, DEL, overrides and isolates, marks, without width, separators, a tag.
    const BAD: &str =
        "\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200f}\u{61c}\u{200b}\u{2028}\u{feff}\u{e0041}\r\n\t";

    #[test]
    fn nothing_that_misleads_is_left() {
        let shown = "\\u001b[2J\\u009b31m\\u007f\\u202e\\u2066\\u200f\\u061c\\u200b\\u2028\\ufeff\\udb40\\udc41\\r\\n\\t";
        assert_eq!(line(BAD), shown);
        assert_eq!(lines("a\u{1b}\n\tb\r\n"), "a\\u001b\n\tb\\r\n");
        assert_eq!(*bytes(b"a\x9b\n\x1b"), *"a\u{fffd}\n\\u001b".as_bytes());
    }

    #[test]
    fn what_is_harmless_stays() {
        for text in ["", "shadow pass 3", "Ω ≤ 5 µs – “ß” 影 🦀", "C:\\shaders\\new.frag"] {
            assert_eq!((line(text).as_ref(), lines(text).as_ref()), (text, text));
            assert_eq!(*bytes(text.as_bytes()), *text.as_bytes());
        }
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let json = serde_json::json!({ "name": BAD, "list": ["plain", "\\u001b"] });
        let shown = serde_json::to_string_pretty(&json).unwrap();
        assert!(shown.contains('\u{202e}'), "JSON by itself leaves these");
        let shown = lines(&shown).into_owned();
        assert!(!shown.chars().any(|c| misleads(c) && c != '\n'), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), json);
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(xml("<a b='1'>\"&\u{1}\u{ffff}"), "&lt;a b=&#39;1&#39;&gt;&quot;&amp;\\u0001\u{fffd}");
        let link = markdown("![x](http://a) | <img> `c`\n# d");
        assert_eq!(link, "!\\[x\\](http://a) \\| &lt;img&gt; \\`c\\`\\\\n# d");
    }
}
