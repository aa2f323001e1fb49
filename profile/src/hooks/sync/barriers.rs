//! Barriers, events and the dependencies of render passes.

use super::Synchronisation;
use super::accesses::Running;
use super::rows::{BarrierRow, Part, of_image};
use world::commands::Barrier;
use world::passes::RenderPass;
use world::{At, World};

/// What lies outside of a render pass.
const EXTERNAL: u32 = u32::MAX;

impl Synchronisation {
    /// `events`: those that are waited for, if it is that.
    pub(super) fn barrier(&mut self, world: &World, at: &At, events: Option<&[u64]>, all: &[Barrier]) {
        self.rows.next(at.queue);
        let kind = if events.is_some() { "event" } else { "barrier" };
        // (one barrier for each event, or one for all)
        let set = |n: usize| match events {
            None => None,
            Some(e) if all.len() == e.len() => Some(self.events.get(&e[n]).copied().unwrap_or(0)),
            Some(e) => Some(e.iter().map(|e| self.events.get(e).copied().unwrap_or(0)).min().unwrap_or(0)),
        };
        let set: Vec<Option<u64>> = (0..all.len()).map(set).collect();
        let label = self.labels.last().cloned().unwrap_or_default();
        let mut part = 0;
        let mut put = |since, scopes, of, layouts, families: [u32; 2]| {
            let transfer = families[0] != families[1];
            let row = BarrierRow { part, kind, scopes, of, layouts, transfer, since, changes: false };
            self.rows.barrier(world, at, &label, &row);
            part += 1;
        };
        for (b, since) in all.iter().zip(set) {
            for m in &b.memory {
                put(since, *m, Part { last: u64::MAX, ..Part::default() }, [0; 2], [0; 2]);
            }
            for m in &b.buffers {
                let size = world.range_of(m.buffer, m.offset, m.size).max(1);
                let last = m.offset.saturating_add(size - 1);
                let of = Part { object: m.buffer, first: m.offset, last, aspects: 0 };
                put(since, m.scopes, of, [0; 2], m.families);
            }
            for m in &b.images {
                let of = of_image(world, m.image, &m.range);
                put(since, m.scopes, of, [m.old_layout, m.new_layout], m.families);
            }
        }
    }

    /// Those from one subpass to another; `None` is outside.
    pub(super) fn dependencies(
        &mut self,
        world: &World,
        at: &At,
        pass: &Running,
        from: Option<u32>,
        to: Option<u32>,
    ) {
        let Some(made_of) = pass.made_of.clone() else { return };
        self.rows.next(at.queue);
        let changes = changes(&made_of);
        let label = self.labels.last().cloned().unwrap_or_default();
        for (n, d) in made_of.dependencies.iter().enumerate() {
            // (into a subpass from any before it; out of the pass from any)
            let now = match to {
                Some(to) => d.dst == to && d.src != d.dst && (d.src == EXTERNAL || d.src < to),
                None => d.dst == EXTERNAL && from.is_some(),
            };
            if now {
                let of = Part { last: u64::MAX, ..Part::default() };
                let row = BarrierRow {
                    part: n as u64,
                    kind: "subpass",
                    scopes: d.scopes,
                    of,
                    layouts: [0; 2],
                    transfer: false,
                    since: None,
                    changes,
                };
                self.rows.barrier(world, at, &label, &row);
            }
        }
    }
}

/// Whether an attachment has several layouts in the pass.
fn changes(pass: &RenderPass) -> bool {
    let references = pass.subpasses.iter().flat_map(|s| {
        let one = s.depth.iter().chain(&s.depth_resolve).chain(&s.rate);
        s.inputs.iter().chain(&s.colours).chain(&s.resolves).chain(one)
    });
    let other = |&(n, layout): &(u32, u32)| {
        pass.attachments.get(n as usize).is_none_or(|a| [a.initial_layout, a.final_layout] != [layout; 2])
    };
    let unused = pass.attachments.iter().any(|a| a.initial_layout != a.final_layout);
    unused || references.into_iter().any(other)
}
