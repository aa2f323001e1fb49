// What a block may be made of; how parts of it are read.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

struct Light
{
    uvec3 shade;
    uint power;
    uint unused;
};

layout(set = 0, binding = 0, std140) uniform Shapes
{
    layout(row_major) mat3x2 rows;
    uint table[4];  // read at an index that is not known
    Light first;    // copied whole
    Light lights[2];// one member of it, at a known index
    uvec4 passed;   // given to a function
    mat4 unused;    // read by nobody
    uint at;
} shapes;

uint sum(const uvec4 words)
{
    return words.x + words.w;
}

void main()
{
    Light copy = shapes.first;
    uint n = uint(shapes.rows[2].y) + shapes.table[shapes.at] + copy.power + copy.shade.z;
    show(n + shapes.lights[1].power + sum(shapes.passed));
}
