//! Launches of ray-tracing pipelines told apart: what runs when, and what its shaders are told.
//!
//! Before each command that launches instrumented shaders of a pass that asks for it ([`crate::Needs::launches`]), a number of
//! the command is written to the log's header, and beside it how far the log is filled, with barriers that let launches run
//! one after the other. No push constants are needed, and a command buffer may be submitted again, even by the same
//! submission: the log has grown meanwhile. On the host, command buffers are gone through as they are submitted ([`world::walk`]),
//! so that the frame's launches are known in their order. Where launches of one device come from several queues, the device is waited
//! for in between.
//!
//! Draws cannot be told apart (nothing may be written inside a render pass): those of one pipeline and frame are one launch.
//! Not told apart, and named: commands that the device generates itself.

use super::memory::Memory;
use super::plan::Done;
use crate::hooks::command_times::commands::bind_point;
use crate::{Launch, Stage};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::ash::vk::{self, Handle};
use replay::error::Result;
use replay::exec::Executor;
use std::collections::HashMap;
use world::commands::{Command, Program, Sizes};
use world::objects::BindPoint;
use world::walk::{Step, submitted};

/// Words of the log's header.
const ACTION: u64 = 7;
const START: u64 = 8;
const ASKS_ANY_HITS: u64 = 9;
/// What of ray queries leaves no event.
const QUERIES: &str = "what ray queries tested";
/// No shader.
const UNUSED: u32 = u32::MAX;

/// A shader group: the stages that it has, by index, and whether it is one of hits.
#[derive(Clone, Debug, Default)]
struct Group {
    stages: Vec<u32>,
    hits: Option<Hits>,
}

#[derive(Clone, Copy, Debug)]
struct Hits {
    triangles: bool,
    closest: bool,
    any: bool,
    /// The any-hit shader is ours.
    ours: bool,
}

/// What is known of a pipeline.
#[derive(Clone, Debug, Default)]
struct Pipeline {
    /// Instrumented entry points, and the groups that they are in.
    entries: Vec<(u32, Vec<u32>)>,
    groups: Vec<Group>,
}

/// See the module's header.
#[derive(Default)]
pub struct Launches {
    pipelines: HashMap<u64, Pipeline>,
    /// Of the running frame.
    frame: Vec<Launch>,
    /// The queue that the device's last launch was submitted to.
    queues: HashMap<u64, u64>,
    generated: u64,
}

/// The calls that are seen.
pub fn wants() -> Vec<&'static str> {
    let seen = |c: &&'static CommandDef| {
        bind_point(c).is_some()
            || ["vkQueueSubmit", "vkCmdExecuteGeneratedCommands"].iter().any(|n| c.name.starts_with(n))
    };
    COMMANDS.iter().filter(seen).map(|c| c.name).collect()
}

impl Launches {
    /// A pipeline or shader object is made: its entry points from `first` on, what it was made of, its libraries, and which of
    /// its stages is the any-hit shader that was put where there was none.
    pub fn made(
        &mut self,
        done: &Done,
        wanted: &[&str],
        id: u64,
        stages: (usize, Option<u32>),
        info: View<'_>,
        libraries: &[u64],
    ) {
        let (first, any_hit) = stages;
        let groups = info.structs("pGroups").map(|g| group(g, any_hit));
        let mut p = Pipeline { entries: vec![], groups: groups.collect() };
        for (n, e) in done.entries.iter().enumerate().skip(first) {
            if e.variant.regions.iter().any(|r| wanted.contains(&r.pass.as_str())) {
                let of = |g: &(usize, &Group)| g.1.stages.contains(&e.index);
                let groups = p.groups.iter().enumerate().filter(of).map(|g| g.0 as u32).collect();
                p.entries.push((n as u32, groups));
            }
        }
        for library in libraries.iter().filter_map(|l| self.pipelines.get(l)) {
            let before = p.groups.len() as u32;
            let moved = |(e, groups): &(u32, Vec<u32>)| (*e, groups.iter().map(|g| before + g).collect());
            p.entries.extend(library.entries.iter().map(moved));
            p.groups.extend(library.groups.iter().cloned());
        }
        self.pipelines.insert(id, p);
    }

