//! What `what-if` asked of a frame: its actions (draws, dispatches, traces), the parts that they were taken together to, and the
//! experiments, each a plan of a run: `what-if.json`, beside the runs that say how long they took.
//!
//! Guarantees: it is written last. Refuses another `schema_version`, and numbers that refer to nothing.

use crate::Unreadable;
use crate::actions::Action;
use crate::note::{self, Kind};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of its shape.
pub const WHAT_IF_VERSION: u32 = 1;

/// Its file.
pub const WHAT_IF_FILE: &str = "what-if.json";

/// Actions that are asked about together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its name, for people.
    pub name: String,
    /// What it is: frame, label, pass, pipeline, draw, or rest (small ones together).
    pub level: String,
    /// Rows of the actions.
    pub actions: Vec<usize>,
    /// The part that all of them are in as well, the smallest; none for the whole frame.
    #[serde(default)]
    pub within: Option<usize>,
    /// Their own time in a frame that was timed command by command, in nanoseconds; none where nothing was.
    #[serde(default)]
    pub own: Option<u64>,
}

/// A question to the device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experiment {
    /// The plan that changes the replay.
    pub plan: String,
    /// The run that it is in: the folder's name.
    pub run: String,
    /// The part that is changed.
    pub part: usize,
    /// What is changed, as the experiment is called.
    pub change: String,
    /// What it asks: `cost` for what leaves the part out, else what may bind it.
    pub asks: String,
}

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIf {
    /// [`WHAT_IF_VERSION`].
    pub schema_version: u32,
    /// The capture's file name.
    pub capture: String,
    /// The frame.
    pub frame: u64,
    /// What its parts are: label, pass, pipeline, draw.
    pub by: String,
    /// The plan that all others are held against.
    pub base: String,
    /// Everything the frame does.
    pub actions: Vec<Action>,
    /// Parts; the first is the whole frame.
    pub parts: Vec<Part>,
    /// What was asked.
    pub experiments: Vec<Experiment>,
    /// What is to be said.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl WhatIf {
    /// As JSON.
    pub fn render(&self) -> String {
        note::render(self)
    }

    /// Reads one; `path` is for messages.
    pub fn parse(json: &[u8], path: &Path) -> Result<WhatIf, Unreadable> {
        let kind = Kind {
            version: WHAT_IF_VERSION,
            most: 256 << 20,
            who: "a frame's experiments",
            wrong: "is no file that what-if wrote",
            what: "it",
        };
        let read: WhatIf = note::parse(json, path, &kind)?;
        let bad = |why: &str| Err(Unreadable(format!("{}: {why}", path.display())));
        if read.parts.iter().flat_map(|p| &p.actions).any(|a| *a >= read.actions.len()) {
            return bad("a part has an action that is not there");
        }
        if read.parts.iter().enumerate().any(|(n, p)| p.within.is_some_and(|of| of >= n)) {
            return bad("a part is within one that does not come before it");
        }
        if read.experiments.iter().any(|e| e.part >= read.parts.len()) {
            return bad("an experiment is of a part that is not there");
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_numbers_refer_to_something() {
        let part = |actions: Vec<usize>| Part { name: "p".into(), actions, ..Part::default() };
        let whole = WhatIf {
            schema_version: WHAT_IF_VERSION,
            actions: vec![Action { block: 7, ..Action::default() }],
            parts: vec![part(vec![0])],
            experiments: vec![Experiment { plan: "a".into(), ..Experiment::default() }],
            ..WhatIf::default()
        };
        let read = |w: &WhatIf| WhatIf::parse(w.render().as_bytes(), Path::new("x"));
        assert_eq!(read(&whole), Ok(whole.clone()));
        let told = |w: WhatIf| read(&w).expect_err("refused").0;
        assert_eq!(
            told(WhatIf { parts: vec![part(vec![1])], ..whole.clone() }),
            "x: a part has an action that is not there"
        );
        let experiments = vec![Experiment { part: 1, ..Experiment::default() }];
        assert_eq!(
            told(WhatIf { experiments, ..whole.clone() }),
            "x: an experiment is of a part that is not there"
        );
        assert!(told(WhatIf { schema_version: 2, ..whole }).contains("schema_version 2"));
    }
}
