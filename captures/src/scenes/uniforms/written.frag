// Uniforms that a shader wrote.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Written
{
    uvec4 value;
} block;

void main()
{
    show(block.value.x);
}
