//! What a question is: it says which tables it wants, and makes a report of them; and what is known of a run beside its records.
//!
//! Guarantees: the same records give the same report. Names no question; the list of them is at the top of the crate.

use crate::rays::events::Wants;
use crate::report::sheet::Sheet;
use crate::report::{Cost, Report};
use crate::session::Session;
use trace::{Source, Table, Unreadable};

/// A question to what instrumented shaders recorded: the tables of a trace.
#[derive(Debug)]
pub struct Question {
    /// Its name on the command line, and in its report.
    pub name: &'static str,
    /// What it answers, in a line.
    pub about: &'static str,
    /// The tables without which there is no answer. Those of `trace::tables` that say what was instrumented are always
    /// there.
    pub wants: &'static [&'static Table],
    /// Its tables, then its series: what a row is, and the columns with their units and meanings.
    pub sheets: &'static [Sheet],
    /// What it wants to know of rays' events, if it reads them.
    pub events: Option<Wants>,
    /// See [`Question::ask`].
    pub(crate) answer: fn(&Session<'_>) -> Result<Report, Unreadable>,
}

impl Question {
    /// The answer, where others are asked, too.
    pub fn ask(&self, session: &Session<'_>) -> Result<Report, Unreadable> {
        (self.answer)(session)
    }

    /// The answer of it alone.
    pub fn answer(&self, trace: &dyn Source) -> Result<Report, Unreadable> {
        self.ask(&Session::new(trace, self.events))
    }
}

/// Questions that belong together.
#[derive(Clone, Copy)]
pub struct Group {
    /// Its name, which is also its folder's.
    pub name: &'static str,
    /// What it asks about, in a line.
    pub about: &'static str,
    /// What is in it.
    pub questions: &'static [&'static Question],
}

impl Group {
    /// How many questions there are in all of these.
    pub(crate) const fn number(groups: &[Group]) -> usize {
        let (mut number, mut g) = (0, 0);
        while g < groups.len() {
            number += groups[g].questions.len();
            g += 1;
        }
        number
    }

    /// All of them, one after the other; `N` is [`Group::number`]. (A slice can be indexed, and picked from, where an iterator cannot.)
    pub(crate) const fn all<const N: usize>(groups: &'static [Group]) -> [&'static Question; N] {
        let mut all = [groups[0].questions[0]; N];
        let (mut n, mut g) = (0, 0);
        while g < groups.len() {
            let mut q = 0;
            while q < groups[g].questions.len() {
                all[n] = groups[g].questions[q];
                (n, q) = (n + 1, q + 1);
            }
            g += 1;
        }
        all
    }
}

/// What is known of a run beside its records.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The frame that carries the program's start: whatever the capture created before its first present, and
    /// shaders that a driver compiles at first use. `None` when the records hold no such frame.
    pub load_frame: Option<u64>,
    /// The first frame that was executed, where it is known.
    pub first_frame: Option<u64>,
    /// What measuring the records cost.
    pub cost: Cost,
}
