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
        add(first + min(n - 1u, told), 1u);
        if (n > told)
            add(first + told + 1u, n);
#ifdef FRAGMENT
        if (present > n)
            add(first + told + 2u, present - n);
#endif
    }
}

// Adds what an invocation holds to the counters from `first` on: see simt_held.
void simt_flush(const uint first, const uint told, const uint held)
{
    uint times = held >> 16;
    if (times != 0u && ACTIVE)
    {
        uint n = held & 0xffu;
        add(first + min(n - 1u, told), times);
        if (n > told)
            add(first + told + 1u, times * n);
#ifdef FRAGMENT
        uint helpers = held >> 8 & 0xffu;
        if (helpers != 0u)
            add(first + told + 2u, times * helpers);
#endif
    }
}

// For blocks that are come by again and again. The first of those that are here stands for this execution, and holds how
// many there were (8 bits), how many helpers (8 bits), and how often that was so in a row of the executions that it
// stood for (16 bits). Gives what it holds then. A row ends where the numbers change: it is added to the counters.
uint simt_held(const uint first, const uint told, const uint held)
{
    uvec4 mask = here();
    uint now = subgroupBallotBitCount(mask);
#ifdef FRAGMENT
    now |= (subgroupBallotBitCount(subgroupBallot(true)) - now) << 8;
#endif
    bool mine = is_first(mask);
    bool same = (held & 0xffffu) == now && held < 0xffff0000u;
    if (mine && !same)
        simt_flush(first, told, held);
    return !mine ? held : same ? held + 0x10000u : now + 0x10000u;
}

void main()
{
    simt_here(0u, 0u);
    simt_flush(0u, 0u, simt_held(0u, 0u, 0u));
}
