// What both sources of pass blocks have.

// Whether this invocation is one of the sample.
bool rr_sampled;
// Where the copy of the counters begins that this invocation adds to.
uint rr_copy;

uint mixed(const uint n)
{
    uint x = n * 0x9e3779b9u;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    return x ^ x >> 13;
}

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
