// Makes the picture: a row for each place, a pixel for each of its words.
#version 450
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer All
{
    uint words[];
};

layout(binding = 1, rgba8) uniform writeonly image2D picture;

void main()
{
    uint n = words[gl_WorkGroupID.x * 68u + gl_LocalInvocationIndex];
    uvec3 colour = uvec3(n, n >> 8, n * 7u) & 255u;
    imageStore(picture, ivec2(gl_LocalInvocationIndex, gl_WorkGroupID.x), vec4(vec3(colour) / 255.0, 1.0));
}
