// As many trips as the column modulo 4.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 0;
    for (uint k = 0; k < (X & 3u); k++)
        sum += 30;
    colour = COLOUR(sum);
}
