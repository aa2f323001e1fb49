#version 450
#extension GL_GOOGLE_include_directive : require
// Depths, from the bytes that a copy of the depth aspect to a buffer gives.

#include "part.glsl"

layout(set = 0, binding = 0) readonly buffer Contents {
    uint words[];
} contents;

const uint D16 = 0;
const uint D24 = 1;
const uint D32 = 2;

const float STEP = 1.0 / 16777216.0;

// v / (2^24 - 1), rounded right. A division need not be, and one float further on it would be the next depth.
float from_24_bits(uint v) {
    if (v >= 1u << 23) {
        return float(v + 1) * STEP;
    }
    if (v >= 1u << 22) {
        return float(2 * v + 1) * (STEP * 0.5);
    }
    return float(v) * STEP;
}

void main() {
    uint texel = uint(gl_FragCoord.y) * part.row_texels + uint(gl_FragCoord.x);
    uint at = part.first_byte + texel * (part.encoding == D16 ? 2 : 4);
    uint word = contents.words[at >> 2];
    if (part.encoding == D16) {
        gl_FragDepth = float((word >> ((at & 2) * 8)) & 0xffff) / 65535.0;
    } else if (part.encoding == D24) {
        gl_FragDepth = from_24_bits(word & 0xffffff);
    } else {
        gl_FragDepth = uintBitsToFloat(word);
    }
}
