// What leaves hang on: opaque.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) rayPayloadInEXT vec4 seen;

void main()
{
    seen = vec4(0.5, 0.25, 0.125, gl_HitTEXT);
}
