// Several invocations, vertices emitted in a loop.
#version 460
layout(triangles, invocations = 4) in;
layout(triangle_strip, max_vertices = 9) out;
layout(location = 0) in vec4 colour[];
layout(location = 0) out vec4 out_colour;
void main()
{
    for (int n = 0; n < 3; n++) {
        if (colour[n].w == 0.0)
            continue;
        out_colour = colour[n] * float(gl_InvocationID);
        gl_Position = gl_in[n].gl_Position;
        gl_PrimitiveID = gl_PrimitiveIDIn;
        EmitVertex();
    }
    EndPrimitive();
}
