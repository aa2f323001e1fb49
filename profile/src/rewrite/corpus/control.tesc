// A barrier between the invocations of a patch.
#version 460
layout(vertices = 3) out;
layout(location = 0) in vec4 colour[];
layout(location = 0) out vec4 patch_colour[];
layout(location = 1) patch out float bend;
void main()
{
    patch_colour[gl_InvocationID] = colour[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    barrier();
    if (gl_InvocationID == 0) {
        bend = patch_colour[1].x;
        gl_TessLevelInner[0] = 3.0;
        for (int i = 0; i < 3; i++)
            gl_TessLevelOuter[i] = float(i + gl_PrimitiveID);
    }
}
