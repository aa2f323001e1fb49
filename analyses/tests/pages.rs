//! The book's pages of analyses say what the code says: definitions from the heads of the analyses' files, tables with every
//! column, its unit and meaning from their sheets.
//!
//! `RERAY_WRITE_DOCS=1 cargo test -p reray-analyses --test pages` writes the generated parts anew; what stands between them is written by
//! hand and kept.

use analyses::explain::{List, lists};
use analyses::report::sheet::{OTHERS, Sheet};
use analyses::{GROUPS, QUESTIONS};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const ABOUT: [&str; 2] =
    ["<!-- about: begin. Written by analyses/tests/pages.rs. -->\n", "<!-- about: end -->\n"];
const COLUMNS: [&str; 2] =
    ["<!-- columns: begin. Written by analyses/tests/pages.rs. -->\n", "<!-- columns: end -->\n"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files whose heads define an analysis.
fn sources(name: &str) -> Vec<String> {
    match name {
        "ray-paths" => vec!["shaders/paths/rays.rs".into(), "shaders/paths/mod.rs".into()],
        "rays" => vec!["rays/outcomes/mod.rs".into()],
        "unnecessary-tests" => vec!["rays/boxes/mod.rs".into()],
        "repack" => vec!["rays/repack/mod.rs".into(), "rays/replayer/mod.rs".into()],
        "bindings" => vec!["bindings/descriptors/mod.rs".into()],
        "what-if" => vec!["verdict/what_if/mod.rs".into()],
        name => {
            let group = GROUPS.iter().find(|g| g.questions.iter().any(|q| q.name == name));
            vec![format!("{}/{}/mod.rs", group.map_or("times", |g| g.name), name.replace('-', "_"))]
        }
    }
}

/// What stands at the head of a file, as Markdown: without links that only Rust's documentation follows.
fn head(file: &str) -> String {
    let source = std::fs::read_to_string(root().join("analyses/src").join(file)).expect(file);
    let lines = source.lines().map_while(|l| l.strip_prefix("//!"));
    let text: Vec<&str> = lines.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect();
    text.join("\n").replace("[`crate::", "`").replace("[`", "`").replace("`]", "`")
}

/// A bar would end a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn tables(question: &analyses::Question) -> String {
    let all: Vec<String> =
        question.wants.iter().map(|t| format!("[`{}`](../trace.md#{})", t.name, t.name)).collect();
    all.join(", ")
}

fn about(list: &List) -> String {
    let mut out = String::new();
    if let Some(q) = QUESTIONS.iter().find(|q| q.name == list.name) {
        let mut about = q.about.to_owned();
        about[..1].make_ascii_uppercase();
        let _ = writeln!(out, "{about}.\n\nFrom tables {}.", tables(q));
    }
    let heads: Vec<String> = sources(list.name).iter().map(|f| head(f)).collect();
    let text = heads.join("\n\n");
    let _ = writeln!(out, "\n## Definition\n\n{text}");
    if ["Cheung", "Vulkan Vision", "Neubauer", "Warp Trace"].iter().any(|w| text.contains(w)) {
        out.push_str("\n[Sources](../sources.md) says what is cited.\n");
    }
    out.push('\n');
    out
}

fn sheet(sheet: &Sheet) -> String {
    let mut out = format!("\n### `{}`\n\nA row is {}.\n\n", sheet.table, sheet.about);
    out.push_str("| column | unit | |\n|---|---|---|\n");
    for m in sheet.meanings() {
        let name = match m.name {
            OTHERS => OTHERS.to_owned(),
            "" => "(the first)".to_owned(),
            name => format!("`{}`", cell(name)),
        };
        let unit = match m.or {
            Some(other) => format!("{} or {}", m.unit.symbol(), other.symbol()),
            None => m.unit.symbol().to_owned(),
        };
        let _ = writeln!(out, "| {name} | {unit} | {} |", cell(m.about));
    }
    out
}

fn columns(list: &List) -> String {
    let words = "Columns without a unit hold words, numbers of things, or ratios. Series stand among the tables, by the\n\
                 names that they have as files of their own.";
    let sheets: String = list.sheets.iter().map(sheet).collect();
    format!("\n## Columns\n\n{words}\n{sheets}\n")
}

/// The page with this part written anew; where it has no such part, at its end.
fn with(page: &str, [begin, end]: [&str; 2], text: &str) -> String {
    let part = format!("{begin}{text}{end}");
    match page.split_once(begin).and_then(|(a, rest)| Some((a, rest.split_once(end)?.1))) {
        Some((before, after)) => format!("{before}{part}{after}"),
        None => format!("{page}\n{part}"),
    }
}

/// Holds a file to what it has to be, or writes it.
fn hold(path: &Path, page: &str, expected: &str) {
    if std::env::var_os("RERAY_WRITE_DOCS").is_some() {
        std::fs::write(path, expected).expect("the page can be written");
    } else {
        assert!(
            page == expected,
            "{} is not what the code says: write it anew with RERAY_WRITE_DOCS=1 cargo test -p reray-analyses --test pages",
            path.display()
        );
    }
}

#[test]
fn every_analysis_has_a_page_that_says_what_the_code_says() {
    for list in lists() {
        let path = root().join(format!("docs/analyses/{}.md", list.name));
        let page = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is missing", path.display()));
        let expected = with(&with(&page, ABOUT, &about(&list)), COLUMNS, &columns(&list));
        hold(&path, &page, &expected);
        assert!(page.contains("\n## Example\n"), "{} has no example", path.display());
    }
}

#[test]
fn the_list_of_questions_is_whole() {
    let path = root().join("docs/analyses/README.md");
    let page = std::fs::read_to_string(&path).expect("docs/analyses/README.md is there");
    let mut list = String::from("\n");
    for group in GROUPS {
        let mut about = group.about.to_owned();
        about[..1].make_ascii_uppercase();
        let _ = writeln!(list, "## {}\n\n{about}.\n", group.name);
        list.push_str("| question | answers | from tables |\n|---|---|---|\n");
        for q in group.questions {
            let _ = writeln!(list, "| [`{0}`]({0}.md) | {1} | {2} |", q.name, cell(q.about), tables(q));
        }
        list.push('\n');
    }
    hold(&path, &page, &with(&page, ABOUT, &list));
}
