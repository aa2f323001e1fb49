#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_buffer_reference : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"
#include "textured.glsl"

// A sphere, from outside or, through its windows, from inside.

layout(shaderRecordEXT, std430) buffer Record {
    vec4 tint;
    Material material;
    Heap heap;
};
layout(location = 0) rayPayloadInEXT Found found;

void main() {
    // Not from the intersection's attribute: llvmpipe gives that of the last point reported, also of one that was not
    // accepted.
    uint i = 6 * gl_PrimitiveID;
    Boxes boxes = heap.boxes;
    vec3 low = vec3(boxes.of[i], boxes.of[i + 1], boxes.of[i + 2]);
    vec3 high = vec3(boxes.of[i + 3], boxes.of[i + 4], boxes.of[i + 5]);
    vec3 at = gl_ObjectRayOriginEXT + gl_HitTEXT * gl_ObjectRayDirectionEXT;
    vec3 outward = normalize(at - 0.5 * (low + high));
    bool outside = dot(outward, gl_ObjectRayDirectionEXT) < 0.0;

    vec4 surface = textured(material, outward);
    vec3 normal = normalize(mat3(gl_ObjectToWorldEXT) * outward);
    found.colour = surface.rgb * (outside ? vec3(1.0) : tint.rgb);
    found.gloss = outside ? surface.a : 0.0;
    found.distance = gl_HitTEXT;
    found.normal = outside ? normal : -normal;
}
