// The Vulkan memory model, with the scope of the device.
#version 460
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer B { uint at[]; };
void main()
{
    if (atomicAdd(at[0], 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease) == 7u)
        at[1] = 1u;
}
