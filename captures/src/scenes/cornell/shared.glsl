// What a ray in the box saw, and numbers from whole ones (PCG).
struct Seen
{
    vec3 colour;
    bool ends; // a lamp, or nothing
    vec3 at;
    uint seed;
    vec3 onward;
};

uint next(inout uint seed)
{
    const uint state = seed;
    seed = state * 747796405u + 2891336453u;
    const uint word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

float chance(inout uint seed)
{
    return float(next(seed) >> 8) * (1.0 / 16777216.0);
}

vec3 on_sphere(inout uint seed)
{
    const float z = 2.0 * chance(seed) - 1.0;
    const float around = 6.2831853 * chance(seed);
    return vec3(sqrt(max(0.0, 1.0 - z * z)) * vec2(cos(around), sin(around)), z);
}
