#version 450
// Lights a cube: sun, sky, a highlight and what the cube glows with itself. Linear light, no upper bound.

layout(set = 0, binding = 0) uniform Camera {
    mat4 view_projection;
    vec4 eye;
    vec4 sun;
} camera;

layout(location = 0) in vec3 in_cube;
layout(location = 1) in vec3 in_world;
layout(location = 2) in vec3 flat_normal;
layout(location = 3) in mat3 rotation;
layout(location = 6) flat in vec4 colour;
layout(location = 7) flat in vec3 glow;
layout(location = 8) flat in vec3 outward;

layout(location = 0) out vec4 light;

// The normal of a cube whose edges are rounded: flat on the sides, turning near the edges.
vec3 rounded() {
    vec3 q = abs(in_cube) * 2.0;
    vec3 bent = sign(in_cube) * pow(q, vec3(14.0));
    return normalize(rotation * (bent + 0.2 * flat_normal));
}

void main() {
    vec3 n = rounded();
    vec3 to_eye = normalize(camera.eye.xyz - in_world);
    vec3 sun = camera.sun.xyz;

    // The sphere as a whole stands in its own light: what faces inward, or away from the sun, is dim.
    float open = mix(0.12, 1.0, smoothstep(-0.9, 0.6, dot(n, outward)));
    float day = smoothstep(-0.30, 0.55, dot(outward, sun));

    vec3 sunlight = vec3(2.7, 2.35, 1.95) * max(dot(n, sun), 0.0) * day * open;
    vec3 sky = mix(vec3(0.07, 0.05, 0.13), vec3(0.20, 0.27, 0.42), 0.5 + 0.5 * n.y) * open;

    vec3 halfway = normalize(sun + to_eye);
    float sharpness = exp2(3.0 + 5.0 * colour.a);
    float shine = (sharpness + 8.0) / 25.0 * pow(max(dot(n, halfway), 0.0), sharpness);
    float rim = pow(1.0 - max(dot(n, to_eye), 0.0), 4.0);

    vec3 sum = colour.rgb * (sunlight + sky);
    sum += 0.05 * shine * sunlight;
    sum += rim * vec3(0.10, 0.16, 0.30) * open;
    light = vec4(sum + glow * (0.25 + 0.75 * pow(max(dot(n, to_eye), 0.0), 1.5)), 1.0);
}
