// Pass rays: events of rays. One record holds those of all invocations that are there together: what they are, the mask of
// their places in the subgroup, and then the words of each, in the order of places. CLOCK: a clock is read. SM: the device
// says on which multiprocessor, and in which of its places for subgroups.
#extension GL_GOOGLE_include_directive : require
#ifdef CLOCK
#extension GL_ARB_shader_clock : require
#extension GL_EXT_shader_realtime_clock : require
#endif
#ifdef SM
#extension GL_NV_shader_sm_builtins : require
#endif
#include "common.glsl"
#include "first.inc"
#include "masks.inc"
#include "launched.inc"

// What an invocation has to say: its words.
uint rr_rays[24];
// Outside of ray tracing: where in the log this invocation's entry is, which it names itself by.
uint rr_rays_place;

// Words that every record has behind its mask.
#if defined(CLOCK) && defined(SM)
#define STAMP 3u
#elif defined(CLOCK)
#define STAMP 2u
#elif defined(SM)
#define STAMP 1u
#else
#define STAMP 0u
#endif

// Begins a record of so many invocations, with `more` words before theirs and n words of each: where the former are, or ~0.
uint rays_head(const uint probe, const uvec4 mask, const uint lanes, const uint more, const uint n, const uvec2 clock)
{
    uint at = begin_record(probe, lanes + STAMP + more + n * subgroupBallotBitCount(mask));
    if (at != ~0u)
    {
        put_mask(at, mask, lanes);
#ifdef CLOCK
        put(at + lanes, clock.x);
        put(at + lanes + 1u, clock.y);
#endif
#ifdef SM
        put(at + lanes + STAMP - 1u, gl_SMIDNV << 16 | gl_WarpIDNV);
#endif
        at += lanes + STAMP;
    }
    return at;
}

// The words of one invocation: who it is, and what it has to say.
void rays_words(const uint at, const uint who, const uint n)
{
    Log log = Log(uvec2(log_low, log_high));
    log.words[at] = who;
    for (uint i = 1u; i < n; i++)
        log.words[at + i] = rr_rays[i - 1u];
}

// An event: n words of each invocation.
void rays_put(const uint probe, const uint who, const uint lanes, const uint n, const uvec2 clock)
{
    if (ACTIVE && in_window())
    {
        uvec4 mask = subgroupBallot(true);
        uint at = 0u;
        if (subgroupElect())
            at = rays_head(probe, mask, lanes, 0u, n, clock);
        at = subgroupBroadcastFirst(at);
        if (at != ~0u)
            rays_words(at + n * subgroupBallotExclusiveBitCount(mask), who, n);
    }
}

// The entry where a launch begins: three words about the launch are in rr_rays, three about its workgroups behind them.
void rays_launch(const uint probe, const uint lanes, const uvec2 clock)
{
    rr_rays_place = ~0u;
    if (ACTIVE && in_window())
    {
        uvec4 mask = subgroupBallot(true);
        uint at = 0u;
        if (subgroupElect())
        {
            at = rays_head(probe, mask, lanes, 8u, 1u, clock);
            if (at != ~0u)
            {
                Launched of = Launched(uvec2(log_low, log_high));
                put(at, of.action);
                put(at + 1u, of.start);
                for (uint i = 0u; i < 6u; i++)
                    put(at + 2u + i, rr_rays[i]);
                at += 8u;
            }
        }
        at = subgroupBroadcastFirst(at);
        if (at != ~0u)
        {
            rr_rays_place = at + subgroupBallotExclusiveBitCount(mask);
            rays_words(rr_rays_place, rr_work, 1u);
        }
    }
}

// An event of one invocation, whatever the others do: where subgroups cannot be asked.
void rays_alone_put(const uint probe, const uint lanes, const uint n, const uvec2 clock)
{
    if (ACTIVE && in_window())
    {
        uint at = begin_record(probe, lanes + STAMP + n);
        if (at != ~0u)
        {
            uint lane = gl_SubgroupInvocationID;
            for (uint i = 0u; i < lanes; i++)
                put(at + i, lane / 32u == i ? 1u << (lane & 31u) : 0u);
#ifdef CLOCK
            put(at + lanes, clock.x);
            put(at + lanes + 1u, clock.y);
#endif
#ifdef SM
            put(at + lanes + STAMP - 1u, gl_SMIDNV << 16 | gl_WarpIDNV);
#endif
            rays_words(at + lanes + STAMP, rr_work, n);
        }
    }
}

// A ray's flags, so that any-hit shaders are asked about opaque geometry too, where that changes nothing else.
uint rays_flags(const uint flags)
{
    const uint OPAQUE = 1u;
    const uint NO_OPAQUE = 2u;
    const uint CULLS_BY_OPACITY = 0x40u | 0x80u;
    Launched of = Launched(uvec2(log_low, log_high));
    if (of.asks_any_hits == 0u || (flags & CULLS_BY_OPACITY) != 0u)
        return flags;
    return (flags & ~OPAQUE) | NO_OPAQUE;
}

// 24 bits of one number, those above them all ones if it is larger; and 8 of another.
uint rays_pack(const uint wide, const uint narrow)
{
    return min(wide, 0xffffffu) | narrow << 24;
}

#ifdef CLOCK
void rays_event(const uint probe, const uint lanes, const uint n)
{
    rays_put(probe, rr_work, lanes, n, clockRealtime2x32EXT());
}

void rays_mine(const uint probe, const uint lanes, const uint n)
{
    rays_put(probe, rr_rays_place, lanes, n, clockRealtime2x32EXT());
}

void rays_enter(const uint probe, const uint lanes)
{
    rays_launch(probe, lanes, clockRealtime2x32EXT());
}

void rays_alone(const uint probe, const uint lanes, const uint n)
{
    rays_alone_put(probe, lanes, n, clockRealtime2x32EXT());
}

void rays_event_own(const uint probe, const uint lanes, const uint n)
{
    rays_put(probe, rr_work, lanes, n, clock2x32ARB());
}

void rays_mine_own(const uint probe, const uint lanes, const uint n)
{
    rays_put(probe, rr_rays_place, lanes, n, clock2x32ARB());
}

void rays_enter_own(const uint probe, const uint lanes)
{
    rays_launch(probe, lanes, clock2x32ARB());
}

void rays_alone_own(const uint probe, const uint lanes, const uint n)
{
    rays_alone_put(probe, lanes, n, clock2x32ARB());
}
#else
void rays_event(const uint probe, const uint lanes, const uint n)
{
    rays_put(probe, rr_work, lanes, n, uvec2(0u));
}

void rays_mine(const uint probe, const uint lanes, const uint n)
{
    rays_put(probe, rr_rays_place, lanes, n, uvec2(0u));
}

void rays_enter(const uint probe, const uint lanes)
{
    rays_launch(probe, lanes, uvec2(0u));
}

void rays_alone(const uint probe, const uint lanes, const uint n)
{
    rays_alone_put(probe, lanes, n, uvec2(0u));
}
#endif

void main()
{
    rays_event(0u, 1u, 1u);
    rays_mine(0u, 1u, 1u);
    rays_enter(0u, 1u);
    rays_alone(0u, 1u, 1u);
    rr_rays[0] = rays_pack(0u, rays_flags(0u));
#ifdef CLOCK
    rays_event_own(0u, 1u, 1u);
    rays_mine_own(0u, 1u, 1u);
    rays_enter_own(0u, 1u);
    rays_alone_own(0u, 1u, 1u);
#endif
}
