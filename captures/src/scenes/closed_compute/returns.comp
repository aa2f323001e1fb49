// Half of the invocations return at once, some of the others from within a loop; the rest has work.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    if ((LOCAL & 1u) == 1u)
    {
        RESULT = 5;
        return;
    }
    uint sum = 0;
    for (uint k = 0; k < 4; k++)
    {
        if (k == 2 && (LOCAL & 3u) == 2u)
        {
            RESULT = sum + 50;
            return;
        }
        sum += 1;
    }
    RESULT = sum;
}
