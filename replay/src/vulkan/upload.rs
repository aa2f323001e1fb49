//! Copies of our own: into buffers and images while a snapshot is loaded, out of them for screenshots.
//!
//! One command buffer, one fence, one staging buffer a device; every copy is submitted and waited for. Nothing here is
//! in the object table, and nothing is timed.

use super::memory::{Mapped, best_type};
use super::{DeviceState, ImageState, region};
use crate::error::{Error, Kind, OWN_COPY_HANGS, Result, Vk};
use crate::vulkan::memory::pool::fits;
use crate::vulkan::region::Region;
use crate::vulkan::staging::{Staging, Upload};
use ash::vk;

impl Upload {
    /// Makes the objects.
    pub fn new(d: &DeviceState) -> Result<Self> {
        let (queue, family) = d.own_queue();
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: plain creations on a live device.
        unsafe {
            let pool = d.ash.create_command_pool(&info, None).what("vkCreateCommandPool")?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let cmd = d.ash.allocate_command_buffers(&info).what("vkAllocateCommandBuffers")?[0];
            let fence = d.ash.create_fence(&vk::FenceCreateInfo::default(), None).what("vkCreateFence")?;
            Ok(Upload { pool, cmd, fence, queue, staging: None, watchdog_ns: d.watchdog_ns })
        }
    }

    /// Destroys them. Nothing of ours is in flight between calls.
    pub fn destroy(self, device: &ash::Device) {
        // SAFETY: every submission was waited for.
        unsafe {
            if let Some(s) = self.staging {
                device.destroy_buffer(s.buffer, None);
                device.free_memory(s.memory, None);
            }
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
        }
    }

    /// Puts `data` at the beginning of the staging buffer, which is then at least `size` bytes large.
    pub(super) fn stage(
        &mut self,
        d: &ash::Device,
        props: &vk::PhysicalDeviceMemoryProperties,
        data: &[u8],
        size: u64,
    ) -> Result<vk::Buffer> {
        let s = self.staging(d, props, size.max(data.len() as u64))?;
        if !s.mapped.write(0, data) {
            return Err(Error::new(Kind::Internal, "the staging buffer is too small"));
        }
        Ok(s.buffer)
    }

    /// At least `size` bytes both sides can reach.
    fn staging(
        &mut self,
        d: &ash::Device,
        props: &vk::PhysicalDeviceMemoryProperties,
        size: u64,
    ) -> Result<&Staging> {
        if self.staging.as_ref().is_none_or(|s| s.size() < size) {
            if let Some(s) = self.staging.take() {
                // SAFETY: idle, as everything of ours is between calls.
                unsafe {
                    d.destroy_buffer(s.buffer, None);
                    d.free_memory(s.memory, None);
                }
            }
            self.staging = Some(Self::make_staging(d, props, size)?);
        }
        self.staging.as_ref().ok_or_else(|| Error::new(Kind::Internal, "no staging buffer"))
    }

    fn make_staging(
        d: &ash::Device,
        props: &vk::PhysicalDeviceMemoryProperties,
        size: u64,
    ) -> Result<Staging> {
        let size = size.checked_next_power_of_two().unwrap_or(size).max(1 << 16);
        // Shaders that draw contents read them from here.
        let usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::STORAGE_BUFFER;
        let largest = props.memory_heaps.iter().map(|h| h.size).max().unwrap_or(0);
        if size > largest {
            return Err(Error::new(
                Kind::Memory,
                format!("{size} bytes are to be copied at once, the largest memory here has {largest}"),
            ));
        }
        // SAFETY: made, bound and mapped in order; it stays mapped until its memory is freed, which drops the mapping.
        unsafe {
            let buffer = d
                .create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None)
                .what("vkCreateBuffer")?;
            let need = d.get_buffer_memory_requirements(buffer);
            let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let ty = best_type(props, need.memory_type_bits, visible, vk::MemoryPropertyFlags::HOST_CACHED)
                .ok_or_else(|| {
                Error::new(Kind::Unsupported, "no coherent host-visible memory for staging")
            })?;
            fits(props, ty, need.size)?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(need.size).memory_type_index(ty);
            let memory = d.allocate_memory(&info, None).what("vkAllocateMemory")?;
            d.bind_buffer_memory(buffer, memory, 0).what("vkBindBufferMemory")?;
            let mapped =
                d.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).what("vkMapMemory")?;
            Ok(Staging { buffer, memory, mapped: Mapped::new(mapped.cast(), 0, size) })
        }
    }

    /// Records, submits, waits.
    pub(super) fn run(&self, d: &ash::Device, record: impl FnOnce(vk::CommandBuffer)) -> Result<()> {
        // SAFETY: the command buffer is idle; recording happens between begin and end.
        unsafe {
            let begin =
                vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            d.begin_command_buffer(self.cmd, &begin).what("vkBeginCommandBuffer")?;
            record(self.cmd);
            d.end_command_buffer(self.cmd).what("vkEndCommandBuffer")?;
            let cmds = [self.cmd];
            let submit = vk::SubmitInfo::default().command_buffers(&cmds);
            super::driver::submit(d, self.queue, &[submit], self.fence)?;
            match d.wait_for_fences(&[self.fence], true, self.watchdog_ns) {
                Err(vk::Result::TIMEOUT) => {
                    return Err(Error::hang(OWN_COPY_HANGS, self.watchdog_ns));
                }
                r => r.what("vkWaitForFences")?,
            }
            d.reset_fences(&[self.fence]).what("vkResetFences")
        }
    }
}

