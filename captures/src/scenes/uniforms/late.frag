// Updated after it was bound; bound in part; an array without an end.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_nonuniform_qualifier : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Late
{
    uvec4 value;
} late;
layout(set = 0, binding = 1, std140) uniform Part
{
    uvec4 value;
} parts[4];
layout(set = 0, binding = 2, std140) uniform Many
{
    uvec4 value;
} many[];
layout(push_constant) uniform Push
{
    uint at;
} push;

void main()
{
    show(late.value.x + parts[0].value.x + parts[2].value.x + many[push.at].value.x);
}
