// Loads whose addresses and values are the same for all, or not, and values that are known.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = zero;
    sum += constant;
    sum += alternating;
    sum += counting;
    sum += equal[LOCAL];
    sum += distinct[LOCAL];
    sum += shuffled[trips];
    sum += distinct[equal[LOCAL]];
    sum += texelFetch(texels, ivec2(LOCAL & 7u, 3), 0).x;
    sum += texelFetch(texels, ivec2(2, LOCAL >> 3), 0).x;
    RESULT = sum;
}
