//! GPU times of single commands, labels, passes and submissions: the spans in the JSON of `--times submit`, `pass` and `command`.
//!
//! Guarantees: a row for each span, with the numbers of the JSON. A member that is not there is NULL. Refuses nothing: JSON without
//! spans has no rows.

use crate::error::Error;
use crate::table::{Table, Value, count, text};
use crate::writer::{TableId, Writer};
use serde_json::Value as Json;

/// Several replays' spans, whose table is made when the first has some.
#[derive(Default)]
pub struct Times {
    table: Option<TableId>,
    count: u64,
}

impl Times {
    /// Adds those that a replay printed; whether there are any.
    pub fn add(&mut self, writer: &mut Writer, source: &str, replay: &Json) -> Result<bool, Error> {
        let Some(spans) = replay["times"]["spans"].as_array().filter(|s| !s.is_empty()) else {
            return Ok(false);
        };
        let table = match self.table {
            Some(table) => table,
            None => *self.table.insert(writer.table(described())?),
        };
        self.count += 1;
        for span in spans {
            let number = |name: &str| span[name].as_u64();
            let words = |name: &str| span[name].as_str().map(str::to_owned);
            let path: Vec<&str> =
                span["path"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
            // (the JSON counts commands from 1; 0 stands for no command)
            let command = number("index").and_then(|i| i.checked_sub(1));
            let there = |name: &str| number(name).filter(|n| *n != 0);
            let counted = span["statistics"].is_object().then(|| span["statistics"].to_string());
            writer.row(
                table,
                [
                    self.count.into(),
                    source.into(),
                    number("frame").into(),
                    number("repeat").into(),
                    number("submit").into(),
                    number("queue").into(),
                    there("command_buffer").into(),
                    number("position").into(),
                    number("execution").into(),
                    command.into(),
                    there("pass").into(),
                    there("draw").into(),
                    words("kind").into(),
                    number("depth").into(),
                    path.last().copied().into(),
                    path.join("/").into(),
                    there("pipeline").into(),
                    span["isolated"].as_bool().into(),
                    number("begin_ns").into(),
                    number("end_ns").into(),
                    number("time_ns").into(),
                    counted.map_or(Value::Null, Value::from),
                ],
            )?;
        }
        Ok(true)
    }
}

fn described() -> Table {
    Table::new(
        "gpu_times",
        "a span of a timed replay: a submission, label, pass or command, and how long it took",
        false,
        &[
            count("replay", "number", "from 1, in the order in which they were named"),
            text("source", "the file with the replay's JSON"),
            count("frame", "number", "the frame it was submitted in"),
            count("repeat", "number", "which repetition of that frame, from 0"),
            count("submit", "number", "which submission of the replay, from 0"),
            count("queue", "id", "the queue"),
            count(
                "command_buffer",
                "id",
                "the command buffer that it was recorded into; NULL for submissions",
            ),
            count("position", "index", "which command buffer of the submission, from 0"),
            count(
                "execution",
                "index",
                "which secondary command buffer that the submitted one executes, from 1; 0 for itself",
            ),
            count(
                "command",
                "index",
                "the command that begins it, its place in the recording, from 0; NULL for none",
            ),
            count(
                "pass",
                "number",
                "`passes.number`: the pass of its frame that it is or is within; NULL outside",
            ),
            count(
                "draw",
                "number",
                "`draws.draw`: which draw, dispatch or trace of its frame it is; NULL for none",
            ),
            text("kind", "submit, label, pass, secondary, run or command"),
            count("depth", "spans", "how many enclose it"),
            text("name", "its name"),
            text("path", "the names around it and its own, with / between"),
            count("pipeline", "id", "the pipeline that it runs; NULL for none"),
            count("isolated", "flag", "1 if nothing else ran meanwhile"),
            count("begin_ns", "ns", "when the device had begun all that was recorded before"),
            count("end_ns", "ns", "when the device had finished it"),
            count("time_ns", "ns", "its time: what overlaps with the span before it counts for that one"),
            text("statistics", "what was counted with --statistics, as JSON; NULL without"),
        ],
        &["command_buffer,command", "frame,draw"],
    )
}
