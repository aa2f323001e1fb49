//! The book's pages, as SUMMARY.md lists them, and their fenced blocks.

use crate::support::root;

/// A page, by its path from the repository's root.
pub struct Page {
    pub path: String,
    pub text: String,
    pub blocks: Vec<Block>,
}

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    /// What stands behind the fence.
    pub info: String,
    /// The line of the fence, from 1.
    pub line: usize,
    /// What is in it, without the indentation of its fence.
    pub lines: Vec<String>,
    /// How far the fence is indented.
    pub indent: usize,
}

impl Block {
    pub fn language(&self) -> &str {
        self.info.split(',').next().unwrap_or("")
    }

    fn word<'a>(&'a self, key: &str) -> Option<&'a str> {
        self.info.split(',').skip(1).find_map(|w| match w.split_once('=') {
            Some((k, value)) if k == key => Some(value),
            None if w == key => Some(""),
            _ => None,
        })
    }

    pub fn is_commands(&self) -> bool {
        matches!(self.language(), "console" | "sh")
    }

    pub fn not_run(&self) -> Option<&str> {
        self.word("no-run")
    }

    /// How many lines of output are shown.
    pub fn shown(&self) -> Option<usize> {
        Some(self.word("lines")?.parse().expect("lines=N"))
    }

    /// Whether numbers may differ.
    pub fn times(&self) -> bool {
        self.word("times").is_some()
    }

    /// The exit code of the block's commands.
    pub fn exit(&self) -> i32 {
        self.word("exit").map_or(0, |n| n.parse().expect("exit=N"))
    }

    /// Words that nobody knows are mistakes.
    fn check(&self, at: &str) {
        for w in self.info.split(',').skip(1).filter(|_| self.is_commands()) {
            let key = w.split('=').next().unwrap_or("");
            assert!(["no-run", "lines", "times", "exit"].contains(&key), "{at}: {w:?}");
        }
    }
}

/// README.md and all pages of the book, in the book's order.
pub fn book() -> Vec<Page> {
    let mut paths = vec!["README.md".to_owned()];
    paths.extend(summary().into_iter().map(|p| format!("docs/{p}")));
    paths.into_iter().map(page).collect()
}

/// The pages that SUMMARY.md names, by their paths from docs/.
pub fn summary() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("docs/SUMMARY.md is there");
    let link = |l: &str| Some(l.split_once("](")?.1.split_once(')')?.0.to_owned());
    text.lines().filter_map(link).filter(|p| !p.is_empty()).collect()
}

fn page(path: String) -> Page {
    let text = std::fs::read_to_string(root().join(&path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let blocks = blocks(&text);
    blocks.iter().for_each(|b| b.check(&format!("{path}:{}", b.line)));
    Page { path, text, blocks }
}

/// All fenced blocks of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut all = vec![];
    let mut open: Option<Block> = None;
    for (n, line) in text.lines().enumerate() {
        let body = line.trim_start();
        match &mut open {
            Some(_) if body == "```" => all.extend(open.take()),
            Some(b) => {
                b.lines.push(line.get(b.indent.min(line.len() - body.len())..).unwrap_or(body).to_owned())
            }
            None if body.starts_with("```") => {
                open = Some(Block {
                    info: body.trim_start_matches('`').trim().to_owned(),
                    line: n + 1,
                    lines: vec![],
                    indent: line.len() - body.len(),
                });
            }
            None => {}
        }
    }
    assert!(open.is_none(), "a block has no end: {open:?}");
    all
}
