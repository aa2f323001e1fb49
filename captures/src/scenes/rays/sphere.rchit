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
hitAttributeEXT vec3 outward;

void main() {
    vec4 surface = textured(material, outward);
    vec3 normal = normalize(mat3(gl_ObjectToWorldEXT) * outward);
    found.colour = surface.rgb * (gl_HitKindEXT == 0 ? vec3(1.0) : tint.rgb);
    found.gloss = gl_HitKindEXT == 0 ? surface.a : 0.0;
    found.distance = gl_HitTEXT;
    found.normal = faceforward(normal, gl_WorldRayDirectionEXT, normal);
}
