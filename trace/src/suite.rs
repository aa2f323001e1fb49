//! What `suite run` and `suite merge` leave: a folder with `suite.json`, and below `units/` a run (`run.rs`) for each unit that
//! was measured.
//!
//! A *unit* is one capture, looped at one frame or replayed whole, under all its plans: what one run of `bench` measures, and what
//! is never split over machines. A *part* is one call of `suite run`, of one shard of the units, on one machine.
//!
//! Guarantees: `suite.json` names every unit of the suite, also those that lie elsewhere, so that whoever puts shards together knows
//! what is missing; fields that a reader does not know are passed over. Refuses another `schema_version`, names of units that are
//! no plain folder names, units that are there twice, and parts that are not there.

use crate::dir::Capture;
use crate::note::{self, Kind};
use crate::{Nanos, Unreadable};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The version of the shape of `suite.json`.
pub const SUITE_VERSION: u32 = 1;
/// Its file.
pub const SUITE_FILE: &str = "suite.json";
/// The folder of units' runs.
pub const UNITS: &str = "units";

/// Most bytes of `suite.json`.
const MOST_BYTES: usize = 256 << 20;

/// What `suite.json` holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SuiteNote {
    /// [`SUITE_VERSION`].
    pub schema_version: u32,
    /// The program and its version.
    pub program: String,
    /// The suite's name.
    pub name: String,
    /// BLAKE3 of the suite file, in hexadecimal.
    pub blake3: String,
    /// The suite file.
    pub text: String,
    /// The shard, from 1, and of how many; none where it is of all units.
    #[serde(default)]
    pub shard: Option<[u32; 2]>,
    /// Calls that measured, in the order in which they began.
    pub parts: Vec<PartNote>,
    /// All units of the suite, in the file's order.
    pub units: Vec<UnitNote>,
}

/// One call of `suite run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartNote {
    /// Its shard.
    #[serde(default)]
    pub shard: Option<[u32; 2]>,
    /// The machine, and the processor's side of its state, when it began.
    pub machine: Value,
    /// When it began: seconds since 1970, UTC.
    pub began: u64,
    /// How long it took so far.
    pub wall: Nanos,
}

/// Where a unit stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Its run lies in `units/NAME`.
    Done,
    /// It was tried, and there is no run.
    Failed,
    /// It is this shard's, and was not tried yet.
    #[default]
    Waiting,
    /// It is another shard's.
    Elsewhere,
}

impl State {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            State::Done => "done",
            State::Failed => "failed",
            State::Waiting => "not yet",
            State::Elsewhere => "elsewhere",
        }
    }
}

/// A unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitNote {
    /// Its name, and its folder's.
    pub name: String,
    /// Which `[[bench]]` of the suite file, from 0.
    pub bench: usize,
    /// The shard that it is in, from 1; 1 where there are none.
    pub shard: u32,
    /// The capture, as the suite file names it.
    pub file: String,
    /// The frame that is looped; none where the capture is replayed whole.
    #[serde(default)]
    pub frame: Option<u64>,
    /// Plans.
    pub plans: Vec<String>,
    /// Where it stands.
    pub state: State,
    /// The capture that was replayed; none where there is no run.
    #[serde(default)]
    pub capture: Option<Capture>,
    /// The call that measured it, of `parts`.
    #[serde(default)]
    pub part: Option<usize>,
    /// How long it took.
    #[serde(default)]
    pub wall: Option<Nanos>,
    /// The words after `reray-replay`, called in the suite file's folder; the output is named as seen from `suite.json`.
    #[serde(default)]
    pub command: Vec<String>,
    /// What its frame showed, by plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<ShotNote>,
    /// Whether a trace of what its frame counted lies beside its run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// Of one that failed: its exit code; none where a signal ended it.
    #[serde(default)]
    pub exit: Option<i32>,
    /// Of one that failed: how it ended, in words.
    #[serde(default)]
    pub ended: String,
    /// Of one that failed: the last lines of its stderr.
    #[serde(default)]
    pub stderr: Vec<String>,
}

/// A picture that was taken of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShotNote {
    /// The plan under which it was shown.
    pub plan: String,
    /// The frame.
    pub frame: u64,
    /// The swapchain, where a frame shows several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapchain: Option<u64>,
    /// Its PNG, as seen from `suite.json`.
    pub file: String,
    /// BLAKE3 of its pixels, in hexadecimal.
    pub blake3: String,
    /// Whether the frame showed the same when it was replayed again.
    pub steady: bool,
}

