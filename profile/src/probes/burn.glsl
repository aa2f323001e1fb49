// Pass burn: time that goes by for nothing.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// So many turns of Marsaglia's xorshift, each of which waits for the one before it. It begins with the counter, which is 0 and
// which no compiler knows, and ends in it once in four billion times, so that no turn can be left out.
void burn(const uint counter, const uint turns)
{
    Counters counters = Counters(uvec2(region_low, region_high));
#ifdef WIDE
    uint x = uint(counters.at[counter]) + 2463534242u;
#else
    uint x = counters.at[counter].x + 2463534242u;
#endif
    for (uint n = 0u; n < turns; n++)
    {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    if (x == 0u)
        add(counter, 1u);
}

void main()
{
    burn(0u, 0u);
}
