//! Columns of questions about descriptors, uniform blocks, calls and synchronisation.

use super::meaning::{Meaning, Sheet, m};
use crate::report::Unit::{Bytes, Count, Nanoseconds, Percent, Ratio, Text};

const COSTS: &[Meaning] = &[
    m("sets", Count, "distinct sets in each execution of a recording, summed over executions"),
    m("descriptors", Count, "descriptors in them"),
    m("change", Percent, "of descriptors, against what the capture has"),
    m(
        "kept",
        Count,
        "descriptors of sets that are distinct over the whole capture: what has to be written if nothing is freed",
    ),
    m("binds", Count, "sets that had to be bound since another one, or other offsets, were there"),
    m("bind calls", Count, "calls for that, as neighbours go into one"),
];

pub const BINDINGS: &[Sheet] = &[
    Sheet {
        table: "whole",
        about: "a way to part slots into sets, for all pipelines",
        columns: &[&[m("whole capture", Text, "the partition")], COSTS],
    },
    Sheet {
        table: "partitions",
        about: "a partition of the pipelines of one layout",
        columns: &[
            &[
                m("pipelines of one layout", Text, "which pipelines"),
                m("partition", Text, "as captured, classes, single, together or minimal"),
                m("sets in layout", Count, "highest set number and one"),
            ],
            COSTS,
            &[m("stays", Text, "sets that are not moved, and why")],
        ],
    },
    Sheet {
        table: "slots",
        about: "a slot (set and binding) of a pipeline",
        columns: &[&[
            m("pipeline", Text, "the pipeline"),
            m("slot", Text, "set.binding, and its name where a shader says one"),
            m("type", Text, "the type of its descriptors"),
            m("descriptors", Count, "of the slot's layout; an inline uniform block is one"),
            m("invocations", Count, "draws, dispatches and traces of the pipeline"),
            m("pairs", Count, "consecutive ones of which both values are known"),
            m("redundancy", Percent, "of these, pairs that are equal"),
            m("not known", Count, "pairs in which a descriptor is not known"),
            m("used by", Text, "stages whose shaders use the slot statically"),
        ]],
    },
    Sheet {
        table: "recordings",
        about: "a pipeline in a recording of a command buffer",
        columns: &[&[
            m("recording", Count, "the recording's number"),
            m("frame", Count, "the first frame that executed it"),
            m("pipeline", Text, "the pipeline"),
            m("invocations", Count, "its draws, dispatches and traces"),
            m("runs", Count, "how often these began to follow each other"),
            m("pairs", Count, "consecutive ones, of all slots"),
            m("redundancy", Percent, "of these, pairs that are equal"),
            m("changes most", Text, "the slot with the lowest redundancy"),
            m("redundancy", Percent, "and that"),
        ]],
    },
    Sheet {
        table: "mapping",
        about: "a slot, where a partition needs fewer descriptors",
        columns: &[&[
            m("fewest descriptors", Text, "the pipelines of one layout"),
            m("partition", Text, "the partition with the fewest descriptors"),
            m("slot", Text, "set.binding as captured"),
            m("redundancy", Percent, "equal pairs of consecutive invocations"),
            m("goes to", Text, "set.binding in the partition"),
        ]],
    },
];

