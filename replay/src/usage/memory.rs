//! Devices' queues, and memory: queues that were asked for are there, and resources that are used lie in memory.
//!
//! Guarantees: no queue that vkCreateDevice did not ask for is got; a buffer is bound within its memory, and one that is used, as
//! an image of which a view is made, is bound to memory that is still there. Refuses the others. Sparse resources are bound by
//! queues, and held against nothing; what memory an image needs only the driver knows.

use super::check::{Check, Cx, n32, n64, one, within};
use gfxr_parse::error::{Error, Result};
use gfxr_parse::view::View;
use world::create::binds;
use world::objects::Image;

/// By canonical name.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("vkBindBufferMemory", bind_buffer),
    ("vkBindBufferMemory2", bind_buffer),
    ("vkGetDeviceQueue", |c, v| queue(c, n64(v, "device"), v)),
    ("vkGetDeviceQueue2", |c, v| one(v, "pQueueInfo", |i| queue(c, n64(v, "device"), i))),
];

/// VK_BUFFER_CREATE_SPARSE_BINDING_BIT, and VK_IMAGE_CREATE_SPARSE_BINDING_BIT.
const SPARSE: u32 = 1;

fn queue(c: &Cx<'_>, device: u64, v: View<'_>) -> Result<()> {
    let Some(device) = c.world.devices.get(&device) else { return Ok(()) };
    let (family, index) = (n32(v, "queueFamilyIndex"), n32(v, "queueIndex"));
    // A family may be asked for twice, protected and not.
    let asked = |q: &&(u32, u32)| q.0 == family;
    let has: u64 = device.queues.iter().filter(asked).map(|q| u64::from(q.1)).sum();
    if has == 0 {
        let text = format!("expected a family that vkCreateDevice asked for, found {family}");
        return Err(Error::malformed(text).within("queueFamilyIndex"));
    }
    within(index.into(), 1, has, "queues that vkCreateDevice asked for").map_err(|e| e.within("queueIndex"))
}

fn bind_buffer(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    binds(v).try_for_each(|b| {
        let (buffer, memory) =
            (c.world.buffers.get(&n64(b, "buffer")), c.world.memories.get(&n64(b, "memory")));
        match (buffer, memory) {
            // What is imported has a size of its own.
            (Some(buffer), Some(memory)) if !memory.imported => {
                within(n64(b, "memoryOffset"), buffer.size, memory.size, "memory")
                    .map_err(|e| e.within("memoryOffset"))
            }
            _ => Ok(()),
        }
    })
}

/// A buffer that is used lies in memory.
pub(super) fn buffer(c: &Cx<'_>, id: u64, name: &str) -> Result<()> {
    match c.world.buffers.get(&id) {
        Some(b) if b.flags & SPARSE == 0 => match b.bound {
            Some(bound) if c.world.memories.contains_key(&bound.memory) => Ok(()),
            _ => Err(unbound("VkBuffer", id).within(name)),
        },
        _ => Ok(()),
    }
}

/// An image that is used lies in memory, or is a swapchain's.
pub(super) fn image(c: &Cx<'_>, id: u64, i: &Image, name: &str) -> Result<()> {
    let bound = |b: &world::objects::Bound| c.world.memories.contains_key(&b.memory);
    match i.flags & SPARSE != 0 || i.swapchain != 0 || !i.bound.is_empty() && i.bound.iter().all(bound) {
        true => Ok(()),
        false => Err(unbound("VkImage", id).within(name)),
    }
}

#[cold]
fn unbound(ty: &str, id: u64) -> Error {
    Error::malformed(format!("expected a {ty} that is bound to memory, found {id}"))
}
