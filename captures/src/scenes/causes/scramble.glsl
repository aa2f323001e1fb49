// What all shaders of this scene compute with: rounds of whole-number arithmetic, each of which needs the one before.

// What a draw or a dispatch is given.
layout(push_constant) uniform Given
{
    uint seed;
    uint rounds;
    // The texture's size less 1; a dispatch has its first row in x.
    uvec2 last;
} given;

uint scrambled(uint value, uint rounds)
{
    for (uint n = 0u; n < rounds; ++n)
    {
        value = (value ^ value >> 15) * 739982445u + n;
    }
    return value;
}

vec4 colour_of(uint value)
{
    return vec4(uvec4(value, value >> 8, value >> 16, 255u) & 255u) / 255.0;
}
