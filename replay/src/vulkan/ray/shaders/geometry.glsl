// Shared by the shaders that copy geometry: products of 64 bits, and loads at any byte.

uvec2 product(uint a, uint b) {
    uint high, low;
    umulExtended(a, b, high, low);
    return uvec2(low, high);
}

uint load(uvec2 address) {
    Words w = Words(uvec2(address.x & ~3u, address.y));
    uint shift = (address.x & 3u) * 8;
    return shift == 0 ? w.w[0] : (w.w[0] >> shift) | (w.w[1] << (32 - shift));
}
