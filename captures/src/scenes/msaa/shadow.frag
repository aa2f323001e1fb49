#version 450
#extension GL_GOOGLE_include_directive : require
// Depths of 16 bits; which layer is the tint's red.

#include "how.glsl"

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    gl_FragDepth = float((p.x * 2047 + p.y * 31 + int(how.tint.r) * 977) & 65535) / 65535.0;
}
