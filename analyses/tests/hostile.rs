//! Traces and runs whose rows and words are somebody else's: whatever a number, a name or a field of JSON says, every question and
//! every exporter answers or refuses, and none panics or takes memory without end.
//!
//! Mutants are of the traces in `traces/`, seeded: tables' cells become others', extremes and hostile texts, rows go and come twice,
//! tables are emptied; manifests and `run.json` lose, change and double their fields; files are cut and flipped.
//! `RERAY_MUTANTS=N` makes N of each fixture and kind, `RERAY_SEED=N` begins elsewhere, `RERAY_TELL=1` names each before it is tried.

use analyses::report::{Report, csv, html, json, plot, png, records, text};
use analyses::times::run_times;
use analyses::verdict::compare::{Wanted, compare};
use analyses::verdict::{Ask, Metric};
use analyses::{QUESTIONS, Question};
use oorandom::Rand64;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trace::dir::{Bytes, Dir, Manifest, Writer};
use trace::run::Run;
use trace::tables::TABLES;
use trace::{ColumnData, Columns, Source, Table, Value};

/// Most memory that all of it may have taken at once, in KiB.
const MOST_MEMORY: u64 = 6 << 20;

/// Random numbers.
struct Rng(Rand64);

impl Rng {
    fn new(seed: u64) -> Rng {
        Rng(Rand64::new(seed.into()))
    }
    fn next(&mut self) -> u64 {
        self.0.rand_u64()
    }
    fn below(&mut self, n: usize) -> usize {
        self.0.rand_range(0..n.max(1) as u64) as usize
    }
    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(name)
}

const TRACES: [&str; 5] = ["rays", "fragment", "compute", "clock", "effects"];

/// A value that owns its words.
#[derive(Clone, Debug)]
enum Cell {
    U64(u64),
    F64(f64),
    Text(Arc<str>),
}

impl Cell {
    fn value(&self) -> Value<'_> {
        match self {
            Cell::U64(n) => Value::U64(*n),
            Cell::F64(n) => Value::F64(*n),
            Cell::Text(t) => Value::Text(t),
        }
    }
}

type Rows = Vec<Vec<Cell>>;

fn rows(columns: &Columns) -> Rows {
    let cell = |c: &ColumnData, row: usize| match c {
        ColumnData::U64(c) => Cell::U64(c[row]),
        ColumnData::F64(c) => Cell::F64(c[row]),
        ColumnData::Text(c) => Cell::Text(c[row].clone()),
    };
    (0..columns.len()).map(|row| columns.columns().iter().map(|c| cell(c, row)).collect()).collect()
}

