// What happens at an entry point before anything is measured: the invocation learns its work id and its subgroup's number.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// The work id of an invocation that is one of a three-dimensional range.
void set_work(const uvec3 id, const uvec3 size)
{
    rr_work = (id.z * size.y + id.y) * size.x + id.x;
}

// The work id of an invocation of a workgroup.
void set_work_group(const uvec3 group, const uvec3 groups, const uint local, const uint size)
{
    rr_work = ((group.z * groups.y + group.y) * groups.x + group.x) * size + local;
}

// The work id of a fragment: its pixel.
void set_work_pixel(const vec4 at)
{
    rr_work = uint(at.y) << 16 | uint(at.x);
}

// A number for the subgroup, the same for all of its invocations that are here and are no helpers.
void set_subgroup()
{
    rr_subgroup = ~0u;
    // Among those that take this branch, the first is the one that asks: helpers would not get an answer.
    if (ACTIVE)
    {
        uint n = 0u;
        if (subgroupElect())
        {
            Log log = Log(uvec2(log_low, log_high));
            n = atomicAdd(log.subgroups, 1u);
        }
        rr_subgroup = subgroupBroadcastFirst(n);
    }
}

void main()
{
    set_work(uvec3(0u), uvec3(1u));
    set_work_group(uvec3(0u), uvec3(1u), 0u, 1u);
    set_work_pixel(vec4(0.0));
    set_subgroup();
}
