//! Reports as they are printed, held to files, so that a change of what readers see is seen in review.
//!
//! The files are written by the code itself (`RERAY_WRITE_PRINTED=1`): they say that nothing changed, and not that a number is right.
//! That say the tests beside them, whose expected values come from elsewhere.

use std::path::Path;

/// Holds a text to a file below `src`.
pub fn hold(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    if std::env::var_os("RERAY_WRITE_PRINTED").is_some() {
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let before = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(text, before, "{file} is otherwise; if that is meant, RERAY_WRITE_PRINTED=1 writes it anew");
}
