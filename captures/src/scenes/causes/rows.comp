#version 450
#extension GL_GOOGLE_include_directive : require
// Two rows of 32 texels.
#include "scramble.glsl"
layout(local_size_x = 32, local_size_y = 2) in;
layout(set = 0, binding = 0, std430) writeonly buffer Rows
{
    uint texels[];
} rows;

void main()
{
    uvec2 at = gl_LocalInvocationID.xy;
    uint row = given.last.x + at.y;
    rows.texels[at.y * 32u + at.x] = scrambled(at.x * 40503u + row + given.seed, given.rounds);
}
