// The upper half of the tile, its left quarter within that, does more.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 1;
    if (Y < 32)
    {
        sum += 20;
        if (X < 16)
            sum += 10;
    }
    colour = COLOUR(sum);
}
