//! Commands as they are recorded: what each means to the command buffer's spans.

use super::super::debug_names::{render_pass, rendering};
use super::commands::Role;
use super::found::Level;
use super::recording::{At, Pass, Recording, Target};
use super::state::CommandTimesHook;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::ash::vk::{self, Handle};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::Next;
use std::rc::Rc;
use world::{Outcome, World};

impl CommandTimesHook {
    /// Whether what is recorded into a primary command buffer is timed; of what it held before nothing is left then.
    pub(super) fn begun(&mut self, cx: &mut Executor, id: u64) -> Result<bool> {
        let Some(number) = cx.objects.world().recording(id).map(|r| r.number) else { return Ok(false) };
        if self.recordings.get(&id).is_some_and(|r| r.number == number) {
            return Ok(true);
        }
        let Some((device, family)) = family(cx, id) else { return Ok(false) };
        let Some(slots) = self.slots(cx, device, family)? else { return Ok(false) };
        let (spare, counters) = (slots.spare.clone(), slots.counters);
        self.sweep(cx)?;
        let live = vk::CommandBuffer::from_raw(cx.objects.live(id));
        let old = self.recordings.get_mut(&id);
        match old.map(|r| (std::mem::take(&mut r.copies), r.restart(number, live))) {
            Some((copies, ())) => self.give_copies(device, family, copies),
            None => {
                let Some(vk) = cx.backend.vulkan() else { return Ok(false) };
                let ash = vk.device(device)?.ash.clone();
                let target = Target { device, family, ash, live, spare, counters };
                let r = Recording::new(id, number, target, self.settings.level, self.settings.isolate);
                self.recordings.insert(id, r);
            }
        }
        Ok(true)
    }

    /// Before vkEndCommandBuffer of a primary one.
    pub(super) fn finish_recording(&mut self, id: u64) -> Result<()> {
        self.recordings.get_mut(&id).map_or(Ok(()), Recording::finish)
    }

    /// A command that is recorded, into what `id` is the recording of.
    pub(super) fn recorded(
        &mut self,
        cx: &mut Executor,
        id: u64,
        call: &mut Call,
        next: Next,
        at: At,
    ) -> Result<Outcome> {
        let out = self.out.clone();
        let Some(r) = self.recordings.get_mut(&id) else { return next.run(cx, call) };
        r.here.index = at.index;
        let v = View::call(&call.image);
        match at.role {
            Role::State | Role::BindPipeline | Role::BindShaders => next.run(cx, call),
            Role::BeginQuery | Role::EndQuery => {
                let pool = v.u64("queryPool").and_then(|p| cx.objects.world().query_pools.get(&p));
                if pool.is_some_and(|p| p.ty == vk::QueryType::PIPELINE_STATISTICS.as_raw() as u32) {
                    if self.settings.statistics && at.role == Role::BeginQuery {
                        out.borrow_mut().note(
                            "pipeline-statistics queries of the application's own: nothing is counted within them",
                        );
                    }
                    r.end_piece();
                    r.here.counting = at.role == Role::BeginQuery;
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
                None => self.work(cx, id, call, next, at),
            },
            Role::Work(_) => self.work(cx, id, call, next, at),
            Role::BeginPass => {
                let (name, pass) = self.pass(cx.objects.world(), call);
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

    fn work(&mut self, cx: &mut Executor, id: u64, call: &mut Call, next: Next, at: At) -> Result<Outcome> {
        let point = if let Role::Work(point) = at.role { point } else { None };
        let Some(r) = self.recordings.get_mut(&id) else { return next.run(cx, call) };
        let mut out = self.out.borrow_mut();
        if self.settings.level == Level::Command && r.closed() {
            out.note("commands where nothing may be recorded beside them (tiles, or passes for secondary command buffers)");
        }
        let here = r.node();
        let run = out.names.node(here, &format!("from {}", call.command.name));
        let own = out.names.node(here, call.command.name);
        drop(out);
        let span = r.before_work(point, at.pipeline, run, own)?;
        let outcome = next.run(cx, call)?;
        r.after_work(span)?;
        Ok(outcome)
    }

    /// A render pass instance: its name, and what may be recorded inside.
    fn pass(&self, world: &World, call: &Call) -> (String, Pass) {
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
            return (rendering(side("width"), side("height")), pass);
        }
        let id = v.one("pRenderPassBegin").and_then(|b| b.u64("renderPass")).unwrap_or(0);
        let out = self.out.borrow();
        let name = render_pass(id, out.names.objects.get(&id).map(String::as_str));
        (name, Pass { inline: inline(v), views: views(world, id), ..Pass::default() })
    }
}

/// The device and the queue family that a command buffer is for.
pub fn family(cx: &mut Executor, buffer: u64) -> Option<(u64, u32)> {
    let (world, device) = (cx.objects.world(), cx.objects.any(buffer)?.owner);
    let pool = world.command_pools.get(&world.command_buffers.get(&buffer)?.pool)?;
    Some((device, cx.backend.vulkan()?.queue_family(device, pool.family)))
}

/// How many views each subpass of a render pass has.
pub fn views(world: &World, render_pass: u64) -> Rc<[u32]> {
    let all = world.render_passes.get(&render_pass).map_or(&[][..], |p| &p.subpasses);
    all.iter().map(|s| s.view_mask.count_ones()).collect()
}

/// Whether a subpass' commands are recorded inline.
fn inline(v: View<'_>) -> bool {
    let contents = v.u32("contents").or_else(|| v.one("pSubpassBeginInfo").and_then(|i| i.u32("contents")));
    contents != Some(vk::SubpassContents::SECONDARY_COMMAND_BUFFERS.as_raw() as u32)
}
