// Loops: as many trips for all, as many as the local index modulo 8, and one in the other.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 0;
    for (uint k = 0; k < trips; k++)
        sum += 1;
    for (uint k = 0; k < (LOCAL & 7u); k++)
        sum += 10;
    for (uint a = 0; a < 3; a++)
    {
        for (uint b = 0; b < (LOCAL & 1u) + a; b++)
            sum += 100;
    }
    RESULT = sum;
}
