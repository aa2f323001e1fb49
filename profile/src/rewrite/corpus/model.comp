// The Vulkan memory model.
#version 460
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) workgroupcoherent buffer B { uint at[]; };
shared uint sum;
void main()
{
    sum = 0;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    atomicAdd(sum, at[gl_LocalInvocationIndex], gl_ScopeWorkgroup, gl_StorageSemanticsShared,
              gl_SemanticsRelaxed);
    barrier();
    if (gl_LocalInvocationIndex < 3u)
        at[gl_WorkGroupID.x] = sum;
}
