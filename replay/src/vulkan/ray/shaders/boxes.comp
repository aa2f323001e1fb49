// The boxes of an indirect build, for a device that has none: as many as there may be at most. Those beyond the number
// that stands in device memory are inactive.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "geometry.glsl"

layout(push_constant) uniform Arguments {
    uvec2 boxes;
    uvec2 range;  // {boxes, offset in bytes, 2 unused}
    uvec2 target; // 24 bytes a box
    uint count;   // boxes at most
    uint stride;  // bytes from one box to the next
    uint points;  // those that are too many are points at a corner of the first box
} p;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= p.count) return;
    Words range = Words(p.range), to = Words(p.target);
    uvec2 first = add(p.boxes, uvec2(range.w[1], 0));
    Words from = Words(add(first, product(i, p.stride))), corner = Words(first);
    bool real = i < range.w[0];
    // A box whose least x is no number is inactive.
    for (uint w = 0; w < 6; w++) {
        uint instead = p.points == 0 ? 0x7FC00000u : range.w[0] == 0 ? 0 : corner.w[w % 3];
        to.w[i * 6 + w] = real ? from.w[w] : instead;
    }
}
