// The built-ins that a fragment shader may have.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_quad : require
layout(early_fragment_tests) in;
layout(location = 0) out vec4 pixel;
layout(set = 0, binding = 1, std430) buffer B { uint count[]; };
void main()
{
    uint here = subgroupBallotBitCount(subgroupBallot(!gl_HelperInvocation));
    float a = subgroupQuadBroadcast(gl_FragCoord.x, 2u);
    if (gl_HelperInvocation || !gl_FrontFacing)
        a += 1.0;
    atomicAdd(count[gl_PrimitiveID & 7], gl_SubgroupInvocationID);
    pixel = vec4(a, float(here), gl_SampleID, gl_PointCoord.x);
}
