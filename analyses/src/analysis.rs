//! What a question is: it says which tables it wants, and makes a report of them; and what is known of a run beside its records.
//!
//! Guarantees: the same records give the same report. Names no question; the list of them is at the top of the crate.

use crate::explain::Sheet;
use crate::rays::events;
use crate::report::{Cost, Report};
use trace::{Source, Table, Unreadable};

/// A question to what instrumented shaders recorded: the tables of a trace.
pub trait Question: Sync {
    /// Its name on the command line, and in its report.
    fn name(&self) -> &'static str;

    /// What it answers, in a line.
    fn about(&self) -> &'static str;

    /// The tables without which there is no answer. Those of `trace::tables` that say what was instrumented are always
    /// there.
    fn wants(&self) -> &'static [&'static Table];

    /// Its tables, then its series: what a row is, and the columns with their units and meanings.
    fn sheets(&self) -> &'static [Sheet];

    /// What it wants of [`events::read`], if it reads events: of several questions, all is read at once.
    fn events(&self) -> Option<events::Wants> {
        None
    }

    /// The answer.
    fn answer(&self, trace: &dyn Source) -> Result<Report, Unreadable>;
}

/// Questions that belong together.
#[derive(Clone, Copy)]
pub struct Group {
    /// Its name, which is also its folder's.
    pub name: &'static str,
    /// What it asks about, in a line.
    pub about: &'static str,
    /// What is in it.
    pub questions: &'static [&'static dyn Question],
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
    pub(crate) const fn all<const N: usize>(groups: &'static [Group]) -> [&'static dyn Question; N] {
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
    /// What measuring the records cost.
    pub cost: Cost,
}
