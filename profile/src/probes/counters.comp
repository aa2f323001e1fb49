// Counters: one 64-bit number a probe, as two words, so that no device needs 64-bit atomics for them.
//
// The memory is reached by its address, which the two specialization constants hold: they are set for each pipeline, so
// that a module is rewritten once however often it is used. An instrumented module imports the functions; main is not
// taken along. Parameters are const, which lets them be passed by value.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require

layout(local_size_x = 1) in;
layout(constant_id = 2000) const uint base_low = 0;
layout(constant_id = 2001) const uint base_high = 0;

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Counters
{
    uvec2 at[];
};

// Adds to a counter; the carry is rare.
void add(const uint probe, const uint n)
{
    Counters counters = Counters(uvec2(base_low, base_high));
    uint before = atomicAdd(counters.at[probe].x, n);
    if (before + n < before)
        atomicAdd(counters.at[probe].y, 1u);
}

// Every invocation counts itself.
void count_lane(const uint probe)
{
    add(probe, 1u);
}

// Each subgroup counts once, however many of its invocations are here.
void count_subgroup(const uint probe)
{
    if (subgroupElect())
        add(probe, 1u);
}

// One invocation counts all that are here.
void count_lanes(const uint probe)
{
    uint here = subgroupBallotBitCount(subgroupBallot(true));
    if (subgroupElect())
        add(probe, here);
}

void main()
{
    count_lane(0u);
    count_subgroup(0u);
    count_lanes(0u);
}
