#version 460
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec4 colour[];
layout(location = 1) patch in float bend;
layout(location = 0) out vec4 out_colour;
void main()
{
    out_colour = bend > 0.5 ? colour[0] * gl_TessCoord.x : colour[1];
    gl_Position = gl_in[0].gl_Position * gl_TessCoord.y + gl_in[1].gl_Position;
}
