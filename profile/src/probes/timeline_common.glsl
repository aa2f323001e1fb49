// Pass timeline: when a subgroup enters and leaves an entry point. SM: the device says on which multiprocessor, and in which
// of its places for subgroups.
#extension GL_GOOGLE_include_directive : require
#extension GL_ARB_shader_clock : require
#extension GL_EXT_shader_realtime_clock : require
#ifdef SM
#extension GL_NV_shader_sm_builtins : require
#endif
#include "common.glsl"

// Whether this invocation's subgroup records: decided where it enters, so that what has a begin has an end.
bool rr_timeline;

// A record without its time: where its words are, or ~0.
uint timeline_put(const uint probe, const uvec4 mask)
{
    uint at = reserve(7u);
    if (at != ~0u)
    {
        Log log = Log(uvec2(log_low, log_high));
        log.words[at] = probe_base + probe;
        log.words[at + 1u] = rr_subgroup;
        log.words[at + 4u] = subgroupBallotBitCount(mask);
#ifdef SM
        log.words[at + 5u] = gl_SMIDNV;
        log.words[at + 6u] = gl_WarpIDNV;
#else
        log.words[at + 5u] = ~0u;
        log.words[at + 6u] = ~0u;
#endif
    }
    return at;
}

void timeline_time(const uint at, const uvec2 now)
{
    if (at != ~0u)
    {
        Log log = Log(uvec2(log_low, log_high));
        log.words[at + 2u] = now.x;
        log.words[at + 3u] = now.y;
    }
}

void timeline_decide(const uvec4 mask)
{
    uvec4 wanted = subgroupBallot(ACTIVE && in_window());
    rr_timeline = subgroupBallotBitExtract(wanted, subgroupBallotFindLSB(mask));
}

// The clock of the device: one for all subgroups. It is read last where a subgroup enters and first where it leaves, so
// that recording is not part of the span.
void timeline_begin(const uint probe)
{
    uvec4 mask = here();
    timeline_decide(mask);
    if (is_first(mask) && rr_timeline)
    {
        uint at = timeline_put(probe, mask);
        timeline_time(at, clockRealtime2x32EXT());
    }
}

void timeline_end(const uint probe)
{
    uvec2 now = clockRealtime2x32EXT();
    uvec4 mask = here();
    if (is_first(mask) && rr_timeline)
        timeline_time(timeline_put(probe, mask), now);
}

// The clock of the subgroup: those of two subgroups may differ in anything.
void timeline_begin_own(const uint probe)
{
    uvec4 mask = here();
    timeline_decide(mask);
    if (is_first(mask) && rr_timeline)
    {
        uint at = timeline_put(probe, mask);
        timeline_time(at, clock2x32ARB());
    }
}

void timeline_end_own(const uint probe)
{
    uvec2 now = clock2x32ARB();
    uvec4 mask = here();
    if (is_first(mask) && rr_timeline)
        timeline_time(timeline_put(probe, mask), now);
}

void main()
{
    timeline_begin(0u);
    timeline_end(0u);
    timeline_begin_own(0u);
    timeline_end_own(0u);
}
