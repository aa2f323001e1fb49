// Set 0 from before, under another layout, and a set of its own.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Common
{
    uvec4 value;
} common_;
layout(set = 1, binding = 0, std140) uniform Own
{
    uvec4 value;
} own;

void main()
{
    show(common_.value.x + own.value.x);
}
