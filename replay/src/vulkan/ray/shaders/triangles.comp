// The triangles of an indirect build, for a device that has none: corner by corner, without indices, as many as there
// may be at most. Triangles beyond the number that stands in device memory have no area.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "geometry.glsl"

layout(push_constant) uniform Arguments {
    uvec2 corners;
    uvec2 indices;     // or null
    uvec2 transform;   // or null
    uvec2 range;       // {triangles, offset in bytes, first corner, offset of the transform in bytes}
    uvec2 target;      // 3 corners a triangle
    uvec2 target_transform;
    uint count;        // triangles at most
    uint stride;       // bytes from one corner to the next
    uint corner_words; // words of a corner in `target`
    uint index_bytes;  // of an index; 0: there are none
} p;

void main() {
    uint i = gl_GlobalInvocationID.x;
    Words range = Words(p.range), to = Words(p.target);
    if (i == 0 && any(notEqual(p.transform, uvec2(0)))) {
        Words from = Words(add(p.transform, uvec2(range.w[3], 0))), here = Words(p.target_transform);
        for (uint k = 0; k < 12; k++) here.w[k] = from.w[k];
    }
    if (i >= p.count) return;
    bool real = i < range.w[0];
    uvec2 first = add(p.corners, product(range.w[2], p.stride)), indices = p.indices;
    if (p.index_bytes == 0) first = add(first, uvec2(range.w[1], 0));
    else indices = add(indices, uvec2(range.w[1], 0));
    for (uint k = 0; k < 3; k++) {
        uint v = i * 3 + k;
        if (real && p.index_bytes != 0) {
            uint index = load(add(indices, product(v, p.index_bytes)));
            v = p.index_bytes == 4 ? index : index & ((1u << (p.index_bytes * 8)) - 1);
        }
        uvec2 corner = add(first, product(v, p.stride));
        for (uint w = 0; w < p.corner_words; w++) {
            to.w[(i * 3 + k) * p.corner_words + w] = real ? load(add(corner, uvec2(w * 4, 0))) : 0;
        }
    }
}
