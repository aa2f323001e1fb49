// Pass paths: which invocations of a subgroup are there for each of its trace calls.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "first.inc"
#include "masks.inc"

// Record: subgroup, work id of its first invocation, mask.
void paths_enter(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && subgroup_in_window())
    {
        uint at = begin_record(probe, 2u + words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put(at + 1u, rr_first);
            put_mask(at + 2u, mask, words);
        }
    }
}

// Record: subgroup, mask.
void paths_trace(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && subgroup_in_window())
    {
        uint at = begin_record(probe, 1u + words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
        }
    }
}

void main()
{
    paths_enter(0u, 1u);
    paths_trace(0u, 1u);
}
