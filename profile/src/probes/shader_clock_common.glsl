// Pass shader-clock: how long an invocation was in its ray generation shader, and where on the device it began and ended.
// SM: the device says on which multiprocessor, and in which of its places for subgroups. Each invocation appends a record of
// its own where it leaves: nothing is asked of its subgroup, whose members may have parted by then.
#extension GL_GOOGLE_include_directive : require
#extension GL_ARB_shader_clock : require
#extension GL_EXT_shader_realtime_clock : require
#ifdef SM
#extension GL_NV_shader_sm_builtins : require
#endif
#include "common.glsl"
#include "launched.inc"

// When and where this invocation began.
uvec2 rr_clock_began;
uint rr_clock_from;
// The launch's size.
uint rr_clock_size[3];

uint clock_place()
{
#ifdef SM
    return gl_SMIDNV << 16 | gl_WarpIDNV;
#else
    return ~0u;
#endif
}

void clock_put(const uint probe, const uvec2 now)
{
    if (in_window())
    {
        Launched of = Launched(uvec2(log_low, log_high));
        uint words[12] = uint[12](
            probe_base + probe, of.action, of.start, rr_clock_size[0], rr_clock_size[1], rr_clock_size[2], rr_work,
            rr_clock_began.x, rr_clock_began.y, now.x, now.y, rr_clock_from);
        uint at = reserve(13u);
        if (at != ~0u)
        {
            Log log = Log(uvec2(log_low, log_high));
            for (uint i = 0u; i < 12u; i++)
                log.words[at + i] = words[i];
            log.words[at + 12u] = clock_place();
        }
    }
}

// The clock of the device: one for all subgroups. It is read last at the entry and first where invocations leave.
void clock_begin(const uint width, const uint height, const uint depth)
{
    rr_clock_size = uint[3](width, height, depth);
    rr_clock_from = clock_place();
    rr_clock_began = clockRealtime2x32EXT();
}

void clock_end(const uint probe)
{
    clock_put(probe, clockRealtime2x32EXT());
}

// The clock of the subgroup, or of the multiprocessor that runs it.
void clock_begin_own(const uint width, const uint height, const uint depth)
{
    rr_clock_size = uint[3](width, height, depth);
    rr_clock_from = clock_place();
    rr_clock_began = clock2x32ARB();
}

void clock_end_own(const uint probe)
{
    clock_put(probe, clock2x32ARB());
}

void main()
{
    clock_begin(0u, 0u, 0u);
    clock_end(0u);
    clock_begin_own(0u, 0u, 0u);
    clock_end_own(0u);
}
