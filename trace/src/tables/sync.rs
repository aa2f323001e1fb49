//! What the device was told to wait for, and what it did meanwhile: filled by following the capture's calls, with or without a
//! device. Commands are numbered in the order of execution over all queues; stages and accesses are bits of VkPipelineStageFlags2
//! and VkAccessFlags2.

use crate::Table;
use crate::table::{count, text};

/// Batches of submits.
pub static SYNC_SUBMISSIONS: Table = Table {
    name: "sync_submissions",
    about: "a batch that was given to a queue",
    version: 2,
    columns: &[
        count("submission", "number", "from 0 over the capture"),
        count("call", "block", "the capture's block of the call"),
        count("batch", "index", "which batch of the call"),
        count("frame", "number", "the capture's number of the frame"),
        count("queue", "id", "the queue"),
        count("sequence", "number", "of the first command that comes after its beginning"),
        count("command_buffers", "command buffers", "how many"),
        count("waits", "semaphores", "that it waits for"),
        count("wait_stages", "stages", "that wait, together"),
        count("signals", "semaphores", "that it signals"),
        count("fence", "id", "the fence of the call; 0 if it has none"),
        count(
            "host",
            "calls",
            "since the queue's submission before: calls by which the host may have learnt what the device did, or may have \
             given it something: waits, queries of fences and semaphores, presents, memory that was written",
        ),
        count(
            "aside",
            "flag",
            "1 if its frame was not asked for: it is there because others may depend on it",
        ),
    ],
};

/// Waits for semaphores.
pub static SYNC_WAITS: Table = Table {
    name: "sync_waits",
    about: "a semaphore that a batch waits for, and who signals it",
    version: 1,
    columns: &[
        count("submission", "number", "a row of `sync_submissions`"),
        count("queue", "id", "its queue"),
        count("sequence", "number", "where its commands begin"),
        count("semaphore", "id", "the semaphore"),
        count("stages", "stages", "that wait"),
        text("by", "who signals it: queue, presentation, host, or nothing if that is not known"),
        count("from_queue", "id", "the queue that does; 0 for presentation"),
        count("from_sequence", "number", "of the last command before the signal"),
    ],
};

/// Dependencies.
pub static SYNC_BARRIERS: Table = Table {
    name: "sync_barriers",
    about: "a part of an executed barrier, of an event's wait, or of a render pass's dependency",
    version: 2,
    columns: &[
        count("sequence", "number", "the command's"),
        count("part", "index", "which part of it"),
        text("kind", "barrier, event, subpass"),
        count("submission", "number", "a row of `sync_submissions`"),
        count("recording", "number", "of which recording of a command buffer it is"),
        count("command", "index", "its index there"),
        count("block", "block", "the capture's block that recorded it"),
        count("pass", "number", "the instance of a render pass or of rendering; 0 outside"),
        text("label", "the innermost debug label that it is in"),
        count("src_stages", "stages", "what is waited for"),
        count("src_access", "accesses", "of these, what is made available"),
        count("dst_stages", "stages", "what waits"),
        count("dst_access", "accesses", "to which of these it is made visible"),
        count("object", "id", "the buffer or image; 0 for all memory"),
        count("first", "byte or place", "as `sync_accesses.first`"),
        count("last", "byte or place", "as `sync_accesses.last`"),
        count("aspects", "aspects", "of an image"),
        count("old_layout", "layout", "an image's, before"),
        count("new_layout", "layout", "an image's, behind"),
        count("transfer", "flag", "1 if it hands the object to another queue family"),
        count(
            "since",
            "number",
            "of an event's wait, that of the command by which it was set: what comes later is not waited for; 0 if the host \
             set it, or that is not known. Else the command's",
        ),
        count("changes", "flag", "1 if layouts may change with it: of a render pass's dependency"),
    ],
};

/// Accesses.
pub static SYNC_ACCESSES: Table = Table {
    name: "sync_accesses",
    about: "what an executed command reads or writes",
    version: 1,
    columns: &[
        count("sequence", "number", "the command's"),
        count("queue", "id", "the queue; 0 for what presents"),
        count("stages", "stages", "that access it"),
        count("access", "accesses", "how"),
        count("write", "flag", "1 if it may write"),
        count("object", "id", "the buffer or image; 0 if it may be anything"),
        count(
            "first",
            "byte or place",
            "of a buffer its first byte; of an image mip level × 2^32 + array layer",
        ),
        count("last", "byte or place", "of a buffer its last byte; of an image the last level and layer"),
        count("aspects", "aspects", "of an image"),
    ],
};

/// Where objects lie.
pub static SYNC_OBJECTS: Table = Table {
    name: "sync_objects",
    about: "a buffer or image that is accessed or waited for",
    version: 2,
    columns: &[
        count("object", "id", "the capture's id"),
        text("kind", "buffer, image"),
        text("name", "the application's name for it, or nothing"),
        count("memory", "id", "the memory that it lies in; 0 if it lies in several, or none that is known"),
        count("offset", "bytes", "where in it"),
        count("bytes", "bytes", "how many it takes at least"),
        count("addressed", "flag", "1 if shaders may have its address"),
        count("gone", "number", "of the last command before it was destroyed; 0 if it never was"),
    ],
};