fn barrier(
    image: &ImageState,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) -> vk::ImageMemoryBarrier<'static> {
    vk::ImageMemoryBarrier::default()
        .image(image.live)
        .old_layout(from)
        .new_layout(to)
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .subresource_range(image.range())
}

/// Records that an image goes from one layout to another, after and before everything else.
pub(super) fn transition(
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    image: &ImageState,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) {
    transition_part(d, cmd, image, image.range(), from, to);
}

fn transition_part(
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    image: &ImageState,
    range: vk::ImageSubresourceRange,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let barrier = barrier(image, from, to).subresource_range(range);
    // SAFETY: recording; the image is alive and idle.
    unsafe { d.cmd_pipeline_barrier(cmd, all, all, vk::DependencyFlags::empty(), &[], &[], &[barrier]) };
}

/// The level and layers that a region touches, in every aspect (depth and stencil move together).
fn range_of(image: &ImageState, region: &Region) -> vk::ImageSubresourceRange {
    let part = region.image_subresource;
    vk::ImageSubresourceRange {
        base_mip_level: part.mip_level,
        level_count: 1,
        base_array_layer: part.base_array_layer,
        layer_count: part.layer_count,
        ..image.range()
    }
}

/// What was copied is for the host to read.
fn to_host(d: &ash::Device, cmd: vk::CommandBuffer) {
    use vk::PipelineStageFlags as S;
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ);
    // SAFETY: recording.
    unsafe {
        d.cmd_pipeline_barrier(cmd, S::TRANSFER, S::HOST, vk::DependencyFlags::empty(), &[barrier], &[], &[])
    };
}

/// What was written is for whatever is submitted later.
pub(super) fn to_all(d: &ash::Device, cmd: vk::CommandBuffer) {
    use vk::PipelineStageFlags as S;
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
    // SAFETY: recording.
    unsafe {
        d.cmd_pipeline_barrier(
            cmd,
            S::TRANSFER,
            S::ALL_COMMANDS | S::HOST,
            vk::DependencyFlags::empty(),
            &[barrier],
            &[],
            &[],
        );
    };
}

/// The layout one can ask for where the captured one is none (undefined, preinitialized).
pub(super) fn reachable(layout: vk::ImageLayout) -> Option<vk::ImageLayout> {
    (layout != vk::ImageLayout::UNDEFINED && layout != vk::ImageLayout::PREINITIALIZED).then_some(layout)
}

impl DeviceState {
    pub(super) fn with_upload<R>(
        &mut self,
        f: impl FnOnce(&mut Upload, &ash::Device, &vk::PhysicalDeviceMemoryProperties) -> Result<R>,
    ) -> Result<R> {
        let mut upload = match self.upload.take() {
            Some(u) => u,
            None => Upload::new(self)?,
        };
        let r = f(&mut upload, &self.ash, &self.gpu.memory);
        self.upload = Some(upload);
        r
    }

    /// Runs commands of ours and waits for them.
    pub(crate) fn run(&mut self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
        self.with_upload(|u, d, _| u.run(d, |cmd| record(d, cmd)))
    }

    /// Copies `data` into a buffer from its first byte on.
    pub(crate) fn write_buffer(&mut self, buffer: vk::Buffer, data: &[u8]) -> Result<()> {
        self.write_buffer_at(buffer, 0, data)
    }

    /// The same, from byte `at` on.
    pub fn write_buffer_at(&mut self, buffer: vk::Buffer, at: u64, data: &[u8]) -> Result<()> {
        self.with_upload(|u, d, props| {
            let from = u.stage(d, props, data, 0)?;
            u.run(d, |cmd| {
                let copy = vk::BufferCopy::default().dst_offset(at).size(data.len() as u64);
                // SAFETY: recording a copy between live buffers of that size.
                unsafe { d.cmd_copy_buffer(cmd, from, buffer, &[copy]) };
                to_all(d, cmd);
            })
        })
    }

