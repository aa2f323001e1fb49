//! Command buffers that one submit call executes several times: what each execution copied is kept.
//!
//! Behind each execution but the last goes a command buffer of our own that copies the copies on. Guarantees: batches,
//! semaphores and fences stay as they are; our command buffers are used again only once the device is idle. Refuses
//! submissions for device groups and protected memory ([`Again::submitting`] says so).

use super::landing::Landings;
use crate::hooks::frame_times::{BATCHES, COUNT, counted_elsewhere};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::exec::Executor;
use replay::link::Linked;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

struct Pool {
    ash: ash::Device,
    pool: vk::CommandPool,
    all: Vec<vk::CommandBuffer>,
    used: usize,
}

/// See the module's header.
#[derive(Default)]
pub struct Again {
    /// How often each command buffer was executed in this call so far.
    executed: HashMap<u64, u32>,
    /// By command buffer and execution: from which memory to which.
    wanted: HashMap<(u64, u32), (u64, u64)>,
    /// Memory of this call.
    taken: Vec<u64>,
    /// By device and queue family.
    pools: HashMap<(u64, u32), Pool>,
}

impl Again {
    /// A submit call begins; the device is idle, or may not be.
    pub fn begins(&mut self, landings: &mut Landings, idle: bool) {
        self.executed.clear();
        self.wanted.clear();
        if idle {
            self.taken.drain(..).for_each(|n| landings.give(n));
            self.pools.values_mut().for_each(|p| p.used = 0);
        }
    }

    /// A command buffer is executed that copies to this memory: where what its last execution in this call copied will be,
    /// if there was one.
    pub fn executes(&mut self, landings: &mut Landings, buffer: u64, landing: u64) -> Result<Option<u64>> {
        let n = self.executed.entry(buffer).or_default();
        *n += 1;
        if *n < 2 {
            return Ok(None);
        }
        let other = landings.another(landing)?;
        if let Some(other) = other {
            self.taken.push(other);
            self.wanted.insert((buffer, *n - 2), (landing, other));
        }
        Ok(other)
    }

    /// Whether this memory is of an execution that others follow in this call.
    pub fn keeps(&self, landing: u64) -> bool {
        self.taken.contains(&landing)
    }

    /// The submit call is about to reach the driver. False if it cannot be changed.
    pub fn submitting(
        &mut self,
        cx: &mut Executor,
        call: &Call,
        linked: &mut Linked,
        landings: &Landings,
    ) -> Result<bool> {
        if self.wanted.is_empty() {
            return Ok(true);
        }
        let older = call.command.canonical == "vkQueueSubmit";
        let batches: Vec<Vec<u64>> = View::call(&call.image)
            .structs("pSubmits")
            .map(|b| match older {
                true => b.u64s("pCommandBuffers"),
                false => b.structs("pCommandBufferInfos").filter_map(|i| i.u64("commandBuffer")).collect(),
            })
            .collect();
        let n = linked.arg(COUNT) as u32 as usize;
        let Some(vk) = cx.backend.vulkan() else { return Ok(false) };
        let queue = vk.queue(call.image.u64(0)).copied();
        let Some(queue) = queue.filter(|_| n == batches.len() && linked.arg(BATCHES) != 0) else {
            return Ok(false);
        };
        let pool = (queue.device, queue.family);
        let ash = vk.device(queue.device)?.ash.clone();
        let mut executed: HashMap<u64, u32> = HashMap::new();
        let missing = || Error::divergence("a submission holds fewer command buffers than it says");
        if older {
            let mut infos = linked.params::<vk::SubmitInfo<'_>>(BATCHES, COUNT).ok_or_else(missing)?.to_vec();
            if infos.iter().any(|i| counted_elsewhere(linked, i.p_next)) {
                return Ok(false);
            }
            for (info, ids) in infos.iter_mut().zip(&batches).filter(|i| !i.1.is_empty()) {
                let live = linked.all(info.p_command_buffers, ids.len() as u32).ok_or_else(missing)?;
                let mut all = Vec::new();
                for (c, id) in live.iter().zip(ids) {
                    all.push(*c);
                    all.extend(self.behind(&ash, pool, *id, &mut executed, landings)?);
                }
                info.command_buffer_count = all.len() as u32;
                info.p_command_buffers = linked.keep(&all);
            }
            linked.params_mut(BATCHES, COUNT).ok_or_else(missing)?.copy_from_slice(&infos);
        } else {
            let mut infos =
                linked.params::<vk::SubmitInfo2<'_>>(BATCHES, COUNT).ok_or_else(missing)?.to_vec();
            if infos.iter().any(|i| i.flags.contains(vk::SubmitFlags::PROTECTED)) {
                return Ok(false);
            }
            for (info, ids) in infos.iter_mut().zip(&batches).filter(|i| !i.1.is_empty()) {
                let live = linked.all(info.p_command_buffer_infos, ids.len() as u32).ok_or_else(missing)?;
                let mut all = Vec::new();
                for (c, id) in live.iter().zip(ids) {
                    all.push(*c);
                    let own = self.behind(&ash, pool, *id, &mut executed, landings)?;
                    all.extend(own.map(|c| vk::CommandBufferSubmitInfo::default().command_buffer(c)));
                }
                info.command_buffer_info_count = all.len() as u32;
                info.p_command_buffer_infos = linked.keep(&all);
            }
            linked.params_mut(BATCHES, COUNT).ok_or_else(missing)?.copy_from_slice(&infos);
        }
        Ok(true)
    }

