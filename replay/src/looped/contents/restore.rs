//! Putting back what the frame changes, with one command buffer a device that is recorded once.

use super::copies::{barriers, bytes, full_barrier, move_images, regions};
use super::layouts::{Part, is_defined};
use super::snapshot::{ImageCopy, Restored, Snapshot, Work};
use crate::error::{Result, Vk};
use crate::exec::Executor;
use crate::vulkan::portability::refresh_aligned;
use crate::vulkan::{DeviceState, Vulkan, driver};
use ash::vk::{self, ImageLayout as L};

impl Snapshot {
    /// Puts everything back to what it was before the frame. After an iteration, nothing in flight; leaves it so.
    pub fn restore(&mut self, cx: &mut Executor) -> Result<Restored> {
        let mut all = Restored::default();
        let Some(vk) = cx.backend.vulkan() else { return Ok(all) };
        vk.finish_present()?;
        let devices: Vec<u64> = vk.devices.keys().copied().collect();
        for device in devices {
            vk.device(device)?.wait_idle()?;
            let r = match self.work(vk, device)?.recorded {
                Some(r) => r,
                None => {
                    let r = self.record(vk, device)?;
                    self.work(vk, device)?.recorded = Some(r);
                    r
                }
            };
            self.work(vk, device)?.submit(vk.device(device)?)?;
            forget_caches(vk, device)?;
            all.buffers += r.buffers;
            all.images += r.images;
            all.structures += r.structures;
            all.bytes += r.bytes;
        }
        Ok(all)
    }

    /// What belongs to a device, made when first needed.
    pub(super) fn work(&mut self, vk: &Vulkan, device: u64) -> Result<&mut Work> {
        match self.work.entry(device) {
            std::collections::hash_map::Entry::Occupied(w) => Ok(w.into_mut()),
            std::collections::hash_map::Entry::Vacant(w) => Ok(w.insert(Work::new(vk.device(device)?)?)),
        }
    }

    fn record(&mut self, vk: &mut Vulkan, device: u64) -> Result<Restored> {
        let cmd = self.work(vk, device)?.cmd;
        let d = vk.device(device)?.ash.clone();
        // SAFETY: the command buffer is idle; recording happens between begin and end.
        unsafe { d.begin_command_buffer(cmd, &vk::CommandBufferBeginInfo::default()) }
            .what("vkBeginCommandBuffer (contents)")?;
        full_barrier(&d, cmd);
        let mut done = Restored::default();
        self.buffers(&d, cmd, device, &mut done);
        full_barrier(&d, cmd);
        self.images(&d, cmd, device, &mut done);
        for (&id, b) in self.buffers.iter().filter(|b| b.1.device == device && !b.1.changed.is_empty()) {
            let ranges: Vec<(u64, u64)> = b.changed.iter().map(|(from, to)| (*from, to - from)).collect();
            refresh_aligned(vk, &d, cmd, id, &ranges);
        }
        (done.structures, done.bytes) = {
            let (n, bytes) = self.structures.restore(device, &d, cmd);
            (n, done.bytes + bytes)
        };
        full_barrier(&d, cmd);
        // SAFETY: as above.
        unsafe { d.end_command_buffer(cmd) }.what("vkEndCommandBuffer (contents)")?;
        Ok(done)
    }

    /// Zeros first: what the frame creates may lie where something older does.
    fn buffers(&self, d: &ash::Device, cmd: vk::CommandBuffer, device: u64, done: &mut Restored) {
        let changed = || self.buffers.values().filter(|b| b.device == device && !b.changed.is_empty());
        for b in changed().filter(|b| b.backup.is_none()) {
            done.buffers += 1;
            for (from, to) in &b.changed {
                let from = from & !3;
                let size = if *to == b.size { vk::WHOLE_SIZE } else { to.next_multiple_of(4) - from };
                done.bytes += to - from;
                // SAFETY: recording; the span lies in the buffer.
                unsafe { d.cmd_fill_buffer(cmd, b.live, from, size, 0) };
            }
        }
        if done.buffers > 0 {
            full_barrier(d, cmd);
        }
        for b in changed() {
            let Some(backup) = &b.backup else { continue };
            done.buffers += 1;
            let spans: Vec<vk::BufferCopy> = b
                .changed
                .iter()
                .map(|(from, to)| vk::BufferCopy { src_offset: *from, dst_offset: *from, size: to - from })
                .collect();
            done.bytes += spans.iter().map(|s| s.size).sum::<u64>();
            // SAFETY: recording; the spans lie in both.
            unsafe { d.cmd_copy_buffer(cmd, backup.live, b.live, &spans) };
        }
    }

