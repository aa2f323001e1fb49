// The picture from a.
#version 460
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer First
{
    uint a;
};
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D picture;

void main()
{
    imageStore(picture, ivec2(gl_LocalInvocationID.xy), vec4((uvec3(a) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0);
}
