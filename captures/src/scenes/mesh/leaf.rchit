// A leaf: the farther, the darker; instances have colours of their own.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) rayPayloadInEXT vec4 seen;

void main()
{
    const vec3 colour = gl_InstanceCustomIndexEXT == 3 ? vec3(0.5, 0.9, 0.3) : vec3(0.9, 0.7, 0.2);
    seen = vec4(colour * (1.0 - 0.0625 * gl_HitTEXT), gl_HitTEXT);
}
