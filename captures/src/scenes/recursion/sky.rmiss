// Nothing there: what was never traced on is traced once more, from farther below.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(binding = 0) uniform accelerationStructureEXT world;
layout(location = 0) rayPayloadInEXT Seen seen;
layout(location = 2) rayPayloadEXT Seen again;

void main()
{
    seen.sum += 2;
    if (seen.depth == 0)
    {
        again = Seen(0u, 1u);
        traceRayEXT(world, gl_RayFlagsNoneEXT, 0xFF, 0, 1, 0, gl_WorldRayOriginEXT - vec3(0.0, 8.0, 0.0), 0.25,
            gl_WorldRayDirectionEXT, 16.0, 2);
        seen.sum += 5 * again.sum;
    }
}
