#version 450
// Tiles of one material, which has an effect that is dear and seldom seen: its weight is zero in eleven tiles of twelve. What
// the effect comes to is computed for every pixel all the same. Numbers are whole, so that the picture is the same everywhere.

// Of each tile a colour, and how much of the effect there is.
layout(std140, binding = 0) uniform Tiles { uvec4 tiles[12]; };
layout(location = 0) out vec4 colour;

// A weave of threads, which takes 256 rounds.
uint cloth(uvec2 at) {
    uint thread = at.x * 40503u + at.y;
    for (uint n = 0u; n < 256u; ++n) {
        thread = (thread ^ thread >> 15) * 739982445u + n;
    }
    return thread;
}

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    uvec4 tile = tiles[at.y / 16u * 4u + at.x / 16u];
    uint thread = cloth(at);
    uvec3 effect = uvec3(thread >> 8, thread >> 16, thread >> 24) & 63u;
    uvec3 sum = tile.rgb + effect * tile.w;
    colour = vec4(uvec4(sum, 255u)) / 255.0;
}
