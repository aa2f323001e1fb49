//! Recommendations on blocks and their members.

use super::ground::{Advice, Ground};
use super::slots::Pairs;
use crate::bindings::resources::Slot;
use crate::bindings::uniforms::members::{Layout, Measured, Rate};
use std::collections::{BTreeMap, BTreeSet};

/// What Vulkan guarantees of maxPushConstantsSize, of maxInlineUniformBlockSize, and of inline blocks for a stage.
const LEAST_PUSH: u64 = 128;
const LEAST_INLINE: u64 = 256;
const LEAST_INLINE_BLOCKS: usize = 4;

/// A member that is longer is no handful of constants.
const LONGEST_CONSTANT: u64 = 64;

/// What is told of a block that several pipelines declare.
struct Block<'g> {
    used: Vec<&'g Measured>,
    executions: u64,
    pairs: u64,
    changes: u64,
}

impl<'g> Ground<'g> {
    fn measured(&'g self, layouts: &'g [usize]) -> Block<'g> {
        let of = |l: &usize| &self.members.layouts[*l];
        let used: Vec<&Measured> = layouts
            .iter()
            .flat_map(|l| of(l).members.iter().map(|m| &self.members.all[*m]))
            .filter(|m| m.used)
            .collect();
        let first = |f: fn(&Measured) -> u64| {
            let of_layout = |l: &usize| of(l).members.iter().map(|m| f(&self.members.all[*m])).max();
            layouts.iter().filter_map(of_layout).sum::<u64>()
        };
        Block {
            used,
            executions: first(|m| m.executions),
            pairs: first(|m| m.pairs),
            changes: first(|m| if m.used { m.changes } else { 0 }),
        }
    }

    fn name(&self, m: &Measured) -> String {
        self.model.pipelines[m.pipeline as usize].members[m.member].name.to_string()
    }

    fn slots(&self, layouts: &[usize]) -> Vec<&Slot> {
        let of = |l: &usize| {
            let l = &self.members.layouts[*l];
            let p = &self.model.pipelines[l.pipeline as usize];
            p.slot(l.set, l.binding).map(|s| &p.slots[s])
        };
        layouts.iter().filter_map(of).collect()
    }

    /// Whether shaders of all pipelines that declare it could be read.
    fn readable(&self, layouts: &[usize]) -> bool {
        layouts.iter().all(|l| !self.model.pipelines[self.members.layouts[*l].pipeline as usize].unreadable)
    }
}

impl Block<'_> {
    /// Whether what shaders read of it was known whenever it was there.
    fn known(&self) -> bool {
        !self.used.is_empty() && self.executions > 1 && self.used.iter().all(|m| m.unknown == 0)
    }

    /// Changes in half of the pairs or more.
    fn often(&self) -> bool {
        self.pairs > 0 && 2 * self.changes >= self.pairs
    }
}

fn listed(names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<String> = names.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    match names.len() {
        n if n > 6 => format!("{} and {} more", names[..6].join(", "), n - 6),
        _ => names.join(", "),
    }
}

/// With the layouts that it is said of.
pub(super) fn push_constants(g: &Ground<'_>, pairs: &Pairs) -> (Vec<Advice>, BTreeSet<usize>) {
    let (mut all, mut said) = (vec![], BTreeSet::new());
    for layouts in &g.blocks {
        let block = g.measured(layouts);
        let layout = |l: &usize| &g.members.layouts[*l];
        let fits = |l: &usize| {
            let p = &g.model.pipelines[layout(l).pipeline as usize];
            let limit = if p.max_push_bytes == 0 { LEAST_PUSH } else { p.max_push_bytes };
            p.push_bytes.next_multiple_of(16) + layout(l).used_bytes() <= limit
        };
        let slots = g.slots(layouts);
        let plain = slots.len() == layouts.len()
            && slots.iter().all(|s| s.count == 1 && s.kind.starts_with("uniform buffer") && !s.flags.push);
        let may = plain && g.readable(layouts) && block.known() && block.often() && layouts.iter().all(fits);
        if !may {
            continue;
        }
        let first = layout(&layouts[0]);
        let alone: u64 = layouts.iter().map(|l| pairs.alone(g.model, layout(l))).sum();
        let places = g.places(layouts);
        let limit = g.model.pipelines[first.pipeline as usize].max_push_bytes;
        all.push(Advice {
            what: "push constants",
            to: g.block(layouts),
            evidence: format!(
                "{} bytes are used, and change in {} of {} pairs of consecutive draws; in {alone} the set changes for this slot alone",
                first.used_bytes(),
                block.changes,
                block.pairs
            ),
            bytes: Some(places * (first.bytes - first.used_bytes().min(first.bytes)) as f64),
            descriptors: Some(places),
            binds: Some(alone as f64 / g.frames),
            limits: match limit {
                0 => format!("maxPushConstantsSize: {LEAST_PUSH}, which every device has"),
                n => format!("maxPushConstantsSize: {n}"),
            },
        });
        said.extend(layouts);
    }
    (all, said)
}

