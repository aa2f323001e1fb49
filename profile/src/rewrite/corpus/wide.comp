// 64-bit numbers and atomics of the application's own.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer B { uint64_t at[]; };
void main()
{
    if (at[1] > 5ul)
        atomicAdd(at[0], uint64_t(gl_LocalInvocationIndex));
}
