//! Fences, semaphores, events and swapchains as they are when a range begins, and the calls that make them so again.
//!
//! Guarantees: what was submitted before the range counts as done. Refuses nothing; events that only the device sees are left as they were made.

use super::before::{Before, Kept};
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::{Meta, SwapchainImage, SwapchainImages};
use gfxr_parse::schema::command_named;
use gfxr_parse::view::View;
use gfxr_parse::writer::{ParamWriter, Writer};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use world::objects::Sync;
use world::semaphores::Semaphores;
use world::{Ids, World};

/// VK_IMAGE_LAYOUT_PRESENT_SRC_KHR.
const PRESENT_SRC: u32 = 1_000_001_002;

/// A swapchain.
#[derive(Clone, Debug, Default)]
struct Chain {
    device: u64,
    images: Vec<u64>,
    /// By index: the semaphore and the fence of an acquisition that was not presented.
    acquired: BTreeMap<u32, (u64, u64)>,
    /// By index: the queue that presented it last.
    presented: BTreeMap<u32, u64>,
    last: Option<u32>,
}

/// Followed up to the range.
#[derive(Debug, Default)]
pub struct State {
    /// Fences that something signals, and those that were reset.
    fences: HashMap<u64, bool>,
    devices: HashMap<u64, u64>,
    queues: BTreeMap<u64, u64>,
    chains: BTreeMap<u64, Chain>,
}

/// As it was when the range began.
#[derive(Debug)]
pub struct Then {
    /// What was followed here.
    pub state: State,
    /// What `world` knows.
    pub semaphores: Semaphores,
    /// Fences, semaphores, events.
    pub syncs: Ids<Sync>,
}

impl State {
    /// A call that succeeded.
    pub fn call(&mut self, call: &Call) {
        let v = View::call(&call.image);
        let first = call.image.u64(0);
        let n = |name: &str| v.u64(name).unwrap_or(0);
        match call.command.canonical {
            "vkQueueSubmit" | "vkQueueSubmit2" | "vkQueueBindSparse" => self.signals(n("fence")),
            "vkResetFences" => v.u64s("pFences").iter().for_each(|f| _ = self.fences.insert(*f, false)),
            "vkCreateFence" | "vkCreateSemaphore" | "vkCreateEvent" => {
                let made = call.image.handles.iter().filter(|h| h.out).map(|h| call.image.u64(h.at));
                made.for_each(|id| _ = self.devices.insert(id, first));
            }
            "vkGetDeviceQueue" | "vkGetDeviceQueue2" => _ = self.queues.insert(n("pQueue"), first),
            "vkGetSwapchainImagesKHR" => {
                let images = v.u64s("pSwapchainImages");
                let chain = self.chains.entry(n("swapchain")).or_default();
                if images.len() >= chain.images.len() {
                    (chain.device, chain.images) = (first, images);
                }
            }
            "vkDestroySwapchainKHR" => _ = self.chains.remove(&world::destroyed(call)),
            "vkAcquireNextImageKHR" | "vkAcquireNextImage2KHR" => {
                let info = v.one("pAcquireInfo").unwrap_or(v);
                let of = |name: &str| info.u64(name).unwrap_or(0);
                // (success, or suboptimal)
                if !matches!(call.image.ret(), Some(0 | 1_000_001_003)) {
                    return;
                }
                self.signals(of("fence"));
                let chain = self.chains.entry(of("swapchain")).or_default();
                if let Some(index) = v.u64s("pImageIndex").first() {
                    chain.acquired.insert(*index as u32, (of("semaphore"), of("fence")));
                }
            }
            "vkQueuePresentKHR" => {
                let Some(info) = v.one("pPresentInfo") else { return };
                let signalled = ["VkSwapchainPresentFenceInfoKHR", "VkSwapchainPresentFenceInfoEXT"]
                    .iter()
                    .find_map(|n| info.next(n))
                    .map_or(vec![], |i| i.u64s("pFences"));
                signalled.into_iter().for_each(|f| self.signals(f));
                for (chain, index) in info.u64s("pSwapchains").iter().zip(info.u64s("pImageIndices")) {
                    let chain = self.chains.entry(*chain).or_default();
                    chain.acquired.remove(&(index as u32));
                    chain.presented.insert(index as u32, first);
                    chain.last = Some(index as u32);
                }
            }
            _ => {}
        }
    }

