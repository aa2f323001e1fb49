// Pass counters: how many invocations come by a place, for each action or the whole frame.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "action.glsl"

// Every invocation counts itself.
void action_lane(const uint counter)
{
    if (ACTIVE && (rr_action.x | rr_action.y) != 0u)
        add_in_action(counter, 1u);
}

// One invocation counts all that are here.
void action_lanes(const uint counter)
{
    uvec4 mask = here();
    if (is_first(mask) && (rr_action.x | rr_action.y) != 0u)
        add_in_action(counter, subgroupBallotBitCount(mask));
}

// The same for the whole frame, in shaders that do not know their action.
void frame_lane(const uint counter)
{
    if (ACTIVE)
        add(counter, 1u);
}

void frame_lanes(const uint counter)
{
    uvec4 mask = here();
    if (is_first(mask))
        add(counter, subgroupBallotBitCount(mask));
}

void main()
{
    frame_lane(0u);
    frame_lanes(0u);
    set_action(uvec2(0u));
    action_lane(0u);
    action_lanes(0u);
}
