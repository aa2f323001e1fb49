//! Who answers the calls: a driver, or the capture itself.

use crate::error::Result;
use crate::link::{Lenience, Linked};
use crate::objects::Objects;
use crate::report::{InFlight, Report};
use gfxr_parse::ahead::Call;
use world::{Frame, MetaBlock, Outcome};

/// See the module's header.
pub trait Backend {
    /// Its name, for reports.
    fn name(&self) -> &'static str;
    /// Answers a call without linking it (it has no meaning here), or says nothing.
    fn answer(
        &mut self,
        _objects: &mut Objects,
        _call: &Call,
        _report: &mut Report,
    ) -> Result<Option<Outcome>> {
        Ok(None)
    }
    /// Links a call.
    fn link(&mut self, objects: &Objects, call: &Call, linked: &mut Linked) -> Result<()>;
    /// Calls.
    fn invoke(
        &mut self,
        objects: &mut Objects,
        call: &Call,
        linked: &mut Linked,
        report: &mut Report,
    ) -> Result<Outcome>;
    /// A call was refused, or did not do what it did at capture: the replay may go on without it.
    fn left_out(&mut self, _: &mut Objects, _: &Call) {}
    /// A metadata block.
    fn meta(&mut self, objects: &mut Objects, meta: &mut MetaBlock<'_>, report: &mut Report) -> Result<()>;
    /// The limits of the device that calls go to, once there is one.
    fn limits(&self) -> Option<&ash::vk::PhysicalDeviceLimits> {
        None
    }
    /// The state snapshot of a trimmed capture begins or ends.
    fn state(&mut self, _objects: &mut Objects, _begins: bool, _report: &mut Report) -> Result<()> {
        Ok(())
    }
    /// A frame has ended.
    fn frame(&mut self, _frame: Frame) -> Result<()> {
        Ok(())
    }
    /// Submissions that are not known to have finished.
    fn in_flight(&mut self) -> Vec<InFlight> {
        Vec::new()
    }
    /// The replay has ended.
    fn finish(&mut self, report: &mut Report) -> Result<()>;
    /// Destroys what the capture has left behind; nobody asks for it any more.
    fn give_back(&mut self, _: &mut Objects) {}
    /// Itself, for those who know what it may be (`vulkan/state.rs`).
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        None
    }
}

/// Answers with what the capture recorded: the whole chain runs with no GPU. Live handles are the captured ids.
#[derive(Default)]
pub struct Echo {
    /// Metadata blocks seen.
    pub metas: u64,
}

impl Backend for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }
    fn link(&mut self, objects: &Objects, call: &Call, linked: &mut Linked) -> Result<()> {
        // The snapshot of a trimmed capture makes a swapchain whose predecessor may be gone.
        let handles = call.command.name == "vkCreateSwapchainKHR";
        linked.link(&call.image, objects, Lenience { handles, hint: None }, |a| a)
    }
    fn invoke(&mut self, _: &mut Objects, call: &Call, _: &mut Linked, _: &mut Report) -> Result<Outcome> {
        // The linked copy still holds the recorded outputs, ids among them: they become the live handles.
        Ok(Outcome { called: true, ..Outcome::captured(call) })
    }
    fn meta(&mut self, _: &mut Objects, _: &mut MetaBlock<'_>, _: &mut Report) -> Result<()> {
        self.metas += 1;
        Ok(())
    }
    fn finish(&mut self, _: &mut Report) -> Result<()> {
        Ok(())
    }
}
