//! From records to reports: pure functions over what a trace holds; no GPU, no driver.
//!
//! An [`Analysis`] says which records it wants; a run measures those; the analysis folds them, batch by batch,
//! into a [`Report`]. The same records give the same bytes of report, on any machine, as often
//! as one likes. Exporters ([`report::text`], [`report::json`]) know nothing of any analysis.
//!
//! One folder an analysis: definition, formula, units and caveats at the head of its file.
#![forbid(unsafe_code)]

pub mod advice;
pub mod annotate;
pub mod bench;
pub mod bindings;
pub mod blocks;
pub mod boxes;
pub mod call_costs;
pub mod command_times;
pub mod context;
pub mod counters;
pub mod divergence;
pub mod events;
pub mod explain;
pub mod frame_times;
pub mod hotspots;
pub mod its;
pub mod lifetimes;
mod limits;
pub mod loop_times;
pub mod paths;
pub mod ray_counts;
pub mod ray_dump;
pub mod ray_maps;
pub mod ray_simt;
pub mod rays;
pub mod registers;
pub mod reorder;
pub mod repack;
pub mod replayer;
pub mod report;
pub mod resources;
pub mod run_times;
pub mod shader_clock;
pub mod simt;
pub mod stream;
pub mod sync;
pub mod timeline;
pub mod uniformity;
pub mod uniforms;
pub mod values;
pub mod verdict;
pub mod warp_order;

use report::{Cost, Report};
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

/// Every question there is.
pub static QUESTIONS: &[&dyn Question] = &[
    &simt::Simt,
    &divergence::Divergence,
    &its::Its,
    &paths::Paths,
    &paths::RayPaths,
    &lifetimes::Lifetimes,
    &blocks::Blocks,
    &hotspots::Hotspots,
    &counters::Counters,
    &registers::Registers,
    &uniformity::Uniformity,
    &values::Values,
    &annotate::Annotate,
    &timeline::Timeline,
    &ray_counts::RayCounts,
    &rays::Rays,
    &ray_simt::RaySimt,
    &shader_clock::ShaderClock,
    &warp_order::WarpOrder,
    &ray_maps::RayMaps,
    &boxes::UnnecessaryTests,
    &repack::Repack,
    &reorder::Reorder,
    &bindings::Bindings,
    &uniforms::Uniforms,
    &advice::Advise,
    &call_costs::CallCosts,
    &sync::Sync,
];

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

/// Every analysis there is.
pub static ANALYSES: &[&dyn Analysis] = &[&frame_times::FrameTimes, &command_times::CommandTimes];

/// The analysis of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Analysis> {
    ANALYSES.iter().copied().find(|analysis| analysis.name() == name)
}

#[cfg(test)]
mod tests {
    use super::{ANALYSES, by_name};

    #[test]
    fn names_are_found_and_are_unique() {
        for (index, analysis) in ANALYSES.iter().enumerate() {
            let position = ANALYSES.iter().position(|other| other.name() == analysis.name());
            assert_eq!(position, Some(index), "{}", analysis.name());
            assert!(by_name(analysis.name()).is_some());
        }
        assert!(by_name("nothing").is_none());
    }
}
