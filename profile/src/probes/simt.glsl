// Pass simt: how many of a subgroup's invocations are here.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Counters from `first` on: one for each number of invocations that is told apart, from 1 on; then the executions with
// more, and the sum of their invocations; then, for fragments, the sum of helper invocations that are here as well.
//
// Those that are here: how many they are (8 bits), and how many helpers are here as well (8 bits).
uint simt_now(const uvec4 mask)
{
    uint n = subgroupBallotBitCount(mask);
#ifdef FRAGMENT
    return n | subgroupBallotBitCount(subgroupBallot(true)) - n << 8;
#else
    return n;
#endif
}

// Adds so many executions by what simt_now says.
void simt_add(const uint first, const uint told, const uint now, const uint times)
{
    uint n = now & 0xffu;
    add(first + min(n - 1u, told), times);
    if (n > told)
        add(first + told + 1u, times * n);
#ifdef FRAGMENT
    uint helpers = now >> 8 & 0xffu;
    if (helpers != 0u)
        add(first + told + 2u, times * helpers);
#endif
}

// One execution by all that are here.
void simt_here(const uint first, const uint told)
{
    uvec4 mask = here();
    uint now = simt_now(mask);
    if (is_first(mask))
        simt_add(first, told, now, 1u);
}

// One execution by those that are about to take a way.
void simt_here_if(const uint first, const uint told, const bool taken)
{
    if (taken)
        simt_here(first, told);
}

// What a loop repeated that all went round together, behind it.
void simt_repeated(const uint first, const uint told, const uint times)
{
    uvec4 mask = here();
    uint now = simt_now(mask);
    if (times != 0u && is_first(mask))
        simt_add(first, told, now, times);
}

// Adds what an invocation holds to the counters from `first` on: see simt_held.
void simt_flush(const uint first, const uint told, const uint held)
{
    uint times = held >> 16;
    if (times != 0u && ACTIVE)
        simt_add(first, told, held, times);
}

// For blocks that are come by again and again. The first of those that are here stands for this execution, and holds what
// simt_now says, and how often that was so in a row of the executions that it stood for (16 bits). Gives what it holds
// then. A row ends where the numbers change: it is added to the counters.
uint simt_held(const uint first, const uint told, const uint held)
{
    uvec4 mask = here();
    uint now = simt_now(mask);
    bool mine = is_first(mask);
    bool same = (held & 0xffffu) == now && held < 0xffff0000u;
    if (mine && !same)
        simt_flush(first, told, held);
    return !mine ? held : same ? held + 0x10000u : now + 0x10000u;
}

void main()
{
    simt_here(0u, 0u);
    simt_here_if(0u, 0u, true);
    simt_repeated(0u, 0u, 1u);
    simt_flush(0u, 0u, simt_held(0u, 0u, 0u));
}
