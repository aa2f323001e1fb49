// Functions: called by all, by half of the invocations, by a quarter within that; one returns early.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

uint add(uint to, uint what)
{
    return to + what;
}

uint clipped(uint n)
{
    if (n > 40)
        return 40;
    return add(n, 1);
}

void main()
{
    uint sum = add(1, 2);
    if (LOCAL >= 32)
    {
        sum = add(sum, LOCAL);
        if ((LOCAL & 1u) == 0u)
            sum = clipped(sum);
    }
    RESULT = sum;
}
