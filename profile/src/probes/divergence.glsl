// Pass divergence: masks of blocks, entries and exits, in the order in which a subgroup comes by.
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

// Record: subgroup, mask of those that enter, mask of the helpers among the others.
void divergence_enter(const uint probe, const uint words)
{
    uvec4 mask = here();
    uvec4 helpers = uvec4(0u);
#ifdef FRAGMENT
    helpers = subgroupBallot(true) & ~mask;
#endif
    if (is_first(mask) && subgroup_in_window())
    {
        uint at = begin_record(probe, 1u + 2u * words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
            put_mask(at + 1u + words, helpers, words);
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

// The same for shaders that need helpers themselves: devices that hide these in ballots show them in derivatives. Each
// fragment sees which of its quad's others are helpers.
void divergence_enter_quad(const uint probe, const uint words)
{
    uvec4 mask = here();
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
    helpers &= ~mask;
#endif
    if (is_first(mask) && subgroup_in_window())
    {
        uint at = begin_record(probe, 1u + 2u * words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
            put_mask(at + 1u + words, helpers, words);
        }
    }
}

// Record: subgroup, mask of those that enter, nobody's mask. In every window: what is called needs it.
void divergence_launch(const uint probe, const uint words)
{
    uvec4 mask = here();
    if (is_first(mask) && any_window())
    {
        uint at = begin_record(probe, 1u + 2u * words);
        if (at != ~0u)
        {
            put(at, rr_subgroup);
            put_mask(at + 1u, mask, words);
            put_mask(at + 1u + words, uvec4(0u), words);
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

// Record: subgroup, mask of those that leave. In every window.
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
    divergence_enter(0u, 1u);
    divergence_enter_quad(0u, 1u);
    divergence_launch(0u, 1u);
    divergence_lane(0u);
    divergence_land(0u, 1u);
    divergence_called(0u, 1u);
}
