// 8- and 16-bit types.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer B { float16_t half_at[8]; int16_t short_at[8]; uint8_t byte_at[]; };
void main()
{
    uint n = gl_LocalInvocationIndex & 7u;
    float16_t h = half_at[n] * 2.0hf;
    if (h > 1.0hf)
        short_at[n] += int16_t(byte_at[n]);
    half_at[n] = h;
}
