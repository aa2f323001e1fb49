// The sky: white at the horizon, blue above.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) rayPayloadInEXT Seen seen;

void main()
{
    seen.colour = mix(vec3(1.0), vec3(0.5, 0.7, 1.0), 0.5 * gl_WorldRayDirectionEXT.y + 0.5);
    seen.away = -1.0;
}
