//! What a capture's draws bound, and the bytes that their uniform blocks had: filled by following the capture's calls,
//! with or without a device. A draw here is a draw, a dispatch or a trace as the device was given it: a recorded
//! command once for every time that its command buffer is executed, in the order of execution.

use crate::Table;
use crate::table::{count, text};

/// What is bound to be run.
pub static RESOURCE_PIPELINES: Table = Table {
    name: "resource_pipelines",
    about: "a pipeline, or a combination of shader objects, that a draw used",
    version: 2,
    columns: &[
        count(
            "pipeline",
            "id",
            "the capture's id of it; numbers from 2^48 on stand for combinations of shader objects",
        ),
        text("kind", "graphics, mesh, compute, ray tracing"),
        text("name", "the application's name for it, or nothing"),
        count("layout", "id", "the capture's id of the pipeline layout; 0 where there is none"),
        text(
            "compatible",
            "which set layouts and push constants it has: the same words, the same layouts, set by set",
        ),
        count("sets", "sets", "descriptor sets that the layout has"),
        count(
            "max_sets",
            "sets",
            "the device's maxBoundDescriptorSets at capture; 0 if the program never asked",
        ),
        count("push_bytes", "bytes", "of push constants in the layout"),
        count(
            "max_push_bytes",
            "bytes",
            "the device's maxPushConstantsSize at capture; 0 if the program never asked",
        ),
        count("descriptor_buffer", "flag", "1 if it takes its descriptors from descriptor buffers"),
        count("frame", "number", "the capture's number of the frame that created it"),
        count(
            "called",
            "id",
            "the id that it is called by: its own; of shader objects that of fragments, else of meshes, of vertices, of what there is",
        )
        .since(2),
    ],
};

/// What their stages are.
pub static RESOURCE_STAGES: Table = Table {
    name: "resource_stages",
    about: "a stage of a pipeline",
    version: 1,
    columns: &[
        count("pipeline", "id", "a row of `resource_pipelines`"),
        text("stage", "vertex, fragment, compute, …, as `entries.stage`"),
        text("entry", "the entry point"),
        text("module", "content hash of its SPIR-V"),
        count("unreadable", "flag", "1 if the module could not be reflected: everything counts as used"),
    ],
};

/// Where descriptors are bound.
pub static RESOURCE_SLOTS: Table = Table {
    name: "resource_slots",
    about: "a binding of a pipeline's layout",
    version: 1,
    columns: &[
        count("pipeline", "id", "a row of `resource_pipelines`"),
        count("set", "index", "the set"),
        count("binding", "index", "the binding"),
        text(
            "type",
            "the descriptor type in the registry's words: uniform buffer, uniform buffer dynamic, combined image sampler, …",
        ),
        count("count", "descriptors", "of the layout (bytes for inline uniform blocks)"),
        text("stages", "those of the layout, separated by blanks"),
        text(
            "flags",
            "update-after-bind, partially-bound, variable-count, push, immutable-samplers; separated by blanks",
        ),
        text("used", "the stages whose shaders use it statically, separated by blanks"),
        text("access", "what those shaders do with it: read, write, read write, or nothing"),
        text(
            "indexing",
            "how arrays are indexed: constant (then `elements` says which), dynamic; empty for one descriptor",
        ),
        text("elements", "elements that are used where that is known, as 0 2 5-7"),
        text("name", "the shader's name for it"),
        count(
            "block_bytes",
            "bytes",
            "of the block that a shader declares there, the largest; 0 where it is none",
        ),
    ],
};

