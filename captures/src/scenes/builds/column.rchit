#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_buffer_reference : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

// The number of the instance comes from behind the pointer in the record.

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Number { uint n; };
layout(shaderRecordEXT, std430) buffer Record { Number number; };
layout(location = 0) rayPayloadInEXT vec4 seen;

void main() { seen = colour(gl_PrimitiveID, number.n, uint(seen.x)); }
