//! What each block of each instrumented shader did, over all frames and pipelines of the trace.
//!
//! Guarantees: a block that was instrumented and never executed is there, with 0 executions. Refuses records of blocks that are in
//! no table.

use crate::context::Context;
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::tables::SIMT;
use trace::{Source, Unreadable};

/// What a block did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// The block's label's id.
    pub(super) label: u64,
    pub(super) file: Arc<str>,
    pub(super) line: u64,
    /// Instructions of the block.
    pub(super) instructions: u64,
    pub(super) executions: u64,
    pub(super) invocations: u64,
    /// Σ N over the executions.
    pub(super) slots: u64,
    /// Popcount to executions.
    pub(super) histogram: BTreeMap<u64, u64>,
}

impl Done {
    pub(super) fn efficiency(&self) -> Option<f64> {
        (self.slots > 0).then(|| self.invocations as f64 / self.slots as f64 * 100.0)
    }

    /// What stands between `/*` and `*/`.
    pub(super) fn words(&self) -> String {
        if self.executions == 0 {
            return "executions=0".into();
        }
        let mut out = format!("executions={}", self.executions);
        if let Some(e) = self.efficiency() {
            out.push_str(&format!(" efficiency={e:.2}%"));
        }
        out.push_str(&format!(" histogram={}", self.bars()));
        out
    }

    pub(super) fn bars(&self) -> String {
        let bars = self.histogram.iter().rev().map(|(active, n)| match active {
            0 => format!("more:{n}"),
            active => format!("{active}:{n}"),
        });
        bars.collect::<Vec<_>>().join(",")
    }
}

/// Blocks of a module by their labels' word offsets.
pub type Blocks = BTreeMap<u64, Done>;

/// Every block of every instrumented shader.
pub(super) fn measured(
    trace: &dyn Source,
    context: &Context,
) -> Result<BTreeMap<Arc<str>, Blocks>, Unreadable> {
    let mut shaders: BTreeMap<Arc<str>, Blocks> = BTreeMap::new();
    for e in context.entries() {
        let blocks = shaders.entry(e.shader.clone()).or_default();
        for b in context.functions(e.entry).iter().flat_map(|f| &f.blocks).filter(|b| b.reached) {
            blocks.entry(b.word_offset).or_insert_with(|| Done {
                label: b.label,
                file: b.file.clone(),
                line: b.line,
                instructions: b.instructions,
                ..Done::default()
            });
        }
    }
    trace.each(&SIMT, &mut |t| {
        let (executions, invocations) = (t.u64("executions"), t.u64("invocations"));
        for row in 0..t.len() {
            let (entry, function, block) = (t.u64("entry")[row], t.u64("function")[row], t.u64("block")[row]);
            let place = context.entry(entry).zip(context.block(entry, function, block));
            let Some((e, b)) = place else {
                return Err(Unreadable(format!(
                    "table simt: entry {entry}, function {function}, block {block} is in no table; record the trace again"
                )));
            };
            let Some(done) = shaders.get_mut(&e.shader).and_then(|s| s.get_mut(&b.word_offset)) else { continue };
            done.executions += executions[row];
            done.invocations += invocations[row];
            done.slots += executions[row] * context.subgroup_size(t.u64("frame")[row]).unwrap_or(0);
            *done.histogram.entry(t.u64("active")[row]).or_default() += executions[row];
        }
        Ok(())
    })?;
    Ok(shaders)
}
