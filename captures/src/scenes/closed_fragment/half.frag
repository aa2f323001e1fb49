// Every second column goes one way, the others the other.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 1;
    if ((X & 1u) == 0u)
        sum += 20;
    else
        sum += 30;
    colour = COLOUR(sum);
}
