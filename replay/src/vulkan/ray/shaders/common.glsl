// Shared by the translation shaders: tables of captured -> live addresses, searched by halves.
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint w[]; };

bool less(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

uvec2 add(uvec2 a, uvec2 b) {
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

uvec2 subtract(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

// Table: number of entries, unused; then {captured, size, live} of 64 bits each, sorted by captured.
// True where `key` lies in an entry; `live` is where that is now.
bool translate(uvec2 table, uvec2 key, out uvec2 live) {
    Words t = Words(table);
    uint low = 0, high = t.w[0];
    while (low < high) {
        uint middle = (low + high) / 2;
        uvec2 captured = uvec2(t.w[2 + middle * 6], t.w[3 + middle * 6]);
        if (less(key, captured)) high = middle; else low = middle + 1;
    }
    live = key;
    if (low == 0) return false;
    uint e = 2 + (low - 1) * 6;
    uvec2 offset = subtract(key, uvec2(t.w[e], t.w[e + 1]));
    if (!less(offset, uvec2(t.w[e + 2], t.w[e + 3]))) return false;
    live = add(uvec2(t.w[e + 4], t.w[e + 5]), offset);
    return true;
}
