//! What a looped frame finds before it, besides contents: fences, events, semaphores, queries, descriptors, mappings;
//! remembered once and put back before each further iteration.
//!
//! Guarantees: only what differs is put back; the devices are idle before and after. Objects that the frame itself
//! creates go back to what they were when they had just been created.

#![allow(unsafe_code)]

mod descriptors;
mod maps;
mod queries;
mod sync;

use super::plan::Plan;
use crate::error::{Result, Vk};
use crate::exec::Executor;
use crate::vulkan::{Vulkan, was_reset};
use descriptors::Descriptors;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use maps::Maps;
use std::collections::HashMap;
use sync::Syncs;

/// See the module's header.
#[derive(Default)]
pub struct State {
    sync: Syncs,
    maps: Maps,
    descriptors: Descriptors,
    /// Pools of our own that the frame's sets come from, by captured pool.
    pools: HashMap<u64, ash::vk::DescriptorPool>,
}

/// Waits for everything, presents included.
pub fn idle(vk: &mut Vulkan) -> Result<()> {
    vk.finish_present()?;
    for (id, d) in &vk.devices {
        d.wait_idle()?;
        // Fences are about to be reset behind its back.
        vk.watch.idle(*id, None);
    }
    Ok(())
}

impl State {
    /// Before the frame; the devices are idle.
    pub fn take(cx: &mut Executor, plan: &Plan) -> Result<State> {
        let Executor { objects, backend, .. } = cx;
        let Some(vk) = backend.vulkan() else { return Ok(State::default()) };
        Ok(State {
            sync: Syncs::take(vk, objects, plan)?,
            maps: Maps::take(vk),
            descriptors: Descriptors::take(vk, objects, plan)?,
            pools: HashMap::new(),
        })
    }

    /// Before a call that allocates descriptor sets in the first iteration: they come from a pool of our own, because
    /// the frame's resets and frees are left out and the captured pool might run dry.
    pub fn before_allocation(&mut self, cx: &mut Executor, plan: &Plan, call: &Call) -> Result<()> {
        let Executor { objects, backend, .. } = cx;
        let Some(vk) = backend.vulkan() else { return Ok(()) };
        let info = View::call(&call.image).one("pAllocateInfo");
        let pool = info.and_then(|i| i.u64("descriptorPool")).unwrap_or(0);
        let (Some(layouts), Some(entry)) = (plan.allocated.get(&pool), objects.any(pool).copied()) else {
            return Ok(());
        };
        let own = match self.pools.get(&pool) {
            Some(own) => *own,
            None => {
                let d = vk.device(call.image.u64(0))?;
                let own = descriptors::pool(&d.ash, layouts.iter().map(|l| &**l))?;
                self.pools.insert(pool, own);
                own
            }
        };
        objects.insert(pool, ash::vk::Handle::as_raw(own), entry.ty);
        Ok(())
    }

    /// Puts everything back and says how many objects that took.
    pub fn restore(&mut self, cx: &mut Executor, plan: &Plan) -> Result<u64> {
        let Executor { objects, backend, .. } = cx;
        let Some(vk) = backend.vulkan() else { return Ok(0) };
        idle(vk)?;
        let mut n = self.sync.restore(vk, objects, plan)?;
        n += self.maps.restore(vk)?;
        n += self.descriptors.restore(vk)?;
        n += queries::restore(vk, objects, plan)?;
        idle(vk)?;
        Ok(n)
    }

    /// Recordings that were left in the middle begin anew.
    pub fn reset_recordings(cx: &mut Executor, plan: &Plan) -> Result<()> {
        use ash::vk::{CommandBuffer, CommandBufferResetFlags, Handle};
        let Executor { objects, backend, .. } = cx;
        let Some(vk) = backend.vulkan() else { return Ok(()) };
        let again = plan.recordings.iter().filter_map(|calls| calls.first()).map(|c| c.image.u64(0));
        for buffer in again.chain(plan.half.iter().copied()) {
            let Some((live, device)) = objects.live_of(buffer) else { continue };
            let d = vk.device(device)?;
            // SAFETY: idle, and from a pool whose command buffers may be reset one by one (`prepare` saw to it).
            unsafe {
                d.ash.reset_command_buffer(CommandBuffer::from_raw(live), CommandBufferResetFlags::empty())
            }
            .what("vkResetCommandBuffer")?;
            was_reset(objects, buffer);
        }
        Ok(())
    }
}
