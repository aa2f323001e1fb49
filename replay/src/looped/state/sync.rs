//! Fences, events and semaphores.
//!
//! Fences, events and timeline semaphores are asked for their state; binary semaphores cannot be, their state follows
//! from the calls (`crate::looped::plan`). A timeline semaphore never goes back: it is made anew with the old value.

use crate::error::{Error, Result, Vk};
use crate::looped::plan::Plan;
use crate::objects::Objects;
use crate::vulkan::{DeviceState, Vulkan};
use ash::vk::{self, Handle};
use std::collections::{BTreeMap, HashMap};
use world::objects::Sync;

/// What was.
#[derive(Default)]
pub struct Syncs {
    /// Fence or event -> signalled; timeline semaphore -> value.
    was: HashMap<u64, u64>,
}

/// Functions of timeline semaphores by whichever name the device has.
fn value_of(vk: &Vulkan, d: &DeviceState, semaphore: vk::Semaphore) -> Result<u64> {
    let r = if d.extensions.iter().any(|e| e == "VK_KHR_timeline_semaphore") {
        let instance = vk.instances.get(&d.instance_id).ok_or_else(|| gone("VkInstance", d.instance_id))?;
        // SAFETY: a live timeline semaphore of this device.
        unsafe {
            ash::khr::timeline_semaphore::Device::new(&instance.ash, &d.ash)
                .get_semaphore_counter_value(semaphore)
        }
    } else {
        // SAFETY: as above.
        unsafe { d.ash.get_semaphore_counter_value(semaphore) }
    };
    r.what("vkGetSemaphoreCounterValue")
}

/// What an object is now, where one can ask.
fn now(vk: &Vulkan, device: u64, kind: Sync, live: u64) -> Result<Option<u64>> {
    let d = vk.device(device)?;
    Ok(match kind {
        Sync::Binary | Sync::Event(true) => None,
        Sync::Timeline(_) => Some(value_of(vk, d, vk::Semaphore::from_raw(live))?),
        Sync::Fence(_) => {
            // SAFETY: a live fence of this device.
            let s = unsafe { d.ash.get_fence_status(vk::Fence::from_raw(live)) };
            Some(u64::from(s.what("vkGetFenceStatus")?))
        }
        Sync::Event(false) => {
            // SAFETY: a live event of this device that the host may ask for.
            let s = unsafe { d.ash.get_event_status(vk::Event::from_raw(live)) };
            Some(u64::from(s.what("vkGetEventStatus")?))
        }
    })
}

impl Syncs {
    /// Before the frame.
    pub fn take(vk: &Vulkan, objects: &Objects, plan: &Plan) -> Result<Self> {
        let mut was = HashMap::new();
        for (&id, &kind) in &plan.sync {
            if plan.created.contains(&id) {
                was.extend(as_created(kind).map(|v| (id, v)));
            } else if let Some((live, device)) = objects.live_of(id) {
                was.extend(now(vk, device, kind, live)?.map(|v| (id, v)));
            }
        }
        Ok(Syncs { was })
    }

    /// Puts back what differs.
    pub fn restore(&mut self, vk: &mut Vulkan, objects: &mut Objects, plan: &Plan) -> Result<u64> {
        let mut n = 0;
        for (&id, &kind) in &plan.sync {
            let (Some((live, device)), Some(&was)) = (objects.live_of(id), self.was.get(&id)) else {
                continue;
            };
            if now(vk, device, kind, live)?.is_none_or(|now| now == was) {
                continue;
            }
            n += 1;
            let d = vk.device(device)?;
            match kind {
                Sync::Fence(_) => {
                    let fence = vk::Fence::from_raw(live);
                    if was == 0 {
                        // SAFETY: idle.
                        unsafe { d.ash.reset_fences(&[fence]) }.what("vkResetFences")?;
                    } else {
                        d.submit_empty(d.own_queue().0, &[], &[], fence)?;
                    }
                }
                Sync::Event(_) => {
                    let event = vk::Event::from_raw(live);
                    // SAFETY: idle, and not for the device alone.
                    unsafe { if was == 0 { d.ash.reset_event(event) } else { d.ash.set_event(event) } }
                        .what("vkSetEvent")?;
                }
                Sync::Timeline(_) => {
                    let ty = objects.any(id).map_or(vk.types.semaphore, |e| e.ty);
                    let mut kind = vk::SemaphoreTypeCreateInfo::default()
                        .semaphore_type(vk::SemaphoreType::TIMELINE)
                        .initial_value(was);
                    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
                    // SAFETY: the device has timeline semaphores; nothing uses the old one, nothing keeps its handle.
                    let made = unsafe {
                        let made = d.ash.create_semaphore(&info, None).what("vkCreateSemaphore")?;
                        d.ash.destroy_semaphore(vk::Semaphore::from_raw(live), None);
                        made
                    };
                    objects.insert(id, made.as_raw(), ty);
                }
                Sync::Binary => {}
            }
        }
        Ok(n + binary(vk, objects, plan)?)
    }
}

/// What an object is when it has just been created.
fn as_created(kind: Sync) -> Option<u64> {
    match kind {
        Sync::Binary | Sync::Event(true) => None,
        Sync::Timeline(v) => Some(v),
        Sync::Fence(signalled) => Some(u64::from(signalled)),
        Sync::Event(false) => Some(0),
    }
}

/// Signals what the frame consumed, and consumes what it left signalled.
fn binary(vk: &Vulkan, objects: &Objects, plan: &Plan) -> Result<u64> {
    type Lists = (Vec<vk::Semaphore>, Vec<vk::Semaphore>);
    let mut by_device: BTreeMap<u64, Lists> = BTreeMap::new();
    for (ids, wait) in [(&plan.left, true), (&plan.consumed, false)] {
        for id in ids {
            let Some((live, device)) = objects.live_of(*id) else { continue };
            let lists = by_device.entry(device).or_default();
            let list = if wait { &mut lists.0 } else { &mut lists.1 };
            list.push(vk::Semaphore::from_raw(live));
        }
    }
    let mut n = 0;
    for (device, (waits, signals)) in by_device {
        let d = vk.device(device)?;
        d.submit_empty(d.own_queue().0, &waits, &signals, vk::Fence::null())?;
        n += (waits.len() + signals.len()) as u64;
    }
    Ok(n)
}

/// The only error a missing object can mean here.
fn gone(what: &str, id: u64) -> Error {
    Error::divergence(format!("{what} {id} is gone"))
}
