// The colour of a number.
vec4 colour_of(uint n)
{
    return vec4((uvec3(n) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0;
}
