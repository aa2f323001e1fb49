// Colours, and what leads to them.

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Palette { uint colour[8]; };

// A list: each node has the colour of its third of a band.
layout(buffer_reference) readonly buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Node {
    uint colour;
    Node next;
};

// Two pointers side by side.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Pair {
    Palette first;
    Palette second;
};