    /// A state section says how a swapchain was.
    pub fn loaded(&mut self, m: &SwapchainImages) {
        let chain = self.chains.entry(m.swapchain).or_default();
        chain.device = m.device;
        chain.last = Some(m.last_presented).filter(|n| *n != u32::MAX);
        let mut images: Vec<&SwapchainImage> = m.images.iter().collect();
        images.sort_by_key(|i| i.index);
        if images.len() >= chain.images.len() {
            chain.images = images.iter().map(|i| i.image).collect();
        }
        for i in &m.images {
            if i.acquired != 0 {
                chain.acquired.insert(i.index, (i.acquire_semaphore, i.acquire_fence));
            }
            if i.last_presented_queue != 0 {
                chain.presented.insert(i.index, i.last_presented_queue);
            }
        }
        m.images.iter().filter(|i| i.acquired != 0).for_each(|i| self.signals(i.acquire_fence));
    }

    fn signals(&mut self, fence: u64) {
        if fence != 0 {
            self.fences.insert(fence, true);
        }
    }

    /// The queue of a device on which something is signalled: one that is there.
    fn queue(&self, before: &Before, kept: &Kept, device: u64) -> Option<u64> {
        self.queues.iter().find(|q| *q.1 == device && before.is_there(kept, *q.0)).map(|q| *q.0)
    }
}

/// Writes a call of this command; its parameters, and what it returned.
pub fn call<W: Write>(
    out: &mut Writer<W>,
    name: &str,
    params: impl FnOnce(&mut ParamWriter),
) -> gfxr_parse::error::Result<()> {
    let id = command_named(name).expect("a command of the registry").id;
    let mut writer = ParamWriter::new();
    params(&mut writer);
    out.call(id, 1, &writer.take())
}

/// A vkQueueSubmit of one batch that waits for nothing.
pub fn submit<W: Write>(
    out: &mut Writer<W>,
    queue: u64,
    buffers: &[u64],
    signals: &[u64],
    fence: u64,
) -> gfxr_parse::error::Result<()> {
    const SUBMIT_INFO: u32 = 4;
    call(out, "vkQueueSubmit", |w| {
        let handles = |w: &mut ParamWriter, all: &[u64]| {
            w.u32(all.len() as u32);
            if all.is_empty() {
                w.null_array()
            } else {
                w.u64_array(all)
            };
        };
        w.u64(queue).u32(1).structures(1, |w, _| {
            w.u32(SUBMIT_INFO).null_struct().u32(0).null_array().null_array();
            handles(w, buffers);
            handles(w, signals);
        });
        w.u64(fence).i32(0);
    })
}

/// A command pool whose command buffers may be recorded again, and one of these.
pub fn command_buffer<W: Write>(
    out: &mut Writer<W>,
    (device, family): (u64, u32),
    pool: u64,
    buffer: u64,
) -> gfxr_parse::error::Result<()> {
    const POOL_CREATE_INFO: u32 = 39;
    const BUFFER_ALLOCATE_INFO: u32 = 40;
    const RESET_COMMAND_BUFFER: u32 = 2;
    call(out, "vkCreateCommandPool", |w| {
        w.u64(device).structure(|w| {
            w.u32(POOL_CREATE_INFO).null_struct().u32(RESET_COMMAND_BUFFER).u32(family);
        });
        w.null_struct().u64_ptr(pool).i32(0);
    })?;
    call(out, "vkAllocateCommandBuffers", |w| {
        w.u64(device).structure(|w| {
            w.u32(BUFFER_ALLOCATE_INFO).null_struct().u64(pool).u32(0).u32(1);
        });
        w.u64_array(&[buffer]).i32(0);
    })
}

/// A command buffer begins to be recorded.
pub fn begin<W: Write>(out: &mut Writer<W>, buffer: u64) -> gfxr_parse::error::Result<()> {
    const BUFFER_BEGIN_INFO: u32 = 42;
    call(out, "vkBeginCommandBuffer", |w| {
        w.u64(buffer).structure(|w| {
            w.u32(BUFFER_BEGIN_INFO).null_struct().u32(0).null_struct();
        });
        w.i32(0);
    })
}

/// Everything before is complete and visible to everything after.
pub fn full_barrier<W: Write>(out: &mut Writer<W>, buffer: u64) -> gfxr_parse::error::Result<()> {
    const MEMORY_BARRIER: u32 = 46;
    const ALL_COMMANDS: u32 = 0x1_0000;
    const MEMORY_WRITE: u32 = 0x1_0000;
    const MEMORY_READ_AND_WRITE: u32 = 0x1_8000;
    call(out, "vkCmdPipelineBarrier", |w| {
        w.u64(buffer).u32(ALL_COMMANDS).u32(ALL_COMMANDS).u32(0).u32(1).structures(1, |w, _| {
            w.u32(MEMORY_BARRIER).null_struct().u32(MEMORY_WRITE).u32(MEMORY_READ_AND_WRITE);
        });
        w.u32(0).null_structs().u32(0).null_structs();
    })
}

