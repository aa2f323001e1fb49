// A tile that a compute shader fills.
#version 460
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, std140) uniform Fill
{
    uint tile;
    uint always;
    uint frame;  // another in each frame
    uint unused; // another in each frame
} fill;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D picture;

void main()
{
    ivec2 at = ivec2(gl_LocalInvocationID.xy) + ivec2(16 * fill.tile, 0);
    uint n = fill.always + fill.frame;
    imageStore(picture, at, vec4((uvec3(n) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0);
}
