//! SUMMARY.md names every page and nothing else, and every relative link and anchor of a page leads somewhere.

use super::pages::{book, summary};
use crate::support::root;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Every Markdown file below a folder, by its path from it.
fn markdown(folder: &Path, below: &Path, into: &mut Vec<String>) {
    for e in folder.read_dir().expect("a folder").map(|e| e.expect("an entry").path()) {
        if e.is_dir() {
            markdown(&e, below, into);
        } else if e.extension().is_some_and(|x| x == "md") {
            into.push(e.strip_prefix(below).expect("below it").to_string_lossy().into_owned());
        }
    }
}

#[test]
fn the_summary_names_every_page_once() {
    let docs = root().join("docs");
    let mut files = vec![];
    markdown(&docs, &docs, &mut files);
    files.retain(|f| f != "SUMMARY.md");
    files.sort();
    let mut named = summary();
    named.sort();
    assert_eq!(named, files);
}

/// The anchors of a page's headings, as mdBook and forges make them.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = vec![];
    for heading in prose(text).lines().filter(|l| l.starts_with('#')) {
        let words = heading.trim_start_matches('#').trim();
        let slug: String = words
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let n = seen.entry(slug.clone()).or_insert(0);
        all.push(if *n == 0 { slug } else { format!("{slug}-{n}") });
        *n += 1;
    }
    all
}

/// A text without its fenced blocks.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut keep = |l: &&str| {
        let fence = l.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    };
    text.lines().filter(|l| keep(l)).collect::<Vec<_>>().join("\n")
}

/// The targets of inline links and pictures.
fn targets(text: &str) -> Vec<String> {
    let text = prose(text);
    let parts = text.split("](").skip(1);
    parts.filter_map(|p| Some(p.split_once(')')?.0.split(' ').next()?.to_owned())).collect()
}

/// `a/b/../c` as `a/c`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for c in path.components() {
        match c {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            c => out.push(c),
        }
    }
    out
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut wrong = vec![];
    let mut links = 0;
    for page in book() {
        let folder = Path::new(&page.path).parent().expect("a folder").to_owned();
        for target in targets(&page.text).iter().filter(|t| !t.contains("://")) {
            links += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { PathBuf::from(&page.path) } else { plain(&folder.join(file)) };
            let whole = root().join(&path);
            if !whole.exists() {
                wrong.push(format!("{}: {target}: no such file", page.path));
            } else if page.path.starts_with("docs/") && !path.starts_with("docs") {
                wrong.push(format!("{}: {target}: it leads out of the book", page.path));
            } else if !anchor.is_empty() {
                let text = std::fs::read_to_string(&whole).expect("a page");
                if !anchors(&text).iter().any(|a| a == anchor) {
                    wrong.push(format!("{}: {target}: no such heading", page.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(links > 50, "only {links} links were found");
}

#[test]
fn anchors_are_those_of_headings() {
    let text = "# `simt`\n## Reading rays, fast\n```sh\n# no heading\n```\n## SIMT\n## SIMT\n";
    assert_eq!(anchors(text), ["simt", "reading-rays-fast", "simt-1", "simt-2"]);
    assert_eq!(targets("[a](b.md#c) ![p](q.png \"t\")\n```\n[x](y)\n```\n"), ["b.md#c", "q.png"]);
}
