// Constants that the pipeline sets, with numbers that tools may want for themselves; the workgroup's size is one of them.
#version 460
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x_id = 2005) in;
layout(constant_id = 2000) const uint a = 1;
layout(constant_id = 2001) const uint b = 2;
layout(constant_id = 2002) const bool odd = false;
layout(constant_id = 2003) const uint trips = 0;
layout(constant_id = 2004) const uint c = 3;

layout(std430, binding = 0) coherent buffer Results
{
    uint results[64];
    uint count;
};

void main()
{
    uint sum = a * b;
    for (uint k = 0; k < trips; k++)
        sum += c;
    if (odd)
        sum += gl_GlobalInvocationID.x & 1u;
    results[gl_GlobalInvocationID.x] = sum;
    atomicAdd(count, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
}
