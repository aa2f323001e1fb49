// What every probe has: where its memory is, which invocations count, the log that records are appended to.
//
// Sources that include this are compiled once for each kind of shader they go into (see compile): FRAGMENT where helper
// invocations have to be told apart, DEMOTE where invocations may become helpers on the way; and each once more, WIDE, for
// devices with 64-bit atomics. An instrumented module imports functions; main is not taken along. Parameters are const, which lets them be passed by value. Globals whose
// names begin with rr_ are one and the same in all the functions that a module imports.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#ifdef WIDE
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#endif
#ifdef DEMOTE
#extension GL_EXT_demote_to_helper_invocation : require
#endif

#ifndef FRAGMENT
layout(local_size_x = 1) in;
#endif

// Set for each pipeline, so that a module is rewritten once however often it is used: the addresses of the entry
// point's counters and of the log, and the number of its first probe.
layout(constant_id = 2000) const uint region_low = 0;
layout(constant_id = 2001) const uint region_high = 0;
layout(constant_id = 2002) const uint log_low = 0;
layout(constant_id = 2003) const uint log_high = 0;
layout(constant_id = 2004) const uint probe_base = 0;

// One 64-bit number a counter. Where there are no 64-bit atomics it is two words.
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Counters
{
#ifdef WIDE
    uint64_t at[];
#else
    uvec2 at[];
#endif
};

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Log
{
    uint cursor;      // words taken so far, those that did not fit included
    uint capacity;    // words that there are
    uint lost_low;    // words asked for after it was full
    uint lost_high;
    uint subgroups;   // subgroup ids given so far
    uint window_low;  // only invocations with a work id from here on ...
    uint window_high; // ... to before here record
    uint unused[9];
    uint words[];
};

// The number that this invocation's subgroup got at the entry point.
uint rr_subgroup;
// Which of the application's work this invocation does: see the stage's work id.
uint rr_work;

#if defined(DEMOTE)
#define ACTIVE (!helperInvocationEXT())
#elif defined(FRAGMENT)
#define ACTIVE (!gl_HelperInvocation)
#else
#define ACTIVE true
#endif

// The invocations of the subgroup that are here. Helper invocations are not: what they store is dropped.
uvec4 here()
{
    return subgroupBallot(ACTIVE);
}

// One of those that are here.
bool is_first(const uvec4 mask)
{
    return ACTIVE && gl_SubgroupInvocationID == subgroupBallotFindLSB(mask);
}

// Adds to a counter. A 64-bit addition answers nothing, so that nobody waits for it; with two words the first one's
// answer says whether to carry, which is rare.
void add(const uint counter, const uint n)
{
    Counters counters = Counters(uvec2(region_low, region_high));
#ifdef WIDE
    atomicAdd(counters.at[counter], uint64_t(n));
#else
    uint before = atomicAdd(counters.at[counter].x, n);
    if (before + n < before)
        atomicAdd(counters.at[counter].y, 1u);
#endif
}

// Words of the log for one record: the index of the first, or ~0 if there is no room. What would have been needed is
// counted either way.
uint reserve(const uint n)
{
    Log log = Log(uvec2(log_low, log_high));
    if (log.cursor > log.capacity)
    {
        uint before = atomicAdd(log.lost_low, n);
        if (before + n < before)
            atomicAdd(log.lost_high, 1u);
        return ~0u;
    }
    uint at = atomicAdd(log.cursor, n);
    return at + n <= log.capacity ? at : ~0u;
}

// Whether this invocation is one of those whose records are wanted in this run.
bool in_window()
{
    Log log = Log(uvec2(log_low, log_high));
    return rr_work >= log.window_low && rr_work < log.window_high;
}
