// The plane; in its first rows one more ray is traced, behind all there is.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(binding = 0) uniform accelerationStructureEXT world;
layout(location = 0) rayPayloadInEXT uint seen;
layout(location = 1) rayPayloadEXT uint again;

void main()
{
    seen += 20;
    if (gl_LaunchIDEXT.y < 4)
    {
        again = 0;
        traceRayEXT(world, gl_RayFlagsNoneEXT, 0xFF, 0, 0, 2, FROM - vec3(0.0, 0.0, 9.0), 0.0, FORWARD, 10.0, 1);
        seen += again;
    }
}
