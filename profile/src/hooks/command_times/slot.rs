//! What one submission needs: command buffers around the application's, a query pair of its own, and a buffer that the
//! results are copied to, since the application's command buffers may run again before anyone reads.
//!
//! Guarantees: a slot is used again only after its fence; its buffer grows only then.

use super::queries::Shared;
use super::statistics;
use crate::hooks::readable::Readable;
use crate::hooks::timestamps;
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::vulkan::DeviceState;

/// Slots made ahead.
const AHEAD: usize = 4;
/// Results a slot has room for at first.
const ROOM: usize = 2048;

/// One queue family's slots that nothing uses.
pub struct Slots {
    device: ash::Device,
    memory: vk::PhysicalDeviceMemoryProperties,
    pool: vk::CommandPool,
    free: Vec<Slot>,
    /// Secondary command buffers that nothing uses.
    secondaries: Vec<vk::CommandBuffer>,
    /// The device's query pools.
    pub spare: Shared,
    /// What its queues can count.
    pub counters: vk::QueryPipelineStatisticFlags,
    /// Valid bits of the family's timestamps.
    pub bits: u32,
    /// Nanoseconds a tick.
    pub period: f32,
    watchdog_ns: u64,
}

/// See the module's header.
pub struct Slot {
    commands: Vec<vk::CommandBuffer>,
    taken: usize,
    /// Begin and end of the submission.
    pub pair: vk::QueryPool,
    pub fence: vk::Fence,
    pub buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    map: *const u64,
    capacity: usize,
}

