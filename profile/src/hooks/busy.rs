//! Keeps a device busy before each iteration of a looped frame, so that its clock stays where load puts it.
//!
//! A device that has little to do lowers its clock: one short frame, and then the processor for ten times as long, looks to it like
//! idling, and the same frame takes three times as long a few seconds later. So memory is filled, on the queue that the frame
//! submits to first, until the time asked for is over; then the device is idle again and the iteration begins. Fills touch a buffer
//! of the hook's own and no pipeline; they leave caches without the frame's data, as putting back what it changes does, too.
//!
//! Guarantees: every fill is waited for before the frame begins, within the watchdog's time; nothing is done before the first
//! submission is known (the first warm-up iteration). Does nothing on queues that only transfer, and, unless that is asked for, on
//! devices that are the processor, whose clock is another matter.

use super::timestamps::{record, submit_and_wait};
use gfxr_parse::ahead::Call;
use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use replay::link::Linked;
use replay::vulkan::{DeviceState, QueueState};
use std::time::{Duration, Instant};
use world::Outcome;

/// Bytes that a fill fills.
const SIZE: u64 = 32 << 20;
/// Fills of a submission: 512 MiB, a fifth of a millisecond of a large device and a few of a small one.
const FILLS: u32 = 16;

/// What is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// For how long before each iteration.
    pub time: Duration,
    /// On devices that are the processor, too.
    pub processors: bool,
}

/// See the module's header.
pub struct BusyHook {
    asked: Busy,
    /// The first queue that was submitted to, by its captured id.
    queue: Option<u64>,
    filler: Option<Filler>,
    /// There is nothing to keep busy.
    idle: bool,
}

impl BusyHook {
    /// Nothing is known of the device yet.
    pub fn new(asked: Busy) -> Self {
        BusyHook { asked, queue: None, filler: None, idle: asked.time.is_zero() }
    }

    fn drop_filler(&mut self) {
        if let Some(filler) = self.filler.take() {
            filler.destroy();
        }
    }
}

impl Hook for BusyHook {
    fn name(&self) -> &'static str {
        "busy"
    }

    fn wants(&self) -> Commands {
        Commands::named(&["vkDestroyDevice"])
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(&["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"])
    }

    /// Our objects go before their device does. (Nothing of theirs is in flight: each submission was waited for.)
    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if self.filler.as_ref().is_some_and(|f| f.of == call.image.u64(0)) {
            self.drop_filler();
            self.queue = None;
        }
        next.run(cx, call)
    }

    fn linked(&mut self, _: &mut Executor, call: &Call, _: &mut Linked) -> Result<()> {
        self.queue.get_or_insert_with(|| call.image.u64(0));
        Ok(())
    }

    fn frame_begins(&mut self, cx: &mut Executor) -> Result<()> {
        let (Some(queue), false) = (self.queue, self.idle) else { return Ok(()) };
        if self.filler.is_none() {
            let Some(vulkan) = cx.backend.vulkan() else { return Ok(()) };
            let Some(q) = vulkan.queue(queue).copied() else { return Ok(()) };
            let device = vulkan.device(q.device)?;
            let processor = device.gpu.properties.device_type == vk::PhysicalDeviceType::CPU;
            if self.asked.processors || !processor {
                self.filler = Filler::new(device, &q)?;
            }
            self.idle = self.filler.is_none();
        }
        self.filler.as_ref().map_or(Ok(()), |filler| filler.run(self.asked.time))
    }

    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        self.drop_filler();
        Ok(())
    }
}

/// A recorded submission of fills.
struct Filler {
    /// The device's captured id.
    of: u64,
    device: ash::Device,
    queue: vk::Queue,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    pool: vk::CommandPool,
    cmd: vk::CommandBuffer,
    fence: vk::Fence,
    watchdog_ns: u64,
}

impl Filler {
    /// None where there is nothing to keep busy.
    fn new(device: &DeviceState, queue: &QueueState) -> Result<Option<Filler>> {
        let able = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let family = device.gpu.families.get(queue.family as usize);
        if !family.is_some_and(|f| f.queue_flags.intersects(able)) {
            return Ok(None);
        }
        let d = &device.ash;
        let failed = |e| Error::driver("making what keeps the device busy", e);
        let info = vk::BufferCreateInfo::default().size(SIZE).usage(vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: plain creations on a live device; the buffer is bound once, the command buffer is new.
        unsafe {
            let buffer = d.create_buffer(&info, None).map_err(failed)?;
            let need = d.get_buffer_memory_requirements(buffer);
            let props = &device.gpu.memory;
            let types = &props.memory_types[..props.memory_type_count as usize];
            let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
            let suits = |i: &usize| need.memory_type_bits >> i & 1 != 0;
            let ty = (0..types.len())
                .filter(suits)
                .max_by_key(|i| types[*i].property_flags.contains(local))
                .ok_or_else(|| Error::new(Kind::Unsupported, "--busy: no memory for a buffer"))?;
            let info =
                vk::MemoryAllocateInfo::default().allocation_size(need.size).memory_type_index(ty as u32);
            let memory = d.allocate_memory(&info, None).map_err(failed)?;
            d.bind_buffer_memory(buffer, memory, 0).map_err(failed)?;
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(queue.family);
            let pool = d.create_command_pool(&info, None).map_err(failed)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let cmd = d.allocate_command_buffers(&info).map_err(failed)?[0];
            let barrier = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE);
            let at = vk::PipelineStageFlags::TRANSFER;
            record(d, cmd, |cmd| {
                for n in 0..FILLS {
                    d.cmd_fill_buffer(cmd, buffer, 0, SIZE, n);
                    d.cmd_pipeline_barrier(cmd, at, at, vk::DependencyFlags::empty(), &[barrier], &[], &[]);
                }
            })?;
            let fence = d.create_fence(&vk::FenceCreateInfo::default(), None).map_err(failed)?;
            Ok(Some(Filler {
                of: device.id,
                device: d.clone(),
                queue: queue.live,
                buffer,
                memory,
                pool,
                cmd,
                fence,
                watchdog_ns: device.watchdog_ns,
            }))
        }
    }

    fn run(&self, time: Duration) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < time {
            // SAFETY: recorded in `new`, and not in flight: each is waited for; the fence is this one's.
            unsafe { submit_and_wait(&self.device, self.queue, self.fence, &[self.cmd], self.watchdog_ns)? };
        }
        Ok(())
    }

    fn destroy(self) {
        let d = &self.device;
        // SAFETY: nothing of it is in flight.
        unsafe {
            d.destroy_fence(self.fence, None);
            d.destroy_command_pool(self.pool, None);
            d.destroy_buffer(self.buffer, None);
            d.free_memory(self.memory, None);
        }
    }
}
