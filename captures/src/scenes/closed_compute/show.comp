// Makes the picture: a row for each dispatch, a pixel for each local index, the colours from the results.
#version 450
layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Results
{
    uint results[];
};

layout(binding = 1, rgba8) uniform writeonly image2D picture;

void main()
{
    uint n = results[gl_WorkGroupID.x * 256u + gl_LocalInvocationIndex];
    ivec2 at = ivec2(gl_LocalInvocationIndex, gl_WorkGroupID.x);
    uvec3 colour = (uvec3(n) * uvec3(41u, 23u, 7u)) & 255u;
    imageStore(picture, at, vec4(vec3(colour) / 255.0, 1.0));
}
