// Copies one record of a shader binding table: a captured handle becomes the live one, addresses in its data are
// translated.

struct Shapes {
    uvec2 handles;       // number of groups, unused; then captured handle, live handle
    uvec2 ranges;        // table of buffers
    uvec2 counters;      // {handles translated, handles unknown, addresses translated}
    uint captured_words; // words of a handle
    uint live_words;
    uint data_words;     // words behind a handle that are copied
};

void copy_record(Words from, uint a, Words to, uint b, Shapes p) {
    Words table = Words(p.handles), counters = Words(p.counters);
    bool found = false, empty = true;
    for (uint k = 0; k < p.captured_words; k++) empty = empty && from.w[a + k] == 0;
    uint entry_words = p.captured_words + p.live_words;
    for (uint g = 0; g < table.w[0] && !found && !empty; g++) {
        uint e = 2 + g * entry_words;
        bool same = true;
        for (uint k = 0; k < p.captured_words && same; k++) same = table.w[e + k] == from.w[a + k];
        if (same) {
            for (uint k = 0; k < p.live_words; k++) to.w[b + k] = table.w[e + p.captured_words + k];
            found = true;
        }
    }
    // An unused record is all zeros, and stays so.
    if (!found) for (uint k = 0; k < p.live_words; k++) to.w[b + k] = empty ? 0 : from.w[a + min(k, p.captured_words - 1)];
    if (!empty) atomicAdd(counters.w[found ? 0 : 1], 1);
    a += p.captured_words;
    b += p.live_words;
    for (uint k = 0; k < p.data_words; k++) to.w[b + k] = from.w[a + k];
    // Addresses are 8 bytes long and aligned to as many within a record.
    for (uint k = 0; k + 1 < p.data_words; k += 2) {
        uvec2 live;
        if (translate(p.ranges, uvec2(from.w[a + k], from.w[a + k + 1]), live)) {
            to.w[b + k] = live.x;
            to.w[b + k + 1] = live.y;
            atomicAdd(counters.w[2], 1);
        }
    }
}
