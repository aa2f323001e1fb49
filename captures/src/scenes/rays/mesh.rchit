#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_buffer_reference : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"
#include "textured.glsl"

// A triangle of a mesh: its normal from three corners, reached by two pointers in a row.

layout(shaderRecordEXT, std430) buffer Record {
    vec4 tint;
    Material material;
    Mesh mesh;
};
layout(location = 0) rayPayloadInEXT Found found;
hitAttributeEXT vec2 weights;

vec3 three(Corners corners, uint at) { return vec3(corners.of[at], corners.of[at + 1], corners.of[at + 2]); }

void main() {
    vec3 weight = vec3(1.0 - weights.x - weights.y, weights);
    vec3 at = vec3(0.0), normal = vec3(0.0);
    for (int i = 0; i < 3; ++i) {
        uint corner = mesh.triangles.of[3 * gl_PrimitiveID + i] * 6;
        at += weight[i] * three(mesh.corners, corner);
        normal += weight[i] * three(mesh.corners, corner + 3);
    }
    normal = normalize(mat3(gl_ObjectToWorldEXT) * normal);
    vec4 surface = textured(material, at);
    found.colour = surface.rgb * tint.rgb;
    found.gloss = surface.a;
    found.distance = gl_HitTEXT;
    found.normal = faceforward(normal, gl_WorldRayDirectionEXT, normal);
}
