//! One submitted command buffer's recording: which spans it has, and which queries hold their ends.
//!
//! What a secondary command buffer holds is recorded for each execution of it anew (`secondary.rs`), into queries of the
//! command buffer that executes it: its spans are spans of this recording.
//!
//! Guarantees: a query is written once a submission; nothing is injected where Vulkan forbids it: in passes whose contents
//! are secondary command buffers, between a suspended pass and its resumption, in tiles. Spans that end or begin there are
//! not timed. A label begins with the first thing in it that is timed, and shares that timestamp.

use super::commands::Role;
use super::found::Level;
use super::queries::{Kind, Queries, Shared};
use gfxr_parse::ahead::Call;
use replay::ash::{self, vk};
use replay::error::Result;
use std::rc::Rc;
use trace::SpanKind;
use world::World;
use world::objects::{BindPoint, Shader};

/// A timestamp. In a pass with several views it takes as many queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Number of its first result.
    pub result: u32,
    /// How many.
    pub views: u32,
    /// The first result of the first timestamp in the same subpass.
    pub base: u32,
}

/// A span as recorded.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub kind: SpanKind,
    pub node: u32,
    pub command_buffer: u64,
    pub execution: u32,
    pub index: u32,
    pub depth: u32,
    pub pipeline: u64,
    pub isolated: bool,
    /// Its ends; none where they could not be written.
    pub begin: Option<Stamp>,
    pub end: Option<Stamp>,
}

/// A query of pipeline statistics.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Whose.
    pub span: usize,
    /// Number of its first result.
    pub result: u32,
    pub views: u32,
}

/// Everything a submission has to know; shared with those whose results are read when it is recorded anew.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub spans: Vec<Span>,
    pub pieces: Vec<Piece>,
}

/// What a render pass instance allows.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    /// Commands are recorded inside it, not in secondary command buffers.
    pub inline: bool,
    /// How many views each subpass draws at once.
    pub views: Rc<[u32]>,
    /// No span may begin before it, or end after it.
    pub suspends: bool,
    pub resumes: bool,
    pub subpass: usize,
    /// The first timestamp of the subpass.
    pub base: Option<u32>,
}

impl Pass {
    fn views(&self) -> u32 {
        self.views.get(self.subpass).copied().unwrap_or(1).max(1)
    }
}

/// A label or pass that has begun.
#[derive(Clone, Copy, Debug)]
struct Open {
    span: usize,
    node: u32,
    pass: bool,
}

/// Where commands go.
#[derive(Clone)]
pub struct Target {
    pub device: u64,
    pub family: u32,
    pub ash: ash::Device,
    pub live: vk::CommandBuffer,
    pub spare: Shared,
    /// What may be counted.
    pub counters: vk::QueryPipelineStatisticFlags,
}

/// A command: what it is to the hook, which of its recording's it is, from 1, and the pipeline (or shader object) it runs.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub role: Role,
    pub index: u32,
    pub pipeline: u64,
}

impl Default for At {
    fn default() -> Self {
        At { role: Role::State, index: 0, pipeline: 0 }
    }
}

impl At {
    /// The next one of a command buffer that is being recorded.
    pub fn next(world: &World, buffer: u64, role: Role) -> Self {
        let index = world.recording(buffer).map_or(0, |r| r.count) + 1;
        let pipeline = match role {
            Role::Work(Some(point)) => named(world, &world.program(buffer, point)),
            _ => 0,
        };
        At { role, index, pipeline }
    }
}

/// What runs: a pipeline, or the shader object that all that are bound are called by.
fn named(world: &World, program: &[u64]) -> u64 {
    let shaders = program.iter().filter_map(|id| world.shaders.get(id)).map(|s| &**s);
    Shader::of_all(shaders).or(program.first().copied()).unwrap_or(0)
}

/// A secondary command buffer as the application recorded it.
#[derive(Default)]
pub struct Secondary {
    /// From vkBeginCommandBuffer to vkEndCommandBuffer.
    pub calls: Vec<(Call, At)>,
    /// It can be recorded again.
    pub copies: bool,
}

