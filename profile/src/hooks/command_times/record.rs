//! Commands as they are recorded: what each means to the command buffer's spans.

use super::commands::{Bind, Role};
use super::recording::{Pass, Recording, Target};
use super::{CommandTimesHook, Level};
use gfxr_parse::view::View;
use replay::ash::vk::{self, Handle};
use replay::error::Result;
use replay::exec::{Call, Executor, Outcome};
use replay::hook::Next;

impl CommandTimesHook {
    /// vkBeginCommandBuffer has succeeded.
    pub(super) fn begin(&mut self, cx: &mut Executor, id: u64) -> Result<()> {
        let Some(b) = self.buffers.get(&id).copied() else { return Ok(()) };
        if !b.primary || self.slots(cx, b.device, b.family)?.is_none() {
            return Ok(());
        }
        self.sweep(cx);
        let live = vk::CommandBuffer::from_raw(cx.objects.live(id));
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let target = Target { device: b.device, ash: vk.device(b.device)?.ash.clone(), live };
        let (level, isolate) = (self.level, self.isolate);
        let r = self.recordings.entry(id).or_insert_with(|| Recording::new(target.clone(), level, isolate));
        r.restart(target);
        Ok(())
    }

    /// A command that is recorded.
    pub(super) fn recorded(
        &mut self,
        cx: &mut Executor,
        call: &mut Call,
        next: Next,
        role: Role,
    ) -> Result<Outcome> {
        let id = call.image.u64(0);
        let out = self.out.clone();
        let Some(r) = self.recordings.get_mut(&id) else { return next.run(cx, call) };
        r.index += 1;
        match role {
            Role::Other => next.run(cx, call),
            Role::BindPipeline => {
                let v = View::call(&call.image);
                r.bind(v.u64("pipelineBindPoint").unwrap_or(u64::MAX), v.u64("pipeline").unwrap_or(0));
                next.run(cx, call)
            }
            Role::Work(_) | Role::Execute => {
                let bind = if let Role::Work(b) = role { b } else { Bind::None };
                let mut out = out.borrow_mut();
                if role == Role::Execute {
                    out.note("vkCmdExecuteCommands: the secondary command buffers it runs are timed as one");
                } else if self.level == Level::Command && r.closed() {
                    out.note("commands in a pass with several views: the pass is timed as one");
                }
                let here = r.node();
                let run = out.names.node(here, &format!("from {}", call.command.name));
                let own = out.names.node(here, call.command.name);
                drop(out);
                let span = r.before_work(bind, run, own)?;
                let outcome = next.run(cx, call)?;
                r.after_work(span)?;
                Ok(outcome)
            }
            Role::BeginPass => {
                let (name, pass) = self.pass(call);
                let mut out = out.borrow_mut();
                if pass.suspends || pass.resumes {
                    out.note("render passes that are suspended or resumed: not timed");
                }
                let r = self.recordings.get_mut(&id).expect("seen above");
                let node = out.names.node(r.node(), &name);
                drop(out);
                r.before_pass(node, pass)?;
                let outcome = next.run(cx, call)?;
                r.begun_pass(pass);
                Ok(outcome)
            }
            Role::NextSubpass => {
                let outcome = next.run(cx, call)?;
                r.next_subpass(inline(View::call(&call.image)));
                Ok(outcome)
            }
            Role::EndPass => {
                let outcome = next.run(cx, call)?;
                r.ended_pass()?;
                Ok(outcome)
            }
            Role::BeginLabel => {
                let v = View::call(&call.image);
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

    /// A render pass instance: its name, and what may be recorded inside.
    fn pass(&self, call: &Call) -> (String, Pass) {
        let v = View::call(&call.image);
        if let Some(info) = v.one("pRenderingInfo") {
            let flags = vk::RenderingFlags::from_raw(info.u32("flags").unwrap_or(0));
            let inline_too = vk::RenderingFlags::from_raw(0x10);
            let pass = Pass {
                inline: !flags.contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS)
                    || flags.contains(inline_too),
                multiview: info.u32("viewMask").is_some_and(|m| m != 0),
                suspends: flags.contains(vk::RenderingFlags::SUSPENDING),
                resumes: flags.contains(vk::RenderingFlags::RESUMING),
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
        let multiview = self.multiview.get(&id).copied().unwrap_or(false);
        (name, Pass { inline: inline(v), multiview, ..Pass::default() })
    }
}

/// Whether a subpass' commands are recorded inline.
fn inline(v: View<'_>) -> bool {
    let contents = v.u32("contents").or_else(|| v.one("pSubpassBeginInfo").and_then(|i| i.u32("contents")));
    contents != Some(vk::SubpassContents::SECONDARY_COMMAND_BUFFERS.as_raw() as u32)
}
