// What ray generation and the sphere shaders of `weekend` share.
#ifndef WEEKEND_SHARED
#define WEEKEND_SHARED

// What a ray saw: a colour to multiply with, how far away, and how the path goes on.
struct Seen
{
    vec3 colour;
    float away; // negative: nothing was hit
    vec3 onward;
    bool ends; // the surface keeps the light
    uint seed;
};

// Kinds of surfaces.
const float LAMBERT = 0.0;
const float METAL = 1.0;

struct Surface
{
    vec3 albedo;
    float kind; // LAMBERT, METAL, else glass
    float detail; // how rough a metal is, or a glass's refractive index
    float pad0, pad1, pad2;
};

// Numbers from whole ones (PCG): each path has a seed of its own, each frame the same.
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

vec2 in_disk(inout uint seed)
{
    const float out_ = sqrt(chance(seed));
    const float around = 6.2831853 * chance(seed);
    return out_ * vec2(cos(around), sin(around));
}

#endif
