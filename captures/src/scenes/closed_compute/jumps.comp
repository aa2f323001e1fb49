// A loop with break and continue, a loop with nothing in it, a block that nobody comes to.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 0;
    for (uint k = 0; k < 8; k++)
    {
        if (k == (LOCAL & 3u) + 3)
            break;
        if ((k & 1u) == 1u)
            continue;
        sum += k;
    }
    for (uint k = 0; k < trips; k++)
    {
    }
    if (never != 0)
        sum = 9;
    RESULT = sum;
}
