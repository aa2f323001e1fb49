//! Every limit of what analyses make of a trace's numbers. A trace may be anybody's: what a row declares is no reason to take
//! memory without end. What is beyond a limit is refused with a message that names it.

/// Invocations of all launches whose rays, or clocks, were recorded: each takes about 40 bytes before there is an event.
pub const INVOCATIONS: u64 = 1 << 27;
/// Of these, as many as no row has to account for.
const WITHOUT_ROWS: u64 = 1 << 24;
/// Invocations that one row accounts for: where not one in so many left anything, nobody asks about launches.
const EACH_ROW: u64 = 256;

/// The most invocations of all launches of a table with so many rows.
pub fn invocations(rows: u64) -> u64 {
    INVOCATIONS.min(WITHOUT_ROWS + rows.saturating_mul(EACH_ROW))
}

/// Values of the maps of launches that are drawn: each is kept twice, in 4 bytes.
pub const MAP_VALUES: usize = 1 << 28;
/// Invocations of a subgroup: Vulkan has no larger ones (VkPhysicalDeviceSubgroupProperties).
pub const SUBGROUP: u64 = 128;

/// Bytes of a uniform block, as far as its members go: no device binds more at once.
pub const BLOCK_BYTES: u64 = 1 << 31;
/// Bytes of all members of all pipelines' uniform blocks: each word of them takes about 12 bytes.
pub const MEMBER_BYTES: u64 = 1 << 29;
/// Descriptor sets of a pipeline: more than any device binds, and what is done for each is done for all up to the highest.
pub const SETS: u32 = 1 << 12;
