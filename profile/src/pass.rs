//! What a pass is: a rewrite of a shader, and the reader of what the rewritten shader writes.

use crate::rewrite::{Region, Shader, Site, Variant};
use crate::spirv::Malformed;
use crate::{Needs, ShaderHash, Stage};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use trace::{Table, Value};

/// A rewrite that measures, and the reader of its measurements.
pub trait Pass: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Everything that its rewrite depends on beside the module: its name, its options, and a version that goes up when
    /// the rewrite changes. Two passes of one key leave the same words.
    fn key(&self) -> String {
        format!("{} 1", self.name())
    }

    /// What the shaders of a stage that it leaves behind ask of a device. `None` where it leaves the stage alone.
    fn needs(&self, stage: Stage) -> Option<Needs>;

    /// Whether its counters count work in the log's window alone, as its records do: where a frame runs again in several
    /// windows, they are added up.
    fn counts_in_windows(&self) -> bool {
        false
    }

    /// Whether its counters may be those of a sample (`rewrite/sampling.rs`): each is a sum over work of which any part may be
    /// missing.
    fn samples(&self) -> bool {
        false
    }

    /// How many blocks of a shader are to count in a replay at most, if it can spread them over several (`rewrite/spread.rs`).
    fn spreads(&self) -> Option<usize> {
        None
    }

    /// Whether it runs behind all others, wherever it stands in the plan: it takes away what they look for.
    fn is_last(&self) -> bool {
        false
    }

    /// Whether it goes through the log by itself ([`FrameData::each_record`]), so that its records need not be in memory
    /// beside the log.
    fn streams(&self) -> bool {
        false
    }

    /// What its shaders read, where that is given to launches. One pass of a plan may have some.
    fn tables(&self) -> Option<&Tables> {
        None
    }

    /// Rewrites one entry point's module and notes its sites. What has nothing to measure stays as it is. After an
    /// error the module is rewritten by the other passes alone, and the error is reported.
    fn run(&self, shader: &mut Shader) -> Result<Change>;

    /// Turns what a frame left behind into records; of a pass that changes shaders and measures nothing, none.
    fn decode(&self, _frame: &FrameData<'_>, _out: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

/// What launches are given: tables that shaders read and nobody writes.
///
/// The replay keeps each in device memory and pushes, before a launch, the address of what says where its table is
/// (`rewrite/launch.rs` says why it is pushed).
#[derive(Debug, Default)]
pub struct Tables {
    /// All of them. A launch that has none in the set is given none.
    pub tables: Vec<LaunchTable>,
    /// Which set is given from the next frame, or the next iteration of a looped one, on. A launch's tables of all sets lie at
    /// the same place in turn, so that where it is makes no difference between them.
    pub set: Arc<AtomicU32>,
}

/// A launch's table in one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchTable {
    /// The set.
    pub set: u32,
    /// The capture's number of the frame.
    pub frame: u64,
    /// Which of the frame's launches of ray-tracing pipelines, from 0, in the order of submission.
    pub launch: u64,
    /// What it is for: launches of another size are left alone.
    pub size: [u32; 3],
    /// How its words are to be read: the pass's affair.
    pub bits: u32,
    /// Its words.
    pub words: Vec<u32>,
}

/// What a pass did to a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: the module has nothing that this pass measures.
    Unchanged,
    /// It rewrote the module.
    Changed,
}

/// What one pass's probes wrote in one frame.
#[derive(Default)]
pub struct FrameData<'a> {
    /// The capture's number of the frame.
    pub frame: u64,
    /// Invocations in a full subgroup.
    pub subgroup_size: u32,
    /// The entry points of pipelines that the pass changed.
    pub entries: Vec<EntryData<'a>>,
    /// The pass's log records, in the order in which they were appended; none of a pass that goes through the log itself.
    pub records: Vec<LogRecord<'a>>,
    /// Goes through the pass's records where they lie.
    pub log: Option<Log<'a>>,
    /// What was counted for each action, of the entry points that the pass changed.
    pub actions: Vec<ActionData<'a>>,
    /// The launches of the frame in the order of submission, where a pass asks for them ([`Needs::launches`]).
    pub launches: &'a [Launch],
}

/// Hands every record to a function, with where it is.
pub type Log<'a> = &'a dyn Fn(&mut EachRecord<'_>) -> Result<()>;

/// Takes a record, and where it is.
pub type EachRecord<'f> = dyn FnMut(At, LogRecord<'_>) -> Result<()> + 'f;

