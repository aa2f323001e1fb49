// Pass its: how often a subgroup enters, and how often it leaves.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// The invocations that entered with this one.
uvec4 its_entered;

// Counters: executions, invocations.
void its_enter(const uint first)
{
    its_entered = here();
    if (is_first(its_entered))
    {
        add(first, 1u);
        add(first + 1u, subgroupBallotBitCount(its_entered));
    }
}

// Counters: executions, invocations, executions by all that entered together.
void its_exit(const uint first)
{
    uvec4 mask = here();
    if (is_first(mask))
    {
        add(first, 1u);
        add(first + 1u, subgroupBallotBitCount(mask));
        if (mask == its_entered)
            add(first + 2u, 1u);
    }
}

void main()
{
    its_enter(0u);
    its_exit(0u);
}
