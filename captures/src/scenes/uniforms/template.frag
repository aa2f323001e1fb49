// A set that a template updates: two buffers and an image.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Pair
{
    uvec4 value;
} pair[2];
layout(set = 0, binding = 1) uniform sampler2D image;

void main()
{
    show(pair[0].value.x + 2 * pair[1].value.x + uint(texture(image, vec2(0.5)).x * 255.0 + 0.5));
}
