#version 450
#extension GL_GOOGLE_include_directive : require
// One bit of stencil values, from the bytes that a copy of the stencil aspect to a buffer gives: where the bit is set the
// fragment lives, and the pipeline writes it through a mask.

#include "part.glsl"

layout(set = 0, binding = 0) readonly buffer Contents {
    uint words[];
} contents;

void main() {
    uint at = part.first_byte + uint(gl_FragCoord.y) * part.row_texels + uint(gl_FragCoord.x);
    uint value = contents.words[at >> 2] >> ((at & 3) * 8);
    if ((value >> part.bit & 1) == 0) {
        discard;
    }
}
