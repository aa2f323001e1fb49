// Pass blocks where every invocation counts itself: for devices and stages without subgroup operations.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "blocks_common.glsl"

// One invocation in so many.
void sample_lanes(const uint every)
{
    rr_sampled = mixed(rr_work) % every == 0u;
}

// Neighbours take one copy, so that a subgroup adds once; others take others, so that they do not wait for each other.
void choose_copy(const uint copies, const uint stride)
{
    rr_copy = mixed(rr_work >> 5u) % copies * stride;
}

void count_lane(const uint counter)
{
    if (ACTIVE)
        add(counter, 1u);
}

void count_lane_if(const uint counter, const bool taken)
{
    if (ACTIVE && taken)
        add(counter, 1u);
}

void count_lane_plain(const uint counter)
{
    if (ACTIVE)
        add_plain(counter, 1u);
}

void count_lane_plain_if(const uint counter, const bool taken)
{
    if (ACTIVE && taken)
        add_plain(counter, 1u);
}

// The sample's: the rest goes by.
void count_lane_sampled(const uint counter)
{
    if (rr_sampled)
        count_lane(counter);
}

void count_lane_sampled_if(const uint counter, const bool taken)
{
    if (rr_sampled)
        count_lane_if(counter, taken);
}

// What an invocation counted by itself while it went round a loop, when it leaves: each adds its own.
void flush_lane(const uint counter, const uint held)
{
    if (ACTIVE && held != 0u)
        add(counter, held);
}

void main()
{
    sample_lanes(1u);
    choose_copy(1u, 1u);
    uint counter = in_copy(0u);
    count_lane(counter);
    count_lane_if(counter, true);
    count_lane_plain(counter);
    count_lane_plain_if(counter, true);
    count_lane_sampled(counter);
    count_lane_sampled_if(counter, true);
    flush_lane(counter, 1u);
}
