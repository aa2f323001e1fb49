//! Tables of what was recorded and what the device ran: recordings, submissions, passes, labels, commands, draws.

use crate::table::{Table, count, text};

/// Recordings of command buffers.
pub fn recordings() -> Table {
    Table::new(
        "recordings",
        "what a command buffer was filled with, from vkBeginCommandBuffer to vkEndCommandBuffer",
        true,
        &[
            count("recording", "number", "from 0 over the capture"),
            count("command_buffer", "id", "the command buffer"),
            text("level", "primary or secondary"),
            count("pool", "id", "its command pool"),
            count("begin_call", "block", "the vkBeginCommandBuffer"),
            count("end_call", "block", "the vkEndCommandBuffer"),
            count("frame", "number", "the frame in which it was ended"),
            text("flags", "VkCommandBufferUsageFlagBits, separated by blanks"),
            count("commands", "commands", "how many calls recorded into it"),
        ],
        &["command_buffer"],
    )
}

/// Recorded commands.
pub fn commands() -> Table {
    Table::new(
        "commands",
        "a call that recorded into a command buffer; what only sets state is one, too",
        true,
        &[
            count("call", "block", "a row of `calls`"),
            count("recording", "number", "a row of `recordings`, if that was ended"),
            count("command", "index", "its place in the recording, from 0"),
        ],
        &["recording,command"],
    )
}

/// Batches.
pub fn submissions() -> Table {
    Table::new(
        "submissions",
        "a batch that was given to a queue and ran, in the order in which they ran",
        true,
        &[
            count("submission", "number", "from 0 over the capture"),
            count("call", "block", "the vkQueueSubmit or vkQueueSubmit2"),
            count("batch", "index", "its place in that call, from 0"),
            count("frame", "number", "the frame of that call"),
            count("queue", "id", "the queue"),
            count("family", "index", "the queue's family; NULL where the capture does not say"),
            count("fence", "id", "the fence that the call signals; NULL for none"),
        ],
        &["frame", "call"],
    )
}

/// What batches wait for and signal.
pub fn submission_semaphores() -> Table {
    Table::new(
        "submission_semaphores",
        "a semaphore that a submission waits for or signals",
        false,
        &[
            count("submission", "number", "a row of `submissions`"),
            text("use", "wait or signal"),
            count("semaphore", "id", "the semaphore"),
            count("value", "number", "its value, for timelines; 0 for binary ones"),
            text("stages", "VkPipelineStageFlagBits2 that wait or are waited for, separated by blanks"),
        ],
        &["submission", "semaphore"],
    )
}

/// What batches execute.
pub fn submission_command_buffers() -> Table {
    Table::new(
        "submission_command_buffers",
        "a command buffer that a submission executes",
        false,
        &[
            count("submission", "number", "a row of `submissions`"),
            count("position", "index", "its place in the batch, from 0"),
            count("command_buffer", "id", "the command buffer"),
            count("recording", "number", "what it held then, a row of `recordings`; NULL if it held nothing"),
        ],
        &["submission", "recording"],
    )
}

/// Passes.
pub fn passes() -> Table {
    Table::new(
        "passes",
        "a render pass or rendering that the device ran; one that is suspended and resumed is one row",
        true,
        &[
            count("pass", "number", "from 1 over the capture"),
            count("submission", "number", "a row of `submissions`"),
            count("frame", "number", "the frame in which it was submitted"),
            count("number", "number", "from 1 in its frame, as every command and page counts passes"),
            count("recording", "number", "the recording that begins it"),
            count("call", "block", "the call that begins it"),
            count("label", "number", "the innermost label around it, a row of `labels`; NULL for none"),
            count("render_pass", "id", "the VkRenderPass; NULL for dynamic rendering"),
            count("framebuffer", "id", "the VkFramebuffer; NULL for dynamic rendering"),
            count("subpasses", "subpasses", "of the render pass; 1 for dynamic rendering"),
            count("x", "pixels", "of its area"),
            count("y", "pixels", "of its area"),
            count("width", "pixels", "of its area"),
            count("height", "pixels", "of its area"),
            count("layers", "layers", "of dynamic rendering; NULL for render passes"),
            count("view_mask", "bits", "of dynamic rendering; NULL for render passes"),
            text("flags", "VkRenderingFlagBits, separated by blanks"),
        ],
        &["frame", "submission"],
    )
}

/// Attachments.
pub fn pass_attachments() -> Table {
    Table::new(
        "pass_attachments",
        "an attachment of a pass",
        false,
        &[
            count("pass", "number", "a row of `passes`"),
            count(
                "attachment",
                "index",
                "its place: in the framebuffer, or in the order colour, depth, stencil, rate",
            ),
            text("use", "colour, depth, stencil, rate; of render passes `by subpass`"),
            count("view", "id", "the image view; NULL for none"),
            count("image", "id", "its image"),
            text("format", "VkFormat of the view"),
            count("width", "pixels", "of the image"),
            count("height", "pixels", "of the image"),
            text("samples", "VkSampleCountFlagBits of the image"),
            text("load", "VkAttachmentLoadOp"),
            text("store", "VkAttachmentStoreOp"),
            text("layout", "VkImageLayout in the pass, of dynamic rendering; NULL elsewhere"),
            text("initial_layout", "VkImageLayout before it, of render passes; NULL elsewhere"),
            text("final_layout", "VkImageLayout behind it, of render passes; NULL elsewhere"),
            count("resolve_view", "id", "the view it is resolved to, of dynamic rendering; NULL for none"),
        ],
        &["pass", "image"],
    )
}

