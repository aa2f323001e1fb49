// Every second row becomes helpers, which go on and are not counted any more.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_demote_to_helper_invocation : require
#include "closed.glsl"

void main()
{
    uint sum = 5;
    if ((Y & 1u) == 1u)
        demote;
    sum += uint(dFdx(gl_FragCoord.x));
    if (X < 32)
        sum += 20;
    colour = COLOUR(sum);
}
