// A wall: matt, but for the lamp in the middle of the ceiling. The box is from -1 to 1, and to 3 towards the camera.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) rayPayloadInEXT Seen seen;

// Two triangles a wall.
const vec3 COLOURS[6] = vec3[](vec3(0.65, 0.05, 0.05), vec3(0.12, 0.45, 0.15), vec3(0.73), vec3(0.73), vec3(0.73), vec3(0.73));
const vec3 INWARD[6] = vec3[](vec3(1, 0, 0), vec3(-1, 0, 0), vec3(0, 1, 0), vec3(0, -1, 0), vec3(0, 0, 1), vec3(0, 0, -1));

void main()
{
    const int wall = gl_PrimitiveID / 2;
    // Off the walls by more than where rays begin, or one that begins in a corner would pass through the other wall.
    const vec3 at = gl_WorldRayOriginEXT + gl_HitTEXT * gl_WorldRayDirectionEXT;
    seen.at = clamp(at, vec3(-0.996), vec3(0.996, 0.996, 2.996));
    seen.ends = wall == 3 && max(abs(at.x), abs(at.z)) < 0.8;
    seen.colour = seen.ends ? vec3(3.5, 3.2, 2.8) : COLOURS[wall];
    uint seed = seen.seed;
    const vec3 onward = INWARD[wall] + on_sphere(seed);
    seen.onward = dot(onward, onward) < 1e-8 ? INWARD[wall] : normalize(onward);
    seen.seed = seed;
}
