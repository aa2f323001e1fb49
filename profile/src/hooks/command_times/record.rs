//! Commands as they are recorded: what each means to the command buffer's spans.

use super::commands::Role;
use super::recording::{Pass, Recording, Target};
use super::{CommandTimesHook, Level};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::ash::vk::{self, Handle};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::Next;
use std::rc::Rc;
use world::Outcome;
use world::objects::BindPoint;

impl CommandTimesHook {
    /// vkBeginCommandBuffer has succeeded.
    pub(super) fn begin(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let id = call.image.u64(0);
        let Some(b) = self.buffers.get(&id).copied() else { return Ok(()) };
        if !b.primary {
            if self.slots(cx, b.device, b.family)?.is_some() {
                self.begin_secondary(call);
            }
            return Ok(());
        }
        let Some(slots) = self.slots(cx, b.device, b.family)? else { return Ok(()) };
        let (spare, counters) = (slots.spare.clone(), slots.counters);
        self.secondaries.remove(&id);
        self.sweep(cx)?;
        let live = vk::CommandBuffer::from_raw(cx.objects.live(id));
        let old = self.recordings.get_mut(&id).map(|r| (std::mem::take(&mut r.copies), r.restart(live)));
        match old {
            Some((copies, ())) => self.give_copies(b.device, b.family, copies),
            None => {
                let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
                let ash = vk.device(b.device)?.ash.clone();
                let target = Target { device: b.device, family: b.family, ash, live, spare, counters };
                let r = Recording::new(id, target, self.settings.level, self.settings.isolate);
                self.recordings.insert(id, r);
            }
        }
        Ok(())
    }

    /// A command that is recorded, into what `id` is the recording of.
    pub(super) fn recorded(
        &mut self,
        cx: &mut Executor,
        id: u64,
        call: &mut Call,
        next: Next,
        role: Role,
    ) -> Result<Outcome> {
        let out = self.out.clone();
        let Some(r) = self.recordings.get_mut(&id) else { return next.run(cx, call) };
        r.here.index += 1;
        let v = View::call(&call.image);
        match role {
            Role::State => next.run(cx, call),
            Role::BindPipeline => {
                r.bind(v.u64("pipelineBindPoint").unwrap_or(u64::MAX), v.u64("pipeline").unwrap_or(0));
                next.run(cx, call)
            }
            Role::BindShaders => {
                let (stages, shaders) = (v.u64s("pStages"), v.u64s("pShaders"));
                for (at, stage) in stages.iter().enumerate() {
                    r.bind_shader(*stage, shaders.get(at).copied().unwrap_or(0));
                }
                next.run(cx, call)
            }
            Role::BeginQuery | Role::EndQuery => {
                if v.u64("queryPool").is_some_and(|p| self.counting_pools.contains(&p)) {
                    if self.settings.statistics && role == Role::BeginQuery {
                        out.borrow_mut().note(
                            "pipeline-statistics queries of the application's own: nothing is counted within them",
                        );
                    }
                    r.end_piece();
                    r.here.counting = role == Role::BeginQuery;
                }
                next.run(cx, call)
            }
            Role::BeginTiles => {
                r.tiles(true);
                next.run(cx, call)
            }
            Role::EndTiles => {
                let outcome = next.run(cx, call)?;
                self.with(id, |r| r.tiles(false));
                Ok(outcome)
            }
            Role::Execute => match self.execute(cx, id, call, next)? {
                Some(outcome) => Ok(outcome),
                None => self.work(cx, id, call, next, None),
            },
            Role::Work(point) => self.work(cx, id, call, next, point),
            Role::BeginPass => {
                let (name, pass) = self.pass(call);
                let mut out = out.borrow_mut();
                let r = self.recordings.get_mut(&id).expect("seen above");
                if (pass.suspends || pass.resumes) && !pass.inline {
                    out.note("render passes that are suspended or resumed around secondary command buffers: not timed");
                }
                let node = out.names.node(r.node(), &name);
                drop(out);
                r.before_pass(node, &pass)?;
                let outcome = next.run(cx, call)?;
                r.begun_pass(pass)?;
                Ok(outcome)
            }
            Role::NextSubpass => {
                r.next_subpass(inline(v));
                next.run(cx, call)
            }
            Role::EndPass => {
                r.ending_pass()?;
                let outcome = next.run(cx, call)?;
                r.ended_pass()?;
                Ok(outcome)
            }
            Role::BeginLabel => {
                let info = v.one("pLabelInfo").or_else(|| v.one("pMarkerInfo"));
                let name = info.and_then(|i| i.text("pLabelName").or_else(|| i.text("pMarkerName")));
                let node = out.borrow_mut().names.node(r.node(), &name.unwrap_or_default());
                r.begin_label(node)?;
                next.run(cx, call)
            }
            Role::EndLabel => {
                r.end_label()?;
                next.run(cx, call)
            }
        }
    }

