// A checker board of fragments that are discarded; the others have work.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 3;
    if (((X ^ Y) & 1u) == 1u)
        discard;
    if (Y < 16)
        sum += 20;
    colour = COLOUR(sum);
}
