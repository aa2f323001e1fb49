//! What pass `shader-clock` records: each invocation of ray generation shaders, how long it was there, and where.

use crate::Table;
use crate::table::{count, text};

/// Invocations of ray generation shaders.
pub static SHADER_CLOCK: Table = Table {
    name: "shader_clock",
    about: "an invocation of a ray generation shader: from when to when, and where on the device",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("launch", "index", "which of the frame's, from 0, in the order of submission"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("width", "invocations", "of the launch"),
        count("height", "invocations", "of the launch"),
        count("depth", "invocations", "of the launch"),
        count("invocation", "index", "linear launch index: x + width * (y + height * z)"),
        count("begin", "ticks", "the clock when it entered the shader"),
        count("end", "ticks", "the clock when it left it; `begin` of subgroups' clocks, if that lies before"),
        count(
            "sm",
            "number",
            "the multiprocessor that it entered on; 4294967295 where the device was not asked",
        ),
        count("warp", "number", "its place there; 4294967295 where the device was not asked"),
        count("last_sm", "number", "the multiprocessor that it left on"),
        count("last_warp", "number", "its place there"),
        text("clock", "whose clock it is: device, one for all; or subgroup, that of whoever reads it"),
    ],
};
