//! One queue's submissions: a command buffer of ours before each, a fence of ours after it.

use super::marks::{Marks, Slot};
use gfxr_parse::ahead::Call;
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::vulkan::{DeviceState, QueueState, driver};
use std::collections::VecDeque;

/// A submission under way.
#[derive(Clone, Default)]
pub struct Pending {
    /// Which submission of the replay, from 0.
    pub number: u64,
    pub block: u64,
    pub frame: u64,
    /// Its command buffers, by the capture's ids.
    pub buffers: Vec<u64>,
    /// Labels that the queue was in.
    pub labels: Vec<String>,
    cmd: vk::CommandBuffer,
    fence: vk::Fence,
}

impl Pending {
    /// One that is about to be made.
    pub fn new(number: u64, call: &Call, buffers: Vec<u64>, labels: Vec<String>) -> Self {
        Pending { number, block: call.block, frame: call.frame, buffers, labels, ..Pending::default() }
    }
}

/// See the module's header.
pub struct Lane {
    pub device: u64,
    pub pending: VecDeque<Pending>,
    ash: ash::Device,
    queue: vk::Queue,
    /// None where the queue cannot copy: then nothing is wiped, and nothing says what has begun.
    pool: Option<vk::CommandPool>,
    /// Number + 1 of the last submission that has begun.
    begun: Slot,
    free: Vec<(vk::CommandBuffer, vk::Fence)>,
}

/// Whether a queue family can fill buffers.
pub fn copies(d: &DeviceState, family: u32) -> bool {
    use vk::QueueFlags as F;
    d.gpu
        .families
        .get(family as usize)
        .is_some_and(|f| f.queue_flags.intersects(F::GRAPHICS | F::COMPUTE | F::TRANSFER))
}

impl Lane {
    pub fn new(d: &DeviceState, q: &QueueState, begun: Slot) -> Result<Self> {
        let mut pool = None;
        if copies(d, q.family) {
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(q.family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            // SAFETY: a plain creation on a live device.
            let made = unsafe { d.ash.create_command_pool(&info, None) };
            pool = Some(made.map_err(|e| Error::driver("vkCreateCommandPool", e))?);
        }
        let (ash, pending, free) = (d.ash.clone(), VecDeque::new(), Vec::new());
        Ok(Lane { device: q.device, pending, ash, queue: q.live, pool, begun, free })
    }

    /// Submissions whose fence says so are done, and those before them.
    pub fn sweep(&mut self) {
        // SAFETY: fences of ours, alive.
        let done = |p: &Pending| unsafe { driver::signalled(&self.ash, p.fence) }.unwrap_or(false);
        while self.pending.front().is_some_and(done) {
            let Some(p) = self.pending.pop_front() else { break };
            // SAFETY: signalled, so nobody waits for it.
            if unsafe { self.ash.reset_fences(&[p.fence]) }.is_ok() {
                self.free.push((p.cmd, p.fence));
            }
        }
    }

    /// Has the device come to this submission?
    pub fn begun(&self, p: &Pending) -> bool {
        self.pool.is_none() || u64::from(self.begun.read()) > p.number
    }

    /// Wipes the marks of what will be submitted.
    pub fn before(&mut self, marks: &Marks, slots: &[Slot], p: &mut Pending) -> Result<()> {
        self.sweep();
        let d = &self.ash;
        let failed = |e| Error::driver("--breadcrumbs", e);
        // SAFETY: plain creations; the command buffer is not in use, and is recorded between begin and end.
        unsafe {
            (p.cmd, p.fence) = match self.free.pop() {
                Some(idle) => idle,
                None => {
                    let cmd = match self.pool {
                        Some(pool) => {
                            let info = vk::CommandBufferAllocateInfo::default();
                            let info = info.command_pool(pool).command_buffer_count(1);
                            d.allocate_command_buffers(&info).map_err(failed)?[0]
                        }
                        None => vk::CommandBuffer::null(),
                    };
                    (cmd, d.create_fence(&vk::FenceCreateInfo::default(), None).map_err(failed)?)
                }
            };
            if p.cmd == vk::CommandBuffer::null() {
                return Ok(());
            }
            let begin =
                vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            d.begin_command_buffer(p.cmd, &begin).map_err(failed)?;
            for slot in slots {
                marks.mark(p.cmd, *slot, 0, false);
            }
            marks.mark(p.cmd, self.begun, (p.number + 1) as u32, false);
            d.end_command_buffer(p.cmd).map_err(failed)?;
            let cmds = [p.cmd];
            let submit = vk::SubmitInfo::default().command_buffers(&cmds);
            driver::submit(d, self.queue, &[submit], vk::Fence::null())
        }
    }

    /// The submission was made.
    pub fn after(&mut self, p: Pending) -> Result<()> {
        let fence = p.fence;
        self.pending.push_back(p);
        // SAFETY: a fence of ours, not signalled and not in use.
        unsafe { driver::submit(&self.ash, self.queue, &[], fence) }
    }

    /// Destroys everything; the queue is idle.
    pub fn destroy(self) {
        // SAFETY: the caller's promise.
        unsafe {
            for f in self.free.iter().map(|f| f.1).chain(self.pending.iter().map(|p| p.fence)) {
                self.ash.destroy_fence(f, None);
            }
            if let Some(pool) = self.pool {
                self.ash.destroy_command_pool(pool, None);
            }
        }
    }
}