pub(super) fn inline(g: &Ground<'_>, pushed: &BTreeSet<usize>) -> Vec<Advice> {
    let mut all: Vec<(u64, Vec<usize>, Advice)> = vec![];
    for layouts in &g.blocks {
        let block = g.measured(layouts);
        let slots = g.slots(layouts);
        let first = &g.members.layouts[layouts[0]];
        let plain = slots.len() == layouts.len()
            && slots.iter().all(|s| s.count == 1 && &*s.kind == "uniform buffer" && !s.flags.push);
        let small = first.bytes <= LEAST_INLINE && first.bytes > 0;
        let said = layouts.iter().any(|l| pushed.contains(l));
        if !plain || !small || said || block.often() || !block.known() || !g.readable(layouts) {
            continue;
        }
        let advice = Advice {
            what: "inline uniform block",
            to: g.block(layouts),
            evidence: format!(
                "{} bytes, changed in {} of {} pairs of consecutive draws, in {} draws: each reads them through a buffer",
                first.bytes, block.changes, block.pairs, block.executions
            ),
            bytes: None,
            descriptors: Some(g.places(layouts)),
            binds: None,
            limits: format!(
                "maxInlineUniformBlockSize {LEAST_INLINE}, {LEAST_INLINE_BLOCKS} for a stage, which every device with the feature has"
            ),
        };
        all.push((block.executions, layouts.clone(), advice));
    }
    // (of a pipeline, those that are read most)
    all.sort_by_key(|a| std::cmp::Reverse(a.0));
    let mut room: BTreeMap<u32, usize> = BTreeMap::new();
    let inline = |p: u32| g.model.pipelines[p as usize].slots.iter().filter(|s| s.inline()).count();
    all.retain(|(_, layouts, _)| {
        let pipelines: Vec<u32> = layouts.iter().map(|l| g.members.layouts[*l].pipeline).collect();
        let full =
            |p: &u32| *room.entry(*p).or_insert_with(|| LEAST_INLINE_BLOCKS.saturating_sub(inline(*p))) == 0;
        if pipelines.iter().any(full) {
            return false;
        }
        pipelines.iter().for_each(|p| *room.entry(*p).or_default() -= 1);
        true
    });
    all.into_iter().map(|a| a.2).collect()
}

pub(super) fn constants(g: &Ground<'_>) -> Vec<Advice> {
    let mut all = vec![];
    for layouts in &g.blocks {
        if !g.readable(layouts) {
            continue;
        }
        let block = g.measured(layouts);
        let constant = |m: &&&Measured| {
            matches!(m.rate, Rate::Capture | Rate::Pipeline)
                && m.executions > 1
                && m.bytes <= LONGEST_CONSTANT
                && m.values.len() == 1
        };
        let of: Vec<&Measured> = block.used.iter().filter(constant).copied().collect();
        if of.is_empty() {
            continue;
        }
        // (bytes go where no pipeline needs the member any more)
        let everywhere =
            |m: &&&Measured| block.used.iter().filter(|o| o.group == m.group).all(|o| constant(&o));
        let groups: BTreeMap<u32, u64> = of.iter().filter(everywhere).map(|m| (m.group, m.bytes)).collect();
        let value = |m: &&Measured| {
            let lanes = &g.members.lanes[position(g, m)];
            let value = lanes.printer().words(&g.model.words, m.values[0].0).unwrap_or_default();
            format!("{} = {value}", g.name(m))
        };
        let frames = of.iter().map(|m| m.frames).max().unwrap_or(0);
        let least = of.iter().map(|m| m.executions).min().unwrap_or(0);
        all.push(Advice {
            what: "specialization constants",
            to: g.block(layouts),
            evidence: format!(
                "one value in {least} executions or more, over {frames} frames: {}",
                listed(of.iter().map(value))
            ),
            bytes: Some(g.places(layouts) * groups.values().sum::<u64>() as f64),
            descriptors: None,
            binds: None,
            limits: "constants of SPIR-V are scalars; a value that changes later wants another pipeline"
                .into(),
        });
    }
    all
}

fn position(g: &Ground<'_>, m: &Measured) -> usize {
    let same = |o: &Measured| (o.pipeline, o.member) == (m.pipeline, m.member);
    g.members.all.iter().position(same).expect("it is one of them")
}

