#version 450
#extension GL_GOOGLE_include_directive : require
// One triangle that covers the target, at a depth.

#include "how.glsl"

void main() {
    vec2 place = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(place * 2.0 - 1.0, how.z, 1.0);
}
