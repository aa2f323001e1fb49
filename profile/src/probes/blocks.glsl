// Pass blocks: counters of how often a place is come by.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Every invocation counts itself.
void count_lane(const uint counter)
{
    if (ACTIVE)
        add(counter, 1u);
}

// Each subgroup counts once, however many of its invocations are here.
void count_subgroup(const uint counter)
{
    if (is_first(here()))
        add(counter, 1u);
}

// One invocation counts all that are here.
void count_lanes(const uint counter)
{
    uvec4 mask = here();
    if (is_first(mask))
        add(counter, subgroupBallotBitCount(mask));
}

void main()
{
    count_lane(0u);
    count_subgroup(0u);
    count_lanes(0u);
}
