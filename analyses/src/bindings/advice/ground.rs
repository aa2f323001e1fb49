//! What recommendations are made from, and what one says.
//!
//! Guarantees: blocks are named in the same words in every recommendation. Recommends nothing itself.

use crate::bindings::descriptors::Answer;
use crate::bindings::resources::Model;
use crate::bindings::uniforms::members::Members;
use crate::bindings::uniforms::places::Places;

/// A recommendation.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What to do.
    pub what: &'static str,
    /// To what.
    pub to: String,
    /// Why.
    pub evidence: String,
    /// Bytes in a frame that need not be written, or not be read over a bus.
    pub bytes: Option<f64>,
    /// Descriptors in a frame that need not be written.
    pub descriptors: Option<f64>,
    /// Sets (or calls) in a frame that need not be bound.
    pub binds: Option<f64>,
    /// Limits that it keeps, and what it would want beside.
    pub limits: String,
}

/// What recommendations are made from.
pub struct Ground<'a> {
    pub(super) model: &'a Model,
    pub(super) bindings: &'a Answer,
    pub(super) members: &'a Members,
    pub(super) places: &'a Places,
    /// Layouts of equal blocks: the same members in the same groups.
    pub(super) blocks: Vec<Vec<usize>>,
    pub(super) frames: f64,
}

impl Ground<'_> {
    /// `pipeline 17 "sky" and 2 more`
    pub(super) fn pipelines(&self, layouts: &[usize]) -> String {
        let first = &self.members.layouts[layouts[0]];
        let words = self.model.pipelines[first.pipeline as usize].words();
        match layouts.len() {
            1 => words,
            n => format!("{words} and {} more", n - 1),
        }
    }

    /// `block lights (0.3) of pipeline 17`
    pub(super) fn block(&self, layouts: &[usize]) -> String {
        let l = &self.members.layouts[layouts[0]];
        if l.push {
            return format!("push constants of {}", self.pipelines(layouts));
        }
        let p = &self.model.pipelines[l.pipeline as usize];
        let name = p.slot(l.set, l.binding).map_or("", |s| &p.slots[s].name);
        let blank = if name.is_empty() { "" } else { " " };
        format!("block {name}{blank}({}.{}) of {}", l.set, l.binding, self.pipelines(layouts))
    }

    /// Places in a frame, over these layouts. (Layouts that read the same place count once each: the least is the largest of them.)
    pub(super) fn places(&self, layouts: &[usize]) -> f64 {
        let most = layouts.iter().map(|l| self.places.places_of[*l]).max().unwrap_or(0);
        most as f64 / self.frames
    }
}
