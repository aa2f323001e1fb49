// Pass divergence. Shaders that are called, and those that call: masks of blocks, entries and exits, in the order in which a
// subgroup comes by. All others: each subgroup has a mask in the log of those that have left, and executions are counted.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "first.inc"
#include "masks.inc"

// Record: subgroup, mask.
void divergence_here(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && subgroup_in_window())
    {
        uint at = begin_record(probe, 1u + words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
        }
    }
}

#ifdef FRAGMENT
// A mask's bits at the other invocation of the row, and of the column, of each quad.
uvec4 across_row(const uvec4 mask)
{
    return (mask & 0x55555555u) << 1 | (mask >> 1 & 0x55555555u);
}
uvec4 across_column(const uvec4 mask)
{
    return (mask & 0x33333333u) << 2 | (mask >> 2 & 0x33333333u);
}
#endif

// Those that entered, how many they are, and how many helpers are there beside them.
uvec4 rr_entered;
uint rr_number_entered;
uint rr_number_of_helpers;
// How many had left where the others were together last.
uint rr_number_left;
// Whether this subgroup is in the window.
bool rr_counted;
// Where in the log the mask of those that have left is. ~0: nowhere.
uint rr_left;

// What is held of a block's executions: how many were there, how many had left, how many were away otherwise, and of how
// many executions in a row that is so; 8 bits each.
const uint ONCE = 0x1000000u;
// So many have left where nobody knows.
const uint UNKNOWN = 0xffu;

// How many of those that entered have left, and how many are away otherwise. They are asked for where they are noted: who
// leaves is another invocation.
uint divergence_missing(const uvec4 mask, const uint words)
{
    if (rr_left == ~0u)
        return UNKNOWN;
    Log log = Log(uvec2(log_low, log_high));
    uint early = 0u;
    uint missing = 0u;
    uint n = 0u;
    do
    {
        uint left = atomicOr(log.words[rr_left + n], 0u) & ~mask[n];
        early += bitCount(left);
        missing += bitCount(rr_entered[n] & ~mask[n] | left);
        n++;
    } while (n < words && gl_SubgroupSize > n << 5);
    return early | missing - early << 8;
}

// Adds what is held to the counters from `first` on: executions, active, early returns, control flow; of executions where
// nobody knows who has left: their number, active; for fragments, helpers. (A loop over those that are not 0, so that one
// addition is compiled where there are seven.)
void divergence_flush(const uint first, const uint held)
{
    uint times = held >> 24;
    if (times == 0u || !ACTIVE)
        return;
    uint n = held & 0xffu;
    uint early = held >> 8 & 0xffu;
    uint away = held >> 16 & 0xffu;
    bool unknown = early == UNKNOWN;
    uint wanted = 3u;
    if (unknown)
        wanted |= 0x30u;
    else
    {
        wanted |= early != 0u ? 4u : 0u;
        wanted |= away != 0u ? 8u : 0u;
    }
#ifdef FRAGMENT
    uint helpers = rr_number_of_helpers;
    wanted |= helpers != 0u && !unknown ? 0x40u : 0u;
#else
    uint helpers = 0u;
#endif
    for (; wanted != 0u; wanted &= wanted - 1u)
    {
        uint which = uint(findLSB(wanted));
        uint of = (which & 3u) == 0u ? 1u : (which & 3u) == 1u ? n : which == 2u ? early : which == 3u ? away : helpers;
        add(first + which, times * of);
    }
}

// An execution of a block that is come by again and again: the first of those that are here stands for it. Gives what it
// holds then. Where all that entered are here, nobody can have left.
uint divergence_held(const uint first, const uint words, const uint held)
{
    uvec4 mask = here();
    uint now = subgroupBallotBitCount(mask);
    bool mine = rr_counted && is_first(mask);
    if (mine && mask != rr_entered)
        now |= divergence_missing(mask, words) << 8;
    bool same = (held & 0xffffffu) == now && held < 0xff000000u;
    if (mine && !same)
        divergence_flush(first, held);
    return !mine ? held : same ? held + ONCE : now + ONCE;
}

// Adds one execution by these. Only the first of them comes here, so that this can stay a function (rewrite/calls.rs).
void divergence_add(const uint first, const uvec4 mask, const uint words)
{
    uint now = subgroupBallotBitCount(mask) + ONCE;
    if (mask != rr_entered)
        now |= divergence_missing(mask, words) << 8;
    divergence_flush(first, now);
}

// An execution of another block.
void divergence_once(const uint first, const uint words)
{
    uvec4 mask = here();
    if (rr_counted && is_first(mask))
        divergence_add(first, mask, words);
}

// Where all that have not left are here together, whoever else entered has left.
void divergence_meet()
{
    rr_number_left = rr_number_entered - subgroupBallotBitCount(here());
}

// What is held where nobody has left since: who is missing otherwise is away.
uint divergence_now_known(const uvec4 mask)
{
    uint n = subgroupBallotBitCount(mask);
    return n | rr_number_left << 8 | rr_number_entered - rr_number_left - n << 16;
}

// Adds that, where nobody has left at all. (Short, as copies are what compilers take their time for.)
void divergence_flush_all(const uint first, const uint held)
{
    uint times = held >> 24;
    if (times == 0u || !ACTIVE)
        return;
    uint away = held >> 16 & 0xffu;
    add(first, times);
    add(first + 1u, times * (held & 0xffu));
    if (away != 0u)
        add(first + 3u, times * away);
#ifdef FRAGMENT
    if (rr_number_of_helpers != 0u)
        add(first + 6u, times * rr_number_of_helpers);
#endif
}

