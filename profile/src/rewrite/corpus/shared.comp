// Shared memory, barriers, and loops that barriers are in.
#version 460
layout(local_size_x = 8, local_size_y = 4, local_size_z = 2) in;
layout(set = 0, binding = 0, std430) buffer B { float at[]; };
shared float tile[64];
void main()
{
    uint n = gl_LocalInvocationIndex;
    tile[n] = at[gl_GlobalInvocationID.x];
    for (uint s = 32; s > 0; s >>= 1) {
        barrier();
        if (n < s)
            tile[n] += tile[n + s];
    }
    memoryBarrierShared();
    if (n == 0)
        at[gl_WorkGroupID.x + gl_NumWorkGroups.x] = tile[0];
}
