// What happens at an entry point where some probe's records belong together by subgroup: see first.inc.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "first.inc"

// Behind set_work.
void set_first()
{
    rr_first = ~0u;
    // Among those that take this branch, the first is no helper.
    if (ACTIVE)
        rr_first = subgroupBroadcastFirst(rr_work);
}

void main()
{
    set_first();
}
