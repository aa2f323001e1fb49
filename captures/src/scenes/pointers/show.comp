#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

// Six bands, each with the colours that one kind of pointer leads to.

layout(push_constant) uniform Push {
    uvec2 palette; // a pointer, but of no such type
    Node list;
    uvec2 number; // no pointer, but it looks like one
    uvec2 same;   // the number, disguised
    uint turn;
};
layout(set = 0, binding = 0, std430) readonly buffer Handed { uint before[4]; Palette palette; } handed;
layout(set = 0, binding = 1, std140) uniform Settings { vec4 unused; Palette palette; } settings;
struct Row {
    uint unused;
    Palette palette;
};
layout(set = 0, binding = 2, std430) readonly buffer Rows { uint count; Row row[]; } rows;
layout(set = 0, binding = 3, rgba8) uniform writeonly image2D picture;
layout(local_size_x = 8, local_size_y = 8) in;

void main() {
    uint column = gl_GlobalInvocationID.x / 8, band = gl_GlobalInvocationID.y / 8;
    uint i = (column + turn) % 8;
    uint colour = 0;
    if (band == 0) colour = Palette(palette).colour[i];
    else if (band == 1) colour = settings.palette.colour[i];
    else if (band == 2) colour = handed.palette.colour[i];
    else if (band == 3) {
        Node node = list;
        for (uint n = 0; n < gl_GlobalInvocationID.x * 3 / 64; ++n) node = node.next;
        colour = node.colour;
    } else if (band == 4) colour = rows.row[column % rows.count].palette.colour[i];
    else colour = number == (same ^ uvec2(0x5A5A5A5A, 0xA5A5A5A5)) ? 0xFF20C020 : 0xFF2020E0;
    imageStore(picture, ivec2(gl_GlobalInvocationID.xy), unpackUnorm4x8(colour));
}
