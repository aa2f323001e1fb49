// A mirror behind the camera: sends rays back, for which all is opaque.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(binding = 0) uniform accelerationStructureEXT world;
layout(location = 0) rayPayloadInEXT Seen seen;
layout(location = 2) rayPayloadEXT Seen again;

void main()
{
    seen.sum += 11;
    if (seen.depth < DEEPEST)
    {
        again = Seen(0u, seen.depth + 1u);
        const vec3 direction = gl_WorldRayDirectionEXT;
        traceRayEXT(world, gl_RayFlagsOpaqueEXT, 0xFF, 0, 1, 0, gl_WorldRayOriginEXT + gl_HitTEXT * direction, 0.0625,
            vec3(direction.xy, -direction.z), 32.0, 2);
        seen.sum += 3 * again.sum;
    }
}
