//! Timestamp pairs around submissions of one queue.
//!
//! A pair is two tiny command buffers recorded once: one resets two queries and writes the first, one writes the
//! second. Pairs are used again when their results have been read. Guarantees: results come back in order of use.
//! Refuses queues without timestamps, and queues that cannot reset queries (transfer only).

use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::vulkan::{DeviceState, QueueState, driver};
use std::collections::VecDeque;
use std::time::Instant;

/// Pairs a query pool holds.
const PAIRS: u32 = 64;

/// Command buffers that enclose a submission.
#[derive(Clone, Copy)]
pub struct Pair {
    pub begin: vk::CommandBuffer,
    pub end: vk::CommandBuffer,
    queries: vk::QueryPool,
    first: u32,
}

/// One queue's timer.
pub struct Timer {
    device: ash::Device,
    pool: vk::CommandPool,
    query_pools: Vec<vk::QueryPool>,
    free: Vec<Pair>,
    used: VecDeque<(Pair, usize)>,
    valid_bits: u32,
    period_ns: f64,
    last_end: Option<u64>,
    watchdog_ns: u64,
}

/// A finished pair: whose it was and how long it took.
pub struct Span {
    /// What the user of the pair said it was for.
    pub tag: usize,
    /// Nanoseconds, not counting what overlapped with the pair before it on this queue.
    pub nanos: u64,
}

impl Timer {
    /// A timer for a queue, or none if it cannot have one.
    pub fn new(device: &DeviceState, queue: &QueueState) -> Result<Option<Self>> {
        let Some(family) = device.gpu.families.get(queue.family as usize) else { return Ok(None) };
        let able = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        if family.timestamp_valid_bits == 0 || !family.queue_flags.intersects(able) {
            return Ok(None);
        }
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(queue.family);
        // SAFETY: a plain creation on a live device.
        let pool = unsafe { device.ash.create_command_pool(&info, None) };
        Ok(Some(Timer {
            device: device.ash.clone(),
            pool: pool.map_err(|e| Error::driver("vkCreateCommandPool", e))?,
            query_pools: Vec::new(),
            free: Vec::new(),
            used: VecDeque::new(),
            valid_bits: family.timestamp_valid_bits,
            period_ns: f64::from(device.gpu.properties.limits.timestamp_period),
            last_end: None,
            watchdog_ns: device.watchdog_ns,
        }))
    }

