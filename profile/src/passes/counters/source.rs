//! Where counters of actions come from, and the records that they become: the same whoever counts.

use super::classes::CLASSES;
use crate::Stage;
use crate::pass::{EntryData, FrameData};
use crate::rewrite::{Facts, Site};
use trace::tables::NOWHERE;
use trace::{Table, Value};

/// [`Site::kind`] where the whole frame is counted.
pub(super) const BY_FRAME: u32 = 1;

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its description.
    pub about: String,
}

/// What one block of one action came to: VkShaderInstrumentationMetricDataHeaderARM and its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// Which action of the range.
    pub result_index: u32,
    /// The shader group, where rays are traced.
    pub result_sub_index: u32,
    /// VkShaderStageFlags.
    pub stages: u32,
    /// The block.
    pub basic_block_index: u32,
    /// The entry point in the trace, where it is known.
    pub entry: Option<u32>,
    /// A number for each metric.
    pub counters: Vec<u64>,
}

/// Somebody who counts.
pub trait CounterSource {
    /// Why it cannot say.
    type Error;

    /// Its name in table `metrics`.
    fn name(&self) -> &'static str;

    /// What it counts, in the order of [`Results::counters`].
    fn metrics(&self) -> Vec<Metric>;

    /// What the actions of a range (a recording of a command buffer) left in the running frame.
    fn results(&self, range: u64) -> Result<Vec<Results>, Self::Error>;
}

/// Takes records.
pub type Put<'p> = &'p mut dyn FnMut(&'static Table, &[Value<'_>]);

/// Writes the metrics of a source.
pub fn write_metrics(source: &impl CounterSource, out: Put<'_>) {
    for (n, m) in source.metrics().iter().enumerate() {
        out(
            &trace::tables::METRICS,
            &[Value::U64(n as u64), Value::Text(&m.name), Value::Text(&m.about), Value::Text(source.name())],
        );
    }
}

/// Writes what a range left, in the order in which the extension gives it: by result index, stages, sub index, block.
pub fn write_results<S: CounterSource>(
    source: &S,
    frame: u64,
    range: u64,
    out: Put<'_>,
) -> Result<(), S::Error> {
    let mut all = source.results(range)?;
    all.sort_by_key(|r| (r.result_index, r.stages, r.result_sub_index, r.entry, r.basic_block_index));
    for r in &all {
        for (metric, &value) in r.counters.iter().enumerate() {
            let row = [
                r.result_index.into(),
                r.result_sub_index.into(),
                r.stages.into(),
                r.basic_block_index.into(),
                metric as u64,
                value,
                frame,
                range,
                r.entry.map_or(0, |e| u64::from(e) + 1),
            ];
            out(&trace::tables::COUNTERS, &row.map(Value::U64));
        }
    }
    Ok(())
}

/// Counting with shaders of our own: what they left in a frame.
pub struct Portable<'f>(pub &'f FrameData<'f>);

impl CounterSource for Portable<'_> {
    type Error = std::convert::Infallible;

    fn name(&self) -> &'static str {
        "portable"
    }

    fn metrics(&self) -> Vec<Metric> {
        let of = |m: &(&str, &str)| Metric { name: m.0.to_owned(), about: m.1.to_owned() };
        CLASSES.iter().map(of).collect()
    }

    fn results(&self, range: u64) -> Result<Vec<Results>, Self::Error> {
        if range == NOWHERE {
            return Ok(self.by_frame());
        }
        let mut all = Vec::new();
        for a in self.0.actions.iter().filter(|a| a.range == range) {
            let e = &self.0.entries[a.entry];
            for site in &e.region.sites {
                let place = (a.result_index, a.result_sub_index);
                all.push(results(e, site, place, a.counters));
            }
        }
        Ok(all)
    }
}

impl Portable<'_> {
    /// What entry points left that do not know their actions.
    fn by_frame(&self) -> Vec<Results> {
        let of = |e: &&EntryData<'_>| e.region.sites.first().is_some_and(|s| s.kind == BY_FRAME);
        let entries = self.0.entries.iter().filter(of);
        entries
            .flat_map(|e| e.region.sites.iter().map(|s| results(e, s, (u32::MAX, u32::MAX), &e.counters)))
            .collect()
    }
}

/// One block's, from the counters that hold it.
fn results(e: &EntryData<'_>, site: &Site, (index, sub_index): (u32, u32), counters: &[u64]) -> Results {
    let executions = counters[site.counter.expect("each has one") as usize];
    Results {
        result_index: index,
        result_sub_index: sub_index,
        stages: stage_bit(e.variant.stage),
        basic_block_index: basic_block_index(&e.variant.facts, site.function, site.block),
        entry: Some(e.entry),
        counters: site.data[..6].iter().map(|n| executions * u64::from(*n)).collect(),
    }
}

/// A block's number among all of its entry point's.
fn basic_block_index(facts: &Facts, function: u32, block: u32) -> u32 {
    let before: usize = facts.functions[..function as usize].iter().map(|f| f.blocks.len()).sum();
    before as u32 + block
}

/// VkShaderStageFlagBits.
fn stage_bit(stage: Stage) -> u32 {
    match stage {
        Stage::Vertex => 0x1,
        Stage::TessellationControl => 0x2,
        Stage::TessellationEvaluation => 0x4,
        Stage::Geometry => 0x8,
        Stage::Fragment => 0x10,
        Stage::Compute => 0x20,
        Stage::Task => 0x40,
        Stage::Mesh => 0x80,
        Stage::RayGeneration => 0x100,
        Stage::AnyHit => 0x200,
        Stage::ClosestHit => 0x400,
        Stage::Miss => 0x800,
        Stage::Intersection => 0x1000,
        Stage::Callable => 0x2000,
    }
}
