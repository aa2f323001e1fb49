#version 450
#extension GL_GOOGLE_include_directive : require
// The sum of texels that lie all over the texture: no two of neighbouring pixels are near each other.
#include "scramble.glsl"
layout(set = 0, binding = 0) uniform sampler2D texels;
layout(location = 0) out vec4 colour;

void main()
{
    uvec2 at = uvec2(gl_FragCoord.xy);
    uint where = scrambled(at.x * 40503u + at.y + given.seed, 2u);
    uvec3 sum = uvec3(0u);
    for (uint n = 0u; n < given.rounds; ++n)
    {
        where = (where ^ where >> 15) * 739982445u + n;
        uvec2 texel = uvec2(where, where >> 16) & given.last;
        // The middle of the texel, exactly, as sizes are powers of two.
        vec2 middle = (vec2(texel) + 0.5) / vec2(given.last + 1u);
        sum += uvec3(textureLod(texels, middle, 0.0).rgb * 255.0 + 0.5);
    }
    colour = vec4(vec3(sum & 255u) / 255.0, 1.0);
}
