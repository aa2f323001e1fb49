// A sphere of matt stuff, metal or glass: where the path goes on, and what colour is left of it.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(binding = 2) readonly buffer Spheres { vec4 spheres[]; };
layout(binding = 3) readonly buffer Surfaces { Surface surfaces[]; };

layout(location = 0) rayPayloadInEXT Seen seen;

void main()
{
    const vec4 sphere = spheres[gl_PrimitiveID];
    const Surface surface = surfaces[gl_PrimitiveID];
    const vec3 direction = gl_WorldRayDirectionEXT;
    const vec3 at = gl_WorldRayOriginEXT + gl_HitTEXT * direction;
    const vec3 outward = normalize(at - sphere.xyz);
    const bool entering = dot(direction, outward) < 0.0;
    const vec3 normal = entering ? outward : -outward;

    uint seed = seen.seed;
    seen.colour = surface.albedo;
    seen.away = gl_HitTEXT;
    seen.ends = false;
    if (surface.kind == LAMBERT)
    {
        const vec3 onward = normal + on_sphere(seed);
        seen.onward = dot(onward, onward) < 1e-8 ? normal : normalize(onward);
    }
    else if (surface.kind == METAL)
    {
        const vec3 fuzz = surface.detail * on_sphere(seed);
        seen.onward = normalize(reflect(direction, normal) + fuzz);
        seen.ends = dot(seen.onward, normal) <= 0.0;
    }
    else
    {
        const float ratio = entering ? 1.0 / surface.detail : surface.detail;
        const float across = min(-dot(direction, normal), 1.0);
        float mirrored = (1.0 - ratio) / (1.0 + ratio);
        mirrored *= mirrored;
        mirrored += (1.0 - mirrored) * pow(1.0 - across, 5.0);
        const vec3 bent = refract(direction, normal, ratio);
        const bool all = bent == vec3(0.0);
        seen.onward = all || chance(seed) < mirrored ? reflect(direction, normal) : normalize(bent);
    }
    seen.seed = seed;
}
