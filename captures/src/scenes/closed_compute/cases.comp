// A switch over the local index modulo 6: a case that falls through, a case without an own end, a default.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 0;
    switch (LOCAL % 6)
    {
    case 0:
        sum += 1;
    case 1:
        sum += 10;
        break;
    case 2:
        sum += 20;
        break;
    case 3:
    case 4:
        sum += 30;
        break;
    default:
        sum += 40;
    }
    RESULT = sum;
}
