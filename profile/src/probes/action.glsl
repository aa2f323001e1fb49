// Counters of one action: included after common.glsl by what counts per draw, dispatch and trace.

// Where this entry point's counters begin among those of an action; set for each pipeline.
layout(constant_id = 2005) const uint action_base = 0;

// The address of this entry point's counters for the action that it runs in; zero where nobody counts it.
uvec2 rr_action;

// What is pushed is the address of all counters of the action.
void set_action(const uvec2 pushed)
{
    rr_action = pushed;
    if ((pushed.x | pushed.y) != 0u)
    {
        uint low = pushed.x + action_base * 8u;
        rr_action = uvec2(low, pushed.y + (low < pushed.x ? 1u : 0u));
    }
}

// Adds to a counter of the action; the carry is rare.
void add_in_action(const uint counter, const uint n)
{
    Counters counters = Counters(rr_action);
#ifdef WIDE
    atomicAdd(counters.at[counter], uint64_t(n));
#else
    uint before = atomicAdd(counters.at[counter].x, n);
    if (before + n < before)
        atomicAdd(counters.at[counter].y, 1u);
#endif
}
