//! The pipelines that command buffers have bound at one point, in whose place changes bind others of their own.
//!
//! Guarantees: the application's own is bound again by the call that bound it; what is kept of a command buffer is kept a recording long. Refuses nothing.

use super::beside::Beside;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::Next;
use std::collections::HashMap;
use world::Outcome;
use world::objects::BindPoint;

/// See the module's header. `T`: what else is kept of a recording.
pub struct Bound<T> {
    point: BindPoint,
    recordings: HashMap<u64, Recording<T>>,
}

/// What a command buffer's recording has.
#[derive(Default)]
pub struct Recording<T> {
    number: u64,
    /// The call that bound its pipeline.
    bind: Option<Call>,
    /// Whether ours is bound in its place.
    ours: bool,
    /// See [`Bound`].
    pub also: T,
}

impl<T: Default> Bound<T> {
    /// Nothing yet.
    pub fn new(point: BindPoint) -> Self {
        Bound { point, recordings: HashMap::new() }
    }

    /// A command buffer's recording that is under way.
    pub fn recording(&mut self, cx: &Executor, buffer: u64) -> &mut Recording<T> {
        let number = cx.objects.world().recording(buffer).map_or(0, |r| r.number);
        let now = self.recordings.entry(buffer).or_default();
        if now.number != number {
            *now = Recording { number, ..Recording::default() };
        }
        now
    }

    /// vkCmdBindPipeline: runs it.
    pub fn binds(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let outcome = next.run(cx, call)?;
        let point = View::call(&call.image).u32("pipelineBindPoint").unwrap_or(0);
        if BindPoint::of(point) == self.point {
            let now = self.recording(cx, call.image.u64(0));
            (now.bind, now.ours) = (Some(call.clone()), false);
        }
        Ok(outcome)
    }

    /// vkCmdExecuteCommands: nothing is bound any more.
    pub fn forget(&mut self, buffer: u64) {
        self.recordings.remove(&buffer);
    }
}

impl<T> Recording<T> {
    /// Binds ours for the pipeline that is bound, or that itself, if it is not bound so; whether one is bound at all.
    pub fn bind(
        &mut self,
        cx: &mut Executor,
        (id, ours): (u64, bool),
        beside: &Beside<vk::Pipeline>,
        next: Next,
    ) -> Result<bool> {
        let Some(bind) = &self.bind else { return Ok(false) };
        if self.ours != ours {
            let ids: &[u64] = if ours { &[id] } else { &[] };
            beside.within(cx, ids, |cx| next.run(cx, &mut bind.clone()))?;
            self.ours = ours;
        }
        Ok(true)
    }
}
