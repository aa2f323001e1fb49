#version 450
// What was copied out of images, word by word, with a key that is pushed; the upper bits of 24-bit depths mean nothing.

layout(local_size_x = 64) in;
layout(binding = 0, std430) readonly buffer Copied { uint copied[]; };
layout(binding = 1, std430) writeonly buffer Mixed { uint mixed[]; };
layout(push_constant) uniform Pushed {
    uint key;
    uint words;
    uint masked; // words of depth: the first ones
} p;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= p.words) return;
    uint word = copied[i];
    // Between rows nothing is copied.
    bool depth = i < p.masked && word != 0xDEADBEEFu;
    mixed[i] = (depth ? word & 0xFFFFFFu : word) ^ p.key;
}
