// Every fourth invocation does more than the others.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 1;
    if ((LOCAL & 3u) == 1u)
        sum += 20;
    RESULT = sum;
}