const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    31,
    32,
    64,
    255,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    1 << 53,
    i64::MAX as u64,
    u64::MAX - 1,
    u64::MAX,
];
const REALS: [f64; 8] = [0.0, -1.0, 1e-320, 1e300, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
const TEXTS: [&str; 9] = [
    "",
    "</script><script>alert(1)</script>",
    "\u{1b}[2J\u{9b}31m\u{202e}\n\r\t\0",
    "\"'><img src=x onerror=alert(1)>",
    "../../../etc/passwd",
    "=cmd|' /C calc'!A0",
    "{{data}}",
    "%s%n{}",
    "\u{10ffff}é\u{feff}",
];

/// Changes some rows.
fn change(rng: &mut Rng, rows: &mut Rows) {
    for _ in 0..1 + rng.below(4) {
        if rows.is_empty() {
            return;
        }
        let at = rng.below(rows.len());
        match rng.below(16) {
            0 => drop(rows.remove(at)),
            1 => rows.push(rows[at].clone()),
            2 => {
                let other = rng.below(rows.len());
                rows.swap(at, other);
            }
            3 => rows.truncate(at),
            4 if rng.below(4) == 0 => rows.clear(),
            kind => {
                let column = rng.below(rows[at].len());
                let other = rows[rng.below(rows.len())][column].clone();
                let new = match (&rows[at][column], kind) {
                    (_, 5 | 6) => other,
                    (Cell::U64(n), 7) => Cell::U64(n ^ 1 << rng.below(64)),
                    (Cell::U64(n), 8) => Cell::U64(n.wrapping_add(rng.next() % 3).wrapping_sub(1)),
                    (Cell::U64(_), _) => Cell::U64(rng.of(&NUMBERS)),
                    (Cell::F64(_), _) => Cell::F64(rng.of(&REALS)),
                    (Cell::Text(_), _) => Cell::Text(rng.of(&TEXTS).into()),
                };
                // (a column that is wrong throughout is met where one wrong row is not)
                if kind == 15 {
                    rows.iter_mut().for_each(|r| r[column] = new.clone());
                } else {
                    rows[at][column] = new;
                }
            }
        }
    }
}

/// Everything that is made of a report.
fn export(report: &Report, page: bool) {
    for sheet in report.sheets() {
        csv::render(&sheet);
    }
    let text = text::render(report);
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{}: {text:?}", report.analysis);
    json::render(report);
    report.images.iter().for_each(|i| drop(png::render(i)));
    if page {
        let input = html::Input { reports: vec![(report.clone(), String::new())], ..Default::default() };
        html::render("page", &[input]).ok();
        plot::figures(report).iter().for_each(|(_, f)| drop((f.svg(), f.png())));
    }
}

fn ask(question: &Question, source: &dyn Source, page: bool) {
    if let Ok(report) = question.answer(source) {
        export(&report, page);
    }
}

/// Panics, by where they are.
#[derive(Default)]
struct Found(BTreeMap<String, (u64, String)>);

thread_local! {
    static LAST: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
    static MUTANT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl Found {
    /// Does it, and keeps what went wrong.
    fn run(&mut self, what: &str, it: impl FnOnce()) {
        if std::env::var_os("RERAY_TELL").is_some() {
            eprintln!("{what}");
        }
        MUTANT.set(true);
        let done = catch_unwind(AssertUnwindSafe(it));
        MUTANT.set(false);
        if let Err(payload) = done {
            let said = payload.downcast_ref::<String>().cloned();
            let said = said.or(payload.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default();
            let place = LAST.with_borrow(Clone::clone);
            let one = self.0.entry(place).or_insert((0, format!("{what}: {said:.300}")));
            one.0 += 1;
        }
    }

    fn none(self) {
        let all: Vec<String> =
            self.0.iter().map(|(at, (n, what))| format!("{at}, {n} times, first {what}")).collect();
        assert!(all.is_empty(), "{} panics:\n{}", all.len(), all.join("\n"));
    }
}

/// Panics of mutants are kept, not printed; those of the tests themselves are as ever.
fn quiet() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let plain = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match MUTANT.get() {
            true => {
                // (sums overflow in the standard library: the first of our own lines says more)
                let trace = std::backtrace::Backtrace::force_capture().to_string();
                let own = |l: &&str| {
                    l.contains("at ")
                        && l.contains("/src/")
                        && !l.contains("/rustc/")
                        && !l.contains("/registry/")
                };
                let own = trace.lines().find(own).map(|l| l.trim().to_owned());
                let place = own.or(info.location().map(ToString::to_string)).unwrap_or_default();
                LAST.with_borrow_mut(|last| *last = place);
            }
            false => plain(info),
        }));
    });
}

/// What the process has taken at most, in KiB; none where the system does not say.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
}

fn opened(files: BTreeMap<String, Vec<u8>>) -> impl Fn(&Path) -> std::io::Result<Bytes> + Send + Sync {
    move |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = files.get(&name).cloned().ok_or(std::io::ErrorKind::NotFound)?;
        Ok(Arc::new(bytes) as Bytes)
    }
}

fn files(name: &str) -> BTreeMap<String, Vec<u8>> {
    let list = std::fs::read_dir(folder(name)).expect("the fixture");
    let all = list.map(|e| e.expect("an entry").path());
    let read = |p: PathBuf| {
        let name = p.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read(&p).expect("a file"))
    };
    all.map(read).collect()
}

