// Behind all leaves.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) rayPayloadInEXT vec4 seen;

void main()
{
    seen = vec4(0.75, 0.75, 0.75, gl_HitTEXT);
}
