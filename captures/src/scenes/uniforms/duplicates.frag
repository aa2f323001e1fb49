// Three draws with a buffer each, whose bytes are equal.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Lamp
{
    uvec4 shade;
} lamp;

void main()
{
    show(lamp.shade.x);
}