pub(super) fn zeros(g: &Ground<'_>) -> Vec<Advice> {
    let mut all = vec![];
    for layouts in &g.blocks {
        let block = g.measured(layouts);
        let often = |m: &&&Measured| {
            m.unknown == 0 && m.executions > 1 && 2 * m.zeros >= m.executions && m.zeros < m.executions
        };
        let of: Vec<&Measured> = block.used.iter().filter(often).copied().collect();
        if of.is_empty() || !g.readable(layouts) {
            continue;
        }
        let share =
            |m: &&Measured| format!("{} in {:.0} %", g.name(m), 100.0 * m.zeros as f64 / m.executions as f64);
        all.push(Advice {
            what: "zero specialization",
            to: g.block(layouts),
            evidence: format!("zero: {}", listed(of.iter().map(share))),
            bytes: None,
            descriptors: None,
            binds: None,
            limits: "a guarded path, or a second pipeline; pays where the zero removes work".into(),
        });
    }
    all
}

pub(super) fn split(g: &Ground<'_>) -> Vec<Advice> {
    let mut all = vec![];
    for layouts in g.blocks.iter().filter(|l| g.readable(l)) {
        let block = g.measured(layouts);
        let places = g.places(layouts);
        let layout: &Layout = &g.members.layouts[layouts[0]];
        if layout.push || !block.known() || places <= 1.0 {
            continue;
        }
        // (of a group the fastest counts)
        let mut rates: BTreeMap<u32, (Rate, u64)> = BTreeMap::new();
        for m in &block.used {
            let rate = rates.entry(m.group).or_insert((m.rate, m.bytes));
            rate.0 = rate.0.max(m.rate);
        }
        let sum = |of: fn(Rate) -> bool| rates.values().filter(|r| of(r.0)).map(|r| r.1).sum::<u64>();
        let slow = sum(|r| matches!(r, Rate::Capture | Rate::Pipeline | Rate::Frame));
        let fast = sum(|r| matches!(r, Rate::Invocation));
        if slow < 16 || fast == 0 {
            continue;
        }
        all.push(Advice {
            what: "split by update rate",
            to: g.block(layouts),
            evidence: format!(
                "{slow} bytes are constant over frames beside {fast} that change within passes, in {places:.1} places a frame"
            ),
            bytes: Some(slow as f64 * (places - 1.0)),
            descriptors: Some(-1.0),
            binds: None,
            limits: "a second block is a second descriptor".into(),
        });
    }
    all
}

pub(super) fn unused(g: &Ground<'_>) -> Vec<Advice> {
    let ran = g.model.used();
    // (a shader that cannot be read may read anything)
    if g.model.pipelines.iter().zip(&ran).any(|(p, ran)| p.unreadable && *ran) {
        return vec![];
    }
    let mut all = vec![];
    for layouts in &g.blocks {
        let first = &g.members.layouts[layouts[0]];
        let unused: BTreeMap<u32, &Measured> = layouts
            .iter()
            .flat_map(|l| g.members.layouts[*l].members.iter().map(|m| &g.members.all[*m]))
            .map(|m| (m.group, m))
            .collect();
        let read = |group: u32| {
            let of = |l: &usize| &g.members.layouts[*l].members;
            layouts.iter().flat_map(of).any(|m| g.members.all[*m].group == group && g.members.all[*m].used)
        };
        let of: Vec<&Measured> =
            unused.into_iter().filter(|(group, _)| !read(*group)).map(|(_, m)| m).collect();
        let bytes: u64 = of.iter().map(|m| m.bytes).sum();
        let buffers = g.places.readers.iter().filter(|b| layouts.iter().any(|l| b.1.contains(&(*l as u32))));
        let alone = |(buffer, readers): (&u64, &BTreeSet<u32>)| {
            let known = g.model.buffers.get(buffer);
            let other = |b: &crate::bindings::resources::Buffer| {
                // (anything else, and an address, lets other shaders read it)
                let plain = ["UNIFORM_BUFFER", "TRANSFER_DST", "TRANSFER_SRC"];
                b.usage.split_whitespace().any(|u| !plain.contains(&u))
            };
            readers.iter().all(|r| layouts.contains(&(*r as usize))) && known.is_some_and(|b| !other(b))
        };
        let (mut any, mut may) = (false, true);
        for b in buffers {
            any = true;
            may &= alone(b);
        }
        if bytes == 0 || !any || !may || first.push {
            continue;
        }
        all.push(Advice {
            what: "drop unused members",
            to: g.block(layouts),
            evidence: format!(
                "{bytes} of {} bytes are read by no shader: {}",
                first.bytes,
                listed(of.iter().map(|m| g.name(m)))
            ),
            bytes: Some(bytes as f64 * g.places(layouts)),
            descriptors: None,
            binds: None,
            limits: "offsets of what follows change, in every shader that declares the block".into(),
        });
    }
    all
}
