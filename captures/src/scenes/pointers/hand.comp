#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

// Hands a pointer on: from behind a pointer in a push constant to a storage buffer.

layout(push_constant) uniform Push { Pair from; };
layout(set = 0, binding = 0, std430) writeonly buffer Handed { uint before[4]; Palette palette; } handed;
layout(local_size_x = 1) in;

void main() { handed.palette = from.second; }
