// A block, turned and moved by its instance: one is matt, the other a mirror.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) rayPayloadInEXT Seen seen;

// Two triangles a side, in the same order as the walls, seen from outside.
const vec3 OUTWARD[6] = vec3[](vec3(-1, 0, 0), vec3(1, 0, 0), vec3(0, -1, 0), vec3(0, 1, 0), vec3(0, 0, -1), vec3(0, 0, 1));

void main()
{
    const vec3 outward = normalize(mat3(gl_ObjectToWorldEXT) * OUTWARD[gl_PrimitiveID / 2]);
    seen.at = gl_WorldRayOriginEXT + gl_HitTEXT * gl_WorldRayDirectionEXT;
    seen.ends = false;
    uint seed = seen.seed;
    if (gl_InstanceCustomIndexEXT == 1)
    {
        seen.colour = vec3(0.73);
        const vec3 onward = outward + on_sphere(seed);
        seen.onward = dot(onward, onward) < 1e-8 ? outward : normalize(onward);
    }
    else
    {
        seen.colour = vec3(0.9);
        seen.onward = reflect(gl_WorldRayDirectionEXT, outward);
    }
    seen.seed = seed;
}
