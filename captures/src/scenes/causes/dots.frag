#version 450
#extension GL_GOOGLE_include_directive : require
// A colour of each triangle's own.
#include "scramble.glsl"
layout(location = 0) flat in uint dot;
layout(location = 0) out vec4 colour;

void main()
{
    colour = colour_of(scrambled(dot + given.seed, given.rounds));
}