    /// Fills the first bytes of buffers with zeros: (buffer, bytes). Whatever runs later sees them.
    pub fn clear_buffers(&mut self, buffers: &[(vk::Buffer, u64)]) -> Result<()> {
        self.with_upload(|u, d, _| {
            u.run(d, |cmd| {
                // SAFETY: recording fills of live buffers of that size.
                unsafe { buffers.iter().for_each(|(b, size)| d.cmd_fill_buffer(cmd, *b, 0, *size, 0)) };
                to_all(d, cmd);
            })
        })
    }

    /// Copies `size` bytes out of a buffer, from `offset` on.
    pub fn read_buffer(&mut self, buffer: vk::Buffer, offset: u64, size: u64) -> Result<Vec<u8>> {
        self.with_upload(|u, d, props| {
            let to = u.staging(d, props, size)?.buffer;
            u.run(d, |cmd| {
                let all = vk::PipelineStageFlags::ALL_COMMANDS;
                let before = vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                    .dst_access_mask(vk::AccessFlags::TRANSFER_READ);
                // SAFETY: recording a copy between live buffers of that size.
                unsafe {
                    d.cmd_pipeline_barrier(cmd, all, all, vk::DependencyFlags::empty(), &[before], &[], &[]);
                    d.cmd_copy_buffer(
                        cmd,
                        buffer,
                        to,
                        &[vk::BufferCopy::default().src_offset(offset).size(size)],
                    );
                }
                to_host(d, cmd);
            })?;
            u.staging(d, props, size)?.read(size)
        })
    }

    /// Copies `data` into an image and leaves it in `to` (or where the copy left it, if that is no real layout).
    pub(crate) fn write_image(
        &mut self,
        image: &mut ImageState,
        data: &[u8],
        regions: &[Region],
        to: vk::ImageLayout,
    ) -> Result<()> {
        regions.iter().try_for_each(|r| region::inside(image, r, data.len() as u64))?;
        let left_in = self.with_upload(|u, d, props| {
            let from = u.stage(d, props, data, 0)?;
            let copy = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            let end = reachable(to).unwrap_or(copy);
            u.run(d, |cmd| {
                transition(d, cmd, image, image.layout, copy);
                // SAFETY: recording; the regions lie inside both, as was checked above.
                unsafe { d.cmd_copy_buffer_to_image(cmd, from, image.live, copy, regions) };
                if end != copy {
                    transition(d, cmd, image, copy, end);
                }
            })?;
            Ok(end)
        })?;
        image.layout = left_in;
        Ok(())
    }

    /// Moves an image to a layout.
    pub(crate) fn move_image(&mut self, image: &mut ImageState, to: vk::ImageLayout) -> Result<()> {
        let Some(to) = reachable(to).filter(|to| *to != image.layout) else { return Ok(()) };
        self.with_upload(|u, d, _| u.run(d, |cmd| transition(d, cmd, image, image.layout, to)))?;
        image.layout = to;
        Ok(())
    }

    /// Copies out of an image that is in `layout`, and leaves it there. `size`: bytes that the regions cover. Waits for
    /// everything submitted so far, on whatever queue.
    pub fn read_image(
        &mut self,
        image: &ImageState,
        layout: vk::ImageLayout,
        regions: &[Region],
        size: u64,
    ) -> Result<Vec<u8>> {
        regions.iter().try_for_each(|r| region::inside(image, r, size))?;
        self.wait_idle()?;
        self.with_upload(|u, d, props| {
            let to = u.staging(d, props, size)?.buffer;
            let copy = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            u.run(d, |cmd| {
                let ranges = regions.iter().map(|r| range_of(image, r));
                ranges.clone().for_each(|r| transition_part(d, cmd, image, r, layout, copy));
                // SAFETY: recording; the regions lie inside both, as was checked above.
                unsafe { d.cmd_copy_image_to_buffer(cmd, image.live, copy, to, regions) };
                ranges.for_each(|r| transition_part(d, cmd, image, r, copy, layout));
                to_host(d, cmd);
            })?;
            u.staging(d, props, size)?.read(size)
        })
    }

    /// An empty submission that waits and signals, in the application's place.
    pub(crate) fn submit_empty(
        &self,
        queue: vk::Queue,
        wait: &[vk::Semaphore],
        signal: &[vk::Semaphore],
        fence: vk::Fence,
    ) -> Result<()> {
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; wait.len()];
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(wait)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(signal);
        // SAFETY: live handles; the capture's own order makes the waits satisfiable.
        unsafe { super::driver::submit(&self.ash, queue, &[submit], fence) }
    }
}