/// What uniform blocks are made of.
pub static RESOURCE_MEMBERS: Table = Table {
    name: "resource_members",
    about: "a member of a uniform block or of push constants, down to scalars, vectors, matrices and arrays of these",
    version: 1,
    columns: &[
        count("pipeline", "id", "a row of `resource_pipelines`"),
        text("space", "block or push"),
        count("set", "index", "the set; 0 for push constants"),
        count("binding", "index", "the binding; 0 for push constants"),
        count("member", "index", "its number in the block, from 0, by offset"),
        text("name", "its path, as light.colour or bones[].rotation"),
        text(
            "type",
            "as GLSL writes it: float, uvec4, mat4x3, float[8]; bones[].rotation of ten bones is mat4[10]",
        ),
        count("offset", "bytes", "from the beginning of the block"),
        count("bytes", "bytes", "from its first byte to behind its last, padding between elements counted"),
        count(
            "array_stride",
            "bytes",
            "between elements of the outermost array that it is or is in; 0 where it is no array",
        ),
        text("inner_strides", "of the arrays within that one, the outermost first, separated by blanks"),
        count("matrix_stride", "bytes", "between columns (or rows); 0 where it is no matrix"),
        count("row_major", "flag", "1 if the stride is between rows"),
        text(
            "used",
            "stages whose shaders read it statically (an array read at an unknown index: all of it), separated by blanks",
        ),
    ],
};

/// What was run.
pub static INVOCATIONS: Table = Table {
    name: "invocations",
    about: "a draw, dispatch or trace as the device was given it, in the order of execution",
    version: 1,
    columns: &[
        count("invocation", "number", "from 0"),
        count("frame", "number", "the capture's number of the frame in which it was submitted"),
        count("submission", "number", "the submission, from 0"),
        count("command_buffer", "id", "the primary command buffer"),
        count(
            "recording",
            "number",
            "of which recording of a command buffer the command is, from 0 over the capture",
        ),
        count("command", "index", "its index in that recording"),
        count("pass", "number", "the instance of a render pass or of rendering, from 1; 0 outside"),
        text(
            "kind",
            "the command, without vkCmd and suffixes: Draw, DrawIndexed, DispatchIndirect, TraceRays, …",
        ),
        count("pipeline", "id", "a row of `resource_pipelines`; 0 where nothing known is bound"),
        count("indirect", "flag", "1 if its sizes come from memory"),
    ],
};

/// The sets that they had.
pub static INVOCATION_SETS: Table = Table {
    name: "invocation_sets",
    about: "a set of a pipeline's layout at a draw, as it was when the device ran it",
    version: 1,
    columns: &[
        count("invocation", "number", "a row of `invocations`"),
        count("set", "index", "the set"),
        count(
            "handle",
            "id",
            "the capture's id of the descriptor set; 0 for push descriptors and descriptor buffers",
        ),
        count("contents", "number", "rows of `set_contents`; 0 if nothing compatible was bound"),
        count("offsets", "number", "rows of `dynamic_offsets`; 0 if it has none"),
    ],
};

/// What sets contained.
pub static SET_CONTENTS: Table = Table {
    name: "set_contents",
    about: "a descriptor of a set; equal contents have equal numbers",
    version: 1,
    columns: &[
        count("contents", "number", "from 1"),
        count("binding", "index", "the binding"),
        count("element", "index", "the array element"),
        count("descriptor", "number", "a row of `descriptors`; 0 if it was never written"),
    ],
};

/// Offsets that come with the binding of a set.
pub static DYNAMIC_OFFSETS: Table = Table {
    name: "dynamic_offsets",
    about: "a dynamic offset; equal lists have equal numbers",
    version: 1,
    columns: &[
        count("offsets", "number", "from 1"),
        count("binding", "index", "the binding"),
        count("element", "index", "the array element"),
        count("offset", "bytes", "the offset"),
    ],
};