    fn with(&mut self, id: u64, f: impl FnOnce(&mut Recording)) {
        if let Some(r) = self.recordings.get_mut(&id) {
            f(r);
        }
    }

    fn work(
        &mut self,
        cx: &mut Executor,
        id: u64,
        call: &mut Call,
        next: Next,
        point: Option<BindPoint>,
    ) -> Result<Outcome> {
        let Some(r) = self.recordings.get_mut(&id) else { return next.run(cx, call) };
        let mut out = self.out.borrow_mut();
        if self.settings.level == Level::Command && r.closed() {
            out.note("commands where nothing may be recorded beside them (tiles, or passes for secondary command buffers)");
        }
        let here = r.node();
        let run = out.names.node(here, &format!("from {}", call.command.name));
        let own = out.names.node(here, call.command.name);
        drop(out);
        let span = r.before_work(point, run, own)?;
        let outcome = next.run(cx, call)?;
        r.after_work(span)?;
        Ok(outcome)
    }

    /// A render pass instance: its name, and what may be recorded inside.
    fn pass(&self, call: &Call) -> (String, Pass) {
        let v = View::call(&call.image);
        if let Some(info) = v.one("pRenderingInfo") {
            let flags = vk::RenderingFlags::from_raw(info.u32("flags").unwrap_or(0));
            // VK_RENDERING_CONTENTS_INLINE_BIT_KHR.
            let inline_too = vk::RenderingFlags::from_raw(0x10);
            let pass = Pass {
                inline: !flags.contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS)
                    || flags.contains(inline_too),
                views: Rc::new([info.u32("viewMask").unwrap_or(0).count_ones()]),
                suspends: flags.contains(vk::RenderingFlags::SUSPENDING),
                resumes: flags.contains(vk::RenderingFlags::RESUMING),
                ..Pass::default()
            };
            let extent = info.one("renderArea").and_then(|a| a.one("extent"));
            let side = |n| extent.and_then(|e| e.u32(n)).unwrap_or(0);
            return (format!("rendering {}x{}", side("width"), side("height")), pass);
        }
        let id = v.one("pRenderPassBegin").and_then(|b| b.u64("renderPass")).unwrap_or(0);
        let out = self.out.borrow();
        let name = match out.names.objects.get(&id).filter(|n| !n.is_empty()) {
            Some(n) => format!("render pass '{n}'"),
            None => format!("render pass {id}"),
        };
        let views = self.views.get(&id).cloned().unwrap_or_default();
        (name, Pass { inline: inline(v), views, ..Pass::default() })
    }
}

/// Whether a subpass' commands are recorded inline.
fn inline(v: View<'_>) -> bool {
    let contents = v.u32("contents").or_else(|| v.one("pSubpassBeginInfo").and_then(|i| i.u32("contents")));
    contents != Some(vk::SubpassContents::SECONDARY_COMMAND_BUFFERS.as_raw() as u32)
}
