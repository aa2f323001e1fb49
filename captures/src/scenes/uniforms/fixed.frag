// A sampler that the layout has.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0) uniform sampler2D image;

void main()
{
    show(uint(texture(image, vec2(0.5)).x * 255.0 + 0.5));
}
