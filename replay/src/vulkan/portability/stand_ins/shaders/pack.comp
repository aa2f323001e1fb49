// Makes captured texels of those of a format that stands in, row by row: each invocation writes words of a row.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint w[]; };

layout(push_constant) uniform Arguments {
    uvec2 source;   // texels here, rows without gaps
    uvec2 target;   // captured texels; each row begins with a word of its own
    uint row_words; // of a captured row
    uint rows;
    uint texels;    // in a row
    uint from;      // bytes of a texel here
    uint to;        // bytes of a captured one
    uint way;       // 0: its first bytes. 1: 8 bits a channel, packed. 2: depth
    uint what0;     // by channel: the first bit, and from bit 8 on how many; or of depths the kind here,
    uint what1;     // and the captured kind: 16 or 24 bits, or 0 for a float
    uint what2;
    uint what3;
} p;

uint channel(uint here, uint what) {
    uint bits = what >> 8;
    uint most = (1u << bits) - 1u;
    return bits == 0u ? 0u : ((here & 255u) * most * 2u + 255u) / 510u << (what & 255u);
}

float depth(uint here) {
    return p.what0 == 0u ? uintBitsToFloat(here) : float(here & 0xFFFFFFu) / 16777215.0;
}

// A captured texel of up to four bytes.
uint packed(uint here) {
    if (p.way == 1u) {
        return channel(here, p.what0) | channel(here >> 8, p.what1) | channel(here >> 16, p.what2)
            | channel(here >> 24, p.what3);
    }
    float value = depth(here);
    if (p.what1 == 0u) return floatBitsToUint(value);
    float most = p.what1 == 24u ? 16777215.0 : 65535.0;
    return uint(roundEven(clamp(value, 0.0, 1.0) * most));
}

void main() {
    Words source = Words(p.source), target = Words(p.target);
    uint count = p.row_words * p.rows;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * 64u) {
        uint row = i / p.row_words, first = i % p.row_words * 4u, word = 0u;
        for (uint k = 0u; k < 4u; k++) {
            uint texel = (first + k) / p.to, part = (first + k) % p.to;
            if (texel >= p.texels) break;
            uint at = (row * p.texels + texel) * p.from;
            uint value = p.way == 0u ? source.w[(at + part) / 4u] >> (at + part) % 4u * 8u
                : packed(source.w[at / 4u]) >> part * 8u;
            word |= (value & 255u) << k * 8u;
        }
        target.w[i] = word;
    }
}
