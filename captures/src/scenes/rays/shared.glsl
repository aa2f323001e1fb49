// What the shaders of this folder share: pointers, and what travels between them.

/// A mesh's corners: a position and a normal, six floats each.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Corners { float of[]; };
/// A mesh's triangles, three corners each.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Triangles { uint of[]; };
/// Boxes with a sphere in each: smallest and largest corner, six floats.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Boxes { float of[]; };

/// Where a shape's own data is: pointers in a buffer. A shape is a mesh or a heap of spheres.
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Mesh {
    Corners corners;
    Triangles triangles;
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Heap { Boxes boxes; };

/// A surface. Materials are linked in a ring: the next one is the other colour of the pattern.
layout(buffer_reference) buffer Material;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Material {
    vec4 colour;   // red, green, blue, gloss
    float pattern; // which callable shader
    float scale;   // how often the pattern repeats in a unit
    float cut;     // how much of a sphere is cut out
    float unused;
    Material next;
};

/// What a ray brings home.
struct Found {
    vec3 colour;    // of the surface, or of the sky
    float distance; // below zero: the sky
    vec3 normal;    // towards the ray's origin
    float gloss;
};

/// What a callable shader is asked and answers.
struct Pattern {
    vec3 at;
    float value; // 0: this material, 1: the next one
};
