//! What an analysis and a question are: they say which records they want, and make a report of them.
//!
//! Guarantees: the same records give the same report. Names no analysis; the lists of them are at the top of the crate.

use crate::events;
use crate::report::{Cost, Report};
use trace::{Batch, RecordKinds, Source, Table, Unreadable};

/// A question to a trace.
pub trait Analysis: Sync {
    /// Its name on the command line, and in its report.
    fn name(&self) -> &'static str;

    /// The records that answer it. A run has to measure these.
    fn wants(&self) -> RecordKinds;

    /// Begins to fold the records of one run.
    fn start(&self, run: &Run) -> Box<dyn Fold>;
}

/// A question to what instrumented shaders recorded: the tables of a trace.
pub trait Question: Sync {
    /// Its name on the command line, and in its report.
    fn name(&self) -> &'static str;

    /// What it answers, in a line.
    fn about(&self) -> &'static str;

    /// The tables without which there is no answer. Those of `trace::tables` that say what was instrumented are always
    /// there.
    fn wants(&self) -> &'static [&'static Table];

    /// What it wants of [`events::read`], if it reads events: of several questions, all is read at once.
    fn events(&self) -> Option<events::Wants> {
        None
    }

    /// The answer.
    fn answer(&self, trace: &dyn Source) -> Result<Report, Unreadable>;
}

/// An analysis in the middle of its records.
pub trait Fold {
    /// Takes the next batch. Kinds that the analysis does not want are passed over.
    fn fold(&mut self, batch: Batch<'_>);

    /// The report on everything folded.
    fn finish(self: Box<Self>) -> Report;
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
