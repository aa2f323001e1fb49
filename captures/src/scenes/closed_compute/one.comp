// One invocation of each subgroup does more than the others.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#include "closed.glsl"

void main()
{
    uint sum = 3;
    if (gl_SubgroupInvocationID == 0u)
        atomicAdd(elected, 1u);
    RESULT = sum;
}