impl UnitNote {
    /// Where what was counted lies.
    pub fn counts(&self) -> PathBuf {
        self.folder().join("counts")
    }

    /// Where its pictures lie.
    pub fn shots(&self) -> PathBuf {
        self.folder().join("pictures")
    }

    /// Where its run lies, as seen from `suite.json`.
    pub fn folder(&self) -> PathBuf {
        Path::new(UNITS).join(&self.name)
    }

    /// Of one that failed: how it ended, and the last that it said.
    pub fn why(&self) -> String {
        match self.stderr.last() {
            Some(line) => format!("{}: {}", self.ended, line.trim_start_matches("reray-replay: ")),
            None => self.ended.clone(),
        }
    }
}

/// Whether a text is a plain folder's name on every system: letters, digits, `.`, `_` and `-`, and none of the last three first.
pub fn plain_name(name: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=200).contains(&name.len())
        && name.chars().all(sound)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

impl SuiteNote {
    /// Whether a folder is a suite's results.
    pub fn is_one(folder: &Path) -> bool {
        folder.join(SUITE_FILE).is_file()
    }

    /// As JSON, with a line end.
    pub fn render(&self) -> String {
        note::render(self)
    }

    /// Reads one; `path` is for messages.
    pub fn parse(json: &[u8], path: &Path) -> Result<SuiteNote, Unreadable> {
        let kind = Kind {
            version: SUITE_VERSION,
            most: MOST_BYTES,
            who: "it",
            wrong: "says nothing of a suite",
            what: "it",
        };
        let note: SuiteNote = note::parse(json, path, &kind)?;
        note.check().map_err(|why| Unreadable(format!("{}: {why}", path.display())))?;
        Ok(note)
    }

    /// Names are folders' names, each is there once, and every number refers to something.
    fn check(&self) -> Result<(), String> {
        let mut seen = std::collections::BTreeSet::new();
        for u in &self.units {
            if !plain_name(&u.name) {
                return Err(format!("unit {:?}: no plain folder name", u.name));
            }
            if !seen.insert(u.name.to_ascii_lowercase()) {
                return Err(format!("unit {} is there twice", u.name));
            }
            if u.part.is_some_and(|p| p >= self.parts.len()) {
                return Err(format!("unit {} is of a part that is not there", u.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> SuiteNote {
        let unit = |name: &str, state| UnitNote { name: name.into(), state, shard: 1, ..UnitNote::default() };
        SuiteNote {
            schema_version: SUITE_VERSION,
            name: "nightly".into(),
            shard: Some([1, 2]),
            parts: vec![PartNote { began: 7, ..PartNote::default() }],
            units: vec![
                UnitNote { part: Some(0), wall: Some(Nanos(5)), ..unit("a-f2", State::Done) },
                UnitNote { exit: Some(1), stderr: vec!["no".into()], ..unit("b", State::Failed) },
                unit("c", State::Elsewhere),
            ],
            ..SuiteNote::default()
        }
    }

    #[test]
    fn what_was_written_comes_back() {
        let text = note().render();
        assert_eq!(SuiteNote::parse(text.as_bytes(), Path::new("x")).expect("it is one"), note());
        assert!(text.contains("\"state\": \"elsewhere\""), "{text}");
        // What a later program adds is passed over.
        let more = text.replacen("{\n", "{\n  \"weather\": \"fine\",\n", 1);
        assert!(SuiteNote::parse(more.as_bytes(), Path::new("x")).is_ok());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let of = |change: &dyn Fn(&mut SuiteNote)| {
            let mut n = note();
            change(&mut n);
            SuiteNote::parse(n.render().as_bytes(), Path::new("s")).expect_err("it cannot be").to_string()
        };
        assert!(of(&|n| n.schema_version = 2).contains("schema_version 2"));
        assert!(of(&|n| n.units[0].name = "../a".into()).contains("plain"));
        assert!(of(&|n| n.units[0].name = "B".into()).contains("twice"));
        assert!(of(&|n| n.units[0].part = Some(1)).contains("part"));
        assert!(SuiteNote::parse(b"{}", Path::new("s")).is_err());
        for (name, sound) in
            [("a-f61", true), ("x.y_z", true), ("", false), (".a", false), ("-a", false), ("a b", false)]
        {
            assert_eq!(plain_name(name), sound, "{name}");
        }
    }
}
