//! docs/trace.md says what the tables say.
//!
//! `RERAY_WRITE_DOCS=1 cargo test -p reray-trace --test page` writes the page's generated part anew.

use std::fmt::Write;
use std::path::Path;
use trace::Kind;
use trace::tables::TABLES;

const BEGIN: &str = "<!-- tables: begin. Written by trace/tests/page.rs from trace/src/tables. -->\n";
const END: &str = "<!-- tables: end -->\n";

fn tables() -> String {
    let mut out = String::new();
    for t in TABLES {
        let _ = writeln!(out, "\n### `{}`\n\nA row is {} (version {}).\n", t.name, cell(t.about), t.version);
        out.push_str("| column | kind | unit | |\n|---|---|---|---|\n");
        for c in t.columns {
            let kind = match c.kind {
                Kind::U64 => "whole number",
                Kind::F64 => "number",
                Kind::Text => "words",
            };
            let since = match c.since {
                1 => String::new(),
                version => format!(" (since version {version}; of earlier ones 0, or nothing)"),
            };
            let about = cell(c.about) + &since;
            let _ = writeln!(out, "| `{}` | {kind} | {} | {about} |", c.name, cell(c.unit));
        }
    }
    out.push('\n');
    out
}

/// A bar would end a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_page_is_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/trace.md");
    let page = std::fs::read_to_string(&path).expect("docs/trace.md is there");
    let (head, rest) = page.split_once(BEGIN).expect("the page has its mark for tables");
    let (written, tail) = rest.split_once(END).expect("the page has its mark for the tables' end");
    let expected = tables();
    if std::env::var_os("RERAY_WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{head}{BEGIN}{expected}{END}{tail}"))
            .expect("the page can be written");
    } else {
        assert!(
            written == expected,
            "docs/trace.md is not what trace/src/tables says: write it anew with \
             RERAY_WRITE_DOCS=1 cargo test -p reray-trace --test page"
        );
    }
}

#[test]
fn every_table_says_what_it_is() {
    for t in TABLES {
        assert!(!t.about.is_empty(), "{}", t.name);
        for c in t.columns.iter().filter(|c| c.kind != Kind::Text) {
            assert!(!c.unit.is_empty(), "{}.{} has no unit", t.name, c.name);
        }
    }
}
