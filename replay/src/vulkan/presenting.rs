//! What programs ask of the window system beside swapchains, where an answer alone would not do: a fence that a display signals,
//! and a sleep that ends with a signal.
//!
//! Nothing is shown, so nothing is waited for: fences are signalled when they are made, and sleeps are over at once. What has an
//! answer only is in `answered.rs`.

use super::{Vulkan, portability};
use crate::error::{Error, Result, Vk};
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::LinkedCall;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use world::Outcome;

/// vkRegisterDisplayEventEXT, vkRegisterDeviceEventEXT: the event has come when the fence is made.
pub fn register(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    _: &mut Report,
) -> Result<Option<Outcome>> {
    if call.image.ret().is_some_and(|r| r < 0) {
        return Ok(Some(Outcome::captured(call)));
    }
    let device = call.image.u64(0);
    let (id, _) = new_object(call)?;
    let info = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
    // SAFETY: a plain creation on a live device.
    let fence = unsafe { vk.device(device)?.ash.create_fence(&info, None) }.what("vkCreateFence (event)")?;
    objects.insert(id, fence.as_raw(), vk.types.fence);
    objects.belongs_to(id, device);
    Ok(Some(Outcome::captured(call)))
}

/// vkLatencySleepNV: the driver signals a timeline when it is time to go on, which is at once.
pub fn latency_sleep(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, .. } = c;
    let info = View::call(&call.image).one("pSleepInfo");
    let member = |name| info.and_then(|i| i.u64(name)).unwrap_or(0);
    let (id, value) = (member("signalSemaphore"), member("value"));
    if call.image.ret().is_some_and(|r| r < 0) || id == 0 {
        return Ok(Outcome::captured(call));
    }
    let d = vk.device(call.image.u64(0))?;
    let instance =
        vk.instances.get(&d.instance_id).ok_or_else(|| Error::divergence("the instance is gone"))?;
    let semaphore = vk::Semaphore::from_raw(objects.live(id));
    let signal = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(value);
    // The core name where the device has version 1.2, else the extension's.
    // SAFETY: a live timeline semaphore of this device.
    unsafe {
        match d.gpu.properties.api_version >= vk::API_VERSION_1_2 && instance.api >= vk::API_VERSION_1_2 {
            true => d.ash.signal_semaphore(&signal),
            false => {
                ash::khr::timeline_semaphore::Device::new(&instance.ash, &d.ash).signal_semaphore(&signal)
            }
        }
    }
    .what("vkSignalSemaphore")?;
    portability::signalled(c, id, value)?;
    Ok(Outcome::captured(c.call))
}
