// Colours each triangle by the square that it is in; leaves every third square out.
#version 460
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) flat out uint cell;

void main()
{
    vec2 middle = (gl_in[0].gl_Position + gl_in[1].gl_Position + gl_in[2].gl_Position).xy / 3.0;
    uvec2 square = uvec2(middle * 2.0 + 2.0);
    uint which = square.y * 4 + square.x;
    if (which % 3 == 2)
        return;
    for (int i = 0; i < 3; i++)
    {
        gl_Position = gl_in[i].gl_Position;
        cell = which;
        EmitVertex();
    }
    EndPrimitive();
}
