#version 450
// Develops the linear image for the screen: background, bloom, tone curve, vignette, sRGB.

layout(set = 0, binding = 0) uniform sampler2D scene;

layout(push_constant) uniform Exposure {
    float aspect;     // width over height
    float exposure;
} how;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 screen;

const int TAPS = 32;

// Dusk: dark above, a warm glow behind the sphere.
vec3 background(vec2 from_centre) {
    float far = length(from_centre);
    vec3 dusk = mix(vec3(0.034, 0.040, 0.082), vec3(0.012, 0.014, 0.034), smoothstep(-0.5, 0.5, -from_centre.y));
    return dusk + vec3(0.13, 0.075, 0.11) * exp(-5.0 * far * far);
}

// What glows, from a spiral of points around, turned from pixel to pixel so that no pattern shows.
vec3 bloom() {
    float spin = 6.2831853 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    vec3 sum = vec3(0.0);
    for (int tap = 0; tap < TAPS; tap++) {
        float angle = spin + float(tap) * 2.39996323;
        float radius = 0.085 * sqrt((float(tap) + 0.5) / float(TAPS));
        vec2 at = place + radius * vec2(cos(angle) / how.aspect, sin(angle));
        vec3 there = texture(scene, at).rgb;
        sum += there * smoothstep(1.2, 2.4, there.r - there.b) * (1.0 - radius / 0.09);
    }
    return 0.75 * sum / float(TAPS);
}

// The filmic curve of Narkowicz's fit to ACES.
vec3 film(vec3 x) {
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

vec3 to_srgb(vec3 x) {
    return mix(12.92 * x, 1.055 * pow(x, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, x));
}

void main() {
    vec2 from_centre = (place - 0.5) * vec2(how.aspect, 1.0);
    // Twice as wide and high as the screen, the linear filter averages four samples a pixel.
    vec4 drawn = texture(scene, place);
    vec3 linear = drawn.rgb + (1.0 - drawn.a) * background(from_centre) + bloom();
    float vignette = 1.0 - 0.55 * smoothstep(0.35, 1.05, length(from_centre));
    screen = vec4(to_srgb(film(linear * how.exposure * vignette)), 1.0);
}
