// Pass blocks: counters of how often a place is come by.
//
// count_X(counter) adds; count_X_if(counter, taken) counts only those invocations for which it holds. X is what is
// counted: lanes: one invocation adds for all that are here; subgroup: one adds 1, however many are here. (lane, where
// every invocation adds for itself, is in blocks_lane.glsl.) _plain adds without atomics: two that add at once may
// count as one. _sampled counts only a sample.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "common.glsl"
#include "blocks_common.glsl"

// One subgroup in so many, by the work of one of its invocations.
void sample_subgroups(const uint every)
{
    rr_sampled = mixed(subgroupBroadcastFirst(rr_work)) % every == 0u;
}

void choose_copy_of_subgroup(const uint copies, const uint stride)
{
    rr_copy = mixed(subgroupBroadcastFirst(rr_work)) % copies * stride;
}

void count_subgroup(const uint counter)
{
    if (is_first(here()))
        add(counter, 1u);
}

void count_subgroup_plain(const uint counter)
{
    if (is_first(here()))
        add_plain(counter, 1u);
}

void count_lanes(const uint counter)
{
    uvec4 mask = here();
    if (is_first(mask))
        add(counter, subgroupBallotBitCount(mask));
}

void count_lanes_if(const uint counter, const bool taken)
{
    uvec4 mask = subgroupBallot(ACTIVE && taken);
    if (gl_SubgroupInvocationID == subgroupBallotFindLSB(mask) && ACTIVE && taken)
        add(counter, subgroupBallotBitCount(mask));
}

void count_lanes_plain(const uint counter)
{
    uvec4 mask = here();
    if (is_first(mask))
        add_plain(counter, subgroupBallotBitCount(mask));
}

void count_lanes_plain_if(const uint counter, const bool taken)
{
    uvec4 mask = subgroupBallot(ACTIVE && taken);
    if (gl_SubgroupInvocationID == subgroupBallotFindLSB(mask) && ACTIVE && taken)
        add_plain(counter, subgroupBallotBitCount(mask));
}

void count_subgroup_sampled(const uint counter)
{
    if (rr_sampled)
        count_subgroup(counter);
}

void count_lanes_sampled(const uint counter)
{
    if (rr_sampled)
        count_lanes(counter);
}

void count_lanes_sampled_if(const uint counter, const bool taken)
{
    if (rr_sampled)
        count_lanes_if(counter, taken);
}

// Of those that leave together: whether this one counts at all, whether it adds for all, and whether each adds for itself.
bool rr_counts;
bool rr_adds;
bool rr_each;

// To be called once before flush_lanes, with all that is held or'ed together: sums of what has 16 bits pass over nowhere.
void flush_begin(const uint held)
{
    rr_counts = ACTIVE;
    rr_adds = is_first(here());
    rr_each = subgroupBallot(rr_counts && held > 0xffffu) != uvec4(0u);
}

// One adds for all that leave together; helpers' count as 0.
void flush_lanes(const uint counter, const uint held)
{
    uint mine = rr_counts ? held : 0u;
    uint sum = rr_each ? mine : subgroupAdd(mine);
    if (sum != 0u && (rr_adds || rr_each))
        add(counter, sum);
}

// 1 for one of those that are here.
uint one_of_here()
{
    return is_first(here()) ? 1u : 0u;
}

void main()
{
    sample_subgroups(1u);
    choose_copy_of_subgroup(1u, 1u);
    uint counter = in_copy(0u);
    count_subgroup(counter);
    count_subgroup_plain(counter);
    count_subgroup_sampled(counter);
    count_lanes(counter);
    count_lanes_if(counter, true);
    count_lanes_plain(counter);
    count_lanes_plain_if(counter, true);
    count_lanes_sampled(counter);
    count_lanes_sampled_if(counter, true);
    flush_begin(0u);
    flush_lanes(counter, one_of_here());
}
