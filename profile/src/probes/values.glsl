// Pass values: which values a place sees, how often, and how many there are.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "action.glsl"

// The same memory by words: a counter is two.
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Words
{
    uint at[];
};

// Slots that are looked at for one value.
const uint TRIES = 16u;
// Registers of HyperLogLog: two to a counter.
const uint REGISTERS = 256u;
// Counters before the registers: executions, zeros, executions of values that found no slot.
const uint HEAD = 3u;

// Mixes a word: murmur3's finalizer, a bijection.
uint mixed(const uint word)
{
    uint h = word;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

// Notes a value that n invocations have. Zero has a counter of its own; so a slot whose key is zero is free. A key, once
// there, stays: a value is found again before the first free slot.
void note(const uint first, const uint word, const uint n, const uint slots)
{
    add(first, n);
    if (word == 0u)
    {
        add(first + 1u, n);
        return;
    }
    uint h = mixed(word);
    Words words = Words(uvec2(region_low, region_high));
    // The first bits choose a register; it keeps the most leading zeros of the rest, and one.
    uint rank = 24u - uint(findMSB(h & 0xffffffu));
    if ((h & 0xffffffu) == 0u)
        rank = 25u;
    uint at = (first + HEAD) * 2u + (h >> 24);
    if (words.at[at] < rank)
        atomicMax(words.at[at], rank);
    // Behind the registers lie the slots: a counter for the key, a counter for how often.
    uint table = first + HEAD + REGISTERS / 2u;
    for (uint i = 0u; i < min(slots, TRIES); ++i)
    {
        uint slot = table + ((h + i) & (slots - 1u)) * 2u;
        uint key = words.at[slot * 2u];
        if (key == 0u)
        {
            key = atomicCompSwap(words.at[slot * 2u], 0u, word);
            if (key == 0u)
                key = word;
        }
        if (key == word)
        {
            add(slot + 1u, n);
            return;
        }
    }
    add(first + 2u, n);
}

// Every value that somebody here has, once for all that have it.
void values_here(const uint first, const uint word, const uint slots)
{
    bool waiting = ACTIVE;
    while (waiting)
    {
        if (word == subgroupBroadcastFirst(word))
        {
            uvec4 mask = subgroupBallot(true);
            if (gl_SubgroupInvocationID == subgroupBallotFindLSB(mask))
                note(first, word, subgroupBallotBitCount(mask), slots);
            waiting = false;
        }
    }
}

// What the action sees here: in one word every bit that some value has, in the next every bit that some has not. Of one
// value only, these are each other's complement; both are zero where nobody came by.
void values_in_action(const uint counter, const uint word)
{
    if (ACTIVE && (rr_action.x | rr_action.y) != 0u)
    {
        Words words = Words(rr_action);
        uint at = counter * 2u;
        // Who finds it said already has nothing to add.
        if ((words.at[at] & word) != word)
            atomicOr(words.at[at], word);
        if ((words.at[at + 1u] & ~word) != ~word)
            atomicOr(words.at[at + 1u], ~word);
    }
}

// The words of one load, where it has several: one copy of the functions above serves all of them, which compilers that
// put every call's body in its place take several times less time for.
uint rr_values[64];

void values_of_load(const uint first, const uint stride, const uint words, const uint slots)
{
    [[dont_unroll]] for (uint i = 0u; i < words; ++i)
        values_here(first + i * stride, rr_values[i], slots);
}

void values_of_load_in_action(const uint counter, const uint words)
{
    [[dont_unroll]] for (uint i = 0u; i < words; ++i)
        values_in_action(counter + i, rr_values[i]);
}

void main()
{
    set_action(uvec2(0u));
    values_here(0u, 0u, 1u);
    values_in_action(0u, 0u);
    values_of_load(0u, 0u, 0u, 1u);
    values_of_load_in_action(0u, 0u);
}
