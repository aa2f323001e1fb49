// Passes the corners on; the first invocation says into how many parts the patch is cut.
#version 460
layout(vertices = 4) out;

void main()
{
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0)
    {
        for (int i = 0; i < 4; i++)
            gl_TessLevelOuter[i] = 4.0;
        gl_TessLevelInner[0] = 4.0;
        gl_TessLevelInner[1] = 4.0;
    }
}
