//! Short ways to read decoded calls: what is missing reads as 0 or empty.

use super::objects::Subresources;
use gfxr_parse::ahead::Call;
use gfxr_parse::param;
use gfxr_parse::view::View;

/// 64 bits.
pub(super) fn n64(v: View<'_>, name: &str) -> u64 {
    v.u64(name).unwrap_or(0)
}

/// 32 bits.
pub(super) fn n32(v: View<'_>, name: &str) -> u32 {
    v.u32(name).unwrap_or(0)
}

/// 32-bit numbers of an array.
pub(super) fn u32s(v: View<'_>, name: &str) -> Vec<u32> {
    v.u64s(name).into_iter().map(|x| x as u32).collect()
}

/// A VkExtent3D.
pub(super) fn extent(v: View<'_>, name: &str) -> [u32; 3] {
    v.one(name).map_or([0; 3], |e| [n32(e, "width"), n32(e, "height"), n32(e, "depth")])
}

/// A VkOffset3D.
pub(super) fn offset(v: View<'_>) -> [i32; 3] {
    ["x", "y", "z"].map(|n| n32(v, n) as i32)
}

/// VkImageSubresourceRange or VkImageSubresourceLayers.
pub fn subresources(v: View<'_>) -> Subresources {
    let one_level = v.u32("mipLevel");
    Subresources {
        aspects: n32(v, "aspectMask"),
        level: one_level.unwrap_or_else(|| n32(v, "baseMipLevel")),
        levels: if one_level.is_some() { 1 } else { n32(v, "levelCount") },
        layer: n32(v, "baseArrayLayer"),
        layers: n32(v, "layerCount"),
    }
}

/// VkRect2D as x, y, width, height.
pub(super) fn rect(v: View<'_>, name: &str) -> [i64; 4] {
    let Some(r) = v.one(name) else { return [0; 4] };
    let (o, e) = (r.one("offset"), r.one("extent"));
    let at = |n| o.map_or(0, |o| i64::from(n32(o, n) as i32));
    let size = |n| e.map_or(0, |e| i64::from(n32(e, n)));
    [at("x"), at("y"), size("width"), size("height")]
}

/// Queries that a call or a command names, and what it does to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queried {
    /// Their pool.
    pub pool: u64,
    /// The first.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// See there.
    pub how: Query,
}

/// What is done to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// It has no result any more.
    Reset,
    /// It gets one, or begins or ends to.
    Write,
    /// It is asked for.
    Read,
}

impl Queried {
    /// Of a call or command; none if it does nothing to queries.
    pub fn of(v: View<'_>) -> Option<Queried> {
        let how = match v.image().command?.canonical {
            "vkResetQueryPool" | "vkCmdResetQueryPool" => Query::Reset,
            "vkGetQueryPoolResults"
            | "vkCmdCopyQueryPoolResults"
            | "vkCmdCopyQueryPoolResultsToMemoryKHR" => Query::Read,
            name if name.starts_with("vkCmd") => Query::Write,
            _ => return None,
        };
        let first = v.u32("query").or_else(|| v.u32("firstQuery"))?;
        let counts = ["queryCount", "accelerationStructureCount", "micromapCount"];
        let count = counts.iter().find_map(|n| v.u32(n)).unwrap_or(1);
        Some(Queried { pool: v.u64("queryPool")?, first, count, how })
    }
}

/// The id that the capture gave to the one object a call made; 0 if it made none.
pub(super) fn created(call: &Call) -> u64 {
    call.image.handles.iter().find(|h| h.out).map_or(0, |h| call.image.u64(h.at))
}

/// The id of the object that a call destroys: all but devices and instances stand where buffers do.
pub fn destroyed(call: &Call) -> u64 {
    call.image.u64(param!("vkDestroyBuffer", "buffer"))
}

/// What was there is not any more.
pub(super) fn gone<T>(_: Option<T>) {}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_destroyed_stands_where_buffers_do() {
        use gfxr_parse::schema::{Ty, generated::COMMANDS};
        let of_one = COMMANDS.iter().filter(|c| c.name.starts_with("vkDestroy") || c.name == "vkFreeMemory");
        for c in of_one.filter(|c| !["vkDestroyDevice", "vkDestroyInstance"].contains(&c.name)) {
            assert!(matches!(c.params[1].ty, Ty::Handle(_)), "{}", c.name);
        }
    }
}
