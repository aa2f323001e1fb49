// Only a sample counts: an entry point has two bodies, one with probes and the application's own, and asks here which to run.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "mixed.inc"

// Where probes count: the group's part of the entry point's counters.
uvec2 rr_region;

// Whether the unit of work with this number is one of the sample, which is one in `every`. It is then in one of so many
// groups, each with counters of its own, `bytes` long.
bool in_sample(const uint unit, const uint seed, const uint every, const uint groups, const uint bytes)
{
    uint group = mixed(mixed(unit) + seed) % (every * groups);
    uint low = region_low + group * bytes;
    rr_region = uvec2(low, region_high + (low < region_low ? 1u : 0u));
    return group < groups;
}

// The same of a subgroup, by the work of its first invocation: all of them go the same way.
bool subgroup_in_sample(const uint seed, const uint every, const uint groups, const uint bytes)
{
    return in_sample(subgroupBroadcastFirst(rr_work), seed, every, groups, bytes);
}

void main()
{
    in_sample(0u, 0u, 1u, 1u, 8u);
    subgroup_in_sample(0u, 1u, 1u, 8u);
}
