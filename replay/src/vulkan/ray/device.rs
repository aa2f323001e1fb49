//! Devices that come and go, and what was translated on them.

use super::state::Counters;
use super::{copies, inputs, structures};
use crate::error::Result;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::state::Vulkan;
use std::collections::HashMap;
use world::Outcome;

/// A device was made: whether it needs any of this.
pub(super) fn device_made(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    if outcome.result() >= 0
        && let Some(d) = vk.devices.get(&new_object(call)?.0)
    {
        let has = |n: &str| d.extensions.iter().any(|e| e == n);
        vk.ray.on |= d.buffer_addresses && has("VK_KHR_acceleration_structure");
        vk.ray.translates |= vk.ray.on || vk.stand_ins.packs;
        let gpu = d.gpu_id;
        copies::device_made(vk, gpu);
    }
    Ok(())
}

/// A device is about to go.
pub(crate) fn device_gone(vk: &mut Vulkan, id: u64) -> Result<()> {
    collect(vk)?;
    let states = std::mem::take(&mut vk.ray.commands);
    let (gone, kept): (HashMap<_, _>, HashMap<_, _>) = states.into_iter().partition(|(_, s)| s.device == id);
    vk.ray.commands = kept;
    structures::forget(vk, id)?;
    inputs::forget(vk, id)?;
    vk.ray.pools.retain(|_, p| p.device() != id);
    let serials = [std::mem::take(&mut vk.ray.serials), std::mem::take(&mut vk.ray.host_serials)];
    let [serials, host_serials] = serials.map(|all| all.into_iter().partition(|(_, s)| s.device() == id));
    let (gone_serials, kept): (HashMap<_, _>, HashMap<_, _>) = serials;
    vk.ray.serials = kept;
    let (gone_host_serials, kept): (HashMap<_, _>, HashMap<_, _>) = host_serials;
    vk.ray.host_serials = kept;
    let patcher = vk.ray.patchers.remove(&id);
    let d = vk.device_mut(id)?;
    d.spare.drain().for_each(|o| o.destroy(&d.ash));
    for state in gone.into_values() {
        state.own.into_iter().for_each(|o| o.destroy(&d.ash));
    }
    gone_serials.into_values().chain(gone_host_serials.into_values()).for_each(|s| s.destroy(&d.ash));
    if let Some(p) = patcher {
        p.destroy(&d.ash);
    }
    Ok(())
}

/// Brings the counters home; the devices are idle.
pub(crate) fn collect(vk: &mut Vulkan) -> Result<()> {
    for p in vk.ray.patchers.values_mut() {
        let n = p.counters.take_words::<8>();
        let t = &mut vk.ray.totals;
        t.references[0] += u64::from(n[0]);
        t.references[1] += u64::from(n[1]);
        t.handles[0] += u64::from(n[2]);
        t.handles[1] += u64::from(n[3]);
        t.record_addresses += u64::from(n[4]);
    }
    Ok(())
}

impl Vulkan {
    /// What was translated inside buffers so far.
    pub fn translated(&self) -> Counters {
        self.ray.totals
    }
}
