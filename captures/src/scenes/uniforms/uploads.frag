// Six buffers whose bytes come in six ways; of each, 16 bytes are read.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Staged
{
    uvec4 used;
    uvec4 rest[15];
} staged;
layout(set = 0, binding = 1, std140) uniform Chained
{
    uvec4 used;
} chained;
layout(set = 0, binding = 2, std140) uniform Updated
{
    uvec4 used;
} updated;
layout(set = 0, binding = 3, std140) uniform Filled
{
    uvec4 used;
} filled;
layout(set = 0, binding = 4, std140) uniform Imaged
{
    uvec4 used;
} imaged;
layout(set = 0, binding = 5, std140) uniform Aliased
{
    uvec4 used;
} aliased;

void main()
{
    show(staged.used.x + chained.used.x + updated.used.x + filled.used.x + imaged.used.x + aliased.used.x);
}
