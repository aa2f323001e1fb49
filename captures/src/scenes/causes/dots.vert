#version 450
// Triangles of one pixel each: every third pixel of a target of 32x32.

layout(location = 0) flat out uint dot;

void main()
{
    uint corner = uint(gl_VertexIndex) % 3u;
    dot = uint(gl_VertexIndex) / 3u;
    uint pixel = dot * 3u;
    vec2 middle = vec2(pixel % 32u, pixel / 32u) + 0.5;
    // Around the middle of its pixel, and of no other.
    vec2 away = vec2(corner == 1u ? 1.25 : -0.75, corner == 2u ? 1.25 : -0.75);
    gl_Position = vec4((middle + away) / 16.0 - 1.0, 0.0, 1.0);
}
