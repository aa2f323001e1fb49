//! Views: the usual questions, asked once.
//!
//! Guarantees: a view names tables that are there: those of bindings come with what `bindings` wrote.

use crate::table::quoted;

/// A view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Its name in SQL.
    pub name: &'static str,
    /// Which question it answers.
    pub about: &'static str,
    sql: &'static str,
}

impl View {
    /// The statement that makes it.
    pub fn create(&self) -> String {
        format!("CREATE VIEW {} AS {}", quoted(self.name), self.sql)
    }
}

/// All of them; those of bindings and of times, if their tables are there.
pub fn views(bindings: bool, times: bool) -> Vec<View> {
    let mut all = OWN.to_vec();
    if bindings {
        all.extend_from_slice(OF_BINDINGS);
    }
    if times {
        all.extend_from_slice(OF_TIMES);
    }
    all
}

const OWN: &[View] = &[
    View {
        name: "call_counts",
        about: "how often each command was called, in which frames",
        sql: "SELECT name, count(*) AS calls, min(frame) AS first_frame, max(frame) AS last_frame \
              FROM calls GROUP BY name",
    },
    View {
        name: "created_objects",
        about: "objects with the call that made them and their create (or allocate) info as JSON",
        sql: "SELECT o.*, c.name AS created_with, coalesce(\
                json_extract(c.args, '$.pCreateInfos[' || o.created_index || ']'), \
                json_extract(c.args, '$.pCreateInfo'), json_extract(c.args, '$.pAllocateInfo')) AS info \
              FROM objects o LEFT JOIN calls c ON c.call = o.created_by",
    },
    View {
        name: "pipelines",
        about: "pipelines with their state as JSON: the create info of each, and how often it is used",
        sql: "SELECT o.handle AS pipeline, o.name, c.name AS created_with, o.created_by, o.created_frame, \
                o.destroyed_by, json_extract(c.args, '$.pCreateInfos[' || o.created_index || ']') AS state, \
                (SELECT count(*) FROM draws i WHERE i.pipeline = o.handle) AS draws \
              FROM objects o LEFT JOIN calls c ON c.call = o.created_by WHERE o.type = 'VkPipeline'",
    },
    View {
        name: "recorded_commands",
        about: "what each command buffer was filled with: commands by name, with their arguments",
        sql: "SELECT r.recording, r.command_buffer, m.command, m.call, c.name, c.args FROM commands m \
              JOIN recordings r ON r.recording = m.recording JOIN calls c ON c.call = m.call",
    },
    View {
        name: "frame_commands",
        about: "frame, submission, command buffer, pass, label and command, in the order in which the device ran them",
        sql: "SELECT e.frame, e.submission, s.queue, e.command_buffer, e.recording, e.command, e.pass, l.path AS label, \
                e.kind, e.call, c.name, e.draw_id, i.draw, e.execution FROM executions e \
              JOIN submissions s ON s.submission = e.submission JOIN calls c ON c.call = e.call \
              LEFT JOIN labels l ON l.label = e.label LEFT JOIN draws i ON i.draw_id = e.draw_id",
    },
    View {
        name: "draw_state",
        about: "for each draw, dispatch and trace: the last call before it, in its command buffer, of each command that sets \
                state or binds; ask for one draw at a time",
        sql: "SELECT i.draw_id, c.name, max(m.command) AS command, m.call, c.args FROM draws i \
              JOIN commands m ON m.recording = i.recording AND m.command < i.command JOIN calls c ON c.call = m.call \
              WHERE c.name GLOB 'vkCmdSet*' OR c.name GLOB 'vkCmdBind*' OR c.name GLOB 'vkCmdPush*' \
              GROUP BY i.draw_id, c.name",
    },
    View {
        name: "render_targets",
        about: "which images passes draw to, and how much is drawn",
        sql: "SELECT a.pass, p.frame, p.width AS area_width, p.height AS area_height, a.attachment, a.use, a.image, o.name, \
                a.format, a.load, a.store, (SELECT count(*) FROM draws i WHERE i.pass = a.pass) AS draws \
              FROM pass_attachments a JOIN passes p ON p.pass = a.pass \
              LEFT JOIN objects o ON o.handle = a.image AND o.type = 'VkImage'",
    },
    View {
        name: "label_work",
        about: "how much runs directly in each label: draws, dispatches, traces, other commands",
        sql: "SELECT l.label, l.path, l.frame, sum(e.kind GLOB 'Draw*') AS draws, sum(e.kind GLOB 'Dispatch*') AS dispatches, \
                sum(e.kind GLOB 'TraceRays*') AS traces, sum(e.draw_id IS NULL) AS others \
              FROM labels l JOIN executions e ON e.label = l.label GROUP BY l.label",
    },
    View {
        name: "never_destroyed",
        about: "objects that lived to the capture's end, by type",
        sql: "SELECT type, count(*) AS objects FROM objects WHERE destroyed_by IS NULL GROUP BY type",
    },
];

