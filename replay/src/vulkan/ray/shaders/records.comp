// Copies a shader binding table: captured handles become live ones, addresses in the records' data are translated.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "record.glsl"

layout(push_constant) uniform Arguments {
    uvec2 source;      // records as the application wrote them
    uvec2 target;      // records for this device
    uvec2 handles;
    uvec2 ranges;
    uvec2 counters;
    uint count;        // records
    uint source_words; // words from one record to the next
    uint target_words;
    uint captured_words;
    uint live_words;
    uint data_words;
} p;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= p.count) return;
    Shapes shapes = Shapes(p.handles, p.ranges, p.counters, p.captured_words, p.live_words, p.data_words);
    copy_record(Words(p.source), i * p.source_words, Words(p.target), i * p.target_words, shapes);
}
