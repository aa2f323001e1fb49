//! Buffers: what is copied, filled, viewed, bound and read from them lies within them.
//!
//! Guarantees: no range ends behind its buffer, and the buffer lies in memory. Refuses the others.

use super::check::{Check, Cx, at_most, each, n32, n64, one, within};
use super::memory;
use gfxr_parse::error::{Error, Result};
use gfxr_parse::size_of_struct;
use gfxr_parse::view::View;

/// By canonical name.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("vkCmdBindIndexBuffer", |c, v| starts_in(c, v, "buffer", "offset")),
    ("vkCmdBindVertexBuffers", bind_vertex_buffers),
    ("vkCmdBindVertexBuffers2", bind_vertex_buffers),
    ("vkCmdCopyBuffer", |c, v| copy(c, v, v)),
    ("vkCmdCopyBuffer2", |c, v| one(v, "pCopyBufferInfo", |i| copy(c, i, i))),
    ("vkCmdDispatchIndirect", |c, v| {
        range(c, v, "buffer", "offset", size_of_struct!("VkDispatchIndirectCommand").into())
    }),
    ("vkCmdDrawIndexedIndirect", |c, v| {
        indirect(c, v, size_of_struct!("VkDrawIndexedIndirectCommand").into())
    }),
    ("vkCmdDrawIndexedIndirectCount", |c, v| {
        indirect_count(c, v, size_of_struct!("VkDrawIndexedIndirectCommand").into())
    }),
    ("vkCmdDrawIndirect", |c, v| indirect(c, v, size_of_struct!("VkDrawIndirectCommand").into())),
    ("vkCmdDrawIndirectCount", |c, v| indirect_count(c, v, size_of_struct!("VkDrawIndirectCommand").into())),
    ("vkCmdDrawMeshTasksIndirectCountEXT", |c, v| {
        indirect_count(c, v, size_of_struct!("VkDrawMeshTasksIndirectCommandEXT").into())
    }),
    ("vkCmdDrawMeshTasksIndirectEXT", |c, v| {
        indirect(c, v, size_of_struct!("VkDrawMeshTasksIndirectCommandEXT").into())
    }),
    ("vkCmdFillBuffer", fill),
    ("vkCmdUpdateBuffer", |c, v| {
        at_most(n64(v, "dataSize"), 65536, "vkCmdUpdateBuffer").map_err(|e| e.within("dataSize"))?;
        range(c, v, "dstBuffer", "dstOffset", n64(v, "dataSize"))
    }),
    ("vkCreateAccelerationStructureKHR", |c, v| {
        one(v, "pCreateInfo", |i| range(c, i, "buffer", "offset", n64(i, "size")))
    }),
    ("vkCreateBufferView", |c, v| one(v, "pCreateInfo", |i| view(c, i))),
];

/// The bytes of the buffer with this id, if it is followed. One of none is not valid, yet programs make it and use it: it is
/// held against nothing.
pub(super) fn size(c: &Cx<'_>, id: u64) -> Option<u64> {
    c.world.buffers.get(&id).map(|b| b.size).filter(|size| *size > 0)
}

/// So many bytes from an offset on.
pub(super) fn range(c: &Cx<'_>, v: View<'_>, buffer: &str, offset: &str, len: u64) -> Result<()> {
    let id = n64(v, buffer);
    let Some(size) = size(c, id) else { return Ok(()) };
    memory::buffer(c, id, buffer)?;
    within(n64(v, offset), len, size, "buffer").map_err(|e| e.within(offset))
}

/// Something begins in it.
fn starts_in(c: &Cx<'_>, v: View<'_>, buffer: &str, offset: &str) -> Result<()> {
    range(c, v, buffer, offset, 0)
}

fn bind_vertex_buffers(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    if let Some(limits) = c.limits {
        let end = u64::from(n32(v, "firstBinding")) + u64::from(n32(v, "bindingCount"));
        at_most(end, limits.max_vertex_input_bindings.into(), "maxVertexInputBindings")
            .map_err(|e| e.within("bindingCount"))?;
    }
    let (buffers, offsets) = (v.u64s("pBuffers"), v.u64s("pOffsets"));
    for (i, (buffer, offset)) in buffers.iter().zip(offsets).enumerate() {
        if let Some(size) = size(c, *buffer) {
            memory::buffer(c, *buffer, &format!("[{i}]")).map_err(|e| e.within("pBuffers"))?;
            within(offset, 0, size, "buffer").map_err(|e| e.within(&format!("[{i}]")).within("pOffsets"))?;
        }
    }
    Ok(())
}

fn copy(c: &Cx<'_>, buffers: View<'_>, regions: View<'_>) -> Result<()> {
    let of = |name| {
        let id = n64(buffers, name);
        memory::buffer(c, id, name).map(|()| size(c, id))
    };
    let (src, dst) = (of("srcBuffer")?, of("dstBuffer")?);
    each(regions, "pRegions", |r| {
        for (size, offset) in [(src, "srcOffset"), (dst, "dstOffset")] {
            if let Some(size) = size {
                within(n64(r, offset), n64(r, "size"), size, "buffer").map_err(|e| e.within(offset))?;
            }
        }
        Ok(())
    })
}

fn fill(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let size = n64(v, "size");
    range(c, v, "dstBuffer", "dstOffset", if size == u64::MAX { 0 } else { size })
}

fn view(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let bytes = n64(v, "range");
    range(c, v, "buffer", "offset", if bytes == u64::MAX { 0 } else { bytes })
}

/// Several commands of `size` bytes, `stride` apart.
fn indirect(c: &Cx<'_>, v: View<'_>, size: u64) -> Result<()> {
    let count = n32(v, "drawCount").into();
    if let Some(limits) = c.limits {
        at_most(count, limits.max_draw_indirect_count.into(), "maxDrawIndirectCount")
            .map_err(|e| e.within("drawCount"))?;
    }
    commands(c, v, count, size)
}

fn indirect_count(c: &Cx<'_>, v: View<'_>, size: u64) -> Result<()> {
    range(c, v, "countBuffer", "countBufferOffset", size_of::<u32>() as u64)?;
    commands(c, v, n32(v, "maxDrawCount").into(), size)
}

fn commands(c: &Cx<'_>, v: View<'_>, count: u64, size: u64) -> Result<()> {
    let stride = u64::from(n32(v, "stride"));
    match count.checked_sub(1) {
        None => Ok(()),
        Some(1..) if stride < size => {
            let text = format!("expected {size} or more, as each command has, found {stride}");
            Err(Error::malformed(text).within("stride"))
        }
        // The last one ends where it ends, however far apart they are.
        Some(before) => range(c, v, "buffer", "offset", before * stride + size),
    }
}
