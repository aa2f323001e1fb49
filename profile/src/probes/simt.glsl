// Pass simt: how many of a subgroup's invocations are here.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Counters from `first` on: one for each number of invocations that is told apart, from 1 on; then the executions with
// more, and the sum of their invocations; then, for fragments, the sum of helper invocations that are here as well.
void simt_here(const uint first, const uint told)
{
    uvec4 mask = here();
#ifdef FRAGMENT
    uint present = subgroupBallotBitCount(subgroupBallot(true));
#endif
    if (is_first(mask))
    {
        uint n = subgroupBallotBitCount(mask);
        if (n <= told)
            add(first + n - 1u, 1u);
        else
        {
            add(first + told, 1u);
            add(first + told + 1u, n);
        }
#ifdef FRAGMENT
        if (present > n)
            add(first + told + 2u, present - n);
#endif
    }
}

void main()
{
    simt_here(0u, 0u);
}
