//! Batches that wait for a timeline value which a later call signals, where both captured queues are one queue here.
//!
//! On two queues the one waits while the other goes on; on one, nothing behind the wait would ever run. So such a batch, and
//! what its captured queue gets behind it, is kept until what it waits for has been submitted, or signalled by the host.
//! Costs: the names and values of semaphores of each submission, on devices whose queues are shared. Refuses nothing; what
//! nothing signals until the replay ends is not submitted, and said.

use super::link::link;
use crate::error::Result;
use crate::link::{Lenience, Linked};
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::portability::waiting::Waiting;
use crate::vulkan::{Vulkan, queue};
use gfxr_parse::argument;
use gfxr_parse::schema::{Ty, generated::STRUCTS};
use gfxr_parse::view::View;
use world::Outcome;

/// vkQueueSubmit, vkQueueSubmit2.
pub(in crate::vulkan) fn submit(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let queue = c.call.image.u64(0);
    let device = c.vk.queues.get(&queue).and_then(|q| c.vk.devices.get(&q.device));
    if !device.is_some_and(|d| d.folding.shares) {
        return queue::hand_over(c);
    }
    let LinkedCall { vk, objects, call, linked, report } = c;
    let behind = vk.held.waiting.iter().any(|w| w.call.image.u64(0) == queue);
    let (to, of) = if behind { (0, 1) } else { vk.held.ready(objects.world(), call, 0) };
    let mut outcome = Outcome { called: true, ..Outcome::captured(call) };
    if to == of || to > 0 {
        outcome = part(LinkedCall { vk, objects, call, linked, report }, (0, to, of))?;
    }
    if to < of {
        report.note("submissions that wait for a later one on a queue that is the same here: made behind it");
        vk.held.waiting.push(Waiting { call: call.clone(), from: to });
    }
    wake(vk, objects, report)?;
    Ok(outcome)
}

/// vkSignalSemaphore: device, pSignalInfo.
pub(in crate::vulkan) fn signal(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    if let Some(info) = View::call(&call.image).one("pSignalInfo")
        && let (Some(semaphore), Some(value)) = (info.u64("semaphore"), info.u64("value"))
    {
        return signalled(&mut LinkedCall { vk, objects, call, linked, report }, semaphore, value);
    }
    Ok(())
}

/// The host has signalled a timeline.
pub(in crate::vulkan) fn signalled(c: &mut LinkedCall<'_>, semaphore: u64, value: u64) -> Result<()> {
    c.vk.held.signal(semaphore, value);
    wake(c.vk, c.objects, c.report)
}

/// Batches `from` to before `to` of a linked call.
fn part(mut c: LinkedCall<'_>, (from, to, of): (usize, usize, usize)) -> Result<Outcome> {
    let LinkedCall { call, linked, .. } = &mut c;
    if (from, to) != (0, of) {
        // (the newer command has the same parameters)
        const COUNT: usize = argument!("vkQueueSubmit", "submitCount");
        const BATCHES: usize = argument!("vkQueueSubmit", "pSubmits");
        let size = match call.command.params[BATCHES].ty {
            Ty::Struct(id) => STRUCTS[usize::from(id)].size,
            _ => 0,
        };
        linked.set_arg(COUNT, (to - from) as u64);
        linked.set_arg(BATCHES, linked.arg(BATCHES) + from as u64 * u64::from(size));
        if to < of {
            linked.set_arg(argument!("vkQueueSubmit", "fence"), 0);
        }
    }
    queue::hand_over(&mut c)
}

/// Submits what does not have to wait any more.
fn wake(vk: &mut Vulkan, objects: &mut Objects, report: &mut Report) -> Result<()> {
    let mut i = 0;
    while i < vk.held.waiting.len() {
        let queue = |w: &Waiting| w.call.image.u64(0);
        let own = queue(&vk.held.waiting[i]);
        if vk.held.waiting[..i].iter().any(|w| queue(w) == own) {
            i += 1;
            continue;
        }
        let Waiting { call, from } = vk.held.waiting.remove(i);
        let (to, of) = vk.held.ready(objects.world(), &call, from);
        if to > from || to == of {
            let mut linked = Linked::default();
            link(vk, objects, &call, Lenience::default(), &mut linked)?;
            part(LinkedCall { vk, objects, call: &call, linked: &mut linked, report }, (from, to, of))?;
        }
        if to < of {
            vk.held.waiting.insert(i, Waiting { call, from: to });
        }
        // What it signals may be what an earlier one waits for.
        i = if to > from { 0 } else { i + 1 };
    }
    Ok(())
}
