#version 450

// One step of a picture that is made of itself: `paint` reads the canvas, the sums and the host's numbers and writes the
// canvas; `count` adds to the sums what it finds on the canvas. A step that runs twice gives another picture.

layout(set = 0, binding = 0, rgba8) uniform image2D canvas;
layout(set = 0, binding = 1, std430) buffer Sums { uint sums[]; };
layout(set = 0, binding = 2, std430) readonly buffer Numbers { uint numbers[4]; };
layout(push_constant) uniform Push {
    uint frame;
    uint counts;
};
layout(local_size_x = 8, local_size_y = 8) in;

uvec4 texel(ivec2 at) { return uvec4(imageLoad(canvas, at) * 255.0 + 0.5); }

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    ivec2 size = imageSize(canvas);
    if (any(greaterThanEqual(at, size))) {
        return;
    }
    if (counts == 0) {
        uvec4 old = texel(at);
        uint spread = old.r * 5 + old.g * 3 + uint(at.x) * numbers[0] + uint(at.y) * numbers[1];
        uint x = spread + frame * 29 + sums[at.y] + numbers[2];
        uvec4 now = uvec4(x & 255, (old.r + (x >> 3)) & 255, (old.g + old.b + frame) & 255, 255);
        imageStore(canvas, at, vec4(now) / 255.0);
    } else if (at.x == 0) {
        uint sum = numbers[3];
        for (int x = 0; x < size.x; x += 8) {
            sum += texel(ivec2(x, at.y)).r;
        }
        sums[at.y] += sum;
    }
}