/// A command buffer whose commands are being seen: the submitted one, or one that it executes.
#[derive(Clone, Default)]
pub struct Context {
    pub live: vk::CommandBuffer,
    pub id: u64,
    pub execution: u32,
    /// Commands so far.
    pub index: u32,
    pub pass: Option<Pass>,
    pub suspended: bool,
    tiles: bool,
    run: Option<usize>,
    /// What was open when it began.
    open: usize,
    /// The application's own pipeline statistics are being counted.
    pub counting: bool,
}

/// See the module's header.
pub struct Recording {
    /// Its number.
    pub number: u64,
    pub target: Target,
    pub stamps: Queries,
    pub statistics: Queries,
    pub recorded: Rc<Recorded>,
    /// Secondary command buffers of our own that it executes.
    pub copies: Vec<vk::CommandBuffer>,
    /// The command buffer that is recorded into, and those that execute it.
    pub here: Context,
    outer: Vec<Context>,
    executions: u32,
    open: Vec<Open>,
    /// Labels in which nothing has begun.
    fresh: Vec<usize>,
    piece: Option<(vk::QueryPool, u32)>,
    level: Level,
    isolate: bool,
}

impl Recording {
    pub fn new(id: u64, number: u64, target: Target, level: Level, isolate: bool) -> Self {
        Recording {
            number,
            stamps: Queries::new(Kind::Stamps, target.spare.clone()),
            statistics: Queries::new(Kind::Statistics(target.counters), target.spare.clone()),
            recorded: Rc::default(),
            copies: Vec::new(),
            here: Context { live: target.live, id, ..Context::default() },
            outer: Vec::new(),
            executions: 0,
            open: Vec::new(),
            fresh: Vec::new(),
            piece: None,
            level,
            isolate,
            target,
        }
    }

    /// What was recorded is gone: the command buffer has begun anew.
    pub fn restart(&mut self, number: u64, live: vk::CommandBuffer) {
        self.number = number;
        self.target.live = live;
        self.stamps.restart();
        self.statistics.restart();
        self.recorded = Rc::default();
        self.here = Context { live, id: self.here.id, ..Context::default() };
        self.outer.clear();
        self.executions = 0;
        self.open.clear();
        self.fresh.clear();
        self.piece = None;
    }

