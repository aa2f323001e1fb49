// What the shaders of `recursion` share. Every number of every ray is a small multiple of 1/32: no hit is ever in doubt.
const vec3 FORWARD = vec3(0.125, 0.0625, -1.0);

#define AT gl_LaunchIDEXT.xy
#define FROM vec3(vec2(AT) + 0.5, 1.0)

// What a ray has seen, and how many traces it is inside of.
struct Seen
{
    uint sum;
    uint depth;
};

// A ray that has seen this much traces no other.
const uint DEEPEST = 2;

const uint SHADOW = gl_RayFlagsTerminateOnFirstHitEXT | gl_RayFlagsSkipClosestHitShaderEXT;

#define COLOUR(sum) (vec4((uvec3(sum) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0)
