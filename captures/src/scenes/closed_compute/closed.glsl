// What all shaders of this scene have: workgroups in one dimension, of a multiple of every subgroup size, so that an
// invocation's place in its subgroup is its local index modulo that size.
layout(local_size_x = 64) in;

// One number for each invocation of each dispatch; the picture is made of these.
layout(std430, binding = 0) buffer Results
{
    uint results[];
};

// Numbers that are what their names say, one for each local index.
layout(std430, binding = 1) buffer Given
{
    uint equal[64];    // 7
    uint distinct[64]; // the index
    uint shuffled[64]; // 63 less the index
    uint elected;      // subgroups that came by
};

// A part for each dispatch.
layout(std140, binding = 2) uniform Numbers
{
    uint zero;
    uint constant;    // 42
    uint alternating; // 11 and 22
    uint counting;    // 100 and up: another in each dispatch
};

// 8x8 texels: 64 times the row and the column.
layout(binding = 3) uniform usampler2D texels;

layout(push_constant) uniform Push
{
    uint trips; // 5
    uint never; // 0
    uint first; // of the results
};

#define LOCAL gl_LocalInvocationIndex
#define RESULT results[first + gl_GlobalInvocationID.x]
