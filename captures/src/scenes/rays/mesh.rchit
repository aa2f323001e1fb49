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

vec3 three(Corners corners, uint at) { return vec3(corners.of[at], corners.of[at + 1], corners.of[at + 2]); }

void main() {
    // Weights from where the ray ends, not from the attribute: llvmpipe's intersection shaders overwrite that of a
    // triangle that was hit before, also when what they report is ignored.
    vec3 at = gl_ObjectRayOriginEXT + gl_HitTEXT * gl_ObjectRayDirectionEXT;
    uint corner[3];
    vec3 away[3];
    for (int i = 0; i < 3; ++i) {
        corner[i] = mesh.triangles.of[3 * gl_PrimitiveID + i] * 6;
        away[i] = three(mesh.corners, corner[i]) - at;
    }
    vec3 across = cross(away[1] - away[0], away[2] - away[0]);
    vec3 normal = vec3(0.0);
    for (int i = 0; i < 3; ++i) {
        float weight = dot(cross(away[(i + 1) % 3], away[(i + 2) % 3]), across);
        normal += weight * three(mesh.corners, corner[i] + 3);
    }
    normal = normalize(mat3(gl_ObjectToWorldEXT) * normal);
    vec4 surface = textured(material, at);
    found.colour = surface.rgb * tint.rgb;
    found.gloss = surface.a;
    found.distance = gl_HitTEXT;
    found.normal = faceforward(normal, gl_WorldRayDirectionEXT, normal);
}