    /// A call is about to be made.
    pub fn see(
        &mut self,
        cx: &mut Executor,
        call: &Call,
        memory: &HashMap<u64, Memory>,
        done: &Done,
        measured: bool,
    ) -> Result<()> {
        match call.command.canonical {
            name if name.starts_with("vkQueueSubmit") => return self.submit(cx, call, measured),
            name if name.starts_with("vkCmdExecuteGeneratedCommands") => self.generated += 1,
            _ => {}
        }
        // A command that runs shaders is recorded.
        let id = call.image.u64(0);
        let Some(point) = bind_point(call.command) else { return Ok(()) };
        let ids = cx.objects.world().program(id, point);
        let Some((launch, asks)) = self.launch(&ids, call.block, point, None) else { return Ok(()) };
        let device = cx.objects.any(id).map_or(0, |e| e.owner);
        let traces =
            launch.entries.iter().any(|e| done.entries[e.0 as usize].variant.stage == Stage::RayGeneration);
        let live = vk::CommandBuffer::from_raw(cx.objects.live(id));
        let log = memory.get(&device).and_then(Memory::log_buffer);
        let (false, Some(log), Some(vk)) = (live.is_null(), log, cx.backend.vulkan()) else { return Ok(()) };
        if traces || point == BindPoint::Compute {
            mark(&vk.device(device)?.ash, live, log, launch.action, asks);
        }
        Ok(())
    }

    /// What a command launches that runs a pipeline or shader objects, and whether its rays ask about opaque geometry, too;
    /// none where none is instrumented.
    fn launch(
        &self,
        ids: &[u64],
        block: u64,
        point: BindPoint,
        size: Option<[u32; 3]>,
    ) -> Option<(Launch, bool)> {
        let known: Vec<&Pipeline> = ids.iter().filter_map(|p| self.pipelines.get(p)).collect();
        if known.iter().all(|p| p.entries.is_empty()) {
            return None;
        }
        let groups: Vec<&Group> = known.iter().flat_map(|p| &p.groups).collect();
        let hits: Vec<(usize, Hits)> =
            groups.iter().enumerate().filter_map(|(n, g)| Some((n, g.hits?))).collect();
        let launch = Launch {
            action: (block + 1) as u32,
            command: block,
            pipeline: ids.first().copied().unwrap_or(0),
            size,
            merged: point == BindPoint::Graphics,
            hit_groups: hits.len() as u64,
            no_closest_hit: hits.iter().filter(|h| !h.1.closest).count() as u64,
            no_any_hit: hits.iter().filter(|h| !h.1.any).count() as u64,
            missing: if groups.is_empty() { QUERIES.into() } else { missing(&hits) },
            entries: known.iter().flat_map(|p| &p.entries).map(|e| (e.0, only(&e.1))).collect(),
        };
        Some((launch, asks(&hits)))
    }

    /// Command buffers are submitted: what they launch is the frame's.
    fn submit(&mut self, cx: &mut Executor, call: &Call, measured: bool) -> Result<()> {
        if !measured {
            return Ok(());
        }
        let (mut all, mut buffer) = (vec![], None);
        cx.objects.world().walk(&submitted(call), &mut |holder, step| {
            let Step::Command(recorded) = step else { return };
            let Command::Invoke(i) = &recorded.command else { return };
            let Some(point) = bind_point(i.command) else { return };
            let ids = match &i.bindings.program {
                Program::None => vec![],
                Program::Pipeline(p) => vec![p.id],
                Program::Shaders(c) => c.shaders.iter().map(|s| s.id).collect(),
            };
            let size = if let Sizes::Trace { size, .. } = i.sizes { Some(size) } else { None };
            if let Some((launch, _)) = self.launch(&ids, recorded.block, point, size) {
                all.push(launch);
                buffer = Some(holder.buffer);
            }
        });
        let Some(device) = buffer.and_then(|b| cx.objects.any(b)).map(|e| e.owner) else { return Ok(()) };
        let queue = call.image.u64(0);
        if self.queues.insert(device, queue).is_some_and(|q| q != queue)
            && let Some(vk) = cx.backend.vulkan()
        {
            vk.device(device)?.wait_idle()?;
        }
        for l in all {
            let there = |f: &Launch| l.merged && f.merged && f.pipeline == l.pipeline;
            if !self.frame.iter().any(there) {
                self.frame.push(l);
            }
        }
        Ok(())
    }

    /// The launches of the frame that ends.
    pub fn take(&mut self) -> Vec<Launch> {
        self.queues.clear();
        std::mem::take(&mut self.frame)
    }

    /// What is to be said at the end.
    pub fn notes(&self) -> Vec<String> {
        match self.generated {
            0 => vec![],
            n => vec![format!("{n} commands whose launches the device generates itself are not told apart")],
        }
    }
}

/// The one that there is.
fn only(of: &[u32]) -> Option<u32> {
    match of {
        [one] => Some(*one),
        _ => None,
    }
}

