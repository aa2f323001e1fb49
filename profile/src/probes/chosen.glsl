// Only work in chosen render passes and labels counts: what the rest counts goes to where nobody looks.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Counters, as many as there are, that nobody reads; and a log without room.
layout(constant_id = 2006) const uint elsewhere_low = 0;
layout(constant_id = 2007) const uint elsewhere_high = 0;
layout(constant_id = 2008) const uint nothing_low = 0;
layout(constant_id = 2009) const uint nothing_high = 0;

// What is said of an action: in the first bit whether it counts, in the others the address of its counters.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Said
{
    uvec2 said;
};

// Where probes count, and append.
uvec2 rr_region;
uvec2 rr_log;

// What is pushed is the address of what is said; the address of the action's counters, or zero.
uvec2 choose(const uvec2 pushed)
{
    uvec2 said = uvec2(0u);
    if ((pushed.x | pushed.y) != 0u)
        said = Said(pushed).said;
    bool counts = (said.x & 1u) != 0u;
    rr_region = counts ? uvec2(region_low, region_high) : uvec2(elsewhere_low, elsewhere_high);
    rr_log = counts ? uvec2(log_low, log_high) : uvec2(nothing_low, nothing_high);
    return uvec2(said.x & ~1u, said.y);
}

void main()
{
    rr_region = choose(uvec2(0u));
}
