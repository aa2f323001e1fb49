// What both sources of pass blocks have.
#include "mixed.inc"

// Whether this invocation is one of the sample.
bool rr_sampled;
// Where the copy of the counters begins that this invocation adds to.
uint rr_copy;

uint in_copy(const uint counter)
{
    return rr_copy + counter;
}

// Adds without an atomic: two that add at once may count as one.
void add_plain(const uint counter, const uint n)
{
    Counters counters = Counters(uvec2(region_low, region_high));
#ifdef WIDE
    counters.at[counter] += uint64_t(n);
#else
    uvec2 now = counters.at[counter];
    now.x += n;
    if (now.x < n)
        now.y++;
    counters.at[counter] = now;
#endif
}
