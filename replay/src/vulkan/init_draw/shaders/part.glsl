// Which part of the contents is drawn, and how it is encoded; `Part` in draw.rs.

layout(push_constant) uniform Part {
    uint layer;
    uint level;
    uint first_byte;    // of this layer, from where the descriptor begins
    uint row_texels;
    uint encoding;
    uint bit;           // of the stencil value
} part;
