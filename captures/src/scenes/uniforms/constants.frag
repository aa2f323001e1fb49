// Push constants: one of each draw, one of always, one that is zero and one that nobody reads.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(push_constant) uniform Push
{
    uint number;
    uint always;
    uint zero;
    uint unused;
} push;

void main()
{
    show(push.number + push.always + push.zero);
}