// Adds it where some may have.
void divergence_flush_known(const uint first, const uint held)
{
    uint early = held >> 8 & 0xffu;
    if (early != 0u && ACTIVE)
        add(first + 2u, (held >> 24) * early);
    divergence_flush_all(first, held);
}

// An execution of such a block that is come by again and again.
uint divergence_held_known(const uint first, const uint held)
{
    uvec4 mask = here();
    uint now = divergence_now_known(mask);
    bool mine = rr_counted && is_first(mask);
    bool same = (held & 0xffffffu) == now && held < 0xff000000u;
    if (mine && !same)
        divergence_flush_known(first, held);
    return !mine ? held : same ? held + ONCE : now + ONCE;
}

// An execution of another such block, where nobody has left.
void divergence_once_all(const uint first)
{
    uvec4 mask = here();
    if (rr_counted && is_first(mask))
        divergence_flush_all(first, divergence_now_known(mask) | ONCE);
}

// Where some may have.
void divergence_once_known(const uint first)
{
    uvec4 mask = here();
    if (rr_counted && is_first(mask))
        divergence_flush_known(first, divergence_now_known(mask) | ONCE);
}

// Counts the first block's execution. Record, if it is wanted: the mask of those that have left, nobody yet.
void divergence_begin_with(const uint probe, const uint words, const uint first, const bool wanted, const uvec4 helpers)
{
    uvec4 mask = here();
    rr_entered = mask;
    rr_number_entered = subgroupBallotBitCount(mask);
    rr_number_left = 0u;
    rr_number_of_helpers = subgroupBallotBitCount(helpers);
    rr_counted = subgroup_in_window();
    rr_left = ~0u;
    // Among those that take this branch, the first is no helper.
    if (ACTIVE && rr_counted)
    {
        uint at = ~0u;
        if (subgroupElect())
        {
            if (wanted)
                at = begin_record(probe, words);
            if (at != ~0u)
            {
                Log log = Log(uvec2(log_low, log_high));
                for (uint n = 0u; n < words; n++)
                    atomicExchange(log.words[at + n], 0u);
            }
            divergence_flush(first, rr_number_entered + ONCE);
        }
        rr_left = subgroupBroadcastFirst(at);
    }
}

void divergence_begin(const uint probe, const uint words, const uint first, const bool wanted)
{
#ifdef FRAGMENT
    divergence_begin_with(probe, words, first, wanted, subgroupBallot(true) & ~here());
#else
    divergence_begin_with(probe, words, first, wanted, uvec4(0u));
#endif
}

// The same for shaders that need helpers themselves: devices that hide these in ballots show them in derivatives. Each
// fragment sees which of its quad's others are helpers.
void divergence_begin_quad(const uint probe, const uint words, const uint first, const bool wanted)
{
    uvec4 helpers = uvec4(0u);
#ifdef FRAGMENT
    float helper = ACTIVE ? 0.0 : 1.0;
    float row = dFdxFine(helper);
    float column = dFdyFine(helper);
    float both = dFdyFine(row);
    uint at = gl_SubgroupInvocationID & 3u;
    float corner = (at == 0u || at == 3u ? both : -both) + abs(row) + abs(column);
    helpers = subgroupBallot(true);
    helpers |= across_row(subgroupBallot(ACTIVE && abs(row) > 0.5));
    helpers |= across_column(subgroupBallot(ACTIVE && abs(column) > 0.5));
    helpers |= across_row(across_column(subgroupBallot(ACTIVE && corner > 0.5)));
    helpers &= ~here();
#endif
    divergence_begin_with(probe, words, first, wanted, helpers);
}

// Notes those that leave. If all that entered do, nobody is left to ask.
void divergence_leave(const uint words)
{
    uvec4 mask = here();
    if (mask != rr_entered && rr_left != ~0u && is_first(mask))
    {
        Log log = Log(uvec2(log_low, log_high));
        atomicOr(log.words[rr_left], mask.x);
        if (words > 1u && mask.y != 0u)
            atomicOr(log.words[rr_left + 1u], mask.y);
        if (words > 2u && (mask.z | mask.w) != 0u)
        {
            atomicOr(log.words[rr_left + 2u], mask.z);
            atomicOr(log.words[rr_left + 3u], mask.w);
        }
    }
}

// Record of every invocation: subgroup, work id. In every window.
void divergence_lane(const uint probe)
{
    if (ACTIVE && any_window())
    {
        uint at = begin_record(probe, 2u);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put(at + 1u, rr_work);
        }
    }
}

// Record: subgroup, mask of those that enter a launch, or leave one. In every window: what is called needs it.
void divergence_land(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && any_window())
    {
        uint at = begin_record(probe, 1u + words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
        }
    }
}

// Record: subgroup, mask of those that were called, work id of one of them.
void divergence_called(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && subgroup_in_window())
    {
        uint at = begin_record(probe, 2u + words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
            put(at + 1u + words, rr_work);
        }
    }
}

void main()
{
    divergence_here(0u, 1u);
    divergence_begin(0u, 1u, 0u, true);
    divergence_begin_quad(0u, 1u, 0u, true);
    divergence_once(0u, 1u);
    divergence_flush(0u, divergence_held(0u, 1u, 0u));
    divergence_leave(1u);
    divergence_lane(0u);
    divergence_land(0u, 1u);
    divergence_called(0u, 1u);
    divergence_meet();
    divergence_once_known(0u);
    divergence_once_all(0u);
    divergence_flush_known(0u, divergence_held_known(0u, 0u));
}
