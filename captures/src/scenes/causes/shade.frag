#version 450
#extension GL_GOOGLE_include_directive : require
// A colour that takes as many rounds as it is told.
#include "scramble.glsl"
layout(location = 0) out vec4 colour;

void main()
{
    uvec2 at = uvec2(gl_FragCoord.xy);
    colour = colour_of(scrambled(at.x * 40503u + at.y + given.seed, given.rounds));
}
