#version 450
#extension GL_GOOGLE_include_directive : require
// What textures are made of: 1024x1024 texels.
#include "scramble.glsl"
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Pattern
{
    uint texels[];
} pattern;

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    pattern.texels[at.y * 1024u + at.x] = scrambled(at.x * 40503u + at.y, given.rounds);
}
