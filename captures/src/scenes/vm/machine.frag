#version 450
// A machine that runs byte code: one switch of 71 cases, one for each of its instructions. The program comes from a
// uniform buffer, 128 instructions of 32 bytes, and is run twice for each pixel; the colour is what the registers hold.
// What the program does not use is code that is never run: what a profile is to find.

layout(std140, binding = 0) uniform Program { uvec4 code[256]; };
layout(location = 0) out vec4 colour;

void main() {
    uint registers[4];
    registers[0] = uint(gl_FragCoord.x);
    registers[1] = uint(gl_FragCoord.y);
    registers[2] = 1u;
    registers[3] = 0u;
    for (uint run = 0u; run < 2u; ++run) {
        for (uint n = 0u; n < 128u; ++n) {
            // Operation, target, first and second source; then the constant.
            uvec4 what = code[2u * n];
            uint a = registers[what.z & 3u];
            uint b = registers[what.w & 3u];
            uint c = code[2u * n + 1u].x;
            uint x = 0u;
            switch (what.x) {
            case 0u: x = a; break;
            case 1u: x = b; break;
            case 2u: x = c; break;
            case 3u: x = n; break;
            case 4u: x = ~a; break;
            case 5u: x = a + b; break;
            case 6u: x = a + c; break;
            case 7u: x = b + c; break;
            case 8u: x = a - b; break;
            case 9u: x = a - c; break;
            case 10u: x = b - c; break;
            case 11u: x = a * b; break;
            case 12u: x = a * c; break;
            case 13u: x = b * c; break;
            case 14u: x = a & b; break;
            case 15u: x = a & c; break;
            case 16u: x = ~a & b; break;
            case 17u: x = a & n; break;
            case 18u: x = a | b; break;
            case 19u: x = a | c; break;
            case 20u: x = ~a | b; break;
            case 21u: x = a | n; break;
            case 22u: x = a ^ b; break;
            case 23u: x = a ^ c; break;
            case 24u: x = ~a ^ b; break;
            case 25u: x = a ^ n; break;
            case 26u: x = a << (b & 31u); break;
            case 27u: x = a >> (b & 31u); break;
            case 28u: x = a << (c & 31u); break;
            case 29u: x = a >> (c & 31u); break;
            case 30u: x = a / (b | 1u); break;
            case 31u: x = a % (b | 1u); break;
            case 32u: x = a / (c | 1u); break;
            case 33u: x = a % (c | 1u); break;
            case 34u: x = min(a, b); break;
            case 35u: x = max(a, b); break;
            case 36u: x = min(a, c); break;
            case 37u: x = max(a, c); break;
            case 38u: x = uint(a == b); break;
            case 39u: x = uint(a == c); break;
            case 40u: x = uint(a != b); break;
            case 41u: x = uint(a != c); break;
            case 42u: x = uint(a < b); break;
            case 43u: x = uint(a < c); break;
            case 44u: x = uint(a > b); break;
            case 45u: x = uint(a > c); break;
            case 46u: x = uint(a <= b); break;
            case 47u: x = uint(a <= c); break;
            case 48u: x = uint(a >= b); break;
            case 49u: x = uint(a >= c); break;
            case 50u: x = a < b ? c : n; break;
            case 51u: x = a < c ? b : n; break;
            case 52u: x = uint(bitCount(a)); break;
            case 53u: x = bitfieldReverse(a); break;
            case 54u: x = uint(findLSB(a | 0x80000000u)); break;
            case 55u: x = uint(findMSB(a | 1u)); break;
            case 56u: x = bitfieldExtract(a, 8, 8); break;
            case 57u: x = bitfieldExtract(a, 16, 8); break;
            case 58u: x = a << 8 | a >> 24; break;
            case 59u: x = a << 16 | a >> 16; break;
            case 60u: x = a * b + c; break;
            case 61u: x = a * c + b; break;
            case 62u: x = a + b + n; break;
            case 63u: x = (a ^ a >> 15) * c; break;
            case 64u: x = (a & c) | (b & ~c); break;
            case 65u: x = (a + b) >> 1u; break;
            case 66u: x = a * a; break;
            case 67u: x = a ^ b ^ c; break;
            case 68u: x = n * c; break;
            case 69u: x = n ^ a; break;
            case 70u: x = a + n * c; break;
            }
            registers[what.y & 3u] = x;
        }
    }
    uint sum = registers[0] ^ registers[1] ^ registers[2] ^ registers[3];
    colour = vec4(uvec4(sum, sum >> 8, sum >> 16, 255u) & 255u) / 255.0;
}