/// Labels.
pub fn labels() -> Table {
    Table::new(
        "labels",
        "a debug label of a queue or a command buffer, as it was met when the device ran it",
        true,
        &[
            count("label", "number", "from 1, in the order in which they began"),
            count("parent", "number", "the label around it; NULL for none"),
            text("text", "what it says"),
            text("path", "what those around it say and it says, with / between"),
            count("depth", "labels", "how many are around it"),
            text("kind", "region or point (an inserted one)"),
            text("recorded", "queue or command buffer"),
            count("queue", "id", "the queue"),
            count("frame", "number", "the frame in which it began"),
            count("submission", "number", "the submission in which it began; NULL for those of queues"),
            count("begin_call", "block", "the call that began it"),
            count("end_call", "block", "the call that ended it; NULL if none did"),
        ],
        &["text", "frame", "parent"],
    )
}

/// What the device ran.
pub fn executions() -> Table {
    Table::new(
        "executions",
        "a command that does something, once for each time that the device ran it, in the order in which they began",
        true,
        &[
            count("execution", "number", "from 0 over the capture"),
            count("submission", "number", "a row of `submissions`"),
            count("frame", "number", "the frame in which it was submitted"),
            count("command_buffer", "id", "the primary command buffer"),
            count(
                "recording",
                "number",
                "the recording that it is in, that of a secondary where it is in one",
            ),
            count("command", "index", "its place in that recording"),
            count("call", "block", "the call that recorded it"),
            text(
                "kind",
                "what it is: Draw, DrawIndexed, Dispatch, TraceRays, BeginPass, Barrier, CopyBuffer, …",
            ),
            count("pass", "number", "a row of `passes`; NULL outside"),
            count("subpass", "index", "the subpass; NULL outside of passes"),
            count("label", "number", "the innermost label around it, a row of `labels`; NULL for none"),
            count("draw_id", "number", "for draws, dispatches and traces: a row of `draws`; NULL for others"),
        ],
        &["call", "submission", "pass", "label"],
    )
}

/// Draws, dispatches, traces.
pub fn draws() -> Table {
    Table::new(
        "draws",
        "a draw, dispatch or trace, once for each time that the device ran it, in the order in which they began",
        true,
        &[
            count("draw_id", "number", "from 0 over the capture, as `bindings` counts them"),
            count("frame", "number", "the frame in which it was submitted"),
            count(
                "draw",
                "number",
                "from 1 in its frame, as every command and page counts draws, dispatches and traces",
            ),
            count("submission", "number", "a row of `submissions`"),
            count("command_buffer", "id", "the primary command buffer"),
            count("recording", "number", "a row of `recordings`"),
            count("command", "index", "its place in that recording"),
            count("call", "block", "the call that recorded it"),
            count("pass", "number", "a row of `passes`; NULL outside"),
            count("subpass", "index", "the subpass; NULL outside of passes"),
            count("label", "number", "the innermost label around it, a row of `labels`; NULL for none"),
            text(
                "kind",
                "Draw, DrawIndexed, DispatchIndirect, TraceRays, …: the command without vkCmd and suffixes",
            ),
            text("bind_point", "graphics, compute, ray tracing or other"),
            count(
                "pipeline",
                "id",
                "the pipeline, or from 2^48 on a combination of shader objects; NULL for none",
            ),
            count("indirect", "flag", "1 if its sizes come from memory"),
            count("vertices", "vertices", "of a draw, of several together; NULL where memory says it"),
            count("indices", "indices", "of an indexed draw, of several together; NULL where memory says it"),
            count("instances", "instances", "of a draw"),
            count("first_vertex", "index", "of a draw"),
            count("first_index", "index", "of an indexed draw"),
            count("vertex_offset", "vertices", "added to every index of an indexed draw"),
            count("first_instance", "index", "of a draw"),
            count("groups_x", "workgroups", "of a dispatch or a mesh draw"),
            count("groups_y", "workgroups", "of a dispatch or a mesh draw"),
            count("groups_z", "workgroups", "of a dispatch or a mesh draw"),
            count("width", "rays", "of a trace"),
            count("height", "rays", "of a trace"),
            count("depth", "rays", "of a trace"),
            count("draws", "draws", "how many draws the command has: of indirect ones the most"),
            count(
                "indirect_buffer",
                "id",
                "the buffer that its sizes come from; NULL where it is an address or there is none",
            ),
            count("indirect_offset", "bytes", "where in that buffer"),
            count("indirect_address", "address", "the address that its sizes come from"),
            count("inputs", "number", "vertex and index buffers, rows of `input_buffers`; NULL for none"),
            count("push", "number", "push constants, a row of `push_constants`; NULL for none"),
        ],
        &["frame", "call", "pipeline", "pass"],
    )
}

/// Vertex and index buffers.
pub fn input_buffers() -> Table {
    Table::new(
        "input_buffers",
        "a vertex, index or transform-feedback buffer of a draw; equal lists have equal numbers",
        false,
        &[
            count("inputs", "number", "from 1"),
            text("use", "vertex, index or feedback"),
            count("binding", "index", "the binding; 0 for index buffers"),
            count(
                "buffer",
                "id",
                "the buffer; NULL where it is bound by an address of which the capture says no buffer",
            ),
            count("offset", "bytes", "where in the buffer"),
            count("address", "address", "the address, where it is bound by one"),
            count("bytes", "bytes", "how many are bound; NULL for all that are left"),
            text("index_type", "VkIndexType of index buffers"),
        ],
        &["inputs", "buffer"],
    )
}

/// Push constants.
pub fn push_constants() -> Table {
    Table::new(
        "push_constants",
        "push constants as a draw, dispatch or trace found them",
        true,
        &[
            count("push", "number", "from 1"),
            count("bytes", "bytes", "up to the last one that was pushed"),
            text("hex", "the bytes in hexadecimal, -- for those that were never pushed"),
        ],
        &[],
    )
}
