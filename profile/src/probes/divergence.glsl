// Pass divergence: masks of blocks, entries and exits, in the order in which a subgroup comes by.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "first.inc"
#include "masks.inc"

// Record: subgroup, mask.
void divergence_here(const uint probe, const uint words)
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

// Record: subgroup, mask of those that enter, mask of the helpers among the others.
void divergence_enter(const uint probe, const uint words)
{
    uvec4 mask = here();
    uvec4 helpers = uvec4(0u);
#ifdef FRAGMENT
    helpers = subgroupBallot(true) & ~mask;
#endif
    if (is_first(mask) && subgroup_in_window())
    {
        uint at = begin_record(probe, 1u + 2u * words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
            put_mask(at + 1u + words, helpers, words);
        }
    }
}

// Record: subgroup, mask of those that enter, nobody's mask. In every window: what is called needs it.
void divergence_launch(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && any_window())
    {
        uint at = begin_record(probe, 1u + 2u * words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
            put_mask(at + 1u + words, uvec4(0u), words);
        }
    }
}

// Record of every invocation: subgroup, work id. In every window.
void divergence_lane(const uint probe)
{
    if (ACTIVE && any_window())
    {
        uint at = begin_record(probe, 2u);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put(at + 1u, rr_work);
        }
    }
}

// Record: subgroup, mask of those that leave. In every window.
void divergence_land(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && any_window())
    {
        uint at = begin_record(probe, 1u + words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
        }
    }
}

// Record: subgroup, mask of those that were called, work id of one of them.
void divergence_called(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && subgroup_in_window())
    {
        uint at = begin_record(probe, 2u + words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
            put(at + 1u + words, rr_work);
        }
    }
}

void main()
{
    divergence_here(0u, 1u);
    divergence_enter(0u, 1u);
    divergence_launch(0u, 1u);
    divergence_lane(0u);
    divergence_land(0u, 1u);
    divergence_called(0u, 1u);
}
