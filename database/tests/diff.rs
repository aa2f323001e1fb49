//! `database::diff` on pairs of captures whose only differences are known.

mod edits;

use database::capture::{Framed, Told};
use database::diff::{Difference, Side, difference, report};
use database::query::Database;
use database::{Writer, capture};
use edits::{EDITS, fits, renumbered, sample};
use gfxr_parse::ahead::Call;
use gfxr_parse::container::{Capture, Place};
use gfxr_parse::error::Error;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Frames as the capture counts them.
struct Plain;

impl Told for Plain {
    fn framed(&mut self, place: Place, _: Option<&Call>) -> Framed {
        Framed { before: false, frame: place.frame, after: false }
    }
    fn bad(&mut self, why: &Error) {
        panic!("{why}");
    }
    fn cut_off(&mut self, why: &Error) {
        panic!("{why}");
    }
    fn at(&mut self, _: u64) {}
}

fn database(capture: &Capture, path: &Path) -> Database {
    let mut writer = Writer::create(path).expect("a place");
    capture::write(capture, &mut writer, &mut Plain).expect("written");
    writer.finish().expect("a database");
    Database::open(path).expect("a database")
}

/// What differs between two files.
fn of(name: &str, a: &[u8], b: &[u8]) -> Difference {
    let folder = std::env::temp_dir().join(format!("reray-diff-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let [a, b] = [a, b].map(|bytes| Capture::new(bytes.to_vec()).expect("a capture"));
    let [of_a, of_b] = [(&a, "a.sqlite"), (&b, "b.sqlite")].map(|(c, n)| database(c, &folder.join(n)));
    let side = |name: &str, capture, db| Side { name: name.to_owned(), capture, db };
    let text = |code: &[u8]| {
        let words = code.chunks(4).map(|w| format!("{w:02x?}\n"));
        Some(words.collect::<String>())
    };
    let found = difference(&side("a", &a, &of_a), &side("b", &b, &of_b), &|_| true, &text);
    std::fs::remove_dir_all(&folder).expect("all of it");
    found.expect("databases of this version")
}

fn samples() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("captures/samples")).expect("samples");
    let files = folder.map(|f| f.expect("a file").path());
    let mut all: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "gfxr")).collect();
    all.sort();
    all
}

#[test]
fn a_capture_does_what_it_does() {
    for file in samples() {
        let bytes = std::fs::read(&file).expect("a sample");
        let d = of("itself", &bytes, &bytes);
        assert!(d.is_equal() && d.counts.answers == 0, "{}: {}", file.display(), report::text(&d, 20, None));
        assert_eq!(d.counts.commands[0], d.counts.commands[1]);
        assert_eq!(report::text(&d, 1, None).lines().next(), Some("The captures do the same."));
    }
}

#[test]
fn ids_and_addresses_are_no_change() {
    for file in samples() {
        let bytes = std::fs::read(&file).expect("a sample");
        let d = of("renumbered", &bytes, &renumbered(&bytes));
        assert!(d.is_equal(), "{}: {}", file.display(), report::text(&d, 20, None));
    }
}

#[test]
fn edits_are_found_and_nothing_else() {
    let mut wrong = vec![];
    for edit in EDITS {
        let bytes = sample(&root(), edit.sample);
        let d = of("edits", &bytes, &(edit.make)(&bytes));
        let json = report::json(&d);
        let changes = json["changes"].as_array().expect("changes");
        let right = changes.len() == edit.expected.len()
            && edit.expected.iter().zip(changes).all(|(e, found)| fits(e, found));
        if !right {
            wrong.push(format!("{}: {:#?}\n{}", edit.name, edit.expected, report::text(&d, 20, None)));
        }
        // The other way round what was added was removed.
        let back = of("back", &(edit.make)(&bytes), &bytes);
        assert_eq!(back.changes.len(), d.changes.len(), "{}: {}", edit.name, report::text(&back, 20, None));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
