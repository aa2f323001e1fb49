// A quad that the block puts in its place.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "object.glsl"

void main()
{
    // Two triangles.
    int index = gl_VertexIndex < 3 ? gl_VertexIndex : 6 - gl_VertexIndex;
    vec2 corner = vec2(index & 1, index >> 1);
    gl_Position = object.place * vec4(corner, 0.0, 1.0);
}
