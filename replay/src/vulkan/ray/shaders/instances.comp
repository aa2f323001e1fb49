// Copies a top-level build's instances, their acceleration-structure references translated.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(push_constant) uniform Arguments {
    uvec2 source;      // instances of 64 bytes, or with `pointers` 64-bit captured addresses of such
    uvec2 target;      // instances of 64 bytes
    uvec2 references;  // table of acceleration structures
    uvec2 ranges;      // table of buffers
    uvec2 counters;    // {translated, unknown}
    uvec2 range;       // of an indirect build: {number of instances, offset of the first in bytes, 2 unused}; or null
    uvec2 target_range; // where the range for `target` goes; or null: what is behind the last instance becomes inactive
    uint count;        // instances, of an indirect build at most
    uint pointers;
} p;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= p.count) return;
    uvec2 source = p.source;
    uint count = p.count;
    if (any(notEqual(p.range, uvec2(0)))) {
        Words range = Words(p.range);
        count = min(count, range.w[0]);
        source = add(source, uvec2(range.w[1], 0));
        if (i == 0 && any(notEqual(p.target_range, uvec2(0)))) {
            Words ours = Words(p.target_range);
            ours.w[0] = count;
            for (uint k = 1; k < 4; k++) ours.w[k] = 0;
        }
    }
    Words to = Words(p.target);
    if (i >= count) {
        for (uint k = 0; k < 16; k++) to.w[i * 16 + k] = 0;
        return;
    }
    Words from = Words(source);
    uint base = i * 16;
    if (p.pointers != 0) {
        uvec2 at;
        translate(p.ranges, uvec2(from.w[i * 2], from.w[i * 2 + 1]), at);
        from = Words(at);
        base = 0;
    }
    for (uint k = 0; k < 14; k++) to.w[i * 16 + k] = from.w[base + k];
    uvec2 reference = uvec2(from.w[base + 14], from.w[base + 15]), live;
    bool known = translate(p.references, reference, live);
    to.w[i * 16 + 14] = live.x;
    to.w[i * 16 + 15] = live.y;
    if (any(notEqual(reference, uvec2(0)))) atomicAdd(Words(p.counters).w[known ? 0 : 1], 1);
}
