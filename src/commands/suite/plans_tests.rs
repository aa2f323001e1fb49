//! Every plan that is written in the book, in the README, in scripts and in tests' suites is read wherever plans are taken, as the
//! same plan, and prints back to itself.
//!
//! The plans are found as a reader finds them: words behind `--plan` in what a shell would run, plans in running text, `[[plan]]`
//! tables of suites, and lists behind `--passes` and `--method`.

use crate::cli::{Cli, Command, StudyCommand};
use clap::Parser;
use profile::passes::{PASSES, made};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trace::plan::{KEYS, Passes, Plan};
use trace::run::RunNote;

/// Files of these folders, and of the root, with these endings.
const WHERE: [(&str, &[&str]); 4] = [
    ("docs", &["md", "toml", "yml", "yaml", "sbatch"]),
    ("scripts", &[""]),
    ("src", &["rs"]),
    ("tests", &["rs", "tsv"]),
];

fn files(folder: &Path, endings: &[&str], into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        let ending = entry.extension().unwrap_or_default();
        if entry.is_dir() {
            files(&entry, endings, into);
        } else if endings.iter().any(|e| *e == ending) {
            into.push(entry);
        }
    }
}

/// A page or a script without headings and remarks, and without lines' ends that a backslash takes away.
fn typed(text: &str) -> String {
    let lines = text.lines().filter(|l| !l.trim_start().starts_with('#'));
    lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ")
}

/// The word behind a flag, wherever it stands: in quotes, or up to a blank. Nothing of what a shell fills in.
fn behind(text: &str, flag: &str) -> Vec<String> {
    let mut all = vec![];
    for (at, _) in text.match_indices(flag) {
        let rest = &text[at + flag.len()..];
        let quote = rest.chars().next().filter(|c| "'\"".contains(*c));
        let word = match quote {
            Some(q) => rest[1..].split_once(q).map(|r| r.0),
            None => rest.split(|c: char| c.is_whitespace() || c == '`').next(),
        };
        all.extend(word.filter(|w| !w.is_empty() && !w.contains(['$', '<', '{', '…'])).map(str::to_owned));
    }
    all
}

/// Plans in running text: a name, and keys that plans have.
fn spans(text: &str) -> Vec<String> {
    let is_plan = |span: &&str| {
        let key = span.split(' ').nth(1).and_then(|word| word.split_once('='));
        key.is_some_and(|k| KEYS.contains(&k.0)) && !span.starts_with('-')
    };
    text.split('`').skip(1).step_by(2).filter(is_plan).map(str::to_owned).collect()
}

/// Suites' plans: what stands behind `[[plan]]` up to the next table.
fn tables(text: &str) -> Vec<String> {
    let parts = text.split("[[plan]]\n").skip(1);
    let keys = |part: &str| -> String {
        let line = |l: &&str| l.split_once(" = ").is_some_and(|(k, _)| k == "name" || KEYS.contains(&k));
        part.lines().take_while(line).map(|l| format!("{l}\n")).collect()
    };
    parts.map(keys).filter(|p| p.contains("name = ")).collect()
}

/// A plan as a suite has it.
fn suite(table: &str) -> Plan {
    let text = format!(
        "schema_version = 1\nname = \"x\"\n[[plan]]\n{table}[[bench]]\ncapture = \"a.gfxr\"\nframes = 1\n"
    );
    let mut suite = experiment::suite::parse(&text, "x.toml").unwrap_or_else(|e| panic!("{table}: {e}"));
    suite.plans.remove(0)
}

/// The same plan as a suite's table.
fn table(plan: &Plan) -> String {
    // (what JSON writes of a text, TOML reads as the same)
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut lines = format!("name = {}\n", text(&plan.name));
    let several = |c: &&String| ["env=", "change="].iter().any(|key| c.starts_with(key));
    for change in plan.changes().iter().filter(|c| !several(c)) {
        let (key, value) = change.split_once('=').expect("a key and a value");
        lines += &format!("{key} = {}\n", text(value));
    }
    let changes: Vec<String> = plan.changes.iter().map(|c| text(&c.to_string())).collect();
    if !changes.is_empty() {
        lines += &format!("change = [{}]\n", changes.join(", "));
    }
    let env: Vec<String> = plan.env.iter().map(|(k, v)| format!("{} = {}", text(k), text(v))).collect();
    if !env.is_empty() {
        lines += &format!("env = {{ {} }}\n", env.join(", "));
    }
    lines
}

fn passes(words: &[&str]) -> Passes {
    match Cli::try_parse_from(words).unwrap_or_else(|e| panic!("{words:?}: {e}")).command {
        Some(Command::Profile(p)) => p.passes.expect("passes"),
        Some(Command::Study(StudyCommand::Rays(p))) => p.method.expect("methods"),
        other => panic!("{words:?}: {other:?}"),
    }
}

