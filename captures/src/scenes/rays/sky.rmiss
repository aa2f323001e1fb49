#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_buffer_reference : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

// Nothing was hit: a sky between two colours, which the shader's record holds.

layout(shaderRecordEXT, std430) readonly buffer Record {
    vec4 horizon;
    vec4 zenith;
};
layout(location = 0) rayPayloadInEXT Found found;

void main() {
    float height = clamp(gl_WorldRayDirectionEXT.y, 0.0, 1.0);
    found.colour = mix(horizon.rgb, zenith.rgb, pow(height, 0.55));
    found.distance = -1.0;
}
