// Read by two stages, one member each; one by nobody.
layout(set = 0, binding = 2, std140) uniform World
{
    uint tile;   // ray generation
    uint base;   // ray generation
    uint sky;    // miss; another in each frame
    uint unused; // another in each frame
} world;