/// Holds a list of passes to what every place makes of it.
fn everywhere_passes(text: &str, at: &str) {
    let list: Passes = text.parse().unwrap_or_else(|e| panic!("{at}: {text}: {e}"));
    assert_eq!(list.to_string().parse().as_ref(), Ok(&list), "{at}: {text}");
    assert_eq!(passes(&["reray-replay", "profile", "a.gfxr", "-o", "t", "--passes", text]), list, "{at}");
    let plan: Plan = Plan { passes: list.clone(), ..Plan::named("x") };
    everywhere(&plan.to_string(), at);
    for one in &list.0 {
        assert!(PASSES.iter().any(|p| p.name == one.name), "{at}: {text}: no pass {}", one.name);
    }
}

/// Holds a plan to what every place makes of it.
fn everywhere(text: &str, at: &str) {
    let plan: Plan = text.parse().unwrap_or_else(|e| panic!("{at}: {text}: {e}"));
    let printed = plan.to_string();
    assert_eq!(printed.parse().as_ref(), Ok(&plan), "{at}: {text}");
    assert_eq!(printed.parse::<Plan>().map(|p| p.to_string()).as_ref(), Ok(&printed), "{at}: {text}");
    let of = |words: &[&str]| -> Plan {
        match Cli::try_parse_from(words).unwrap_or_else(|e| panic!("{at}: {text}: {e}")).command {
            Some(Command::Bench(args)) => args.plan[0].clone(),
            Some(Command::Study(StudyCommand::Rays(args))) => args.plan[0].clone(),
            other => panic!("{at}: {other:?}"),
        }
    };
    for text in [text, &printed] {
        assert_eq!(of(&["reray-replay", "bench", "a.gfxr", "-o", "r", "--plan", text]), plan, "{at}");
        let study = ["reray-replay", "study", "rays", "a.gfxr", "--frame", "1", "-o", "s", "--plan", text];
        assert_eq!(of(&study), plan, "{at}");
    }
    assert_eq!(suite(&table(&plan)), plan, "{at}: {}", table(&plan));
    let note = RunNote { plans: vec![plan.clone()], ..RunNote::default() };
    let back: RunNote = serde_json::from_str(&note.render()).expect("run.json");
    assert_eq!(back.plans, note.plans, "{at}");
    if !plan.passes.is_empty() {
        let list = plan.passes.to_string();
        let words = ["reray-replay", "profile", "a.gfxr", "-o", "t", "--passes", &list];
        assert_eq!(passes(&words), plan.passes, "{at}");
    }
    if let Some(method) = &plan.method {
        let list = method.to_string();
        let words = ["reray-replay", "study", "rays", "a.gfxr", "--frame", "1", "-o", "s", "--method", &list];
        assert_eq!(passes(&words).0, std::slice::from_ref(method), "{at}");
        assert!(analyses::rays::repack::asked(method, 0).is_ok(), "{at}: {text}");
    }
    for one in &plan.passes.0 {
        assert!(PASSES.iter().any(|p| p.name == one.name), "{at}: {text}: no pass {}", one.name);
    }
    if let Err(e) = profile::changes::hooks(&plan.changes) {
        panic!("{at}: {text}: {e}");
    }
}

#[test]
fn every_plan_that_is_written_down_is_read_in_every_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = vec![root.join("README.md")];
    for (folder, endings) in WHERE {
        files(&root.join(folder), endings, &mut all);
    }
    let (mut plans, mut suites, mut lists) = (BTreeSet::new(), 0, 0);
    for path in &all {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let at = path.strip_prefix(root).expect("below it").display().to_string();
        let (page, rust) = (at.ends_with(".md"), at.ends_with(".rs"));
        // (tests of what is refused hold plans that are none)
        if rust && !at.starts_with("src/cli") && !at.starts_with("tests/") {
            continue;
        }
        // (plans of scripts/costs: a name and a list of passes)
        for line in text.lines().filter(|l| at.ends_with("costs_plans.tsv") && !l.starts_with('#')) {
            let (_, list) = line.split_once('\t').expect("a name and a list");
            everywhere_passes(list, &at);
            for one in &list.parse::<Passes>().expect("read before").0 {
                made(one).map(drop).unwrap_or_else(|e| panic!("{at}: {list}: {e}"));
            }
            lists += 1;
        }
        let typed = if rust { text.clone() } else { typed(&text) };
        let mut here: Vec<String> = if at.starts_with("tests/") { vec![] } else { behind(&typed, "--plan ") };
        if page {
            here.extend(spans(&text));
        }
        // (help says `NAME KEY=VALUE…`)
        for plan in here.iter().filter(|p| !p.starts_with("NAME")) {
            everywhere(plan, &at);
            plans.insert(plan.clone());
        }
        for list in if rust { vec![] } else { behind(&typed, "--passes ") } {
            everywhere_passes(&list, &at);
            lists += 1;
        }
        // (as a test's string is written)
        for table in tables(&text.replace("\\n\\\n", "\\n").replace("\\n", "\n").replace("\\\"", "\"")) {
            everywhere(&suite(&table).to_string(), &at);
            suites += 1;
        }
    }
    // Every key is shown somewhere.
    for key in KEYS {
        let shown = plans.iter().any(|p| p.contains(&format!(" {key}=")) || p.contains(&format!("'{key}=")));
        assert!(shown, "no page shows {key}=: {plans:#?}");
    }
    assert!(plans.len() >= 15 && suites >= 6 && lists >= 20, "{} {suites} {lists}", plans.len());
}
