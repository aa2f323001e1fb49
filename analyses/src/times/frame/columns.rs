//! The tables of a frame, draw by draw.

use crate::report::Unit::{Bytes, Count, Milliseconds, Percent, Text};
use crate::report::sheet::{Meaning, Sheet, Thing, m, sheet};

/// What draws take together.
const TAKEN: &[Meaning] = &[
    m("draws", Count, "draws, dispatches and traces"),
    m("own time", Milliseconds, "the sum of their own times"),
    m("share", Percent, "of all own times of the frame"),
];

pub const PASSES: Sheet = sheet(
    "passes",
    "a render pass, or what is outside of them",
    &[
        &[
            m("pass", Count, "its number in the frame, from 1; 0 outside of passes").names(Thing::Pass),
            m("name", Text, "its debug name, or what it is"),
            m("labels", Text, "debug labels around it"),
        ],
        TAKEN,
    ],
);

pub const PIPELINES: Sheet = sheet(
    "pipelines",
    "a pipeline, the dearest first",
    &[
        &[
            m("pipeline", Text, "its captured id, with its debug name").names(Thing::Pipeline),
            m("shaders", Text, "its stages, each with its code's hash").names(Thing::Shader),
        ],
        TAKEN,
    ],
);

pub const DRAWS: Sheet = sheet(
    "draws",
    "a draw, dispatch or trace, in the order of submission",
    &[&[
        m(
            "draw",
            Count,
            "its number in the frame, from 1: `what-if` and `screenshot --after draw` count the same",
        )
        .names(Thing::Draw),
        m("kind", Text, "what it is"),
        m(
            "own time",
            Milliseconds,
            "how much longer the queue was busy for it: the median of several runs of the frame",
        ),
        m("share", Percent, "of all own times of the frame"),
        m("pass", Count, "the number of its render pass in the frame, from 1; 0 outside of one")
            .names(Thing::Pass),
        m("pipeline", Text, "its pipeline, by captured id, with its debug name").names(Thing::Pipeline),
        m("shaders", Text, "the stages of that, each with its code's hash").names(Thing::Shader),
        m("labels", Text, "debug labels around it, from outside in"),
        m("block", Count, "the capture's block that recorded it"),
    ]],
);

pub const BOUND: Sheet = sheet(
    "bound",
    "a descriptor that a draw, dispatch or trace had bound",
    &[&[
        m("draw", Count, "its number in the frame, from 1").names(Thing::Draw),
        m("set", Count, "the set's number"),
        m("binding", Text, "the binding; of arrays with the element"),
        m("type", Text, "the descriptor's type"),
        m("resource", Text, "what it is of: its kind and captured id; of a buffer its debug name, too"),
        m("offset", Bytes, "where in the buffer, dynamic offsets added"),
        m("range", Bytes, "how much of the buffer"),
    ]],
);

pub const ATTACHMENTS: Sheet = sheet(
    "attachments",
    "an attachment of a render pass",
    &[&[
        m("pass", Count, "the pass's number in the frame, from 1").names(Thing::Pass),
        m("attachment", Count, "its place: in the framebuffer, or in the order colour, depth, stencil, rate"),
        m("use", Text, "colour, depth, stencil, rate; of render passes by subpass"),
        m("image", Text, "the captured id and the debug name of its image"),
        m("format", Text, "VkFormat of its view"),
        m("width", Count, "pixels of a line of the image"),
        m("height", Count, "lines of the image"),
        m("samples", Count, "samples of a pixel"),
        m("load", Text, "what happens to its contents as the pass begins"),
        m("store", Text, "what happens to its contents as the pass ends"),
    ]],
);

pub const STATE: Sheet = sheet(
    "state",
    "a member of the create info of a pipeline, of a library that it was made of, or of a shader object",
    &[&[
        m("pipeline", Text, "the pipeline, by captured id, with its debug name").names(Thing::Pipeline),
        m("member", Text, "the member, with those that it lies in; what shaders are is left out"),
        m("value", Text, "its value; dynamic state is set by commands instead (see table `set`)"),
    ]],
);

pub const SET: Sheet = sheet(
    "set",
    "a command that set state, or bound vertex or index buffers, before a draw, dispatch or trace in its command buffer",
    &[&[
        m("draw", Count, "the draw's number in the frame, from 1").names(Thing::Draw),
        m("command", Text, "the command, without vkCmd: the last of its kind before the draw"),
        m("values", Text, "what it was given"),
    ]],
);

pub const SHEETS: &[Sheet] = &[PASSES, PIPELINES, DRAWS, BOUND, ATTACHMENTS, STATE, SET];
