// A clock of the application's own.
#version 460
#extension GL_ARB_shader_clock : require
#extension GL_EXT_shader_realtime_clock : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) buffer B { uvec2 at[]; };
void main()
{
    uvec2 t = clock2x32ARB();
    if (t.x != 0u)
        at[gl_LocalInvocationIndex] = clockRealtime2x32EXT() - t;
}
