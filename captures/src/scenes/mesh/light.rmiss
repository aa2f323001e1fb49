// Nothing is in the way of the light.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 1) rayPayloadInEXT float lit;

void main()
{
    lit = 1.0;
}
