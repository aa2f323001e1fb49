//! The tables of `uniforms`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Bytes, Count, Percent, Text};
use crate::report::sheet::{Sheet, Thing, m, sheet};

pub const RATES: Sheet = sheet(
    "rates",
    "how often members change",
    &[&[
        m(
            "members that are",
            Text,
            "unused, constant over the capture, over the pipeline, a frame or a pass, changing, not known",
        ),
        m("members", Count, "how many"),
        m("size", Bytes, "their bytes"),
        m("executions", Count, "draws that had them, summed over members"),
    ]],
);

pub const MEMBERS: Sheet = sheet(
    "members",
    "a member of a uniform block or of push constants, of a pipeline",
    &[&[
        m("pipeline", Text, "the pipeline").names(Thing::Pipeline),
        m("member", Text, "the block's and the member's name, or slot and number"),
        m("type", Text, "its type"),
        m("offset", Bytes, "where it begins in the block"),
        m("size", Bytes, "its bytes, without padding"),
        m("used by", Text, "stages whose shaders read it statically"),
        m("executions", Count, "draws that had the block, times elements where blocks are an array"),
        m("is", Text, "how often it changes, as in table `rates`"),
        m("changed", Percent, "consecutive pairs of draws in which it changed"),
        m("distinct", Count, "values that it had; none where bytes of it are not known"),
        m("zeros", Percent, "executions in which all its bytes are 0"),
        m("not known", Count, "executions in which bytes of it are not known"),
        m("most frequent", Text, "its most frequent value, by its type"),
    ]],
);

pub const VALUES: Sheet = sheet(
    "values",
    "one of the most frequent values of a member that has several",
    &[&[
        m("values of", Text, "the member"),
        m("value", Text, "the value, by its type"),
        m("executions", Count, "draws that had it"),
        m("share", Percent, "of all that had the member"),
    ]],
);

pub const ZEROS: Sheet = sheet(
    "zeros",
    "a member that is zero in some executions",
    &[&[
        m("zero", Text, "the member"),
        m("type", Text, "its type"),
        m("executions", Count, "draws in which all its bytes are 0"),
        m("share", Percent, "of all that had the member"),
        m("pipeline", Text, "the pipeline").names(Thing::Pipeline),
    ]],
);

pub const REPLACED: Sheet = sheet(
    "replaced",
    "a slot into which another buffer or offset came",
    &[&[
        m("replaced by the same", Text, "the pipeline"),
        m("slot", Text, "set.binding"),
        m("pairs", Count, "consecutive draws"),
        m("replaced", Count, "of these, with another buffer or offset in the slot"),
        m("same bytes", Count, "of these, with the same bytes there"),
        m("share", Percent, "of the replaced ones"),
        m("block", Bytes, "the block's size"),
    ]],
);

pub const COPIES: Sheet = sheet(
    "copies",
    "bytes of a block that lay in several places in one frame",
    &[&[
        m("same bytes in several places", Text, "their hash, or what they are"),
        m("read by", Text, "the pipelines and slots that read them"),
        m("size", Bytes, "how many bytes they are"),
        m("places", Count, "most places that held them in one frame"),
        m("buffers", Count, "buffers that these lay in"),
        m("frames", Count, "frames in which there were several"),
        m("more a frame", Bytes, "in places beyond the first, over all frames with draws"),
    ]],
);

pub const BUFFERS: Sheet = sheet(
    "buffers",
    "a buffer that held uniform blocks",
    &[&[
        m("buffer of uniform blocks", Text, "its id and debug name"),
        m("size", Bytes, "its size"),
        m("memory", Text, "the kind of memory that it is bound to"),
        m("writes", Count, "writes to it by any way that the capture shows"),
        m("uploaded", Bytes, "bytes of these"),
        m("the same", Bytes, "of these, bytes that were there already"),
        m("frames", Count, "frames that wrote to it"),
        m("bound", Bytes, "bytes of blocks that were bound, each once in a frame"),
        m("read", Bytes, "of these, bytes that shaders use statically"),
        m("frames", Count, "frames that read it"),
    ]],
);

pub const UPLOADS: Sheet = sheet(
    "uploads",
    "a way by which bytes came into these buffers",
    &[&[
        m("uploaded by", Text, "mapped memory, vkCmdUpdateBuffer, vkCmdCopyBuffer …"),
        m("writes", Count, "how many"),
        m("uploaded", Bytes, "bytes of these"),
        m("a frame", Bytes, "the same, a frame"),
        m("the same", Bytes, "of all, bytes that were there already"),
        m("share", Percent, "of the bytes of this way, those that were there already"),
    ]],
);

pub const SHEETS: &[Sheet] = &[RATES, MEMBERS, VALUES, ZEROS, REPLACED, COPIES, BUFFERS, UPLOADS];
