//! The book (docs/, and README.md) is true: every command in it runs, every output is what is printed, every link leads somewhere.
//!
//! Blocks of commands are fenced as `console` (lines that begin with `$ ` are commands, others what they print) or `sh` (a script).
//! Words behind commas: `lines=N` shows the first N lines only; `times` takes all numbers for equal; `exit=N` is what the commands
//! end with; `no-run=WHY` is not run, and must stand in [`NOT_RUN`]. A line `…` stands for any lines. Pages of a group run in one
//! folder, in their order, after the introduction's commands. `RERAY_WRITE_DOCS=1` writes outputs anew.

mod links;
pub mod pages;
mod run;

use crate::device::device;
use crate::support::skip;
use pages::{Page, book};
use std::collections::BTreeMap;

/// Why blocks of commands do not run here, and how many do not for each reason.
const NOT_RUN: &[(&str, usize)] = &[
    ("installs", 1),
    ("records-your-own", 1),
    ("needs-gpu", 4),
    ("needs-slurm", 2),
    ("needs-kubernetes", 1),
];

/// Runs the pages of the book whose path begins so.
fn group(name: &str, of: impl Fn(&str) -> bool) {
    if !device(name) {
        return;
    }
    let all = book();
    let mut pages: Vec<&Page> = all.iter().filter(|p| p.path == "docs/introduction.md").collect();
    pages.extend(all.iter().filter(|p| p.path != "docs/introduction.md" && of(&p.path)));
    assert!(pages.len() > 1, "the book has no {name}");
    let ran = run::run(name, &pages);
    assert!(ran > 0, "{name} has no commands");
    eprintln!("{name}: {ran} blocks of commands on {} pages", pages.len());
}

fn tool_there(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn guide(path: &str) -> bool {
    !["docs/analyses/", "docs/commands/", "docs/tutorial/"].iter().any(|f| path.starts_with(f))
        && path != "README.md"
}

#[test]
fn the_readme_and_the_tutorial_run() {
    // (its first chapter records a program with a window)
    for tool in ["xvfb-run", "xauth", "vkcube", "gfxrecon-info"] {
        if !tool_there(tool) {
            assert!(
                std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(),
                "there is no {tool}, and it is required"
            );
            return skip("the tutorial", &format!("there is no {tool}"));
        }
    }
    group("tutorial", |p| p.starts_with("docs/tutorial/") || p == "README.md");
}

#[test]
fn pages_of_commands_run() {
    group("commands", |p| p.starts_with("docs/commands/"));
}

#[test]
fn pages_of_analyses_run() {
    group("analyses", |p| p.starts_with("docs/analyses/"));
}

#[test]
fn all_other_pages_run() {
    group("guides", guide);
}

#[test]
fn what_is_not_run_is_known() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for page in book() {
        for block in page.blocks.iter().filter(|b| b.is_commands()) {
            if let Some(why) = block.not_run() {
                found.entry(why.to_owned()).or_default().push(format!("{}:{}", page.path, block.line));
            }
        }
    }
    eprintln!("not run: {found:#?}");
    let counts: BTreeMap<&str, usize> = found.iter().map(|(w, at)| (w.as_str(), at.len())).collect();
    let known: BTreeMap<&str, usize> = NOT_RUN.iter().copied().filter(|k| k.1 != 0).collect();
    assert_eq!(counts, known, "blocks that do not run: {found:#?}");
}

#[test]
fn every_block_says_what_it_is_and_hides_no_command() {
    let known = ["console", "sh", "text", "json", "toml", "yaml", "python", "glsl", "html", "bibtex"];
    for page in book() {
        for block in &page.blocks {
            let at = format!("{}:{}", page.path, block.line);
            assert!(known.contains(&block.language()), "{at}: {:?} is none of {known:?}", block.info);
            if !block.is_commands() {
                let hidden = block.lines.iter().find(|l| {
                    ["reray-replay ", "$ ", "./scripts/", "scripts/"]
                        .iter()
                        .any(|c| l.trim_start().starts_with(c))
                });
                assert_eq!(hidden, None, "{at}: a command in a block that does not run");
            }
        }
    }
}

#[test]
fn every_command_has_a_page() {
    let help = crate::support::text(&crate::support::run(["--help"]).stdout);
    let names = crate::habits::below(&help);
    assert!(names.len() > 10, "{help}");
    let pages = pages::summary();
    for name in names {
        let page = format!("commands/{name}.md");
        assert!(pages.contains(&page), "the book has no {page}");
        let text = std::fs::read_to_string(crate::support::root().join("docs").join(&page)).expect("a page");
        assert!(text.contains(&format!("$ reray-replay {name} ")), "{page} does not show its options");
    }
}
