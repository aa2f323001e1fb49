// Pass uniformity: whether all that are here have the same words.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Whether this invocation's words are others than those of the first one that is here. The first may not be a helper
// invocation: who asks is asked among those that count.
bool uniformity_differs(const uvec4 words)
{
    bool differs = false;
    if (ACTIVE)
        differs = any(notEqual(words, subgroupBroadcastFirst(words)));
    return differs;
}

// Of one word.
bool uniformity_differs_1(const uint word)
{
    bool differs = false;
    if (ACTIVE)
        differs = word != subgroupBroadcastFirst(word);
    return differs;
}

// Three counters: executions by the subgroup, those in which some differed, and the invocations that were there then.
void uniformity_count(const uint counter, const bool differs)
{
    uvec4 mask = here();
    uvec4 others = subgroupBallot(ACTIVE && differs);
    if (is_first(mask))
    {
        add(counter, 1u);
        if (any(notEqual(others, uvec4(0u))))
        {
            add(counter + 1u, 1u);
            add(counter + 2u, subgroupBallotBitCount(mask));
        }
    }
}

void main()
{
    uniformity_count(0u, uniformity_differs(uvec4(0u)));
    uniformity_count(0u, uniformity_differs_1(0u));
}
