// Set 0, which stays bound.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Common
{
    uvec4 value;
} common_;

void main()
{
    show(common_.value.x);
}
