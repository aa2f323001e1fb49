// Every group of subgroup operations.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer B { uint at[]; };
void main()
{
    uint v = at[gl_GlobalInvocationID.x];
    if (subgroupAny(v > 3u))
        v = subgroupAdd(v) + subgroupExclusiveMul(v);
    if (subgroupElect())
        v += subgroupClusteredMax(v, 4u);
    v += subgroupShuffle(v, gl_SubgroupInvocationID ^ 1u) + subgroupShuffleUp(v, 1u);
    v += subgroupQuadSwapHorizontal(v) + subgroupBallotFindLSB(subgroupBallot(true));
    subgroupMemoryBarrierBuffer();
    at[gl_GlobalInvocationID.x] = v + gl_SubgroupID * gl_NumSubgroups + gl_SubgroupSize;
}
