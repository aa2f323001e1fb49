//! Sums over executions of basic blocks by what they lie in: all of them, a frame, a stage, a pipeline, an entry point, a block.
//!
//! Guarantees: what is added counts once in each scope. Blocks come with what lost most first. Refuses nothing: entries that are not known are of stage `?`
//! and pipeline 0.

use crate::context::Context;
use crate::report::sheet::Sheet;
use crate::report::{Cell, Table, most, share};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Entry, function, block.
pub type Block = (u64, u64, u64);

/// See the module's header.
#[derive(Default)]
pub struct Scopes<S> {
    /// All of them.
    pub whole: S,
    frames: BTreeMap<u64, S>,
    stages: BTreeMap<String, S>,
    pipelines: BTreeMap<u64, S>,
    entries: BTreeMap<u64, S>,
    blocks: BTreeMap<Block, S>,
}

/// The tables of scopes below the whole: their sheets, in this order.
pub struct Sheets {
    pub stages: Sheet,
    pub pipelines: Sheet,
    pub shaders: Sheet,
    pub frames: Sheet,
    pub blocks: Sheet,
}

impl<S: Default> Scopes<S> {
    /// Adds to every scope that executions of a block in a frame are in.
    pub fn add(&mut self, context: &Context, frame: u64, block: Block, add: impl Fn(&mut S)) {
        let known = context.entry(block.0);
        let stage = known.map_or("?", |e| &*e.stage);
        add(&mut self.whole);
        add(self.frames.entry(frame).or_default());
        match self.stages.get_mut(stage) {
            Some(sum) => add(sum),
            None => add(self.stages.entry(stage.to_owned()).or_default()),
        }
        add(self.pipelines.entry(known.map_or(0, |e| e.pipeline)).or_default());
        add(self.entries.entry(block.0).or_default());
        add(self.blocks.entry(block).or_default());
    }

    /// A table of each scope but the whole: what a row is of, and the cells of its sum.
    pub fn tables(
        &self,
        context: &Context,
        of: &Sheets,
        cells: impl Fn(&S) -> Vec<Cell>,
        lost: impl Fn(&S) -> u128,
    ) -> Vec<Table> {
        let row = |head: Vec<Cell>, sum: &S| head.into_iter().chain(cells(sum)).collect::<Vec<_>>();
        let mut blocks: Vec<_> = self.blocks.iter().collect();
        blocks.sort_by_key(|(block, sum)| (Reverse(lost(sum)), **block));
        let pipeline = |id: u64| vec![context.pipeline_words(id).into()];
        let block = |(e, f, b): Block| context.block_cells(e, f, b);
        vec![
            of.stages.table(self.stages.iter().map(|(k, s)| row(vec![k.as_str().into()], s))),
            of.pipelines.table(self.pipelines.iter().map(|(k, s)| row(pipeline(*k), s))),
            of.shaders.table(self.entries.iter().map(|(k, s)| row(context.entry_cells(*k), s))),
            of.frames.table(self.frames.iter().map(|(k, s)| row(vec![Cell::Count(*k)], s))),
            of.blocks.table(blocks.into_iter().map(|(k, s)| row(block(*k), s))),
        ]
    }

    /// Which entry point has most of the inactive slots, how many these are of its own, and which of its blocks has most. `of`: slots that
    /// were inactive, and all.
    pub fn headline(&self, context: &Context, of: impl Fn(&S) -> [u128; 2]) -> Option<String> {
        let Scopes { entries, blocks, .. } = self;
        let all: u128 = entries.values().map(|s| of(s)[0]).sum();
        let (&entry, sums) = most(entries, |e| of(e.1)[0])?;
        let [inactive, slots] = of(sums);
        let block = most(blocks.iter().filter(|b| b.0.0 == entry), |b| of(b.1)[0]);
        let block = block.map_or_else(String::new, |(&(entry, function, block), sums)| {
            format!(
                "; {} of all inactive ones in {}",
                share(of(sums)[0], all),
                context.block_words(entry, function, block)
            )
        });
        let whose = context.whose_words(entry);
        let (part, own) = (share(inactive, all), share(inactive, slots));
        Some(format!("{part} of the inactive ones are in {whose}, of whose own {own} are inactive{block}."))
    }
}
