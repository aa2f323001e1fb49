// One shader binding table of a VkTraceRaysIndirectCommand2KHR: where it is, how long and with which stride, stands in
// device memory. Its records are copied as in records.comp; a command for this device is written that names the copy.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "record.glsl"

layout(push_constant) uniform Arguments {
    uvec2 command;     // the application's
    uvec2 target_command;
    uvec2 target;      // records for this device
    uvec2 handles;
    uvec2 ranges;
    uvec2 counters;
    uint which;        // 0 ray generation, 1 miss, 2 hit, 3 callable
    uint capacity;     // bytes of `target`
    uint sizes;        // bytes: captured handle | live handle << 16
    uint alignment;    // of a record here
} p;

// Words of a command: {address, size} of the ray-generation record, {address, size, stride} of the other tables, then
// width, height, depth; 64 bits each but for the last three.
uint place(uint which) { return which == 0 ? 0 : 4 + (which - 1) * 6; }

void main() {
    Words from = Words(p.command), to = Words(p.target_command);
    uint i = gl_GlobalInvocationID.x, at = place(p.which);
    uint size = from.w[at + 2], stride = p.which == 0 ? size : from.w[at + 4];
    // Without a stride there is one record, whatever number a ray asks for.
    bool one = stride == 0;
    if (one) stride = size;
    uvec2 source = uvec2(from.w[at], from.w[at + 1]), live;
    translate(p.ranges, source, live);
    uint captured = p.sizes & 0xFFFF, here = p.sizes >> 16;
    bool none = all(equal(source, uvec2(0))) || size == 0;
    uint data = min(size, stride) > captured ? (min(size, stride) - captured) & ~3u : 0;
    uint target_stride = (here + data + p.alignment - 1) / p.alignment * p.alignment;
    // A single record is a table too; where it begins suits it, whatever its stride.
    uint count = none ? 0 : min((size + stride - 1) / stride, p.capacity / target_stride);
    if (i == 0) {
        to.w[at] = none ? 0 : p.target.x;
        to.w[at + 1] = none ? 0 : p.target.y;
        to.w[at + 2] = target_stride * count;
        to.w[at + 3] = 0;
        if (p.which > 0) {
            to.w[at + 4] = none || one ? 0 : target_stride;
            to.w[at + 5] = 0;
        } else {
            for (uint k = 22; k < 25; k++) to.w[k] = from.w[k];
        }
    }
    Shapes shapes = Shapes(p.handles, p.ranges, p.counters, captured / 4, here / 4, data / 4);
    uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (; i < count; i += threads) {
        copy_record(Words(live), i * (stride / 4), Words(p.target), i * (target_stride / 4), shapes);
    }
}
