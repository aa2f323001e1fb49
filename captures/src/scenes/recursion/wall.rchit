// The wall behind everything: asks for light, and calls a shader.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(binding = 0) uniform accelerationStructureEXT world;
layout(location = 0) rayPayloadInEXT Seen seen;
layout(location = 1) rayPayloadEXT uint lit;
layout(location = 4) callableDataEXT uint called;

void main()
{
    lit = 0;
    traceRayEXT(world, SHADOW, 0xFF, 0, 1, 1, gl_WorldRayOriginEXT + gl_HitTEXT * gl_WorldRayDirectionEXT, 0.0625,
        vec3(-0.25, 0.125, 1.0), 6.125, 1);
    called = lit;
    executeCallableEXT(0, 4);
    seen.sum += called;
}
