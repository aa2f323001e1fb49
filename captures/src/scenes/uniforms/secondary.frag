// Drawn by a secondary command buffer that was recorded once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Secondary
{
    uvec4 value; // another in each frame
} block;

void main()
{
    show(block.value.x);
}
