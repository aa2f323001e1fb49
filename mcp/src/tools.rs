//! Which tools there are: a row each.
//!
//! Guarantees: names are unique. That each row names a sub-command and arguments that the command line has, a test of the command says,
//! which asks for every schema.

/// One tool.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What clients call it.
    pub name: &'static str,
    /// The sub-command, from outside in.
    pub command: &'static [&'static str],
    /// The arguments of it that clients may give, by clap's identifier; of tools that replay, [`REPLAY`] besides.
    pub arguments: &'static [&'static str],
    /// Which of them have to be given, besides those that the command line wants anyway.
    pub required: &'static [&'static str],
    /// What is always given.
    pub fixed: &'static [&'static str],
    /// What comes back.
    pub answer: Answer,
    /// Whether it replays a capture on a device.
    pub replays: bool,
    /// What to know besides what the sub-command says of itself.
    pub about: &'static str,
}

/// What a tool's answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// What the command prints.
    Printed,
    /// What it prints, and the pictures that it writes to the folder `--output`, which the server makes and removes.
    Pictures,
}

/// Which of a replay's flags each tool has that replays.
pub(crate) const REPLAY: [&str; 6] =
    ["gpu", "frame_by", "watchdog", "keep_going", "remove_unsupported", "validate"];

/// A tool that reads files alone.
const fn reads(
    name: &'static str,
    command: &'static [&'static str],
    arguments: &'static [&'static str],
) -> Tool {
    Tool {
        name,
        command,
        arguments,
        required: &[],
        fixed: &["--json"],
        answer: Answer::Printed,
        replays: false,
        about: "",
    }
}

/// A tool that replays.
const fn replays(
    name: &'static str,
    command: &'static [&'static str],
    arguments: &'static [&'static str],
) -> Tool {
    Tool { replays: true, ..reads(name, command, arguments) }
}

/// Of commands that print several forms.
const FORMAT: &[&str] = &["--format=json"];

/// Every tool.
pub(crate) const TOOLS: &[Tool] = &[
    reads("info", &["info"], &["file"]),
    Tool {
        fixed: FORMAT,
        about: "Ask with `schema` first: it names tables, columns and views, with units and meanings. The database is made at the first \
                question, and kept. Long answers are cut: use LIMIT.",
        ..reads("query", &["sql"], &["file", "query", "schema"])
    },
    Tool {
        fixed: &["--list", "--format=json"],
        about: "This tool says which questions and tables there are and, of a trace, which it can answer.",
        ..reads("questions", &["analyze"], &["trace"])
    },
    Tool {
        required: &["trace", "questions"],
        fixed: FORMAT,
        about: "`profile` writes such traces; `questions` lists what can be asked.",
        ..reads("analyze", &["analyze"], &["trace", "questions"])
    },
    Tool {
        required: &["file"],
        fixed: FORMAT,
        about: "No device is needed.",
        ..reads("bindings", &["bindings"], &["file", "frames", "questions", "sync"])
    },
    Tool {
        fixed: FORMAT,
        ..reads(
            "compare",
            &["compare"],
            &["base", "new", "metric", "min_effect", "alpha", "against", "plans"],
        )
    },
    reads("diff", &["diff"], &["a", "b", "frames"]),
    replays("check", &["check"], &["file"]),
    Tool {
        required: &["file"],
        about: "Times are in the unit that their key names; what measuring cost is said beside them.",
        ..replays("times", &["replay"], &["file", "frames", "loop_frame", "iterations", "times", "change"])
    },
    Tool {
        required: &["file", "output"],
        fixed: &[],
        about: "With `ask` the answers come at once; `analyze` asks the trace again, without a device.",
        ..replays(
            "profile",
            &["profile"],
            &["file", "ask", "passes", "frames", "stages", "pipelines", "labels", "output"],
        )
    },
    Tool {
        fixed: &["--hash"],
        answer: Answer::Pictures,
        ..replays("screenshot", &["screenshot"], &["file", "frames", "image", "after", "change"])
    },
    Tool {
        required: &["compare", "output"],
        fixed: &[],
        about: "The first draw of a frame behind which another device, driver or run shows something else; pictures and texels of both \
                lie in the folder.",
        ..replays(
            "first_difference",
            &["screenshot"],
            &["file", "frames", "after", "compare", "change", "image_tolerance", "output"],
        )
    },
    Tool {
        required: &["output"],
        fixed: &[],
        about: "Of a capture: what each part says first, and one page for a browser with all of it.",
        ..replays(
            "report",
            &["report"],
            &["inputs", "frame", "questions", "assume_subgroups", "title", "output"],
        )
    },
    Tool { required: &["output"], ..replays("trim", &["trim"], &["file", "frames", "change", "output"]) },
    Tool {
        about: "Each cost and gain has its 99 % interval. Takes as long as `budget` says.",
        ..replays(
            "what_if",
            &["what-if"],
            &["file", "frame", "by", "parts", "causes", "budget", "min_effect", "output"],
        )
    },
    Tool {
        about: "`compare` judges what it writes.",
        ..replays(
            "bench",
            &["bench"],
            &["files", "frame", "plan", "processes", "iterations", "budget", "output"],
        )
    },
];

/// The tool of this name.
pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|t| t.name == name)
}

impl Tool {
    /// The identifiers of all arguments that clients may give.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &'static str> {
        let of_replays = if self.replays && self.name != "check" { &REPLAY[..] } else { &[] };
        self.arguments.iter().chain(of_replays).copied()
    }
}
