//! What is said of one thing that the capture asks for: what was asked, what is here, what is done about it; and
//! the refusal of what nothing can be done about.

use crate::error::{Error, Kind, Result};
use crate::options::Bridge;
use crate::vulkan::gpu::Gpu;

/// What was done about one thing the capture asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Used as asked.
    Kept,
    /// Left out: it only watches, only concerns windows, or is done here by other means.
    Dropped,
    /// Left out because the user said so; the replay may differ.
    Removed,
    /// Left out: nothing in the capture uses it.
    Unused,
    /// Something else stands in for it.
    Replaced,
    /// Tried all the same: it may fail.
    Risked,
    /// The replay cannot go on.
    Refused,
}

/// What kind of thing was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// The Vulkan version.
    Api,
    /// An instance extension.
    InstanceExtension,
    /// A device extension.
    DeviceExtension,
    /// A feature.
    Feature,
    /// A limit that the capture comes near.
    Limit,
    /// Queue families and their queues.
    Queue,
    /// Memory types and heaps, and memory of special kinds.
    Memory,
    /// A format and its use.
    Format,
}

impl Sort {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Api => "version",
            Sort::InstanceExtension => "instance extension",
            Sort::DeviceExtension => "device extension",
            Sort::Feature => "feature",
            Sort::Limit => "limit",
            Sort::Queue => "queues",
            Sort::Memory => "memory",
            Sort::Format => "format",
        }
    }
}

impl Done {
    /// What it means, in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Done::Kept => "kept",
            Done::Dropped => "dropped",
            Done::Removed => "removed",
            Done::Unused => "unused",
            Done::Replaced => "replaced",
            Done::Risked => "risked",
            Done::Refused => "refused",
        }
    }

    /// What it means, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Done::Kept => "used as asked",
            Done::Dropped => {
                "left out: it only watches, only concerns windows, or is done here by other means"
            }
            Done::Removed => "left out, as it is not here; the replay may differ",
            Done::Unused => "left out: nothing in the capture uses it",
            Done::Replaced => "something else stands in for it",
            Done::Risked => "tried all the same; it may fail",
            Done::Refused => "a replay ends here",
        }
    }
}

/// One line of the negotiation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// See [`Sort`].
    pub sort: Sort,
    /// An extension's name, `VkStruct.member`, a format and its use.
    pub what: String,
    /// How much of it, where that is a question.
    pub asked: String,
    /// How much of it is here, likewise.
    pub found: String,
    /// This device has it.
    pub here: bool,
    /// See [`Done`].
    pub done: Done,
    /// What bridges the difference, where something does.
    pub bridge: Option<Bridge>,
}

impl Line {
    /// One without amounts.
    pub fn new(sort: Sort, what: &str, here: bool, done: Done) -> Self {
        Line {
            sort,
            what: what.to_owned(),
            asked: String::new(),
            found: String::new(),
            here,
            done,
            bridge: None,
        }
    }
    /// What bridges it, unless it is kept or refused.
    pub fn by(self, bridge: Bridge) -> Self {
        let bridged = !matches!(self.done, Done::Kept | Done::Refused | Done::Removed);
        Line { bridge: bridged.then_some(bridge), ..self }
    }
    /// The amounts.
    pub fn of(self, asked: String, found: String) -> Self {
        Line { asked, found, ..self }
    }
}

/// Refuses what the user does not want bridged.
pub fn turn_off(lines: &mut [Line], bridges: &[Bridge]) {
    for l in lines.iter_mut().filter(|l| l.bridge.is_some_and(|b| bridges.contains(&b))) {
        l.done = Done::Refused;
    }
}

/// Fails with the whole list if anything was refused.
pub fn refuse(lines: &[Line], gpu: &Gpu) -> Result<()> {
    let refused: Vec<&Line> = lines.iter().filter(|l| l.done == Done::Refused).collect();
    if refused.is_empty() {
        return Ok(());
    }
    let text = format!("{} lacks what the capture asks for:", gpu.name());
    let mut error = Error::new(Kind::Unsupported, text);
    let removable = |s| matches!(s, Sort::InstanceExtension | Sort::DeviceExtension | Sort::Feature);
    for l in &refused {
        let mut text = format!("  {}", l.what);
        if !l.asked.is_empty() && removable(l.sort) {
            text += &format!(" ({})", l.asked);
        } else if !l.asked.is_empty() || !l.found.is_empty() {
            text += &format!(" (asked: {}; here: {})", l.asked, l.found);
        }
        error = error.with(&text);
    }
    if let Some(l) = refused.iter().find(|l| l.bridge.is_some()) {
        let name = l.bridge.map_or("", Bridge::name);
        return Err(error.with(&format!("--no-bridge {name} refuses what could be bridged")));
    }
    let mut text = "Replay on another device (--gpu; `reray-replay devices` lists them)".to_owned();
    if refused.iter().any(|l| removable(l.sort)) {
        text += ", drop extensions and features with --remove-unsupported";
    }
    if refused.iter().any(|l| !removable(l.sort)) {
        text += ", or try all the same with --keep-going";
    }
    Err(error.with(&text))
}
