//! Times of what submissions are made of: submissions, labels, render passes, commands.
//!
//! Timestamps are recorded into the application's command buffers around what is timed; a submission then gets command
//! buffers of the hook's own around each of the application's, which reset the queries before it and copy the results
//! after it, so that a command buffer that is submitted many times is timed each time. Results are read at a frame's end,
//! where a fence says that they are there: nothing waits for them.
//!
//! Guarantees: identity is (submission, position, recorded index); pictures stay as they are; every query is reset before
//! it is written. Stands further in than every hook that injects commands of its own, and outside of
//! [`super::frame_times`], whose times then hold what this hook costs.
//!
//! What secondary command buffers hold is timed for each execution on its own (`secondary.rs`). Identity is then
//! (submission, position, execution, recorded index).
//!
//! Refuses by name ([`CommandTimes::notes`]): queues without timestamps; submissions for device groups or protected
//! memory; what may not have anything recorded beside it. A command buffer that runs on two queues at once has no times
//! one can rely on; that is said too.

mod clock;
pub(crate) mod commands;
mod cpu;
mod found;
mod names;
mod queries;
mod record;
mod recording;
mod secondary;
mod slot;
mod state;
mod statistics;
mod submit;
mod waiting;

pub use cpu::CpuSpansHook;
pub use found::{CommandTimes, Level, Settings};
pub use state::CommandTimesHook;

use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use recording::At;
use replay::ash::vk;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::link::Linked;
use world::{Depth, Frame, Outcome};

const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"];
const OTHERS: &[&str] = &["vkDestroyDevice", "vkBeginCommandBuffer", "vkEndCommandBuffer"];

impl Hook for CommandTimesHook {
    fn name(&self) -> &'static str {
        "command-times"
    }

    fn needs(&self) -> Needs {
        Needs {
            optional_device_extensions: cpu::EXTENSIONS.to_vec(),
            statistics: self.settings.statistics,
            ..Needs::default()
        }
    }

    fn follows(&self) -> Depth {
        if self.settings.inside() { Depth::Commands } else { Depth::Objects }
    }

    fn wants(&self) -> Commands {
        let recorded =
            COMMANDS.iter().map(|c| c.name).filter(|n| self.settings.inside() && n.starts_with("vkCmd"));
        let others = OTHERS.iter().chain(names::REMEMBERED).copied();
        Commands::named(&others.chain(recorded).collect::<Vec<_>>())
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(SUBMITS)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if let Some(role) = self.roles[call.index] {
            let id = call.image.u64(0);
            let at = At::next(cx.objects.world(), id, role);
            if self.keep(cx, call, at) || !self.begun(cx, id)? {
                return next.run(cx, call);
            }
            return self.recorded(cx, id, call, next, at);
        }
        match call.command.name {
            "vkDestroyDevice" => {
                let device = call.image.u64(0);
                if let Some(vk) = cx.backend.vulkan()
                    && let Ok(d) = vk.device(device)
                {
                    d.wait_idle()?;
                    self.destroy(Some(device))?;
                }
                next.run(cx, call)
            }
            // How a secondary one begins is kept, too.
            "vkBeginCommandBuffer" => {
                let outcome = next.run(cx, call)?;
                if self.settings.inside() && outcome.called && outcome.result() >= 0 {
                    self.begin_secondary(cx, call)?;
                }
                Ok(outcome)
            }
            "vkEndCommandBuffer" => {
                let (id, at) = (call.image.u64(0), At::default());
                if self.settings.inside() && !self.keep(cx, call, at) && self.begun(cx, id)? {
                    self.finish_recording(id)?;
                }
                next.run(cx, call)
            }
            _ => {
                let outcome = next.run(cx, call)?;
                self.remember(call);
                Ok(outcome)
            }
        }
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        self.submitting(cx, call, linked)
    }

    fn invoked(&mut self, _: &mut Executor, _: &Call, _: &mut Linked, ret: u64) -> Result<()> {
        self.submitted(vk::Result::from_raw(ret as u32 as i32) == vk::Result::SUCCESS)
    }

    fn frame_begins(&mut self, _: &mut Executor) -> Result<()> {
        self.collect(None, true)
    }

    fn frame(&mut self, _: &mut Executor, frame: Frame) -> Result<()> {
        self.repeat = frame.repeat;
        self.numbering.restart();
        for w in self.waiting.iter_mut().filter(|w| w.repeat.is_none()) {
            w.repeat = Some(frame.repeat);
        }
        let devices: Vec<u64> = self.devices.keys().copied().collect();
        devices.into_iter().for_each(|d| self.calibrate(d, false));
        self.collect(None, false)
    }

    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        // Devices are idle.
        self.destroy(None)
    }
}
