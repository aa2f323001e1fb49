// Where rays end.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "world.glsl"

layout(location = 0) rayPayloadInEXT uint seen;

void main()
{
    seen = world.sky;
}
