// Pass simt: how many of a subgroup's invocations are here.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// One counter for each number of invocations that may be here, from 0 on.
void simt_here(const uint first)
{
    uvec4 mask = here();
    if (is_first(mask))
        add(first + subgroupBallotBitCount(mask), 1u);
}

void main()
{
    simt_here(0u);
}
