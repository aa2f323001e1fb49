//! Tables of what the program called: calls, the objects they name and make, frames, metadata blocks.

use crate::table::{Table, count, text};

/// Every call.
pub fn calls() -> Table {
    Table::new(
        "calls",
        "a call that the capture recorded, in the file's order",
        true,
        &[
            count("call", "block", "the index of its block in the capture, as `dump` has it"),
            text("name", "the command: vkQueueSubmit, vkCmdDraw, …"),
            count(
                "frame",
                "number",
                "the frame it belongs to; 0 for the state at the head of a trimmed capture",
            ),
            count("thread", "id", "the thread that called"),
            text("result", "what it returned, as `dump` prints it; NULL where it returns nothing"),
            count(
                "object",
                "id",
                "its first parameter, where that is an object: the device, queue or command buffer",
            ),
            count("created", "id", "the first object that it made or found; NULL where there is none"),
            text("args", "its arguments as JSON, as `dump` prints them"),
            count(
                "given",
                "hash",
                "of what the program gave: equal for equal calls of two recordings, as ids, addresses and pointers are left out",
            ),
            count("answered", "hash", "of what the driver answered: outputs and the result, ids left out"),
        ],
        &["name", "frame", "object"],
    )
}

/// Which call names which object.
pub fn call_objects() -> Table {
    Table::new(
        "call_objects",
        "an object that a call names or makes, in the order of its parameters",
        false,
        &[
            count("call", "block", "a row of `calls`"),
            count("position", "index", "its place among the objects of the call, from 0"),
            count("handle", "id", "the capture's id of the object"),
            text("type", "its type: VkBuffer, VkQueue, …"),
            count("made", "flag", "1 if the driver answered with it, 0 if the program gave it"),
        ],
        &["call", "handle"],
    )
}

/// Objects and their lives.
pub fn objects() -> Table {
    Table::new(
        "objects",
        "an object and its life; an id that a capture uses again is another row",
        true,
        &[
            count("object", "number", "from 1, in the order in which they were made"),
            count("handle", "id", "the capture's id of it"),
            text("type", "its type: VkBuffer, VkQueue, …"),
            text("name", "the last name that the program gave it; NULL if it gave none"),
            count(
                "parent",
                "id",
                "the device, pool or swapchain that it came from; NULL where there is none",
            ),
            count("created_by", "block", "the call (or metadata block) that made it or found it first"),
            count(
                "created_index",
                "index",
                "its place among what that call made, from 0: which of its create infos is its own",
            ),
            count("created_frame", "number", "the frame of that call"),
            count(
                "destroyed_by",
                "block",
                "the call that ended it, or its pool, swapchain or device; NULL if it lived to the end",
            ),
            count("destroyed_frame", "number", "the frame of that call"),
        ],
        &["handle", "type", "created_by"],
    )
}

/// Frames.
pub fn frames() -> Table {
    Table::new(
        "frames",
        "a frame of the capture, by its own rule of where frames end; 0 is the state at the head of a trimmed capture; calls behind the last frame have a row of their own, which is not complete",
        true,
        &[
            count("frame", "number", "the capture's number of it"),
            count("first_block", "block", "its first block"),
            count("last_block", "block", "its last block: that of the present, where it ends with one"),
            count("calls", "calls", "how many it has"),
            count("submissions", "submissions", "batches that its calls give to queues"),
            count("draws", "commands", "draws that its submissions run, indirect ones once"),
            count("dispatches", "commands", "dispatches that its submissions run"),
            count("traces", "commands", "traces of rays that its submissions run"),
            count(
                "complete",
                "flag",
                "1 if the capture has its end; 0 of the state, and of what is behind the last frame",
            ),
        ],
        &[],
    )
}

/// Blocks that are no calls.
pub fn metadata() -> Table {
    Table::new(
        "metadata",
        "a block that is no call: contents of memory, what the capture layer noted of devices and objects",
        true,
        &[
            count("block", "block", "its index in the capture"),
            text("name", "what it is, as `dump` names it; NULL for what this program does not know"),
            count(
                "frame",
                "number",
                "the frame it belongs to; 0 for the state at the head of a trimmed capture",
            ),
            count("bytes", "bytes", "of contents that it brings, decompressed; 0 where it brings none"),
            count(
                "handle",
                "id",
                "for contents of memory, buffers and images: of which object; NULL elsewhere",
            ),
        ],
        &["name"],
    )
}

/// What the program wrote to memory.
pub fn memory_writes() -> Table {
    Table::new(
        "memory_writes",
        "bytes that the program wrote to memory, or that a trimmed capture begins with, for each buffer or image that lies there",
        false,
        &[
            count("block", "block", "the block that has the bytes, a row of `metadata`"),
            count(
                "frame",
                "number",
                "the frame it belongs to; 0 for the state at the head of a trimmed capture",
            ),
            count("handle", "id", "the buffer or image; the memory where none lies there"),
            text("type", "VkBuffer, VkImage or VkDeviceMemory"),
            count(
                "aspect",
                "bits",
                "VkImageAspectFlagBits of an image that a trimmed capture begins with; 0 elsewhere",
            ),
            count("offset", "bytes", "where in the buffer, image or memory"),
            count("bytes", "bytes", "how many"),
            count("data_offset", "bytes", "where in the bytes of the block"),
            count("hash", "hash", "of the bytes"),
        ],
        &["handle", "block"],
    )
}
