//! Calls on their way to the driver: answered, linked, invoked, in the order that Vulkan asks for.
//!
//! Guarantees: what is not in order reaches no driver. Refuses, by name, what the device has no function for.

use super::handlers::{Handler, Handlers};
use super::linked_call::LinkedCall;
use super::order::{self, Order};
use super::{Vulkan, cleanup, init, portability, queue, ray, swapchain, watchdog};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::{InFlight, Report};
use ash::vk;
use gfxr_parse::ahead::Call;
use world::{Frame, MetaBlock, Outcome};

/// The backend that calls a Vulkan driver.
pub struct Driver {
    vk: Vulkan,
    handlers: Handlers,
    order: Order,
}

impl Driver {
    /// With what is known of the capture so far.
    pub fn new(vk: Vulkan) -> Self {
        Driver { vk, handlers: Handlers::new(), order: Order::new() }
    }

    /// A call names an image that cannot be made here and is only asked about.
    #[inline(never)]
    fn is_about_what_is_not_made(&self, call: &Call) -> bool {
        let unmade = &self.vk.unmade;
        !unmade.is_empty() && call.image.handles.iter().any(|h| unmade.contains(&call.image.u64(h.at)))
    }

    /// A call came out of order: what the replay does instead where it goes on.
    #[cold]
    fn refused(
        &mut self,
        why: Error,
        objects: &mut Objects,
        call: &Call,
        linked: &mut Linked,
        report: &mut Report,
    ) -> Error {
        if self.vk.options.keep_going
            && call.command.name.starts_with("vkQueueSubmit")
            // What waits for it would wait for ever.
            && let Err(e) = queue::empty(call, linked)
                .and_then(|()| portability::submit(&mut LinkedCall { vk: &mut self.vk, objects, call, linked, report }))
        {
            return e;
        }
        why
    }
}

impl Backend for Driver {
    fn name(&self) -> &'static str {
        "vulkan"
    }

    fn limits(&self) -> Option<&vk::PhysicalDeviceLimits> {
        self.vk.devices.values().next().map(|d| &d.gpu.properties.limits)
    }

    fn answer(&mut self, objects: &mut Objects, call: &Call, report: &mut Report) -> Result<Option<Outcome>> {
        if self.vk.differs && self.is_about_what_is_not_made(call) {
            return Ok(Some(Outcome::captured(call)));
        }
        match self.handlers.of(call.index) {
            Handler::Captured => Ok(Some(Outcome::captured(call))),
            Handler::Answer(f) => f(&mut self.vk, objects, call, report),
            _ => Ok(None),
        }
    }

    fn link(&mut self, objects: &Objects, call: &Call, linked: &mut Linked) -> Result<()> {
        let lenience = self.handlers.lenience(call.index);
        portability::link(&mut self.vk, objects, call, lenience, linked)?;
        if let Some(slot) = self.handlers.allocator_slot(call.index) {
            linked.set_arg(slot, 0);
        }
        Ok(())
    }

    fn invoke(
        &mut self,
        objects: &mut Objects,
        call: &Call,
        linked: &mut Linked,
        report: &mut Report,
    ) -> Result<Outcome> {
        let more = match order::before(&mut self.order, objects, call) {
            Ok(more) => more,
            Err(e) => return Err(self.refused(e, objects, call, linked, report)),
        };
        let outcome = self.handlers.run(&mut LinkedCall { vk: &mut self.vk, objects, call, linked, report });
        if more && let Ok(outcome) = &outcome {
            order::after(&mut self.order, objects, call, *outcome);
        }
        outcome
    }

    fn left_out(&mut self, objects: &mut Objects, call: &Call) {
        order::left_out(&mut self.order, objects, call);
    }

    fn meta(&mut self, objects: &mut Objects, meta: &mut MetaBlock<'_>, report: &mut Report) -> Result<()> {
        init::meta(&mut self.vk, objects, meta, report)
    }

    fn state(&mut self, objects: &mut Objects, begins: bool, report: &mut Report) -> Result<()> {
        if begins { Ok(()) } else { init::state_ends(&mut self.vk, objects, report) }
    }

    fn frame(&mut self, _frame: Frame) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, report: &mut Report) -> Result<()> {
        swapchain::settle(&mut self.vk)?;
        if self.vk.held.len() > 0 {
            report.note("submissions that wait for what nothing signals: not made");
        }
        for d in self.vk.devices.values() {
            d.wait_idle()?;
            d.tell_unfilled(report);
        }
        ray::collect(&mut self.vk)?;
        report.bridges = std::mem::take(&mut self.vk.bridges);
        portability::stand_ins::tell(&self.vk, report);
        portability::descriptor_buffers::tell(&self.vk, report);
        report.validation.extend(self.vk.messages.take());
        Ok(())
    }

    fn give_back(&mut self, objects: &mut Objects) {
        cleanup::give_back(&mut self.vk, objects);
    }

    fn in_flight(&mut self) -> Vec<InFlight> {
        watchdog::in_flight(&mut self.vk)
    }

    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(&mut self.vk)
    }
}
