//! What every source file of the workspace keeps to.
//!
//! - It begins with a `//!` header (what the module is, what it guarantees, what it refuses).
//! - It has at most [`LONGEST`] lines, or a header that says why not, in a sentence that begins with
//!   [`WHY_LONG`].
//! - `unsafe` stands only below [`UNSAFE_MAY_STAND`].
//! - Nothing is left unwritten behind `todo!` or `unimplemented!`.
//!
//! Folders named `generated` answer for their generator, not for themselves: they are not looked at. A
//! module's `tests.rs` needs no header.

use super::code::{code_only, has_word};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Over this many lines a file says why.
const LONGEST: usize = 800;

/// How the sentence of the header begins that says why a file is longer.
const WHY_LONG: &str = "Long because";

/// The one list of where `unsafe` may stand, as beginnings of paths: where calls are linked and invoked, the
/// hooks and the scenes (which call Vulkan themselves), the tests' layer (which drivers and the loader call), the one place
/// that maps a file into memory, and the allocator that counts for the fuzzer.
const UNSAFE_MAY_STAND: &[&str] = &[
    "replay/src/link",
    "replay/src/vulkan",
    "replay/src/looped/contents/",
    "replay/src/looped/state/",
    "profile/src/hooks/",
    "profile/src/readback/",
    "profile/src/changes/",
    "captures/src/",
    "tests/arm-layer/src/",
    "experiment/src/files/mmap.rs",
    "fuzz/src/alloc.rs",
];

/// Looks at every `.rs` file below `root`; a finding each, in the files' order.
pub fn check(root: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut findings = Vec::new();
    for file in files {
        let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        findings.extend(check_file(&path, &fs::read_to_string(&file)?));
    }
    Ok(findings)
}

/// The `.rs` files below `folder`, but for build outputs, hidden folders and generated ones.
pub(super) fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !(name.starts_with('.') || name == "target" || name == "generated") {
                collect(&entry.path(), files)?;
            }
        } else if kind.is_file() && name.ends_with(".rs") {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// The findings of one file; `path` is relative to the workspace, with slashes.
fn check_file(path: &str, source: &str) -> Vec<String> {
    let mut findings = Vec::new();

    let header: Vec<&str> = source.lines().take_while(|line| line.starts_with("//!")).collect();
    if header.is_empty() && !path.ends_with("/tests.rs") {
        findings
            .push(format!("{path}:1: no header: the first line is to begin with //! and say what this is"));
    }

    let lines = source.lines().count();
    if lines > LONGEST && !header.iter().any(|line| line.contains(WHY_LONG)) {
        findings.push(format!(
            "{path}: {lines} lines, over {LONGEST}: part it, or say why in the header (\"{WHY_LONG} …\")"
        ));
    }

    let unsafe_may_stand = UNSAFE_MAY_STAND.iter().any(|prefix| path.starts_with(prefix));
    for (index, line) in code_only(source).lines().enumerate() {
        let mut found = |what: String| findings.push(format!("{path}:{}: {what}", index + 1));
        if !unsafe_may_stand && has_word(line, "unsafe") {
            found(format!("unsafe outside of {}", UNSAFE_MAY_STAND.join(", ")));
        }
        for name in ["todo", "unimplemented"] {
            if has_word(line, name) && line.contains(&format!("{name}!")) {
                found(format!("{name}! is not to be committed"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, UNSAFE_MAY_STAND, check_file};

    #[test]
    fn a_plain_file_passes() {
        assert_eq!(
            check_file("trace/src/x.rs", "//! Says what it is.\n#![deny(unsafe_code)]\nfn f() {}\n"),
            [""; 0]
        );
    }

    #[test]
    fn a_missing_header_is_found() {
        assert_eq!(check_file("src/x.rs", "fn f() {}\n").len(), 1);
        assert_eq!(check_file("src/x.rs", "").len(), 1);
        assert_eq!(check_file("src/x/tests.rs", "use super::*;\n").len(), 0);
    }

    #[test]
    fn a_long_file_says_why() {
        let body = "fn f() {}\n".repeat(LONGEST);
        assert_eq!(check_file("src/x.rs", &format!("//! One.\n{body}")).len(), 1);
        assert_eq!(check_file("src/x.rs", &format!("//! One. Long because of a table.\n{body}")).len(), 0);
    }

    #[test]
    fn unsafe_is_found_where_it_may_not_stand() {
        let source = "//! X.\n// unsafe in a comment\nfn f() {\n    unsafe { g() }\n}\n";
        assert_eq!(
            check_file("gfxr-parse/src/x.rs", source),
            [format!("gfxr-parse/src/x.rs:4: unsafe outside of {}", UNSAFE_MAY_STAND.join(", "))]
        );
        assert_eq!(check_file("replay/src/link/x.rs", source).len(), 0);
        assert_eq!(check_file("experiment/src/files/mmap.rs", source).len(), 0);
    }

    #[test]
    fn what_is_left_unwritten_is_found() {
        // (the word is put together here, so that this file passes its own check)
        let source =
            format!("//! X.\nfn f() {{ {}!() }}\nfn g() {{ {}!(\"x\") }}\n", "todo", "unimplemented");
        assert_eq!(
            check_file("src/x.rs", &source),
            ["src/x.rs:2: todo! is not to be committed", "src/x.rs:3: unimplemented! is not to be committed"]
        );
        assert_eq!(check_file("src/x.rs", "//! X.\nlet todo = todo != 3; // todo!\n").len(), 0);
    }
}