    fn grow(&mut self) -> Result<()> {
        let d = &self.device;
        // SAFETY: plain creations; command buffers are recorded between begin and end and are not in use.
        unsafe {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(PAIRS * 2);
            let queries =
                d.create_query_pool(&info, None).map_err(|e| Error::driver("vkCreateQueryPool", e))?;
            self.query_pools.push(queries);
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.pool)
                .command_buffer_count(PAIRS * 2);
            let cmds = d
                .allocate_command_buffers(&info)
                .map_err(|e| Error::driver("vkAllocateCommandBuffers", e))?;
            for i in 0..PAIRS {
                let pair = Pair {
                    begin: cmds[i as usize * 2],
                    end: cmds[i as usize * 2 + 1],
                    queries,
                    first: i * 2,
                };
                record(d, pair.begin, |cmd| {
                    d.cmd_reset_query_pool(cmd, queries, pair.first, 2);
                    d.cmd_write_timestamp(cmd, vk::PipelineStageFlags::TOP_OF_PIPE, queries, pair.first);
                })?;
                record(d, pair.end, |cmd| {
                    d.cmd_write_timestamp(
                        cmd,
                        vk::PipelineStageFlags::BOTTOM_OF_PIPE,
                        queries,
                        pair.first + 1,
                    );
                })?;
                self.free.push(pair);
            }
        }
        Ok(())
    }

    /// A pair for the next submission; `tag` comes back with its result.
    pub fn take(&mut self, tag: usize) -> Result<Pair> {
        if self.free.is_empty() {
            self.grow()?;
        }
        let pair = self.free.pop().expect("just grown");
        self.used.push_back((pair, tag));
        Ok(pair)
    }

    /// Pairs whose results have not been read.
    pub fn waiting(&self) -> usize {
        self.used.len()
    }

    /// Reads the results that are there; with `wait`, all of them (their submissions must have been made).
    pub fn collect(&mut self, wait: bool, mut each: impl FnMut(Span)) -> Result<()> {
        while let Some((pair, tag)) = self.used.front().copied() {
            let flags = if wait { vk::QueryResultFlags::WAIT } else { vk::QueryResultFlags::empty() };
            let mut ticks = [0u64; 2];
            // SAFETY: two queries, two 64-bit results.
            let r = unsafe {
                self.device.get_query_pool_results(
                    pair.queries,
                    pair.first,
                    &mut ticks,
                    flags | vk::QueryResultFlags::TYPE_64,
                )
            };
            match r {
                Err(vk::Result::NOT_READY) => return Ok(()),
                r => r.map_err(|e| Error::driver("vkGetQueryPoolResults", e))?,
            }
            self.used.pop_front();
            self.free.push(pair);
            each(Span { tag, nanos: self.nanos(ticks) });
        }
        Ok(())
    }

    fn nanos(&mut self, [begin, end]: [u64; 2]) -> u64 {
        let mask = if self.valid_bits >= 64 { u64::MAX } else { (1 << self.valid_bits) - 1 };
        let (begin, end) = (begin & mask, end & mask);
        // A submission may begin while the one before still runs: that time is already counted.
        let from = self.last_end.filter(|last| *last > begin && *last <= end).unwrap_or(begin);
        self.last_end = Some(end);
        (end.wrapping_sub(from) as f64 * self.period_ns) as u64
    }

    /// What enclosing costs, alone.
    pub fn calibrate(&mut self, queue: vk::Queue) -> Result<PairCost> {
        const ROUNDS: usize = 15;
        /// Pairs in one submission whose GPU time is measured.
        const PAIRS_AT_ONCE: usize = 16;
        let d = self.device.clone();
        // SAFETY: everything is made, used and destroyed here; every submission is waited for.
        unsafe {
            let fence = d
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .map_err(|e| Error::driver("vkCreateFence", e))?;
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
            let empty = d
                .allocate_command_buffers(&info)
                .map_err(|e| Error::driver("vkAllocateCommandBuffers", e))?[0];
            record(&d, empty, |_| {})?;
            let mut walls = [Vec::new(), Vec::new()];
            let mut gpu = [Vec::new(), Vec::new()];
            for round in 0..ROUNDS * 2 {
                let with = round % 2;
                let mut cmds = vec![empty];
                if with == 1 {
                    let pair = self.take(0)?;
                    cmds = vec![pair.begin, empty, pair.end];
                }
                walls[with].push(submit_and_wait(&d, queue, fence, &cmds, self.watchdog_ns)?);
                self.collect(true, |_| {})?;

                // The same many times between two timestamps: what the GPU itself needs for it.
                let around = self.take(OUTER)?;
                let mut cmds = vec![around.begin];
                for _ in 0..PAIRS_AT_ONCE {
                    let pair = if with == 1 { Some(self.take(0)?) } else { None };
                    cmds.extend(pair.map(|p| p.begin));
                    cmds.push(empty);
                    cmds.extend(pair.map(|p| p.end));
                }
                cmds.push(around.end);
                submit_and_wait(&d, queue, fence, &cmds, self.watchdog_ns)?;
                self.last_end = None;
                self.collect(true, |s| {
                    if s.tag == OUTER {
                        gpu[with].push(s.nanos)
                    }
                })?;
            }
            d.free_command_buffers(self.pool, &[empty]);
            d.destroy_fence(fence, None);
            self.last_end = None;
            let median = |v: &mut Vec<u64>| {
                v.sort_unstable();
                v.get(v.len() / 2).copied().unwrap_or(0)
            };
            let (without, with) = (median(&mut gpu[0]), median(&mut gpu[1]));
            Ok(PairCost {
                wall_ns: [median(&mut walls[0]), median(&mut walls[1])],
                gpu_ns: with.saturating_sub(without) as f64 / PAIRS_AT_ONCE as f64,
            })
        }
    }

    /// Destroys everything; nothing of it may be in flight.
    pub fn destroy(self) {
        // SAFETY: the caller waited for the device.
        unsafe {
            for q in self.query_pools {
                self.device.destroy_query_pool(q, None);
            }
            self.device.destroy_command_pool(self.pool, None);
        }
    }
}

/// The pair around others.
const OUTER: usize = 1;

/// What a pair costs.
#[derive(Clone, Copy, Debug)]
pub struct PairCost {
    /// Median wall time of submitting an empty command buffer and waiting for it, without and with a pair.
    pub wall_ns: [u64; 2],
    /// GPU time of a pair.
    pub gpu_ns: f64,
}

/// How long it takes.
///
/// # Safety
/// The command buffers are recorded, and the fence is nobody else's.
pub(super) unsafe fn submit_and_wait(
    d: &ash::Device,
    queue: vk::Queue,
    fence: vk::Fence,
    cmds: &[vk::CommandBuffer],
    watchdog_ns: u64,
) -> Result<u64> {
    let submit = vk::SubmitInfo::default().command_buffers(cmds);
    let start = Instant::now();
    // SAFETY: the caller's promise.
    unsafe {
        driver::submit(d, queue, &[submit], fence)?;
        wait(d, fence, watchdog_ns)?;
        let took = start.elapsed().as_nanos() as u64;
        d.reset_fences(&[fence]).map_err(|e| Error::driver("vkResetFences", e))?;
        Ok(took)
    }
}

/// Waits for a fence of the hooks' own, as long as the watchdog lets it.
///
/// # Safety
/// The fence is live and of this device.
pub unsafe fn wait(d: &ash::Device, fence: vk::Fence, watchdog_ns: u64) -> Result<()> {
    // SAFETY: the caller's promise.
    match unsafe { d.wait_for_fences(&[fence], true, watchdog_ns) } {
        Err(vk::Result::TIMEOUT) => {
            Err(Error::hang("a submission that is timed did not finish", watchdog_ns))
        }
        r => r.map_err(|e| Error::driver("vkWaitForFences", e)),
    }
}

/// # Safety
/// The command buffer is new, and `body` only records.
pub(super) unsafe fn record(
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    body: impl FnOnce(vk::CommandBuffer),
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        // Results are read when they are there, not when a fence says that the whole submission is done.
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        d.begin_command_buffer(cmd, &info).map_err(|e| Error::driver("vkBeginCommandBuffer", e))?;
        body(cmd);
        d.end_command_buffer(cmd).map_err(|e| Error::driver("vkEndCommandBuffer", e))
    }
}
