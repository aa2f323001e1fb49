//! Observes what the device runs before a range: what of it has to run again, and what shaders write.
//!
//! Guarantees: shaders write what they say ([`Programs`]), or all that they could where that cannot be read. Refuses nothing.

use super::before::Before;
use super::residue::{Build, Input, Run, unknown};
use gfxr_parse::image::Image;
use gfxr_parse::view::View;
use profile::hooks::resources::Programs;
use std::rc::Rc;
use world::commands::Command;
use world::{At, Invocation, Observer, Queried, Query, Submission, World};

/// Observes what comes before a range; what shaders write there is what they say.
pub struct Seen<'a>(pub &'a mut Before, pub &'a mut Programs);

impl Observer for Seen<'_> {
    fn submission(&mut self, _: &World, _: &Submission) {}

    fn invocation(&mut self, _: &World, _: &At, _: &Invocation<'_>) {}

    fn invoked(&mut self, world: &mut World, at: &At, i: &Invocation<'_>) {
        let facts = self.1.facts(i.invoke);
        world.wrote(i.invoke, &facts.written, at.block);
    }

    fn command(&mut self, world: &World, at: &At, command: &Command) {
        match command {
            Command::SetEvent { event, .. } => {
                let of = self.0.number(*event);
                if let Some((of, run)) = of.zip(self.run(world, at, None)) {
                    self.0.residue.set(of, run);
                }
            }
            Command::ResetEvent { event, .. } => {
                if let Some(of) = self.0.number(*event) {
                    self.0.residue.by_host(of, false);
                }
            }
            Command::Other(image) => self.other(world, at, image),
            _ => {}
        }
    }
}

impl Seen<'_> {
    fn other(&mut self, world: &World, at: &At, image: &Image) {
        let Some(name) = image.command.map(|c| c.canonical) else { return };
        let v = View::call(image);
        let structures = written_structures(name, v);
        let queries = Queried::of(v).filter(|q| q.how != Query::Read);
        if structures.is_empty() && queries.is_none() {
            return;
        }
        let Some(run) = self.run(world, at, Some(image).filter(|_| !structures.is_empty())) else { return };
        for (id, how) in structures {
            if let Some(n) = self.0.number(id) {
                self.0.residue.built(n, &run, how);
            }
        }
        if let Some(q) = queries
            && let Some(pool) = self.0.number(q.pool)
        {
            // (no pool has more; a damaged capture may say so)
            let all = q.first..q.first.saturating_add(q.count.min(1 << 16));
            self.0.residue.asked(pool, all, &run, q.how == Query::Reset);
        }
    }

    /// A command that runs; `build`: one whose inputs are to be kept.
    fn run(&mut self, world: &World, at: &At, build: Option<&Image>) -> Option<Rc<Run>> {
        let queue = world.queues.get(&at.queue)?;
        let mut uses = self.0.uses(at.block as u32).to_vec();
        // (the command buffer is the section's own)
        let own = [at.holder, at.command_buffer].map(|id| self.0.number(id));
        uses.retain(|n| !own.contains(&Some(*n)));
        uses.extend(self.0.number(at.queue));
        uses.extend(self.0.number(queue.device));
        let inputs = build.map_or(vec![], |image| self.inputs(world, image));
        let instances = build.is_some_and(|image| {
            let v = View::call(image);
            v.structs("pInfos").chain(v.one("pInfo")).any(|i| i.u32("type") != Some(BOTTOM_LEVEL))
        });
        Some(Rc::new(Run {
            instances,
            order: self.0.residue.next(),
            blocks: (at.submit_block as u32, at.block as u32),
            queue: (queue.device, queue.family, at.queue),
            uses,
            inputs,
        }))
    }

    /// The buffers that a build reads, as they are now.
    fn inputs(&mut self, world: &World, image: &Image) -> Vec<Rc<Input>> {
        let v = View::call(image);
        let scratch: Vec<u64> = v
            .structs("pInfos")
            .filter_map(|i| i.one("scratchData")?.u64("deviceAddress"))
            .chain(v.u64("scratch"))
            .collect();
        let addresses = image.addresses.iter().map(|at| image.u64(*at)).filter(|a| !scratch.contains(a));
        let mut buffers: Vec<u64> = addresses.filter_map(|a| world.at_address(a)).map(|b| b.0).collect();
        let handles = image.handles.iter().map(|h| image.u64(h.at));
        buffers.extend(handles.filter(|id| world.buffers.contains_key(id) && !scratch.contains(id)));
        buffers.sort_unstable();
        buffers.dedup();
        buffers.into_iter().filter_map(|id| self.input(world, id)).collect()
    }

    fn input(&mut self, world: &World, id: u64) -> Option<Rc<Input>> {
        let number = self.0.number(id)?;
        // (contents would be written over structures)
        let buffer = world.buffers.get(&id).filter(|_| !world.structures.values().any(|s| s.buffer == id))?;
        let bound = buffer.bound?;
        let memory = world.memories.get(&bound.memory)?;
        let size = buffer.size.min(memory.size.saturating_sub(bound.offset));
        let stamp = world.bytes.stamp(bound.memory, bound.offset, size);
        let device = memory.device;
        Some(self.0.residue.input(number, stamp, || {
            let mut bytes = vec![];
            let known = world.bytes.read(bound.memory, bound.offset, size, &mut bytes);
            Input { device, buffer: id, bytes, unknown: unknown(&known) }
        }))
    }
}

/// VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR
const BOTTOM_LEVEL: u32 = 1;

/// The structures that a command writes, and what of them stays.
fn written_structures(name: &str, v: View<'_>) -> Vec<(u64, Build)> {
    let acts = name.starts_with("vkCmdBuild") || name.starts_with("vkCmdCopy");
    if !acts || !(name.contains("AccelerationStructure") || name.contains("Micromap")) {
        return vec![];
    }
    let of = |s: &View<'_>, names: &[&str]| names.iter().find_map(|n| s.u64(n)).filter(|id| *id != 0);
    let dst = |s: &View<'_>| of(s, &["dstAccelerationStructure", "dstMicromap", "dst"]);
    let how = |s: &View<'_>, updates: bool| match of(s, &["srcAccelerationStructure", "src"]) {
        _ if !updates => Build::Anew,
        src if src == dst(s) => Build::InPlace,
        _ => Build::OfAnother,
    };
    let infos = v.structs("pInfos").filter_map(|s| {
        // (VK_BUILD_ACCELERATION_STRUCTURE_MODE_UPDATE_KHR)
        let updates = s.u64("mode") == Some(1) && s.name.starts_with("VkAcceleration");
        dst(&s).map(|id| (id, how(&s, updates)))
    });
    let copy = v.one("pInfo").and_then(|s| dst(&s)).map(|id| (id, Build::Anew));
    let update = v.u64("update").unwrap_or(0) != 0;
    infos.chain(copy).chain(dst(&v).map(|id| (id, how(&v, update)))).collect()
}
