//! A rewritten module, and what is needed to run it and to read what it writes.

use super::Facts;
use super::sample::Sample;
use crate::{ShaderHash, SourceLine, Stage};
use serde::{Deserialize, Serialize};

/// See the module's header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The module as the application made it.
    pub shader: ShaderHash,
    /// The entry point's name.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// The rewritten module.
    pub words: Vec<u32>,
    /// Its specialization constants that say where memory is.
    pub constants: Constants,
    /// How many 64-bit counters an entry point of a pipeline has; of a sample each group has so many.
    pub counters: u32,
    /// The sample that it counts, if it does not count everything.
    pub sample: Option<Sample>,
    /// How many replays its places are spread over.
    pub replays: u32,
    /// How many more it has of each action: each draw, dispatch and trace that uses it.
    pub action_counters: u32,
    /// Which of the words says where in the push constants an action's address is pushed, if it wants one.
    pub action_offset: Option<u32>,
    /// Which of the words says where in the push constants the address of what is given to a launch is pushed, if it wants
    /// that.
    pub given_offset: Option<u32>,
    /// How many probes append to the log.
    pub probes: u32,
    /// Each pass's part, for those that changed something.
    pub regions: Vec<Region>,
    /// The passes that could not do their work, so that they have no part.
    pub left_out: Vec<LeftOut>,
    /// Why the shader cannot be told its action, where a pass would have it counted by action.
    pub not_by_action: Option<String>,
    /// What passes have to say of it.
    pub notes: Vec<String>,
    /// What is known of the original.
    pub facts: Facts,
}

impl Variant {
    /// How many 64-bit counters an entry point of a pipeline has, those of all groups of a sample together.
    pub fn all_counters(&self) -> u32 {
        self.counters * self.sample.map_or(1, |s| s.groups)
    }

    /// What else may be behind counters that contradict each other, and what to do: the end of a message.
    pub fn of_several_replays(&self) -> &'static str {
        if self.replays > 1 {
            "; or replays differ in what they do: --replays 1 counts everything in one"
        } else {
            ""
        }
    }
}

/// SpecIds of 32-bit constants, each to be set for every pipeline: the address of the counters and of the log (low and
/// high word), and the number of the first probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constants {
    /// Of the counters.
    pub region: [u32; 2],
    /// Of the log.
    pub log: [u32; 2],
    /// Of the first probe's number.
    pub probe_base: u32,
    /// Of where its counters begin among those of an action.
    pub action_base: u32,
    /// Where only chosen actions count: of the counters that nobody reads, and of the log without room.
    pub elsewhere: Option<[u32; 4]>,
}

/// A pass that could not do its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The pass.
    pub pass: String,
    /// Why.
    pub why: String,
}

/// One pass's part of a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// The pass.
    pub pass: String,
    /// Where its counters begin among the variant's.
    pub first_counter: u32,
    /// How many it has.
    pub counters: u32,
    /// Where its counters of each action begin among the variant's.
    pub first_action_counter: u32,
    /// How many of those it has.
    pub action_counters: u32,
    /// Its sites.
    pub sites: Vec<Site>,
}

/// A place in a shader where something is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Which function: an index into the facts.
    pub function: u32,
    /// Which block: an index into the function's.
    pub block: u32,
    /// The instruction that it is about or stands before: its first word's offset, in words, in the original module.
    pub word_offset: u32,
    /// The source's line, where the module carries it.
    pub line: Option<SourceLine>,
    /// What kind of site it is, in the pass's own terms.
    pub kind: u32,
    /// Its first counter, within the region; what follows is the pass's affair.
    pub counter: Option<u32>,
    /// Its probe, counted from the variant's first, and the words that each of its records has behind the probe's number.
    pub probe: Option<(u32, u32)>,
    /// Where a record goes on for each invocation in a mask: how many words the mask has, the record's first, and how many
    /// words each of its bits that is 1 brings, behind the others.
    pub each: Option<(u32, u32)>,
    /// Whatever else the pass wants to know when it decodes.
    pub data: Vec<u32>,
}
