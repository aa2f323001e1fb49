// Three descriptors with dynamic offsets.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(set = 0, binding = 0, std140) uniform Near
{
    uvec4 value;
} near;
layout(set = 0, binding = 1, std140) uniform Far
{
    uvec4 value;
} far;
layout(set = 0, binding = 2, std430) readonly buffer Store
{
    uvec4 value;
} store;

void main()
{
    show(near.value.x + far.value.x + store.value.x);
}
