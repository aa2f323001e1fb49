//! One command buffer's recording: which spans it has, and which queries hold their ends.
//!
//! Guarantees: a query is written once a recording; nothing is injected where Vulkan forbids it: in passes whose contents
//! are secondary command buffers, in passes with several views (where a timestamp takes several queries), between a
//! suspended pass and its resumption. Spans that end or begin there are not timed.

use super::Level;
use super::commands::Bind;
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use std::rc::Rc;
use trace::SpanKind;

/// Queries in a pool.
pub const CHUNK: u32 = 512;

/// A span as recorded.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub kind: SpanKind,
    pub node: u32,
    pub index: u32,
    pub depth: u32,
    pub pipeline: u64,
    pub isolated: bool,
    /// Queries of its ends; none where they could not be written.
    pub begin: Option<u32>,
    pub end: Option<u32>,
}

/// What a render pass instance allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// Commands are recorded inside it, not in secondary command buffers.
    pub inline: bool,
    /// It draws several views at once.
    pub multiview: bool,
    /// No span may begin before it, or end after it.
    pub suspends: bool,
    pub resumes: bool,
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
    pub ash: ash::Device,
    pub live: vk::CommandBuffer,
}

/// See the module's header.
pub struct Recording {
    pub target: Target,
    /// Pools of [`CHUNK`] queries; kept from one recording to the next.
    pub chunks: Vec<vk::QueryPool>,
    /// Queries in use.
    pub used: u32,
    /// Shared with submissions, whose results may be read when the command buffer is recorded anew.
    pub spans: Rc<Vec<Span>>,
    open: Vec<Open>,
    run: Option<usize>,
    pass: Option<Pass>,
    suspended: bool,
    pipelines: [u64; 3],
    /// Commands recorded so far.
    pub index: u32,
    level: Level,
    isolate: bool,
}

impl Recording {
    pub fn new(target: Target, level: Level, isolate: bool) -> Self {
        Recording {
            target,
            chunks: Vec::new(),
            used: 0,
            spans: Rc::default(),
            open: Vec::new(),
            run: None,
            pass: None,
            suspended: false,
            pipelines: [0; 3],
            index: 0,
            level,
            isolate,
        }
    }

    /// vkBeginCommandBuffer: what was recorded is gone.
    pub fn restart(&mut self, target: Target) {
        let chunks = std::mem::take(&mut self.chunks);
        *self = Recording { chunks, ..Recording::new(target, self.level, self.isolate) };
    }

    fn barrier(&self) {
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let b = vk::MemoryBarrier::default().src_access_mask(all).dst_access_mask(all);
        let stages = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the command buffer is being recorded, outside of render passes.
        unsafe {
            self.target.ash.cmd_pipeline_barrier(
                self.target.live,
                stages,
                stages,
                vk::DependencyFlags::empty(),
                &[b],
                &[],
                &[],
            );
        }
    }

    /// Something may be injected here.
    fn may(&self) -> bool {
        !self.suspended && self.pass.is_none_or(|p| p.inline && !p.multiview)
    }

    /// Writes a timestamp, where one may be written.
    fn stamp(&mut self, end: bool) -> Result<Option<u32>> {
        if !self.may() {
            return Ok(None);
        }
        let q = self.used;
        if q / CHUNK == self.chunks.len() as u32 {
            let info =
                vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(CHUNK);
            // SAFETY: a plain creation on a live device.
            let pool = unsafe { self.target.ash.create_query_pool(&info, None) };
            self.chunks.push(pool.map_err(|e| Error::driver("vkCreateQueryPool", e))?);
        }
        let isolated = self.isolate && self.pass.is_none();
        // An isolated command begins when everything before the barrier is through.
        let stage = if end || isolated {
            vk::PipelineStageFlags::BOTTOM_OF_PIPE
        } else {
            vk::PipelineStageFlags::TOP_OF_PIPE
        };
        let pool = self.chunks[(q / CHUNK) as usize];
        // SAFETY: the command buffer is being recorded, its family has timestamps, and the query is written once.
        unsafe { self.target.ash.cmd_write_timestamp(self.target.live, stage, pool, q % CHUNK) };
        self.used += 1;
        Ok(Some(q))
    }