impl Then {
    /// How it is before a range: what followed the calls knows the rest.
    pub fn of(state: State, semaphores: &Semaphores, world: &World) -> Then {
        Then { state, semaphores: semaphores.clone(), syncs: world.syncs.clone() }
    }

    /// Swapchains as metadata; layouts of their images by id.
    pub fn swapchains<W: Write>(
        &self,
        out: &mut Writer<W>,
        before: &Before,
        kept: &Kept,
        layouts: &BTreeMap<u64, u32>,
    ) -> gfxr_parse::error::Result<()> {
        // (one that is signalled still)
        let fence = |id: u64| self.state.fences.get(&id) == Some(&true) && before.is_there(kept, id);
        for (id, chain) in self.state.chains.iter().filter(|c| before.is_there(kept, *c.0)) {
            let image = |(index, image): (u32, &u64)| {
                let (acquire_semaphore, acquire_fence) =
                    chain.acquired.get(&index).copied().unwrap_or_default();
                let pending = self.semaphores.signalled.contains(&acquire_semaphore)
                    && before.is_there(kept, acquire_semaphore);
                let presented = chain.presented.get(&index).copied();
                SwapchainImage {
                    image: *image,
                    index,
                    layout: layouts.get(image).copied().unwrap_or(if presented.is_some() {
                        PRESENT_SRC
                    } else {
                        0
                    }),
                    acquired: chain.acquired.contains_key(&index).into(),
                    acquire_device_mask: 1,
                    acquire_semaphore: if pending { acquire_semaphore } else { 0 },
                    acquire_fence: if fence(acquire_fence) { acquire_fence } else { 0 },
                    last_presented_queue: presented.filter(|q| before.is_there(kept, *q)).unwrap_or(0),
                }
            };
            let images = (0..).zip(&chain.images).map(image);
            out.meta(
                1,
                Meta::SwapchainImages(SwapchainImages {
                    device: chain.device,
                    swapchain: *id,
                    last_presented: chain.last.unwrap_or(u32::MAX),
                    images: images.collect(),
                }),
            )?;
        }
        Ok(())
    }

    /// The calls that make fences, semaphores and events what they were.
    pub fn calls<W: Write>(
        &self,
        out: &mut Writer<W>,
        before: &Before,
        kept: &Kept,
    ) -> gfxr_parse::error::Result<()> {
        let acquiring: Vec<(u64, u64)> =
            self.state.chains.values().flat_map(|c| c.acquired.values().copied()).collect();
        let mut all: Vec<(u64, Sync)> = self.syncs.iter().map(|s| (*s.0, *s.1)).collect();
        all.sort_by_key(|s| s.0);
        for (id, sync) in all.into_iter().filter(|s| before.is_there(kept, s.0)) {
            let device = self.state.devices.get(&id).copied().unwrap_or(0);
            let queue = || self.state.queue(before, kept, device);
            match sync {
                Sync::Fence(signalled) => match self.state.fences.get(&id) {
                    Some(true) if !signalled && !acquiring.iter().any(|a| a.1 == id) => {
                        if let Some(queue) = queue() {
                            submit(out, queue, &[], &[], id)?;
                        }
                    }
                    Some(false) if signalled => call(out, "vkResetFences", |w| {
                        w.u64(device).u32(1).u64_array(&[id]).i32(0);
                    })?,
                    _ => {}
                },
                Sync::Binary if self.semaphores.signalled.contains(&id) => {
                    if let Some(queue) = queue().filter(|_| !acquiring.iter().any(|a| a.0 == id)) {
                        submit(out, queue, &[], &[id], 0)?;
                    }
                }
                Sync::Timeline(first) => {
                    let now = self.semaphores.promised.get(&id).map_or(first, |p| p.0);
                    if now > first {
                        const SIGNAL_INFO: u32 = 1_000_207_005;
                        call(out, "vkSignalSemaphore", |w| {
                            w.u64(device).structure(|w| {
                                w.u32(SIGNAL_INFO).null_struct().u64(id).u64(now);
                            });
                            w.i32(0);
                        })?;
                    }
                }
                // (what the device set it sets again)
                Sync::Event(false) if before.number(id).is_some_and(|n| before.residue.is_set_by_host(n)) => {
                    call(out, "vkSetEvent", |w| {
                        w.u64(device).u64(id).i32(0);
                    })?;
                }
                _ => {}
            }
        }
        for device in self.state.queues.values().collect::<std::collections::BTreeSet<_>>() {
            if before.is_there(kept, *device) {
                call(out, "vkDeviceWaitIdle", |w| {
                    w.u64(*device).i32(0);
                })?;
            }
        }
        Ok(())
    }
}
