// Branches on what is the same for all by its nature, by chance, in some subgroups, and nowhere.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "closed.glsl"

void main()
{
    uint sum = 0;
    if (trips == 5)
        sum += 1;
    if (constant != 42)
        sum += 2;
    if (gl_WorkGroupID.x == 0)
        sum += 4;
    if (equal[LOCAL] == 7)
        sum += 8;
    if (LOCAL < 16)
        sum += 16;
    if ((distinct[LOCAL] & 1u) == 0u)
        sum += 32;
    RESULT = sum;
}