fn group(g: View<'_>, ours: Option<u32>) -> Group {
    let stage = |name| g.u32(name).filter(|s| *s != UNUSED);
    let [general, closest, any, intersection] =
        ["generalShader", "closestHitShader", "anyHitShader", "intersectionShader"].map(stage);
    // VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR, and the one of procedural hits.
    let ty = g.u32("type").unwrap_or(0);
    let ours = ours.filter(|_| ty == 1 && any.is_none());
    let hits = (ty != 0).then_some(Hits {
        triangles: ty == 1,
        closest: closest.is_some(),
        any: any.is_some() || ours.is_some(),
        ours: ours.is_some(),
    });
    Group { stages: [general, closest, any.or(ours), intersection].into_iter().flatten().collect(), hits }
}

/// Whether rays ask about opaque geometry, too: all any-hit shaders are ours.
fn asks(hits: &[(usize, Hits)]) -> bool {
    hits.iter().any(|h| h.1.ours) && hits.iter().all(|h| h.1.ours || !h.1.any)
}

/// Which geometry's events are missing, as far as a pipeline's groups say it.
fn missing(hits: &[(usize, Hits)]) -> String {
    let asks = asks(hits);
    let of = |f: &dyn Fn(&Hits) -> bool, what: &str| {
        let all: Vec<String> = hits.iter().filter(|h| f(&h.1)).map(|h| h.0.to_string()).collect();
        let s = if all.len() == 1 { "" } else { "s" };
        (!all.is_empty()).then(|| format!("{what} group{s} {}", all.join(", ")))
    };
    let parts = [
        of(&|h| h.triangles && !h.any, "intersections with triangles of"),
        of(&|h| h.triangles && h.any && !asks, "intersections with opaque triangles of"),
        of(&|h| !h.triangles && !h.any, "any-hits with boxes of"),
        of(&|h| !h.closest, "closest hits of"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Records what tells a launch: what ran before has ended, and what is written here is seen by what runs behind it.
fn mark(d: &replay::ash::Device, live: vk::CommandBuffer, log: vk::Buffer, action: u32, asks: bool) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let transfer = vk::PipelineStageFlags::TRANSFER;
    let none = vk::DependencyFlags::empty();
    let copies = vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE;
    let memory = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let before = [vk::MemoryBarrier::default().src_access_mask(memory).dst_access_mask(copies)];
    let after = [vk::MemoryBarrier::default().src_access_mask(copies).dst_access_mask(memory)];
    let cursor = [vk::BufferCopy { src_offset: 0, dst_offset: START * 4, size: 4 }];
    // SAFETY: the command buffer is being recorded, outside of render passes, where alone launches are; the log is a live
    // buffer, and its header holds both words.
    unsafe {
        d.cmd_pipeline_barrier(live, all, transfer, none, &before, &[], &[]);
        d.cmd_fill_buffer(live, log, ACTION * 4, 4, action);
        d.cmd_fill_buffer(live, log, ASKS_ANY_HITS * 4, 4, asks.into());
        d.cmd_copy_buffer(live, log, log, &cursor);
        d.cmd_pipeline_barrier(live, transfer, all, none, &after, &[], &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_say_what_is_missing() {
        let h = |triangles, closest, any| Hits { triangles, closest, any, ours: false };
        assert_eq!(missing(&[(4, h(false, true, true))]), "");
        assert_eq!(missing(&[(3, h(true, true, true))]), "intersections with opaque triangles of group 3");
        // Ours alone, and beside one of the application's.
        let ours = Hits { ours: true, ..h(true, true, true) };
        assert!(asks(&[(3, ours)]) && missing(&[(3, ours)]).is_empty());
        assert!(!asks(&[(3, ours), (4, h(false, true, true))]) && !asks(&[(4, h(false, true, false))]));
        let some = [(3, h(true, true, false)), (4, h(false, true, false)), (6, h(true, false, false))];
        assert_eq!(
            missing(&some),
            "intersections with triangles of groups 3, 6; any-hits with boxes of group 4; closest hits of group 6"
        );
        assert_eq!((only(&[4]), only(&[4, 5]), only(&[])), (Some(4), None, None));
    }

    #[test]
    fn every_call_that_launches_is_seen() {
        let all = wants();
        for name in
            ["vkCmdTraceRaysKHR", "vkCmdTraceRaysIndirect2KHR", "vkCmdTraceRaysNV", "vkCmdDispatchIndirect"]
        {
            assert!(all.contains(&name), "{name}");
        }
    }
}