    fn barrier(&self) {
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let b = vk::MemoryBarrier::default().src_access_mask(all).dst_access_mask(all);
        let (stages, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        // SAFETY: the command buffer is being recorded, outside of render passes.
        unsafe {
            self.target.ash.cmd_pipeline_barrier(self.here.live, stages, stages, none, &[b], &[], &[]);
        }
    }

    /// Something may be injected here.
    fn may(&self) -> bool {
        let h = &self.here;
        !h.suspended && !h.tiles && h.pass.as_ref().is_none_or(|p| p.inline)
    }

    fn views(&self) -> u32 {
        self.here.pass.as_ref().map_or(1, Pass::views)
    }

    /// Barriers go around what begins here.
    fn alone(&self) -> bool {
        self.isolate && self.here.pass.is_none() && self.may()
    }

    /// Writes a timestamp, where one may be written.
    fn stamp(&mut self, end: bool) -> Result<Option<Stamp>> {
        if !self.may() {
            return Ok(None);
        }
        let views = self.views();
        let q = self.stamps.take(views)?;
        // An isolated command begins when everything before the barrier is through.
        let late = end || self.alone();
        let stage =
            if late { vk::PipelineStageFlags::BOTTOM_OF_PIPE } else { vk::PipelineStageFlags::TOP_OF_PIPE };
        // SAFETY: the command buffer is being recorded, its family has timestamps, and the query is written once.
        unsafe { self.target.ash.cmd_write_timestamp(self.here.live, stage, q.pool, q.first) };
        let base = self.here.pass.as_mut().map_or(q.result, |p| *p.base.get_or_insert(q.result));
        let base = if views == 1 { q.result } else { base };
        Ok(Some(Stamp { result: q.result, views, base }))
    }

    fn recorded(&mut self) -> &mut Recorded {
        Rc::make_mut(&mut self.recorded)
    }

    /// Labels in which nothing had begun begin now.
    fn first_in_labels(&mut self, stamp: Option<Stamp>) {
        if stamp.is_some() {
            for label in std::mem::take(&mut self.fresh) {
                self.recorded().spans[label].begin = stamp;
            }
        }
    }

    fn push(&mut self, kind: SpanKind, node: u32, pipeline: u64) -> usize {
        let (h, depth) = (&self.here, self.open.len() as u32 + 1);
        let span = Span {
            kind,
            node,
            command_buffer: h.id,
            execution: h.execution,
            index: h.index,
            depth,
            pipeline,
            isolated: kind != SpanKind::Label && self.alone(),
            begin: None,
            end: None,
        };
        self.recorded().spans.push(span);
        self.recorded.spans.len() - 1
    }

    /// Begins a span; its number.
    fn begin(&mut self, kind: SpanKind, node: u32, pipeline: u64) -> Result<usize> {
        self.end_piece();
        let span = self.push(kind, node, pipeline);
        if kind == SpanKind::Label {
            self.fresh.push(span);
            return Ok(span);
        }
        if self.recorded.spans[span].isolated {
            self.barrier();
        }
        self.begin_here(span)?;
        Ok(span)
    }

    fn begin_here(&mut self, span: usize) -> Result<()> {
        let begin = self.stamp(false)?;
        self.recorded().spans[span].begin = begin;
        self.first_in_labels(begin);
        Ok(())
    }

    fn end(&mut self, span: usize) -> Result<()> {
        self.end_piece();
        let empty = self.fresh.contains(&span);
        if empty || (self.recorded.spans[span].begin.is_some() && self.recorded.spans[span].end.is_none()) {
            let end = self.stamp(true)?;
            self.recorded().spans[span].end = end;
            if empty {
                self.first_in_labels(end);
                self.fresh.retain(|s| *s != span);
            }
        }
        if self.recorded.spans[span].isolated && self.here.pass.is_none() && self.may() {
            self.barrier();
        }
        Ok(())
    }

    /// Counts from here on, for a span.
    fn begin_piece(&mut self, span: usize) -> Result<()> {
        if self.target.counters.is_empty() || !self.may() || self.here.counting || self.piece.is_some() {
            return Ok(());
        }
        let views = self.views();
        let q = self.statistics.take(views)?;
        let none = vk::QueryControlFlags::empty();
        // SAFETY: recording; nothing else counts, and the query is begun once.
        unsafe { self.target.ash.cmd_begin_query(self.here.live, q.pool, q.first, none) };
        self.piece = Some((q.pool, q.first));
        self.recorded().pieces.push(Piece { span, result: q.result, views });
        Ok(())
    }

    /// Counts no longer.
    pub fn end_piece(&mut self) {
        if let Some((pool, query)) = self.piece.take() {
            // SAFETY: begun in this command buffer and this subpass, as everything that leaves either comes here.
            unsafe { self.target.ash.cmd_end_query(self.here.live, pool, query) };
        }
    }

    /// The node that what is recorded now lies within.
    pub fn node(&self) -> u32 {
        self.open.last().map_or(0, |o| o.node)
    }

    /// Commands here are not timed one by one.
    pub fn closed(&self) -> bool {
        !self.may()
    }

    /// Before a command that does work; its span, to be ended after it.
    pub fn before_work(
        &mut self,
        point: Option<BindPoint>,
        pipeline: u64,
        run: u32,
        own: u32,
    ) -> Result<Option<usize>> {
        let counted = matches!(point, Some(BindPoint::Graphics | BindPoint::Compute));
        if self.level == Level::Command {
            let span = self.begin(SpanKind::Command, own, pipeline)?;
            if counted {
                self.begin_piece(span)?;
            }
            return Ok(Some(span));
        }
        if self.here.pass.is_none() && self.here.run.is_none() {
            self.here.run = Some(self.begin(SpanKind::Run, run, pipeline)?);
        }
        if counted && let Some(span) = self.here.run.or(self.open.last().map(|o| o.span)) {
            self.begin_piece(span)?;
        }
        Ok(None)
    }

    /// After it.
    pub fn after_work(&mut self, span: Option<usize>) -> Result<()> {
        span.map_or(Ok(()), |s| self.end(s))
    }

    fn end_run(&mut self) -> Result<()> {
        let run = self.here.run.take();
        run.map_or(Ok(()), |s| self.end(s))
    }

    /// Before a render pass begins.
    pub fn before_pass(&mut self, node: u32, pass: &Pass) -> Result<()> {
        self.end_run()?;
        self.here.suspended |= pass.resumes;
        let span = self.begin(SpanKind::Pass, node, 0)?;
        self.open.push(Open { span, node, pass: true });
        Ok(())
    }

    /// After it has begun. One that resumes another begins here, where something may be written again.
    pub fn begun_pass(&mut self, pass: Pass) -> Result<()> {
        self.here.suspended = false;
        let resumes = pass.resumes;
        self.here.pass = Some(pass);
        match self.open.last() {
            Some(o) if resumes => self.begin_here(o.span),
            _ => Ok(()),
        }
    }

    /// Before vkCmdNextSubpass.
    pub fn next_subpass(&mut self, inline: bool) {
        self.end_piece();
        if let Some(p) = &mut self.here.pass {
            p.inline = inline;
            p.subpass += 1;
            p.base = None;
        }
    }

    /// Before a render pass ends: one that goes on elsewhere ends here, where something may still be written.
    pub fn ending_pass(&mut self) -> Result<()> {
        self.end_piece();
        if self.here.pass.as_ref().is_some_and(|p| p.suspends)
            && let Some(o) = self.open.iter().rfind(|o| o.pass).copied()
        {
            self.end(o.span)?;
        }
        Ok(())
    }

    /// After a render pass has ended.
    pub fn ended_pass(&mut self) -> Result<()> {
        self.here.suspended = self.here.pass.take().is_some_and(|p| p.suspends);
        if let Some(at) = self.open[self.here.open..].iter().rposition(|o| o.pass) {
            let o = self.open.remove(self.here.open + at);
            self.end(o.span)?;
        }
        Ok(())
    }

    /// Before a label begins.
    pub fn begin_label(&mut self, node: u32) -> Result<()> {
        self.end_run()?;
        let span = self.begin(SpanKind::Label, node, 0)?;
        self.open.push(Open { span, node, pass: false });
        Ok(())
    }

    /// Before a label ends; it may have begun in another command buffer.
    pub fn end_label(&mut self) -> Result<()> {
        self.end_run()?;
        if let Some(at) = self.open[self.here.open..].iter().rposition(|o| !o.pass) {
            let o = self.open.remove(self.here.open + at);
            self.end(o.span)?;
        }
        Ok(())
    }

    /// Before vkEndCommandBuffer: labels that go on in the next command buffer end here.
    pub fn finish(&mut self) -> Result<()> {
        self.end_run()?;
        self.end_piece();
        while self.open.len() > self.here.open
            && let Some(o) = self.open.pop()
        {
            self.end(o.span)?;
        }
        Ok(())
    }

    /// Before vkCmdExecuteCommands, whose command buffers are recorded now.
    pub fn before_execute(&mut self) -> Result<()> {
        self.end_run()?;
        self.end_piece();
        Ok(())
    }

    /// So many command buffers are executed whose commands are not seen.
    pub fn executed_as_one(&mut self, entered: u32) {
        self.executions += entered;
    }

    /// From here on, until [`Recording::leave`], commands are those of an executed command buffer; `node` is what it is
    /// called here, and `pass` what it goes on with.
    pub fn enter(
        &mut self,
        id: u64,
        live: vk::CommandBuffer,
        node: u32,
        mut pass: Option<Pass>,
    ) -> Result<()> {
        self.executions += 1;
        if let Some(p) = &mut pass {
            p.base = self.here.pass.as_ref().and_then(|outer| outer.base);
        }
        // The span is at the place of the command that executes it.
        let (index, counting) = (self.here.index, self.here.counting);
        let open = self.open.len() + 1;
        let (execution, outer) = (self.executions, self.here.clone());
        self.outer.push(outer);
        self.here = Context { live, id, execution, index, pass, counting, open, ..Context::default() };
        let span = self.begin(SpanKind::Secondary, node, 0)?;
        self.open.push(Open { span, node, pass: false });
        self.here.index = 0;
        Ok(())
    }

    /// Before the executed command buffer ends.
    pub fn leave(&mut self) -> Result<()> {
        self.finish()?;
        if let Some(o) = self.open.pop() {
            self.end(o.span)?;
        }
        let base = self.here.pass.as_ref().and_then(|p| p.base);
        self.here = self.outer.pop().unwrap_or_default();
        if let Some(p) = &mut self.here.pass {
            p.base = p.base.or(base);
        }
        Ok(())
    }

    /// Between here and there nothing may be injected.
    pub fn tiles(&mut self, on: bool) {
        self.end_piece();
        self.here.tiles = on;
    }
}
