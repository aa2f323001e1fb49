// Drawn by commands whose sizes are in memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Indirect
{
    uvec4 value;
} block;

void main()
{
    show(block.value.x);
}
