// A set that was copied from another.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Copied
{
    uvec4 value;
} copied;

void main()
{
    show(copied.value.x);
}
