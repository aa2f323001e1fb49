// Never called: the box is closed. It would show.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) rayPayloadInEXT Seen seen;

void main()
{
    seen.colour = vec3(0.0, 100.0, 100.0);
    seen.ends = true;
}
