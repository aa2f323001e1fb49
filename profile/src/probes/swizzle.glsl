// Whose work an invocation of a launch does: a table says so, where the launch is given one.
#version 460
// (Without what every probe has: it counts nothing, and asks for no subgroup operations.)
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#ifndef FRAGMENT
layout(local_size_x = 1) in;
#endif

// What is said of a launch: the address of its table, zero if it has none; in the lowest 8 bits of `bits` how many of an
// entry's bits are the column, in the next 8 how many are the row (what is left is the layer); the size of the launch that
// the table is for.
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Given
{
    uvec2 table;
    uint bits;
    uint unused;
    uvec3 size;
};

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Entries
{
    uint at[];
};

// The launch index of the work that the invocation with this one does.
uvec3 swizzled(const uvec2 address, const uvec3 id, const uvec3 size)
{
    uvec3 mapped = id;
    if ((address.x | address.y) != 0u)
    {
        Given given = Given(address);
        uvec2 table = given.table;
        if ((table.x | table.y) != 0u && given.size == size)
        {
            uint entry = Entries(table).at[(id.z * size.y + id.y) * size.x + id.x];
            int x = int(given.bits & 255u);
            int y = int(given.bits >> 8);
            mapped = uvec3(bitfieldExtract(entry, 0, x), bitfieldExtract(entry, x, y), bitfieldExtract(entry, x + y, 32 - x - y));
        }
    }
    return mapped;
}

void main()
{
    swizzled(uvec2(0u), uvec3(0u), uvec3(1u));
}
