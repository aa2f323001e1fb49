//! Runs blocks of commands as a reader would: in a folder of their own that has the repository's captures and scripts in it.

use super::pages::{Block, Page};
use crate::support::{Scratch, root, text};
use std::path::Path;
use std::process::{Command, Output};

/// Runs all blocks of these pages in one folder; how many ran. Outputs that are not what the pages say are an error, or are
/// written into them.
pub fn run(name: &str, pages: &[&Page]) -> usize {
    let scratch = Scratch::new(&format!("book-{name}"));
    let folder = scratch.path(".");
    for linked in ["captures", "scripts", "docs", "tests", "analyses"] {
        std::os::unix::fs::symlink(root().join(linked), folder.join(linked)).expect("a link");
    }
    std::fs::create_dir(folder.join(".bin")).expect("a folder");
    let program = Path::new(env!("CARGO_BIN_EXE_reray-replay"));
    std::os::unix::fs::symlink(program, folder.join(".bin/reray-replay")).expect("a link");
    let write = std::env::var_os("RERAY_WRITE_DOCS").is_some();
    let (mut ran, mut wrong) = (0, vec![]);
    for page in pages {
        let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
        // (from the last on, so that lines before keep their numbers)
        let mut outputs = vec![];
        for block in page.blocks.iter().filter(|b| b.is_commands() && b.not_run().is_none()) {
            ran += 1;
            let at = format!("{}:{}", page.path, block.line);
            let began = std::time::Instant::now();
            match block.language() {
                "sh" => {
                    shell(&folder, &block.lines.join("\n"), block.exit(), &at);
                }
                _ => outputs.push((block, console(&folder, block, &at, &mut wrong))),
            }
            eprintln!("{at}: {:.1} s", began.elapsed().as_secs_f32());
        }
        if write {
            for (block, new) in outputs.into_iter().rev() {
                let pad = " ".repeat(block.indent);
                let new = new.into_iter().map(|l| if l.is_empty() { l } else { format!("{pad}{l}") });
                lines.splice(block.line..block.line + block.lines.len(), new);
            }
            let whole = lines.join("\n") + "\n";
            if whole != page.text {
                std::fs::write(root().join(&page.path), whole).expect("the page can be written");
            }
        }
    }
    assert!(write || wrong.is_empty(), "{}\n(RERAY_WRITE_DOCS=1 writes them anew)", wrong.join("\n\n"));
    ran
}

/// How often a command that measures is run until it prints what the page says: which of two commands takes longer is not the
/// same beside other load.
const ATTEMPTS: usize = 3;

/// What a script prints.
fn shell(folder: &Path, script: &str, exit: i32, at: &str) -> String {
    let output = output(folder, script);
    assert_eq!(
        output.status.code(),
        Some(exit),
        "{at}:\n{script}\n{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn output(folder: &Path, script: &str) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", folder.join(".bin").display()))
        .env("XDG_CACHE_HOME", folder.join(".cache"))
        .env("NO_COLOR", "1")
        .env_remove("RERAY_LOG")
        .output()
        .expect("bash starts")
}

/// Runs a block's commands one by one; the block with what they print.
fn console(folder: &Path, block: &Block, at: &str, wrong: &mut Vec<String>) -> Vec<String> {
    let mut anew = vec![];
    let mut rest = block.lines.iter().peekable();
    if let Some(first) = rest.peek() {
        assert!(first.starts_with("$ "), "{at}: it begins with no command: {first}");
    }
    while let Some(first) = rest.next() {
        anew.push(first.clone());
        let mut script = first["$ ".len()..].to_owned();
        while script.ends_with('\\') {
            let more = rest.next().unwrap_or_else(|| panic!("{at}: a command has no end"));
            anew.push(more.clone());
            script =
                format!("{}{}", script.trim_end_matches('\\'), more.trim_start_matches("> ").trim_start());
        }
        let mut shown: Vec<String> = vec![];
        while let Some(line) = rest.next_if(|l| !l.starts_with("$ ")) {
            shown.push(line.clone());
        }
        let lines_of = |printed: &str| {
            let mut lines: Vec<String> = printed.lines().map(|l| l.trim_end().to_owned()).collect();
            if let Some(n) = block.shown().filter(|n| lines.len() > *n) {
                lines.truncate(n);
                lines.push("…".into());
            }
            lines
        };
        let looks =
            |lines: &[String]| -> Vec<String> { lines.iter().map(|l| looks(l, block.times())).collect() };
        let real = lines_of(&shell(folder, &script, block.exit(), at));
        let is_said = |lines: &[String]| same(&looks(&shown), &looks(lines));
        let again = || is_said(&lines_of(&text(&output(folder, &script).stdout)));
        if is_said(&real) || (block.times() && (1..ATTEMPTS).any(|_| again())) {
            anew.extend(shown);
        } else {
            wrong.push(format!(
                "{at}: $ {script}\nthe page says\n{}\nit prints\n{}",
                shown.join("\n"),
                real.join("\n")
            ));
            anew.extend(real);
        }
    }
    anew
}

/// A line as it is compared: without the end's blanks; where times are in it, with all numbers, bars and widths alike.
fn looks(line: &str, times: bool) -> String {
    let line = line.trim_end();
    // (the processor's vectors and the compiler's version are the machine's)
    let line = match (line.find("(LLVM "), line.find(" bits)")) {
        (Some(a), Some(b)) if a < b => format!("{}{}", &line[..a], &line[b + " bits)".len()..]),
        _ => line.to_owned(),
    };
    // (subgroups are numbered as they begin, which is the device's affair)
    let line = match line.split_once(", subgroup ") {
        Some((before, after)) => {
            format!("{before}, subgroup #{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => line,
    };
    if !times {
        return line;
    }
    let mut out = String::new();
    for word in line.split_whitespace() {
        let word: String = word.chars().filter(|c| !matches!(c, '▁'..='█' | '─' | '-' | '+' | '−')).collect();
        let mut masked = String::new();
        for c in word.chars() {
            if c.is_ascii_digit() || (c == '.' && masked.ends_with('#')) {
                if !masked.ends_with('#') {
                    masked.push('#');
                }
            } else {
                masked.push(c);
            }
        }
        if !masked.is_empty() {
            out.push_str(&masked);
            out.push(' ');
        }
    }
    out
}

/// Whether lines are alike; `…` stands for any lines.
fn same(shown: &[String], real: &[String]) -> bool {
    match shown.split_first() {
        None => real.is_empty(),
        Some((first, rest)) if first.trim() == "…" => (0..=real.len()).any(|n| same(rest, &real[n..])),
        Some((first, rest)) => real.split_first().is_some_and(|(r, more)| first == r && same(rest, more)),
    }
}

#[test]
fn outputs_are_compared() {
    let lines = |t: &str| t.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(same(&lines("a\n…\nd"), &lines("a\nb\nc\nd")));
    assert!(same(&lines("a\n…"), &lines("a")));
    assert!(!same(&lines("a\n…\nd"), &lines("a\nb")));
    assert!(!same(&lines("a"), &lines("a\nb")) && !same(&lines("a\nb"), &lines("a")));
    assert_eq!(looks("GPU  29  42.860 ms ▁▂ ", true), looks("GPU 3 1.5 ms █", true));
    assert_ne!(looks("GPU 3 ms", true), looks("CPU 3 ms", true));
    assert_ne!(looks("GPU 3 ms", false), looks("GPU 4 ms", false));
    assert_eq!(looks("x (LLVM 15.0.6, 256 bits) y", false), "x  y");
}