    fn images(&self, d: &ash::Device, cmd: vk::CommandBuffer, device: u64, done: &mut Restored) {
        let of_device = self.images.values().filter(|i| i.state.device == device);
        let (mut shared, apart): (Vec<_>, Vec<_>) = of_device.partition(|i| i.shares);
        put_back(d, cmd, &apart, done);
        // What was used last before the frame is what its memory holds.
        shared.sort_by_key(|i| i.used);
        for i in shared {
            full_barrier(d, cmd);
            put_back(d, cmd, &[i], done);
        }
    }
}

/// The layout to go back to, if there is one.
fn again(start: L) -> Option<L> {
    match start {
        L::UNDEFINED => None,
        // Contents count, but there is no way back to it; so it is said to be GENERAL from then on.
        L::PREINITIALIZED => Some(L::GENERAL),
        other => Some(other),
    }
}

/// Images are what and where they were.
fn put_back(d: &ash::Device, cmd: vk::CommandBuffer, images: &[&ImageCopy], done: &mut Restored) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let copied = |i: &ImageCopy, p: Part| i.backup.is_some() && i.changed.contains(&p);
    for i in images {
        let mine = |there: bool| {
            i.start.moves(i.start.parts().filter_map(|p| {
                let (start, end) = (again(i.start.of(p))?, i.end.of(p));
                match (copied(i, p), there) {
                    (true, true) => Some((p, end, L::TRANSFER_DST_OPTIMAL)),
                    (true, false) => Some((p, L::TRANSFER_DST_OPTIMAL, start)),
                    // Contents are as they were; only the layout may not be.
                    (false, true) => is_defined(end).then_some((p, end, start)),
                    (false, false) => None,
                }
            }))
        };
        before.extend(barriers(i.state.live, &mine(true)));
        after.extend(barriers(i.state.live, &mine(false)));
    }
    move_images(d, cmd, &before);
    for i in images {
        let parts: Vec<Part> = i.changed.iter().copied().filter(|p| copied(i, *p)).collect();
        let Some(backup) = i.backup.as_ref().filter(|_| !parts.is_empty()) else { continue };
        done.images += 1;
        done.bytes += bytes(&i.state, &i.start, &parts);
        let regions = regions(&i.state, &i.start, &parts);
        let (from, to) = (L::TRANSFER_SRC_OPTIMAL, L::TRANSFER_DST_OPTIMAL);
        // SAFETY: recording a copy between live images of one shape.
        unsafe { d.cmd_copy_image(cmd, backup.live, from, i.state.live, to, &regions) };
    }
    move_images(d, cmd, &after);
}

impl Work {
    fn new(d: &DeviceState) -> Result<Self> {
        let (queue, family) = d.own_queue();
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: plain creations on a live device.
        unsafe {
            let pool = d.ash.create_command_pool(&info, None).what("vkCreateCommandPool (contents)")?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let cmd = d.ash.allocate_command_buffers(&info).what("vkAllocateCommandBuffers (contents)")?[0];
            let fence = d.ash.create_fence(&vk::FenceCreateInfo::default(), None);
            let fence = fence.what("vkCreateFence (contents)")?;
            Ok(Work { pool, cmd, fence, queue, staging: None, recorded: None })
        }
    }

    /// Runs the recorded commands and waits for them.
    fn submit(&mut self, d: &DeviceState) -> Result<()> {
        let cmds = [self.cmd];
        let submit = vk::SubmitInfo::default().command_buffers(&cmds);
        // SAFETY: recorded, and not in flight.
        unsafe {
            driver::submit(&d.ash, self.queue, &[submit], self.fence)?;
            d.wait(&[self.fence])?;
            d.ash.reset_fences(&[self.fence]).what("vkResetFences (contents)")
        }
    }
}

/// Memory that is mapped and not coherent: the host must not write stale lines over what was put back.
fn forget_caches(vk: &Vulkan, device: u64) -> Result<()> {
    use vk::MemoryPropertyFlags as F;
    let d = vk.device(device)?;
    let atom = d.gpu.properties.limits.non_coherent_atom_size.max(1);
    let ranges: Vec<vk::MappedMemoryRange<'_>> = vk
        .memory
        .by_id
        .values()
        .filter(|m| m.device == device && m.live != vk::DeviceMemory::null())
        .filter(|m| m.flush || m.flags.contains(F::HOST_VISIBLE) && !m.flags.contains(F::HOST_COHERENT))
        .filter_map(|m| Some((m, m.mapped.as_ref()?.0)).filter(|(_, at)| at % atom == 0))
        .map(|(m, at)| vk::MappedMemoryRange::default().memory(m.live).offset(at).size(vk::WHOLE_SIZE))
        .collect();
    if ranges.is_empty() {
        return Ok(());
    }
    // SAFETY: mapped from that offset on.
    unsafe { d.ash.invalidate_mapped_memory_ranges(&ranges) }
        .what("vkInvalidateMappedMemoryRanges (contents)")
}