    fn spans(&mut self) -> &mut Vec<Span> {
        Rc::make_mut(&mut self.spans)
    }

    /// Begins a span; its number.
    fn begin(&mut self, kind: SpanKind, node: u32, pipeline: u64) -> Result<usize> {
        // Labels are not isolated: what is within them is.
        let isolated = self.isolate && self.pass.is_none() && !self.suspended && kind != SpanKind::Label;
        if isolated {
            self.barrier();
        }
        let begin = self.stamp(false)?;
        let (index, depth) = (self.index, self.open.len() as u32 + 1);
        self.spans().push(Span { kind, node, index, depth, pipeline, isolated, begin, end: None });
        Ok(self.spans.len() - 1)
    }

    fn end(&mut self, span: usize) -> Result<()> {
        if self.spans[span].begin.is_some() {
            let end = self.stamp(true)?;
            self.spans()[span].end = end;
        }
        if self.spans[span].isolated && self.pass.is_none() && !self.suspended {
            self.barrier();
        }
        Ok(())
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
    pub fn before_work(&mut self, bind: Bind, run: u32, own: u32) -> Result<Option<usize>> {
        let pipeline = match bind {
            Bind::None => 0,
            Bind::Graphics => self.pipelines[0],
            Bind::Compute => self.pipelines[1],
            Bind::RayTracing => self.pipelines[2],
        };
        match self.level {
            Level::Command => self.begin(SpanKind::Command, own, pipeline).map(Some),
            Level::Pass if self.pass.is_none() && self.run.is_none() => {
                self.run = Some(self.begin(SpanKind::Run, run, pipeline)?);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// After it.
    pub fn after_work(&mut self, span: Option<usize>) -> Result<()> {
        span.map_or(Ok(()), |s| self.end(s))
    }

    fn end_run(&mut self) -> Result<()> {
        let run = self.run.take();
        run.map_or(Ok(()), |s| self.end(s))
    }

    /// Before a render pass begins.
    pub fn before_pass(&mut self, node: u32, pass: Pass) -> Result<()> {
        self.end_run()?;
        self.suspended |= pass.resumes;
        let span = self.begin(SpanKind::Pass, node, 0)?;
        if pass.suspends {
            // Its end cannot be written.
            self.spans()[span].begin = None;
        }
        self.open.push(Open { span, node, pass: true });
        Ok(())
    }

    /// After it has begun.
    pub fn begun_pass(&mut self, pass: Pass) {
        self.suspended = false;
        self.pass = Some(pass);
    }

    /// The next subpass' contents.
    pub fn next_subpass(&mut self, inline: bool) {
        if let Some(p) = &mut self.pass {
            p.inline = inline;
        }
    }

    /// After a render pass has ended.
    pub fn ended_pass(&mut self) -> Result<()> {
        self.suspended = self.pass.take().is_some_and(|p| p.suspends);
        if let Some(at) = self.open.iter().rposition(|o| o.pass) {
            let o = self.open.remove(at);
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
        if let Some(at) = self.open.iter().rposition(|o| !o.pass) {
            let o = self.open.remove(at);
            self.end(o.span)?;
        }
        Ok(())
    }

    /// Before vkEndCommandBuffer: labels that go on in the next command buffer end here.
    pub fn finish(&mut self) -> Result<()> {
        self.end_run()?;
        while let Some(o) = self.open.pop() {
            self.end(o.span)?;
        }
        Ok(())
    }

    /// vkCmdBindPipeline.
    pub fn bind(&mut self, point: u64, pipeline: u64) {
        match vk::PipelineBindPoint::from_raw(point as i32) {
            vk::PipelineBindPoint::GRAPHICS => self.pipelines[0] = pipeline,
            vk::PipelineBindPoint::COMPUTE => self.pipelines[1] = pipeline,
            vk::PipelineBindPoint::RAY_TRACING_KHR => self.pipelines[2] = pipeline,
            _ => {}
        }
    }

    /// The pools in use, and how many queries of each.
    pub fn queries(&self) -> impl Iterator<Item = (vk::QueryPool, u32)> {
        let used = self.used;
        self.chunks.iter().enumerate().map_while(move |(i, p)| {
            let left = used.saturating_sub(i as u32 * CHUNK);
            (left > 0).then_some((*p, left.min(CHUNK)))
        })
    }
}
