// What is read of the block, and where.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

#include "object.glsl"

void main()
{
    show(object.tint.x + uint(object.nothing.x) + 10 * object.frame + object.number + 20 * object.part);
}
