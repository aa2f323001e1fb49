// Fragments along an edge, with helpers beside them that take part in a derivative.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 7;
    float wide = dFdx(gl_FragCoord.x) + dFdy(gl_FragCoord.y);
    if ((X & 1u) == 0u)
        sum += uint(wide) * 10;
    colour = COLOUR(sum);
}
