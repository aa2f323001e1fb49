// Pass lifetimes: how many basic blocks an invocation executes, and a subgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "first.inc"

// Blocks that this invocation has executed; those that it has counted for its subgroup; those that entered with it.
uint lifetime;
uint lifetime_first;
uvec4 lifetime_entered;

void lifetimes_enter()
{
    lifetime = 0u;
    lifetime_first = 0u;
    lifetime_entered = here();
}

void lifetimes_block()
{
    lifetime++;
    if (is_first(here()))
        lifetime_first++;
}

// 0 to 255 by themselves, then a bucket for each power of two: 280 of them.
uint bucket(const uint n)
{
    return n < 256u ? n : 248u + uint(findMSB(n));
}

// The sum over the invocations that are here.
uint total(const uint of)
{
    uint sum = 0u;
    for (uint bit = 0u; bit < 32u && subgroupBallotBitCount(subgroupBallot(ACTIVE && (of >> bit) != 0u)) != 0u; bit++)
        sum += subgroupBallotBitCount(subgroupBallot(ACTIVE && (of >> bit & 1u) != 0u)) << bit;
    return sum;
}

// Counters: 280 buckets and the sum for invocations, and the same for subgroups that leave as they entered.
// Record of a part of a subgroup: subgroup, how many entered, how many leave, what they counted.
void lifetimes_exit(const uint first, const uint probe)
{
    uvec4 mask = here();
    if (ACTIVE)
        add(first + bucket(lifetime), 1u);
    uint blocks = total(lifetime);
    uint counted = total(lifetime_first);
    if (is_first(mask))
    {
        add(first + 280u, blocks);
        if (mask == lifetime_entered)
        {
            add(first + 281u + bucket(counted), 1u);
            add(first + 561u, counted);
        }
        else if (subgroup_in_window())
        {
            uint at = begin_record(probe, 4u);
            if (at != ~0u)
            {
                put(at, rr_subgroup);
                put(at + 1u, subgroupBallotBitCount(lifetime_entered));
                put(at + 2u, subgroupBallotBitCount(mask));
                put(at + 3u, counted);
            }
        }
    }
}

void main()
{
    lifetimes_enter();
    lifetimes_block();
    lifetimes_exit(0u, 0u);
}
