//! `cargo xtask corpus`: what captures/corpus recorded and replayed, compared, and the page of it.
//!
//! ```text
//! cargo xtask corpus compare OUT_DIR -o FILE.tsv    pictures beside each other, one row a replay
//! cargo xtask corpus page [--check]                 docs/corpus.md from every benches/runs/*-corpus/*.tsv
//! ```
//!
//! Guarantees: every total on the page is computed from rows; the page depends on the rows and on
//! captures/programs/notes.tsv alone, so that a check can find one that is old. Refuses rows it cannot read, and
//! an output folder of which no recording can be read.

mod compare;
mod page;
mod picture;
mod rows;
mod table;

use std::path::{Path, PathBuf};

/// The sub-command's entry.
pub fn run(args: &[String]) -> Result<(), String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["compare", out, "-o", file] => compare_to(Path::new(out), Path::new(file)),
        ["page"] => page_of(false),
        ["page", "--check"] => page_of(true),
        _ => Err("usage: cargo xtask corpus compare OUT_DIR -o FILE.tsv | cargo xtask corpus page [--check]"
            .to_string()),
    }
}

fn compare_to(out: &Path, file: &Path) -> Result<(), String> {
    let rows = compare::folder(out)?;
    if rows.is_empty() {
        return Err(format!("{}: no recording is in it", out.display()));
    }
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
    }
    std::fs::write(file, rows::to_text(&rows)).map_err(|e| format!("{}: {e}", file.display()))?;
    println!("{}: {} rows", file.display(), rows.len());
    Ok(())
}

fn page_of(check: bool) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the workspace has no folder")?;
    let mut rows = Vec::new();
    for file in raw_files(root)? {
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        rows.extend(rows::from_text(&text).map_err(|e| format!("{}: {e}", file.display()))?);
    }
    let notes = root.join("captures/programs/notes.tsv");
    let notes = std::fs::read_to_string(&notes).map_err(|e| format!("{}: {e}", notes.display()))?;
    let text = page::write(&rows, &page::notes(&notes)?);
    let page = root.join("docs/corpus.md");
    if check {
        let there = std::fs::read_to_string(&page).map_err(|e| format!("{}: {e}", page.display()))?;
        return if there == text {
            Ok(())
        } else {
            Err("docs/corpus.md is old; run cargo xtask corpus page".to_string())
        };
    }
    std::fs::write(&page, text).map_err(|e| format!("{}: {e}", page.display()))
}

/// The rows of every run of the corpus, in the order of their names.
fn raw_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let runs = root.join("benches/runs");
    let mut files = Vec::new();
    for run in compare::sorted(&runs)? {
        if run.is_dir() && run.to_string_lossy().ends_with("-corpus") {
            files.extend(
                compare::sorted(&run)?.into_iter().filter(|f| f.extension().is_some_and(|e| e == "tsv")),
            );
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_is_what_the_rows_say() {
        super::page_of(true).expect("docs/corpus.md");
    }

    #[test]
    fn a_wrong_line_is_answered_with_the_right_ones() {
        let said = super::run(&["pages".to_string()]).expect_err("no such word");
        assert!(said.contains("compare OUT_DIR") && said.contains("page [--check]"), "{said}");
    }
}