impl Slots {
    /// For a family that can reset and copy timestamps; otherwise none.
    pub fn new(device: &DeviceState, family: u32, spare: Shared) -> Result<Option<Self>> {
        let Some(f) = device.gpu.families.get(family as usize) else { return Ok(None) };
        if f.timestamp_valid_bits == 0
            || !f.queue_flags.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)
        {
            return Ok(None);
        }
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER | vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: a plain creation on a live device.
        let pool = unsafe { device.ash.create_command_pool(&info, None) };
        let mut slots = Slots {
            device: device.ash.clone(),
            memory: device.gpu.memory,
            pool: pool.map_err(|e| Error::driver("vkCreateCommandPool", e))?,
            free: Vec::new(),
            secondaries: Vec::new(),
            spare,
            counters: statistics::counters(device, family),
            bits: f.timestamp_valid_bits,
            period: device.gpu.properties.limits.timestamp_period,
            watchdog_ns: device.watchdog_ns,
        };
        // So that the first submissions find theirs.
        for _ in 0..AHEAD {
            let mut slot = slots.create()?;
            slots.grow(&mut slot, ROOM)?;
            slots.free.push(slot);
        }
        Ok(Some(slots))
    }

    /// A secondary command buffer to record into.
    pub fn secondary(&mut self) -> Result<vk::CommandBuffer> {
        if self.secondaries.is_empty() {
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.pool)
                .level(vk::CommandBufferLevel::SECONDARY)
                .command_buffer_count(8);
            // SAFETY: a plain allocation on a live device.
            let more = unsafe { self.device.allocate_command_buffers(&info) };
            self.secondaries = more.map_err(|e| Error::driver("vkAllocateCommandBuffers", e))?;
        }
        Ok(self.secondaries.pop().expect("just filled"))
    }

    /// Secondary command buffers that nothing executes any longer.
    pub fn give_secondaries(&mut self, all: Vec<vk::CommandBuffer>) {
        self.secondaries.extend(all);
    }

    /// A slot with room for this many results.
    pub fn take(&mut self, results: usize) -> Result<Slot> {
        let mut slot = match self.free.pop() {
            Some(s) => s,
            None => self.create()?,
        };
        slot.taken = 0;
        if slot.capacity < results {
            self.grow(&mut slot, results.next_power_of_two().max(ROOM))?;
        }
        Ok(slot)
    }

    /// A slot that nothing uses any longer.
    pub fn give(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    fn create(&self) -> Result<Slot> {
        let d = &self.device;
        let queries = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        // SAFETY: plain creations on a live device.
        unsafe {
            Ok(Slot {
                commands: Vec::new(),
                taken: 0,
                pair: d
                    .create_query_pool(&queries, None)
                    .map_err(|e| Error::driver("vkCreateQueryPool", e))?,
                fence: d
                    .create_fence(&vk::FenceCreateInfo::default(), None)
                    .map_err(|e| Error::driver("vkCreateFence", e))?,
                buffer: vk::Buffer::null(),
                memory: vk::DeviceMemory::null(),
                map: std::ptr::null(),
                capacity: 0,
            })
        }
    }

    fn grow(&self, slot: &mut Slot, results: usize) -> Result<()> {
        let d = &self.device;
        // SAFETY: ours; nothing uses the slot.
        unsafe {
            d.destroy_buffer(slot.buffer, None);
            d.free_memory(slot.memory, None);
        }
        (slot.buffer, slot.memory, slot.capacity) = (vk::Buffer::null(), vk::DeviceMemory::null(), 0);
        let made = Readable::new(d, &self.memory, results as u64 * 8)?;
        (slot.buffer, slot.memory, slot.map) = (made.buffer, made.memory, made.map.cast_const().cast());
        slot.capacity = results;
        Ok(())
    }

    /// A command buffer of the slot, recorded by `body`, to be submitted once.
    pub fn record(
        &self,
        slot: &mut Slot,
        body: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<vk::CommandBuffer> {
        let d = &self.device;
        // SAFETY: nothing uses the slot's command buffers; `body` only records.
        unsafe {
            if slot.taken == slot.commands.len() {
                let info =
                    vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(8);
                let more = d
                    .allocate_command_buffers(&info)
                    .map_err(|e| Error::driver("vkAllocateCommandBuffers", e))?;
                slot.commands.extend(more);
            }
            let cmd = slot.commands[slot.taken];
            slot.taken += 1;
            let info =
                vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            d.begin_command_buffer(cmd, &info).map_err(|e| Error::driver("vkBeginCommandBuffer", e))?;
            body(d, cmd);
            d.end_command_buffer(cmd).map_err(|e| Error::driver("vkEndCommandBuffer", e))?;
            Ok(cmd)
        }
    }

    /// Whether the submission is done; then its results can be read, and its fence is as new.
    pub fn done(&self, slot: &Slot, wait: bool) -> Result<bool> {
        let d = &self.device;
        // SAFETY: the fence was given to the queue after the submission.
        unsafe {
            if wait {
                timestamps::wait(d, slot.fence, self.watchdog_ns)?;
            } else if !d.get_fence_status(slot.fence).map_err(|e| Error::driver("vkGetFenceStatus", e))? {
                return Ok(false);
            }
            d.reset_fences(&[slot.fence]).map_err(|e| Error::driver("vkResetFences", e))?;
        }
        Ok(true)
    }

    /// Destroys what is here; the device is idle, and every slot was given back.
    pub fn destroy(self) {
        let d = &self.device;
        // SAFETY: the caller's promise.
        unsafe {
            for s in self.free {
                d.destroy_query_pool(s.pair, None);
                d.destroy_fence(s.fence, None);
                d.destroy_buffer(s.buffer, None);
                d.free_memory(s.memory, None);
            }
            d.destroy_command_pool(self.pool, None);
        }
    }
}

impl Slot {
    /// The first `n` results.
    pub fn results(&self, n: usize) -> &[u64] {
        assert!(n <= self.capacity, "the slot was taken with room for them");
        if n == 0 {
            return &[];
        }
        // SAFETY: mapped, coherent, and the fence made what the device wrote visible.
        unsafe { std::slice::from_raw_parts(self.map, n) }
    }
}

/// Makes results visible to the host.
pub fn visible(d: &ash::Device, cmd: vk::CommandBuffer) {
    let b = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ);
    let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
    // SAFETY: recording, outside of render passes.
    unsafe { d.cmd_pipeline_barrier(cmd, from, to, vk::DependencyFlags::empty(), &[b], &[], &[]) };
}