    /// What goes behind an execution, if anything does.
    fn behind(
        &mut self,
        d: &ash::Device,
        key: (u64, u32),
        id: u64,
        executed: &mut HashMap<u64, u32>,
        landings: &Landings,
    ) -> Result<Option<vk::CommandBuffer>> {
        let n = executed.entry(id).or_default();
        *n += 1;
        let Some((from, to)) = self.wanted.get(&(id, *n - 1)) else { return Ok(None) };
        let (Some((_, source, at)), Some((_, target, there))) = (landings.place(*from), landings.place(*to))
        else {
            return Ok(None);
        };
        let region = vk::BufferCopy { src_offset: at, dst_offset: there, size: landings.size(*from) };
        let commands = self.commands(d, key)?;
        let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let begin = vk::CommandBufferBeginInfo::default().flags(once);
        // SAFETY: ours, and not in use; both pieces have that size.
        unsafe {
            d.begin_command_buffer(commands, &begin).map_err(|e| Error::driver("vkBeginCommandBuffer", e))?;
            super::copies::enclosed(d, commands, || d.cmd_copy_buffer(commands, source, target, &[region]));
            d.end_command_buffer(commands).map_err(|e| Error::driver("vkEndCommandBuffer", e))?;
        }
        Ok(Some(commands))
    }

    fn commands(&mut self, d: &ash::Device, key: (u64, u32)) -> Result<vk::CommandBuffer> {
        let pool = match self.pools.entry(key) {
            Entry::Occupied(pool) => pool.into_mut(),
            Entry::Vacant(place) => {
                let info = vk::CommandPoolCreateInfo::default()
                    .queue_family_index(key.1)
                    .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
                // SAFETY: a plain creation on a live device.
                let pool = unsafe { d.create_command_pool(&info, None) };
                let pool = pool.map_err(|e| Error::driver("vkCreateCommandPool", e))?;
                place.insert(Pool { ash: d.clone(), pool, all: vec![], used: 0 })
            }
        };
        if pool.used == pool.all.len() {
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(pool.pool).command_buffer_count(4);
            // SAFETY: a plain allocation on a live device.
            let more = unsafe { d.allocate_command_buffers(&info) };
            pool.all.extend(more.map_err(|e| Error::driver("vkAllocateCommandBuffers", e))?);
        }
        pool.used += 1;
        Ok(pool.all[pool.used - 1])
    }

    /// Destroys what a device has, or all; nothing is in use.
    pub fn destroy(&mut self, device: Option<u64>) {
        self.pools.retain(|key, p| {
            let goes = device.is_none_or(|d| d == key.0);
            if goes {
                // SAFETY: ours, and idle.
                unsafe { p.ash.destroy_command_pool(p.pool, None) };
            }
            !goes
        });
    }
}
