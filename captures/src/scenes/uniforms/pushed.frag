// A set of push descriptors and one that is none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Pushed
{
    uvec4 value;
} pushed;
layout(set = 1, binding = 0, std140) uniform Beside
{
    uvec4 value;
} beside;

void main()
{
    show(pushed.value.x + beside.value.x);
}
