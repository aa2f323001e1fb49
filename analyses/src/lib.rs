//! From records to reports: pure functions over what a trace holds; no GPU, no driver.
//!
//! A [`Question`] says which tables it wants, and makes a [`report::Report`] of them. The same records give the same bytes
//! of report, on any machine, as often as one likes. Exporters ([`report::text`], [`report::json`]) know nothing of any question.
//!
//! One folder a question: definition, formula, units and caveats at the head of its file.
#![forbid(unsafe_code)]

pub mod advice;
mod analysis;
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
mod inactive;
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
mod sampled;
pub mod shader_clock;
pub mod simt;
pub mod stats;
pub mod stream;
pub mod sync;
pub mod timeline;
pub mod uniformity;
pub mod uniforms;
pub mod values;
pub mod verdict;
pub mod warp_order;
pub mod what_if;

pub use analysis::{Question, Run};

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

#[cfg(test)]
mod tests {
    use super::QUESTIONS;

    #[test]
    fn names_are_unique() {
        for (index, question) in QUESTIONS.iter().enumerate() {
            let position = QUESTIONS.iter().position(|other| other.name() == question.name());
            assert_eq!(position, Some(index), "{}", question.name());
        }
    }
}
