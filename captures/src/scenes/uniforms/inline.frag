// An inline uniform block.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Inline
{
    uvec4 kept;
    uint frame;
    uint zero;
    uint unused;
} block;

void main()
{
    show(block.kept.x + block.frame + block.zero);
}
