// All fragments of a draw go the same way.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 1;
    if (way == 1)
        sum += 20;
    else
        sum += 40;
    colour = COLOUR(sum);
}
