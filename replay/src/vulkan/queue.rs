//! Submissions.

use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use crate::options::MemoryMode;
use crate::vulkan::linked_call::LinkedCall;
use ash::vk::Handle;
use gfxr_parse::ahead::Call;
use gfxr_parse::argument;
use gfxr_parse::schema::{Ty, generated::STRUCTS};
use world::Outcome;

/// A linked submission is handed over.
pub(super) fn hand_over(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    super::swapchain::settle(vk)?;
    super::shader_pointers::before_submit(vk, objects.world(), call)?;
    if std::mem::take(&mut vk.shader_pointers.untold) {
        report.note("shaders were not understood; their pointers are found by what words look like");
    }
    if vk.ray.on {
        super::ray::refresh(vk)?;
    }
    if let Some(q) = vk.queues.get(&call.image.u64(0)) {
        super::watchdog::before_waiting(vk, q.device)?;
    }
    let outcome = vk.raw(call, linked, report);
    // One that the driver does not return from is under way, too, whatever its fence says.
    let fence = match &outcome {
        Ok(o) if o.result() >= 0 => Some(linked.arg(argument!("vkQueueSubmit", "fence"))),
        Err(e) if e.is_gone() => Some(0),
        _ => None,
    };
    if let Some(fence) = fence
        && let Some(q) = vk.queues.get(&call.image.u64(0))
    {
        vk.watch.submitted(call, q.device, ash::vk::Fence::from_raw(fence));
    }
    outcome
}

/// A linked submission that executes nothing: it waits and signals.
pub fn empty(call: &Call, linked: &mut Linked) -> Result<()> {
    let infos = &call.command.params[argument!("vkQueueSubmit", "pSubmits")];
    if let (Ty::Struct(id), Some(p)) = (infos.ty, call.image.ptr(infos.at).filter(|p| p.has_data())) {
        let def = &STRUCTS[id as usize];
        let counts = ["commandBufferCount", "commandBufferInfoCount"];
        let count = def.members.iter().find(|m| counts.contains(&m.name));
        let count = count.ok_or_else(|| Error::new(Kind::Internal, "a submission has no command buffers"))?;
        for i in 0..p.len as u32 {
            linked.set_u32_at(p.to + i * def.size + count.at, 0);
        }
    }
    Ok(())
}

/// vkQueueBindSparse: passes through where memory does.
pub fn bind_sparse(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    super::swapchain::settle(vk)?;
    if vk.memory.mode == MemoryMode::Rebind {
        return super::portability::sparse::bind(vk, call, linked);
    }
    vk.raw(call, linked, report)
}
