//! Secondary command buffers. One is recorded once and executed many times, also twice in one pass, so that timestamps
//! inside it would be overwritten before anyone reads them. Therefore the application's own stays as it is, its calls are
//! kept, and each vkCmdExecuteCommands gets a copy of it, recorded from these calls into a command buffer of the hook's
//! own, with queries of the command buffer that executes it. Copies execute others in the same way.
//!
//! Guarantees: each execution is timed on its own. Refuses, by a note, those that trace rays or build acceleration
//! structures: the replay translates addresses for these, once for what is recorded. They are timed as one command.

use super::record::{family, views};
use super::recording::{At, Pass, Secondary};
use super::state::CommandTimesHook;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::ash::vk::{self, Handle};
use replay::error::{Error, Result};
use replay::exec::Executor;
use replay::hook::Next;
use std::rc::Rc;
use world::walk::Step;
use world::{Outcome, World};

/// What the replay does more for than call the driver.
fn translated(name: &str) -> bool {
    ["vkCmdBuildAccelerationStructures", "vkCmdTraceRays", "vkCmdUpdateBuffer"]
        .iter()
        .any(|n| name.starts_with(n))
}

fn is_secondary(cx: &Executor, buffer: u64) -> bool {
    cx.objects.world().command_buffers.get(&buffer).is_some_and(|b| b.secondary)
}

fn copy(call: &Call) -> Call {
    Call { image: call.image.clone(), ..*call }
}

impl CommandTimesHook {
    /// vkBeginCommandBuffer has succeeded.
    pub(super) fn begin_secondary(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let id = call.image.u64(0);
        if is_secondary(cx, id)
            && let Some((device, family)) = family(cx, id)
            && self.slots(cx, device, family)?.is_some()
        {
            let s = Secondary { calls: vec![(copy(call), At::default())], copies: true };
            self.secondaries.insert(id, Rc::new(s));
        }
        Ok(())
    }

    /// Keeps a call that is recorded into a secondary command buffer; false if it is none.
    pub(super) fn keep(&mut self, cx: &Executor, call: &Call, at: At) -> bool {
        let id = call.image.u64(0);
        if !is_secondary(cx, id) {
            return false;
        }
        // Whoever executes it holds it no longer than vkCmdExecuteCommands takes.
        if let Some(s) = self.secondaries.get_mut(&id).and_then(Rc::get_mut) {
            s.copies &= !translated(call.command.name);
            s.calls.push((copy(call), at));
        }
        true
    }

    /// vkCmdExecuteCommands, recorded into what `id` is the recording of.
    pub(super) fn execute(
        &mut self,
        cx: &mut Executor,
        id: u64,
        call: &Call,
        next: Next,
    ) -> Result<Option<Outcome>> {
        let ids = View::call(&call.image).u64s("pCommandBuffers");
        let all: Option<Vec<Rc<Secondary>>> = ids.iter().map(|s| self.secondaries.get(s).cloned()).collect();
        let Some(all) = all.filter(|all| all.iter().all(|s| s.copies)) else {
            self.out.borrow_mut().note(
                "vkCmdExecuteCommands of command buffers that trace rays or build acceleration structures: timed as one",
            );
            // (they are executions all the same)
            let mut entered = 0;
            cx.objects.world().walk(&ids, &mut |_, step| entered += u32::from(matches!(step, Step::Enters)));
            if let Some(r) = self.recordings.get_mut(&id) {
                r.executed_as_one(entered);
            }
            return Ok(None);
        };
        if let Some(r) = self.recordings.get_mut(&id) {
            r.before_execute()?;
        }
        let mut live = Vec::with_capacity(ids.len());
        for (secondary, of) in ids.iter().zip(&all) {
            live.push(self.copy_of(cx, id, *secondary, of, next)?);
        }
        if let Some(r) = self.recordings.get(&id) {
            // SAFETY: recording, where the application executes; the copies are recorded, each for this one place.
            unsafe { r.target.ash.cmd_execute_commands(r.here.live, &live) };
        }
        Ok(Some(Outcome { ret: 0, called: true }))
    }

    /// Records a secondary command buffer again, timed.
    fn copy_of(
        &mut self,
        cx: &mut Executor,
        id: u64,
        secondary: u64,
        of: &Secondary,
        next: Next,
    ) -> Result<vk::CommandBuffer> {
        let Some(r) = self.recordings.get(&id) else { return Err(Error::divergence("not recording")) };
        let (device, family) = (r.target.device, r.target.family);
        let Some(slots) = self.slots(cx, device, family)? else {
            return Err(Error::divergence("a queue family without timestamps is recorded for"));
        };
        let live = slots.secondary()?;
        let name = {
            let out = self.out.borrow();
            match out.names.objects.get(&secondary).filter(|n| !n.is_empty()) {
                Some(n) => format!("secondary '{n}'"),
                None => format!("secondary {secondary}"),
            }
        };
        let Some(r) = self.recordings.get_mut(&id) else { return Err(Error::divergence("not recording")) };
        r.copies.push(live);
        let node = self.out.borrow_mut().names.node(r.node(), &name);
        let pass = of.calls.first().and_then(|(begin, _)| inherited(cx.objects.world(), begin));
        let original = cx.objects.swap(secondary, live.as_raw());
        let recorded = self.record_copy(cx, id, (secondary, live, node), pass, of, next);
        cx.objects.swap(secondary, original);
        recorded.map(|()| live)
    }

    fn record_copy(
        &mut self,
        cx: &mut Executor,
        id: u64,
        (secondary, live, node): (u64, vk::CommandBuffer, u32),
        pass: Option<Pass>,
        of: &Secondary,
        next: Next,
    ) -> Result<()> {
        for (kept, at) in &of.calls {
            let mut call = copy(kept);
            match call.command.name {
                "vkBeginCommandBuffer" => {
                    next.run(cx, &mut call)?;
                    if let Some(r) = self.recordings.get_mut(&id) {
                        r.enter(secondary, live, node, pass.clone())?;
                    }
                }
                "vkEndCommandBuffer" => {
                    if let Some(r) = self.recordings.get_mut(&id) {
                        r.leave()?;
                    }
                    next.run(cx, &mut call)?;
                }
                _ => {
                    self.recorded(cx, id, &mut call, next, *at)?;
                }
            }
        }
        Ok(())
    }
}

/// The pass that a secondary command buffer goes on with.
fn inherited(world: &World, begin: &Call) -> Option<Pass> {
    let info = View::call(&begin.image).one("pBeginInfo")?;
    let flags = vk::CommandBufferUsageFlags::from_raw(info.u32("flags").unwrap_or(0));
    if !flags.contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE) {
        return None;
    }
    let inherits = info.one("pInheritanceInfo")?;
    let mut pass = Pass { inline: true, ..Pass::default() };
    match inherits.next("VkCommandBufferInheritanceRenderingInfo") {
        Some(rendering) => pass.views = [rendering.u32("viewMask").unwrap_or(0).count_ones()].into(),
        None => {
            pass.views = views(world, inherits.u64("renderPass").unwrap_or(0));
            pass.subpass = inherits.u32("subpass").unwrap_or(0) as usize;
        }
    }
    Some(pass)
}