/// Where a record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct At {
    /// Which part of the log: each device has one, and each window where the frame ran again.
    pub part: u32,
    /// Its first word behind the probe's number, as shaders number the part's words.
    pub word: u32,
}

impl FrameData<'_> {
    /// Hands every record to a function, with where it is, in the order in which they were appended.
    pub fn each_record(&self, f: &mut EachRecord<'_>) -> Result<()> {
        match self.log {
            Some(log) => log(f),
            None => self.records.iter().try_for_each(|r| f(At::default(), *r)),
        }
    }
}

/// A command that launched a ray-tracing pipeline, or shaders with ray queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// What its entry points are told: the same whenever the command is executed.
    pub action: u32,
    /// The capture's number of the command's call.
    pub command: u64,
    /// The capture's id of the pipeline.
    pub pipeline: u64,
    /// Width, height and depth, where the command says it.
    pub size: Option<[u32; 3]>,
    /// It cannot be told from others of its pipeline in its frame: a draw.
    pub merged: bool,
    /// The pipeline's hit groups.
    pub hit_groups: u64,
    /// Those without a closest-hit shader.
    pub no_closest_hit: u64,
    /// Those without an any-hit shader.
    pub no_any_hit: u64,
    /// Which geometry's events are missing, in words.
    pub missing: String,
    /// The pipeline's entry points that are instrumented, by their number in the trace; the shader group, if it is in one.
    pub entries: Vec<(u32, Option<u32>)>,
}

/// What one entry point of one pipeline counted.
pub struct EntryData<'a> {
    /// Its number in the trace: a row of the table of entries.
    pub entry: u32,
    /// The capture's id of its pipeline: entry points of one work together.
    pub pipeline: u64,
    /// Its rewritten module.
    pub variant: &'a Variant,
    /// The pass's part of it.
    pub region: &'a Region,
    /// The pass's counters; of a sample, what all of the work would have counted.
    pub counters: Cow<'a, [u64]>,
}

/// What one entry point counted in one action: a draw, dispatch or trace.
#[derive(Clone, Copy, Debug)]
pub struct ActionData<'a> {
    /// Which recording of a command buffer the action is of: with the next, a row of table `actions`.
    pub range: u64,
    /// Which of the recording's actions, from 0.
    pub result_index: u32,
    /// The shader group, where the pipeline traces rays.
    pub result_sub_index: u32,
    /// Which of [`FrameData::entries`].
    pub entry: usize,
    /// The pass's counters of each action.
    pub counters: &'a [u64],
}

/// One record of the log.
#[derive(Clone, Copy, Debug)]
pub struct LogRecord<'a> {
    /// Which of [`FrameData::entries`].
    pub entry: usize,
    /// The probe's site.
    pub site: &'a Site,
    /// Its words, without the probe's number.
    pub words: &'a [u32],
}

/// Where decoded records go.
pub trait Sink {
    /// Takes one record: a value for each of the table's columns.
    fn put(&mut self, table: &'static Table, values: &[Value<'_>]);
}

impl Sink for trace::dir::Writer {
    fn put(&mut self, table: &'static Table, values: &[Value<'_>]) {
        trace::dir::Writer::put(self, table, values);
    }
}

impl Sink for trace::Memory {
    fn put(&mut self, table: &'static Table, values: &[Value<'_>]) {
        trace::Memory::put(self, table, values);
    }
}

/// What a pass answers with.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a pass could not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The module is no valid SPIR-V, or uses what the pass does not know.
    Shader {
        /// The module.
        shader: ShaderHash,
        /// What is wrong with it.
        why: String,
    },
    /// What was read back is not what the pass's probes write.
    Record {
        /// Where in the words that were read.
        word_offset: usize,
        /// What is wrong there.
        why: String,
    },
}

impl Error {
    /// What is wrong with a module.
    pub fn shader(shader: ShaderHash) -> impl Fn(Malformed) -> Error {
        move |e| Error::Shader { shader, why: e.0 }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shader { shader, why } => write!(f, "shader {shader}: {why}"),
            Error::Record { word_offset, why } => write!(f, "record at word {word_offset}: {why}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::Error;
    use crate::ShaderHash;

    #[test]
    fn errors_say_where() {
        let error = Error::Shader { shader: ShaderHash([0xab; 32]), why: "no entry point".into() };
        assert_eq!(error.to_string(), "shader abababababababab: no entry point");
        let error = Error::Record { word_offset: 12, why: "probe 900 was never placed".into() };
        assert_eq!(error.to_string(), "record at word 12: probe 900 was never placed");
    }
}
