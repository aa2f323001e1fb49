#version 450
// Places the cubes: one invocation a cube, for the moment in the push constants.
//
// The cubes sit on a sphere, spread evenly by the golden angle. Waves run over the sphere and lift the
// cubes; a few cubes, chosen by a hash of their number, glow.

layout(local_size_x = 64) in;

layout(push_constant) uniform Moment {
    float seconds;
    uint count;
} moment;

// 256 bytes, the largest alignment that a driver may ask of a dynamic offset.
struct Cube {
    mat4 model;
    vec4 colour;   // rgb: albedo; a: how polished
    vec4 glow;     // rgb: light of its own
    vec4 unused[10];
};

layout(set = 0, binding = 0, std430) writeonly buffer Cubes {
    Cube cubes[];
};

const float PI = 3.14159265;

// A well mixed number from 0 to 1 for each n (PCG).
float chance(uint n) {
    uint state = n * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return float((word >> 22u) ^ word) / 4294967295.0;
}

// From teal at 0 through indigo and rose to amber at 1.
vec3 palette(float t) {
    const vec3 stops[4] = vec3[](vec3(0.02, 0.46, 0.50), vec3(0.16, 0.14, 0.62), vec3(0.72, 0.07, 0.30), vec3(0.95, 0.38, 0.05));
    float at = clamp(t, 0.0, 1.0) * 3.0;
    int stop = min(int(at), 2);
    return mix(stops[stop], stops[stop + 1], smoothstep(0.0, 1.0, at - float(stop)));
}

mat3 about_y(float angle) {
    float c = cos(angle), s = sin(angle);
    return mat3(c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= moment.count) {
        return;
    }
    float t = (float(i) + 0.5) / float(moment.count);

    // From pole to pole in equal steps of height, turning by the golden angle.
    float height = 1.0 - 2.0 * t;
    float turn = float(i) * PI * (3.0 - sqrt(5.0));
    vec3 outward = vec3(cos(turn) * sqrt(1.0 - height * height), height, sin(turn) * sqrt(1.0 - height * height));

    // Two waves, one from pole to pole and one around.
    float wave = 0.6 * sin(7.0 * height - 5.0 * moment.seconds) + 0.4 * sin(3.0 * atan(outward.z, outward.x) + 4.0 * moment.seconds);
    float radius = 1.0 + 0.14 * wave;
    float edge = 0.185 + 0.035 * wave;

    // A frame with +y outward, twisted by the wave.
    vec3 east = normalize(cross(vec3(0.0, 1.0, 0.0), outward));
    mat3 frame = about_y(0.9 * moment.seconds) * mat3(east, outward, cross(east, outward)) * about_y(0.6 * wave);
    vec3 centre = frame[1] * radius;

    float lit = step(0.92, chance(i));
    vec3 colour = palette(t + 0.10 * wave + 0.08 * (chance(i + 500u) - 0.5));
    cubes[i].model = mat4(vec4(frame[0] * edge, 0.0), vec4(frame[1] * edge, 0.0), vec4(frame[2] * edge, 0.0), vec4(centre, 1.0));
    cubes[i].colour = vec4(mix(colour, vec3(0.02), lit), 0.35 + 0.65 * chance(i + 1000u));
    cubes[i].glow = vec4(lit * vec3(3.4, 1.05, 0.20) * (0.7 + 0.3 * sin(9.0 * moment.seconds + 20.0 * t)), 0.0);
}
