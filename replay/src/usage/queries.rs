//! Queries: the ones that are named are in their pool, and their results fit where they go.
//!
//! Guarantees: no query behind a pool's last is named. Refuses the others.

use super::check::{Check, Cx, at_most, n32, n64, within};
use gfxr_parse::error::{Error, Result};
use gfxr_parse::view::View;

/// VK_QUERY_TYPE_TIMESTAMP.
const TIMESTAMP: u32 = 2;
/// VK_QUERY_RESULT_64_BIT.
const WIDE: u32 = 1;

/// More queries in a pool are no program's; what is known of each takes memory.
const MOST_QUERIES: u64 = 1 << 20;

/// By canonical name.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("vkCmdBeginQuery", |c, v| one(c, v, false)),
    ("vkCmdBeginQueryIndexedEXT", |c, v| one(c, v, false)),
    ("vkCmdCopyQueryPoolResults", copy_results),
    ("vkCmdEndQuery", |c, v| one(c, v, false)),
    ("vkCmdEndQueryIndexedEXT", |c, v| one(c, v, false)),
    ("vkCmdResetQueryPool", many),
    ("vkCmdWriteTimestamp", |c, v| one(c, v, true)),
    ("vkCmdWriteTimestamp2", |c, v| one(c, v, true)),
    ("vkCreateQueryPool", |_, v| {
        super::check::one(v, "pCreateInfo", |i| {
            at_most(n32(i, "queryCount").into(), MOST_QUERIES, "queries of a pool")
                .map_err(|e| e.within("queryCount"))
        })
    }),
    ("vkGetQueryPoolResults", results),
    ("vkResetQueryPool", many),
];

fn one(c: &Cx<'_>, v: View<'_>, timestamp: bool) -> Result<()> {
    let Some(pool) = c.world.query_pools.get(&n64(v, "queryPool")) else { return Ok(()) };
    if (pool.ty == TIMESTAMP) != timestamp {
        let wanted = if timestamp { "a pool of timestamps" } else { "a pool of queries that begin and end" };
        let text = format!("expected {wanted}, found one of type {}", pool.ty);
        return Err(Error::malformed(text).within("queryPool"));
    }
    within(n32(v, "query").into(), 1, pool.count.into(), "pool").map_err(|e| e.within("query"))
}

fn many(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let Some(pool) = c.world.query_pools.get(&n64(v, "queryPool")) else { return Ok(()) };
    within(n32(v, "firstQuery").into(), n32(v, "queryCount").into(), pool.count.into(), "pool")
        .map_err(|e| e.within("firstQuery"))
}

/// The bytes of all results, the last one's at least as long as one number.
fn bytes(v: View<'_>) -> u64 {
    let number = if n32(v, "flags") & WIDE != 0 { 8 } else { 4 };
    match u64::from(n32(v, "queryCount")).checked_sub(1) {
        Some(before) => before.saturating_mul(n64(v, "stride")).saturating_add(number),
        None => 0,
    }
}

fn copy_results(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    many(c, v)?;
    super::buffers::range(c, v, "dstBuffer", "dstOffset", bytes(v))
}

fn results(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    many(c, v)?;
    within(0, bytes(v), n64(v, "dataSize"), "data").map_err(|e| e.within("dataSize"))
}