pub const UNIFORMS: &[Sheet] = &[
    Sheet {
        table: "rates",
        about: "how often members change",
        columns: &[&[
            m(
                "members that are",
                Text,
                "unused, constant over the capture, over the pipeline, a frame or a pass, changing, not known",
            ),
            m("members", Count, "how many"),
            m("size", Bytes, "their bytes"),
            m("executions", Count, "invocations that had them, summed over members"),
        ]],
    },
    Sheet {
        table: "members",
        about: "a member of a uniform block or of push constants, of a pipeline",
        columns: &[&[
            m("pipeline", Text, "the pipeline"),
            m("member", Text, "the block's and the member's name, or slot and number"),
            m("type", Text, "its type"),
            m("offset", Bytes, "where it begins in the block"),
            m("size", Bytes, "its bytes, without padding"),
            m("used by", Text, "stages whose shaders read it statically"),
            m(
                "executions",
                Count,
                "invocations that had the block, times elements where blocks are an array",
            ),
            m("is", Text, "how often it changes, as in table `rates`"),
            m("changed", Percent, "consecutive pairs of invocations in which it changed"),
            m("distinct", Count, "values that it had; none where bytes of it are not known"),
            m("zeros", Percent, "executions in which all its bytes are 0"),
            m("not known", Count, "executions in which bytes of it are not known"),
            m("most frequent", Text, "its most frequent value, by its type"),
        ]],
    },
    Sheet {
        table: "values",
        about: "one of the most frequent values of a member that has several",
        columns: &[&[
            m("values of", Text, "the member"),
            m("value", Text, "the value, by its type"),
            m("executions", Count, "invocations that had it"),
            m("share", Percent, "of all that had the member"),
        ]],
    },
    Sheet {
        table: "zeros",
        about: "a member that is zero in some executions",
        columns: &[&[
            m("zero", Text, "the member"),
            m("type", Text, "its type"),
            m("executions", Count, "invocations in which all its bytes are 0"),
            m("share", Percent, "of all that had the member"),
            m("pipeline", Text, "the pipeline"),
        ]],
    },
    Sheet {
        table: "replaced",
        about: "a slot into which another buffer or offset came",
        columns: &[&[
            m("replaced by the same", Text, "the pipeline"),
            m("slot", Text, "set.binding"),
            m("pairs", Count, "consecutive invocations"),
            m("replaced", Count, "of these, with another buffer or offset in the slot"),
            m("same bytes", Count, "of these, with the same bytes there"),
            m("share", Percent, "of the replaced ones"),
            m("block", Bytes, "the block's size"),
        ]],
    },
    Sheet {
        table: "copies",
        about: "bytes of a block that lay in several places in one frame",
        columns: &[&[
            m("same bytes in several places", Text, "their hash, or what they are"),
            m("read by", Text, "the pipelines and slots that read them"),
            m("size", Bytes, "how many bytes they are"),
            m("places", Count, "most places that held them in one frame"),
            m("buffers", Count, "buffers that these lay in"),
            m("frames", Count, "frames in which there were several"),
            m("more a frame", Bytes, "in places beyond the first, over all frames with invocations"),
        ]],
    },
    Sheet {
        table: "buffers",
        about: "a buffer that held uniform blocks",
        columns: &[&[
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
    },
    Sheet {
        table: "uploads",
        about: "a way by which bytes came into these buffers",
        columns: &[&[
            m("uploaded by", Text, "mapped memory, vkCmdUpdateBuffer, vkCmdCopyBuffer …"),
            m("writes", Count, "how many"),
            m("uploaded", Bytes, "bytes of these"),
            m("a frame", Bytes, "the same, a frame"),
            m("the same", Bytes, "of all, bytes that were there already"),
            m("share", Percent, "of the bytes of this way, those that were there already"),
        ]],
    },
];

const SAVES: &[Meaning] = &[
    m(
        "bytes a frame",
        Ratio,
        "that need not be written (of device-local memory: not be read over a bus); negative is a price",
    ),
    m("descriptors a frame", Ratio, "that need not be written"),
    m("binds a frame", Ratio, "that need not be made"),
];

pub const ADVICE: &[Sheet] = &[
    Sheet {
        table: "kinds",
        about: "a kind of recommendation",
        columns: &[
            &[m("possibly", Text, "what to do"), m("how many", Count, "recommendations of this kind")],
            SAVES,
        ],
    },
    Sheet {
        table: "advice",
        about: "a recommendation; of each kind those that save most",
        columns: &[
            &[m("possibly", Text, "what to do"), m("of", Text, "with what")],
            SAVES,
            &[m("because", Text, "the evidence"), m("limits", Text, "what it has to keep to")],
        ],
    },
];

const CALLS: &[Meaning] = &[
    m("calls", Count, "calls in measured frames"),
    m("calls a frame", Ratio, "their mean over frames"),
    m("net a call", Nanoseconds, "time in the driver's function, without what reading the clock takes"),
    m("time a frame", Nanoseconds, "between the two readings of the clock"),
    m("clock a frame", Nanoseconds, "what two readings take with nothing between them, times calls"),
    m("net a frame", Nanoseconds, "time without the clock's part, mean over frames"),
    m("net, median frame", Nanoseconds, "the same, of the frame in the middle"),
];

pub const CALL_COSTS: &[Sheet] = &[
    Sheet {
        table: "families",
        about: "a family of calls, by what they are for",
        columns: &[&[m("calls that", Text, "what they do")], CALLS],
    },
    Sheet {
        table: "commands",
        about: "a call",
        columns: &[
            &[m("command", Text, "its name")],
            CALLS,
            &[
                m("in frames", Count, "frames that made it"),
                m("most in one", Nanoseconds, "net, of the frame where it was most"),
            ],
        ],
    },
    Sheet {
        table: "frames",
        about: "a frame",
        columns: &[&[
            m("frame", Count, "the capture's number of the frame, from 1"),
            m("calls", Count, "all its calls that are measured"),
            m("net", Nanoseconds, "of these"),
            m("manage descriptors", Nanoseconds, "net, of calls of this family"),
            m("bind descriptors", Nanoseconds, "net, of calls of this family"),
            m("push constants", Nanoseconds, "net, of calls of this family"),
            m("draw, dispatch, trace", Nanoseconds, "net, of calls of this family"),
            m("synchronise", Nanoseconds, "net, of calls of this family"),
        ]],
    },
];

const FOUND: &[Meaning] = &[
    m("label", Text, "the debug label that it stands in"),
    m("times", Count, "executions that were found"),
    m("of", Count, "executions with the same masks, object and label"),
    m("because", Text, "what was seen before and after"),
    m("frame", Count, "the first one's frame"),
    m("recording:command", Text, "the first one's recording, and number of the command in it"),
    m("block", Count, "the first one's block in the capture"),
];

pub const SYNC: &[Sheet] = &[
    Sheet {
        table: "sums",
        about: "what was executed, and how much of it was found",
        columns: &[&[m("executed", Text, "what"), m("how many", Count, "how many")]],
    },
    Sheet {
        table: "nothing",
        about: "a part of a barrier that no conflict wants, given the others",
        columns: &[&[m("possibly orders nothing", Text, "stages, accesses and object")], FOUND],
    },
    Sheet {
        table: "wide",
        about: "masks with stages that no conflict that they order wants",
        columns: &[&[m("possibly too wide", Text, "the masks, and what would do")], FOUND],
    },
    Sheet {
        table: "layouts",
        about: "two changes of an image's layout with no access between",
        columns: &[&[m("layout possibly changed in vain", Text, "the image, and the layouts")], FOUND],
    },
    Sheet {
        table: "submissions",
        about: "submissions that could be one",
        columns: &[&[
            m("submissions that could be one", Count, "how many in a row"),
            m("frame", Count, "their frame"),
            m("queue", Count, "the capture's id of the queue"),
            m("first block", Count, "where the first is called in the capture"),
            m("because", Text, "what there is not between them"),
        ]],
    },
];
