//! Rust source with its comments and literals blanked out, so that a search finds code only.
//!
//! Guarantees: the result has as many lines as the source, and whatever stands in code stays where it was.
//! Knows comments (nested too), strings (raw, byte and C ones too), characters and lifetimes; refuses nothing:
//! an unfinished literal runs to the end of the text.

/// `source` with every comment, string and character literal replaced by spaces (line ends are kept).
pub fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_or_comment(source, at);
        if end > at {
            for &byte in &bytes[at..end] {
                code.push(if byte == b'\n' { '\n' } else { ' ' });
            }
            at = end;
        } else {
            // A whole word at once, so that the `r` of `for"…"` is never taken for a raw string's prefix.
            let end = at + word_length(&source[at..]).max(first_char_length(&source[at..]));
            code.push_str(&source[at..end]);
            at = end;
        }
    }
    code
}

/// Where the comment or literal that begins at `at` ends; `at` itself when none does.
fn literal_or_comment(source: &str, at: usize) -> usize {
    let rest = &source[at..];
    if rest.starts_with("//") {
        return at + rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return at + block_comment_length(rest.as_bytes());
    }
    // Prefixes: b"", c"", r"", br"", cr"" and the raw ones with hashes; b''.
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|rest| {
            rest.starts_with('"')
                || (prefix.ends_with('r') && rest.trim_start_matches('#').starts_with('"'))
                || (*prefix == "b" && rest.starts_with('\''))
        })
    });
    if let Some(prefix) = prefix {
        let body = &rest[prefix.len()..];
        let length = if prefix.ends_with('r') {
            raw_string_length(body)
        } else {
            quoted_length(body.as_bytes(), body.as_bytes()[0])
        };
        return at + prefix.len() + length;
    }
    if rest.starts_with('\'') && is_character(rest) {
        return at + quoted_length(rest.as_bytes(), b'\'');
    }
    at
}

/// Whether what begins with `'` is a character and not a lifetime: `'\n'`, `'x'`, but not `'a` or `'static`.
fn is_character(rest: &str) -> bool {
    let mut chars = rest.chars().skip(1);
    match chars.next() {
        Some('\\') => true,
        Some(_) => chars.next() == Some('\''),
        None => false,
    }
}

/// The length of a literal between two `quote`s, backslash escapes included.
fn quoted_length(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The length of `#"…"#` with any number of hashes.
fn raw_string_length(body: &str) -> usize {
    let hashes = body.bytes().take_while(|&byte| byte == b'#').count();
    let close = format!("\"{}", "#".repeat(hashes));
    let start = hashes + 1;
    body[start..].find(&close).map_or(body.len(), |found| start + found + close.len())
}

/// The length of a block comment; these nest.
fn block_comment_length(bytes: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn word_length(rest: &str) -> usize {
    rest.find(|char: char| !(char.is_alphanumeric() || char == '_')).unwrap_or(rest.len())
}

fn first_char_length(rest: &str) -> usize {
    rest.chars().next().map_or(0, char::len_utf8)
}

/// Whether `word` stands in `line` as a word of its own (`unsafe`, not `unsafe_code`).
pub fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(part_of_word)
            && !line[at + word.len()..].chars().next().is_some_and(part_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::{code_only, has_word};

    /// The words of code that are left of `source`.
    fn left(source: &str) -> String {
        code_only(source).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_go() {
        assert_eq!(left("a // unsafe\nb /* x /* y */ z */ c"), "a b c");
        assert_eq!(left("//! todo!()\na"), "a");
    }

    #[test]
    fn strings_go() {
        assert_eq!(left(r#"a("x \" // y", b"z", c"w") d"#), "a( , , ) d");
        assert_eq!(left(r##"a(r"\", r#" " unsafe "#, br"q") d"##), "a( , , ) d");
    }

    #[test]
    fn characters_go_and_lifetimes_stay() {
        assert_eq!(left(r#"f('x', '\'', '\u{1F600}', b'\\', 'é', '"') g"#), "f( , , , , , ) g");
        assert_eq!(
            left("fn f<'a>(x: &'a str, y: &'static str) {}"),
            "fn f<'a>(x: &'a str, y: &'static str) {}"
        );
    }

    #[test]
    fn words_that_end_like_a_prefix_stay() {
        assert_eq!(left("for\"x\" br_name r#type"), "for br_name r#type");
    }

    #[test]
    fn lines_are_kept() {
        let source = "a\n/* b\nc */ d\n\"e\nf\" g\n";
        assert_eq!(code_only(source).lines().count(), source.lines().count());
        assert_eq!(code_only(source).lines().nth(2).unwrap().trim(), "d");
    }

    #[test]
    fn unfinished_literals_run_to_the_end() {
        for source in ["a \"b", "a /* b", "a r#\"b\"", "a '\\", "a b'\\"] {
            assert_eq!(left(source), "a", "{source}");
        }
    }

    #[test]
    fn words() {
        assert!(has_word("unsafe { }", "unsafe"));
        assert!(has_word("x=unsafe{y}", "unsafe"));
        assert!(!has_word("#![deny(unsafe_code)]", "unsafe"));
        assert!(!has_word("not_unsafe", "unsafe"));
    }
}