const OF_BINDINGS: &[View] = &[
    View {
        name: "bound_descriptors",
        about: "what each draw, dispatch and trace had bound: descriptors down to resources and ranges, dynamic offsets added",
        sql: "SELECT s.draw_id, s.\"set\", s.handle AS descriptor_set, c.binding, c.element, d.type, d.buffer, \
                d.offset + coalesce(o.offset, 0) AS offset, d.range, d.view, d.image, d.sampler, d.layout, d.structure, \
                d.unknown, d.descriptor \
              FROM draw_sets s JOIN set_contents c ON c.contents = s.contents AND s.contents > 0 \
              JOIN descriptors d ON d.descriptor = c.descriptor \
              LEFT JOIN dynamic_offsets o ON o.offsets = s.offsets AND s.offsets > 0 AND o.binding = c.binding \
                AND o.element = c.element",
    },
    View {
        name: "bound_shaders",
        about: "which shaders each draw, dispatch and trace ran: stage, entry point, hash of the module",
        sql: "SELECT i.draw_id, i.frame, i.draw, i.kind, i.pipeline, s.stage, s.entry, s.module FROM draws i \
              JOIN resource_stages s ON s.pipeline = i.pipeline",
    },
    View {
        name: "resource_uses",
        about: "which draws, dispatches and traces have a buffer or image bound, and how: ask for one resource at a time",
        sql: "SELECT b.buffer AS handle, b.draw_id, b.type AS use FROM bound_descriptors b WHERE b.buffer > 0 \
              UNION ALL SELECT b.image, b.draw_id, b.type FROM bound_descriptors b WHERE b.image > 0 \
              UNION ALL SELECT v.buffer, i.draw_id, v.use || ' buffer' FROM input_buffers v \
                JOIN draws i ON i.inputs = v.inputs WHERE v.buffer > 0 \
              UNION ALL SELECT a.image, i.draw_id, 'attachment' FROM pass_attachments a \
                JOIN draws i ON i.pass = a.pass WHERE a.image > 0",
    },
];

const OF_TIMES: &[View] = &[View {
    name: "execution_times",
    about: "how long commands took on the GPU: the mean of the times that the frame has for the command",
    sql: "SELECT e.execution, e.frame, e.pass, e.label, e.kind, e.call, e.draw_id, i.draw, i.pipeline, g.time_ns, g.times FROM executions e \
            JOIN recordings r ON r.recording = e.recording \
            JOIN (SELECT frame, command_buffer, command, avg(time_ns) AS time_ns, count(*) AS times FROM gpu_times \
              WHERE kind = 'command' GROUP BY frame, command_buffer, command) g \
              ON g.frame = e.frame AND g.command_buffer = r.command_buffer AND g.command = e.command \
            LEFT JOIN draws i ON i.draw_id = e.draw_id",
}];
