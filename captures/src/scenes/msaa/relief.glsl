// The depth of the canvas at a pixel, alike in squares of four: 256 steps, each a float that every device computes
// exactly.

float relief(ivec2 p) {
    p >>= 1;
    return float((p.x * 5 + p.y * 3 ^ (p.x >> 2) * 7) & 255) / 256.0;
}
