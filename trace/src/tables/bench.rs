//! What `bench` records: a run (`run.rs`).

use crate::Table;
use crate::table::{count, text};

/// The number that stands for a time that is not known.
pub const UNTIMED: u64 = u64::MAX;

/// Frames, as often as they ran.
pub static BENCH_FRAMES: Table = Table {
    name: "bench_frames",
    about: "a frame that a process of a run replayed once, in a turn without finer timestamps",
    version: 1,
    columns: &[
        count("worker", "number", "which process: a row of `workers` in run.json, from 0"),
        count("position", "number", "which turn of the whole run, in the order in which they ran, from 0"),
        count("turn", "number", "which turn of its process, from 0; those that warm up come first"),
        count("timed", "flag", "0 in turns that warm up"),
        count("frame", "number", "the capture's number of the frame"),
        count("load", "flag", "1 if it is the frame that loads, which is in no metric"),
        count("gpu", "ns", "its GPU time; 18446744073709551615 where it is not known"),
        count("cpu", "ns", "its CPU time"),
    ],
};

/// What frames are made of.
pub static BENCH_PLACES: Table = Table {
    name: "bench_places",
    about: "a part of a capture's frames that is timed by itself: the same part has one row, whatever ran it",
    version: 2,
    columns: &[
        count("place", "number", "its number, from 0"),
        count("capture", "number", "a row of `captures` in run.json, from 0"),
        count("frame", "number", "the capture's number of the frame"),
        count("submission", "number", "which submission of the frame, from 0"),
        count("position", "number", "which command buffer of the submission, from 0"),
        count(
            "execution",
            "number",
            "which execution of a secondary one, from 1; 0 in the submitted one itself",
        ),
        count("index", "number", "the command that begins it, as recorded, from 1"),
        count(
            "pass",
            "number",
            "the render pass that it is or is within, from 1 in the frame; 0 outside of them",
        )
        .since(2),
        count(
            "draw",
            "number",
            "which draw, dispatch or trace of the frame it is, from 1; 0 for what is none",
        )
        .since(2),
        count("depth", "number", "how many parts are around it"),
        text("level", "submit, label, pass, secondary, run or command"),
        text("name", "its name"),
        text("within", "names around it, from outside in, with › between"),
        text("pipeline", "the debug name or id of the pipeline that it runs, or nothing"),
        text("shaders", "the pipeline's shaders, `stage:hash`"),
    ],
};

/// How long these took.
pub static BENCH_SPANS: Table = Table {
    name: "bench_spans",
    about: "a place that a process of a run ran once, in a turn of its own with finer timestamps",
    version: 1,
    columns: &[
        count("worker", "number", "which process: a row of `workers` in run.json, from 0"),
        count("turn", "number", "which of its process's turns with finer timestamps, from 0"),
        count("place", "number", "a row of `bench_places`"),
        count("time", "ns", "its time, as docs/reports.md defines it for spans"),
    ],
};

/// What calls of a turn cost the CPU.
pub static BENCH_CALLS: Table = Table {
    name: "bench_calls",
    about: "what one kind of a turn's calls cost the CPU, in a turn of its own with finer timestamps",
    version: 1,
    columns: &[
        count("worker", "number", "which process: a row of `workers` in run.json, from 0"),
        count("turn", "number", "which of its process's turns with finer timestamps, from 0"),
        text(
            "kind",
            "descriptors: those that manage, bind or push descriptors; recording: the others that record commands, manage command buffers, or submit",
        ),
        count("calls", "number", "how many"),
        count("time", "ns", "how long the driver took for them, by the replay's own clock"),
    ],
};
