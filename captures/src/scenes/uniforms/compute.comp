// A tile that a compute shader writes.
#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, std140) uniform Params
{
    uint tile;
    uint always;
    uint frame;
    uint unused;
} params;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D picture;

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy) + ivec2(16 * params.tile, 0);
    uint n = params.always + params.frame;
    imageStore(picture, at, vec4((uvec3(n) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0);
}