/// A trace of which any question can be asked again and again.
struct Fixture {
    name: &'static str,
    tables: Vec<(&'static Table, Rows)>,
    files: BTreeMap<String, Vec<u8>>,
    questions: Vec<&'static Question>,
}

/// The same files with one table written anew.
fn with_table(
    files: &BTreeMap<String, Vec<u8>>,
    table: &'static Table,
    rows: &Rows,
) -> BTreeMap<String, Vec<u8>> {
    let to = std::env::temp_dir().join(format!(
        "reray-hostile-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let _ = std::fs::remove_dir_all(&to);
    let mut manifest = Manifest::parse(&files["manifest.json"], &to).expect("the fixture's");
    let mut writer = Writer::create(&to, manifest.clone()).expect("a folder");
    rows.iter().for_each(|r| writer.put(table, &r.iter().map(Cell::value).collect::<Vec<_>>()));
    let new = writer.finish().expect("it is written").tables;
    manifest.tables.retain(|t| t.name != table.name);
    manifest.tables.extend(new);
    let (mut mutant, file) = (files.clone(), format!("{}.table", table.name));
    match std::fs::read(to.join(&file)) {
        Ok(bytes) => drop(mutant.insert(file, bytes)),
        Err(_) => drop(mutant.remove(&file)),
    }
    mutant.insert("manifest.json".into(), manifest.render().into_bytes());
    let _ = std::fs::remove_dir_all(&to);
    mutant
}

fn fixture(name: &'static str) -> Fixture {
    let dir = Dir::open(&folder(name)).expect("a trace");
    let read = |t: &'static Table| (t, rows(&dir.read(t).expect("a table")));
    let tables: Vec<_> = TABLES.iter().map(|&t| read(t)).filter(|t| !t.1.is_empty()).collect();
    let has = |t: &&Table| tables.iter().any(|(own, _)| own.name == t.name);
    let questions = QUESTIONS.iter().copied().filter(|q| q.wants.iter().all(&has)).collect();
    Fixture { name, tables, files: files(name), questions }
}

#[test]
fn rows_of_strangers_answer_or_are_refused() {
    quiet();
    let (each, seed) = (number("RERAY_MUTANTS", 260), number("RERAY_SEED", 1));
    let (mut found, mut asked) = (Found::default(), BTreeSet::new());
    for f in TRACES.map(fixture) {
        for n in 0..each {
            let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(n));
            let at = rng.below(f.tables.len());
            let (table, rows) = &f.tables[at];
            let mut rows = rows.clone();
            change(&mut rng, &mut rows);
            let mutant = with_table(&f.files, table, &rows);
            let Ok(dir) = Dir::open_with(Path::new("stranger's"), opened(mutant)) else {
                panic!("mutant {n}")
            };
            let direct: Vec<_> =
                f.questions.iter().filter(|q| q.wants.iter().any(|t| t.name == table.name)).collect();
            let chosen =
                if direct.is_empty() { vec![&f.questions[rng.below(f.questions.len())]] } else { direct };
            for q in chosen {
                asked.insert(q.name);
                let what = format!("{}, {}, mutant {n}, {}", f.name, table.name, q.name);
                let began = std::time::Instant::now();
                found.run(&what, || ask(q, &dir, n % 16 == 0));
                let took = began.elapsed().as_secs();
                found.run(&what, || assert!(took < 60, "{what}: {took} s"));
            }
            found.run(table.name, || {
                let mut columns = Columns::new(table);
                rows.iter().for_each(|r| columns.push(&r.iter().map(Cell::value).collect::<Vec<_>>()));
                records::csv(&columns);
                records::jsonl(&columns);
            });
        }
    }
    found.none();
    assert!(asked.len() >= 22, "questions that fixtures can answer: {asked:?}");
    assert!(peak().is_none_or(|kib| kib < MOST_MEMORY), "{:?} KiB", peak());
}

/// Changes a file's bytes.
fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.below(bytes.len());
        match rng.below(5) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.of(&[0, 0xff, 0x80, b'"', b'{', b'9']),
            2 => bytes.truncate(at),
            3 => {
                let end = (at + rng.below(64)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => drop(bytes.drain(at..(at + 1 + rng.below(16)).min(bytes.len()))),
        }
    }
}

/// Changes a value of JSON, somewhere.
fn json_change(rng: &mut Rng, value: &mut serde_json::Value) {
    use serde_json::Value as V;
    match value {
        V::Object(map) if !map.is_empty() && rng.below(8) > 0 => {
            let key = map.keys().nth(rng.below(map.len())).expect("one of them").clone();
            if rng.below(12) == 0 {
                map.remove(&key);
            } else if let Some(inner) = map.get_mut(&key) {
                json_change(rng, inner);
            }
        }
        V::Array(list) if !list.is_empty() && rng.below(8) > 0 => {
            let at = rng.below(list.len());
            match rng.below(6) {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => json_change(rng, &mut list[at]),
            }
        }
        V::Number(_) => *value = V::from(rng.of(&NUMBERS)),
        V::String(_) => *value = V::from(rng.of(&TEXTS)),
        other => *other = rng.of(&[V::Null, V::Bool(true), V::from(-1), V::Array(vec![]), V::from(1e300)]),
    }
}

fn json_changed(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut value = serde_json::from_slice(bytes).expect("JSON");
    (0..1 + rng.below(3)).for_each(|_| json_change(rng, &mut value));
    value.to_string().into_bytes()
}

#[test]
fn files_of_strangers_are_read_or_refused_by_name() {
    quiet();
    let (each, seed) = (number("RERAY_MUTANTS", 120), number("RERAY_SEED", 1));
    let (mut found, mut refused) = (Found::default(), 0);
    for name in TRACES {
        let whole = files(name);
        let names: Vec<&String> = whole.keys().collect();
        for n in 0..each {
            let mut rng = Rng::new(seed.wrapping_mul(7_368_787).wrapping_add(n));
            let mut mutant = whole.clone();
            let file = if n % 3 == 0 { "manifest.json" } else { names[rng.below(names.len())] };
            let bytes = mutant.get_mut(file).expect("there");
            if file == "manifest.json" && n % 2 == 0 {
                *bytes = json_changed(&mut rng, bytes);
            } else {
                damage(&mut rng, bytes);
            }
            found.run(&format!("{name}, {file}, mutant {n}"), || {
                let read = Dir::open_with(Path::new("stranger's"), opened(mutant)).and_then(|dir| {
                    TABLES.iter().try_for_each(|t| {
                        dir.each(t, &mut |c| {
                            drop(records::csv(c));
                            Ok(())
                        })
                    })?;
                    Ok(dir)
                });
                match read {
                    Ok(dir) => ask(QUESTIONS[rng.below(QUESTIONS.len())], &dir, false),
                    Err(e) => {
                        assert!(e.to_string().contains("stranger's"), "no file is named: {e}");
                        refused += 1;
                    }
                }
            });
        }
    }
    found.none();
    assert!(refused > each, "most damage shows: {refused}");
    assert!(peak().is_none_or(|kib| kib < MOST_MEMORY), "{:?} KiB", peak());
}

#[test]
fn runs_of_strangers_are_compared_or_refused() {
    quiet();
    let (each, seed) = (number("RERAY_MUTANTS", 220), number("RERAY_SEED", 1));
    let whole = files("run");
    let base = Run::open(&folder("run")).expect("a run");
    let dir = Dir::open(&folder("run")).expect("a run's trace");
    let read = |t: &'static Table| (t, rows(&dir.read(t).expect("a table")));
    let tables: Vec<_> = TABLES.iter().map(|&t| read(t)).filter(|t| !t.1.is_empty()).collect();
    let mut found = Found::default();
    for n in 0..each {
        let mut rng = Rng::new(seed.wrapping_mul(15_485_863).wrapping_add(n));
        let mut mutant = whole.clone();
        if n % 2 == 0 {
            let note = mutant.get_mut("run.json").expect("there");
            *note = if n % 8 == 0 { vec![b'['; 100_000] } else { json_changed(&mut rng, note) };
        } else {
            let (table, rows) = &tables[rng.below(tables.len())];
            let mut rows = rows.clone();
            change(&mut rng, &mut rows);
            mutant = with_table(&mutant, table, &rows);
        }
        found.run(&format!("mutant {n}"), || match Run::open_with(Path::new("stranger's"), opened(mutant)) {
            Ok(run) => {
                run_times::reports(&run).iter().for_each(|r| export(r, n % 16 == 1));
                for sides in [[&base, &run], [&run, &base], [&run, &run]] {
                    for force in [true, false] {
                        let wanted = Wanted {
                            metrics: vec![Metric::Median],
                            ask: Ask { effect: 0.02, alpha: 0.01 },
                            clock: None,
                            against: None,
                            plans: vec![],
                            force,
                        };
                        if let Ok(compared) = compare(sides[0], sides[1], &wanted) {
                            use analyses::verdict::export::*;
                            let text = as_text(&compared);
                            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
                            for out in [as_json, as_markdown, as_junit, as_benchmark, as_csv] {
                                out(&compared);
                            }
                        }
                    }
                }
            }
            Err(e) => assert!(e.to_string().contains("stranger's"), "no file is named: {e}"),
        });
    }
    found.none();
    assert!(peak().is_none_or(|kib| kib < MOST_MEMORY), "{:?} KiB", peak());
}

#[test]
fn reports_of_strangers_are_shown_or_refused() {
    quiet();
    let (each, seed) = (number("RERAY_MUTANTS", 300), number("RERAY_SEED", 1));
    let mut reports: Vec<serde_json::Value> = vec![];
    for name in TRACES {
        let dir = Dir::open(&folder(name)).expect("a trace");
        let answers = QUESTIONS.iter().filter(|q| q.wants.iter().all(|t| dir.rows(t).is_some()));
        reports
            .extend(answers.map(|q| serde_json::to_value(q.answer(&dir).expect("an answer")).expect("JSON")));
    }
    let (mut found, mut refused) = (Found::default(), 0);
    for n in 0..each {
        let mut rng = Rng::new(seed.wrapping_mul(32_452_843).wrapping_add(n));
        let mut value = rng.of(&reports);
        (0..1 + rng.below(4)).for_each(|_| json_change(&mut rng, &mut value));
        found.run(&format!("report {n}, {}", value["analysis"]), || match json::read(&value) {
            Ok(report) => export(&report, n % 4 == 0),
            Err(_) => refused += 1,
        });
    }
    found.none();
    assert!(refused > 0 && refused < each, "{refused} of {each}");
}