/// What descriptors say.
pub static DESCRIPTORS: Table = Table {
    name: "descriptors",
    about: "a descriptor; equal ones have equal numbers",
    version: 1,
    columns: &[
        count("descriptor", "number", "from 1"),
        text("type", "as `resource_slots.type`"),
        count("buffer", "id", "the buffer, or 0"),
        count("offset", "bytes", "in the buffer"),
        count("range", "bytes", "of the buffer, resolved where it said all that is left"),
        count("view", "id", "the image view or buffer view, or 0"),
        count("image", "id", "the view's image, or 0"),
        count("sampler", "id", "the sampler, or 0"),
        text("layout", "the image layout, without VK_IMAGE_LAYOUT_"),
        count("structure", "id", "the acceleration structure, or 0"),
        count("contents", "number", "for an inline uniform block: its bytes, rows of `content_words`"),
        text("unknown", "why it is not known, where it is not"),
    ],
};

/// The bytes of uniform blocks.
pub static INVOCATION_BLOCKS: Table = Table {
    name: "invocation_blocks",
    about: "the bytes of a uniform block (or of push constants) that a draw's shaders use statically",
    version: 1,
    columns: &[
        count("invocation", "number", "a row of `invocations`"),
        text("space", "block or push"),
        count("set", "index", "the set; 0 for push constants"),
        count("binding", "index", "the binding; 0 for push constants"),
        count("element", "index", "the array element"),
        count("contents", "number", "rows of `content_words`; 0 where nothing is known"),
        count("known_bytes", "bytes", "how many of them are known"),
        text(
            "unknown",
            "why bytes are not known: written by a shader, never written, lost with a discarded mapping, beyond the descriptor's range, …; or nothing",
        ),
        count("buffer", "id", "the buffer; 0 for push constants and inline blocks"),
        count("offset", "bytes", "where in the buffer, dynamic offset included"),
    ],
};

/// What the bytes are.
pub static CONTENT_WORDS: Table = Table {
    name: "content_words",
    about: "four bytes of contents; equal contents have equal numbers; words that are not known are absent",
    version: 1,
    columns: &[
        count("contents", "number", "from 1"),
        count("offset", "bytes", "from the beginning of the block"),
        count("word", "bits", "little-endian; bytes behind the end are 0"),
    ],
};

/// How bytes came to where shaders read them.
pub static UPLOADS: Table = Table {
    name: "uploads",
    about: "bytes that a frame wrote into a buffer or memory",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        text(
            "cause",
            "mapped, UpdateBuffer, FillBuffer, CopyBuffer, CopyImageToBuffer, CopyMemory, push, inline, …",
        ),
        count("buffer", "id", "the buffer; 0 where the bytes lie in no buffer"),
        count("memory", "id", "the memory object; 0 where it is none"),
        count("writes", "writes", "how many"),
        count("bytes", "bytes", "how many they wrote, together"),
        count("same_bytes", "bytes", "of these, those that were there already"),
    ],
};

/// Buffers.
pub static RESOURCE_BUFFERS: Table = Table {
    name: "resource_buffers",
    about: "a buffer that a descriptor of a draw names",
    version: 1,
    columns: &[
        count("buffer", "id", "the capture's id"),
        text("name", "the application's name for it, or nothing"),
        count("bytes", "bytes", "its size"),
        text("usage", "its usage flags, without VK_BUFFER_USAGE_ and _BIT, separated by blanks"),
        count("memory", "id", "the memory that it is bound to; 0 for sparse ones"),
        count("memory_offset", "bytes", "where in it"),
        text(
            "memory_flags",
            "its memory type's flags at capture, without VK_MEMORY_PROPERTY_ and _BIT, separated by blanks; empty if not known",
        ),
        count("frame", "number", "the capture's number of the frame that created it"),
    ],
};

/// What it costs the CPU to say all that.
pub static CALL_COSTS: Table = Table {
    name: "call_costs",
    about: "calls of one command in a frame, and the time that the driver took for them, by the replay's own clock",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        text("command", "its name"),
        count("calls", "calls", "how many"),
        count("nanos", "ns", "how long they took, together"),
        count(
            "clock_nanos",
            "ns",
            "of these, what reading the clock took: calls times what it takes alone, measured in the same run",
        ),
    ],
};
