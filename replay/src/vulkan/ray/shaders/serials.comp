// Translates the references in a serialised top-level structure that the capture's data brought, where they lie.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(push_constant) uniform Arguments {
    uvec2 serial;      // two UUIDs, serialised size, deserialised size, number of references; then these
    uvec2 references;  // table of acceleration structures
    uvec2 counters;    // {translated, unknown}
} p;

void main() {
    Words serial = Words(p.serial);
    uint count = serial.w[12];
    for (uint i = gl_GlobalInvocationID.x; i < count; i += 64) {
        uint at = 14 + i * 2;
        uvec2 reference = uvec2(serial.w[at], serial.w[at + 1]), live;
        bool known = translate(p.references, reference, live);
        serial.w[at] = live.x;
        serial.w[at + 1] = live.y;
        if (any(notEqual(reference, uvec2(0)))) atomicAdd(Words(p.counters).w[known ? 0 : 1], 1);
    }
}
