//! What is instrumented, and what came of it.

use crate::rewrite::{Key, Sampling, Variant, Variants};
use crate::{ShaderHash, Stage};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Chooses pipelines by captured id and debug name.
pub type PipelineFilter = Box<dyn Fn(u64, Option<&str>) -> bool>;

/// Chooses labels by name.
pub type LabelFilter = Box<dyn Fn(&str) -> bool>;

/// In which render passes and labels shaders count; what is not said is not asked.
#[derive(Default)]
pub struct Places {
    /// Only in render passes of these objects; dynamic ones have the id 0 and are called `rendering WIDTHxHEIGHT`.
    pub render_passes: Option<PipelineFilter>,
    /// Only in the render passes with these numbers in their frame, as ranges from 1.
    pub numbers: Option<Vec<(u64, u64)>>,
    /// Only in these debug labels, of command buffers and of queues.
    pub labels: Option<LabelFilter>,
}

impl Places {
    /// Whether the render pass of this number may be one.
    pub fn number(&self, number: u64) -> bool {
        self.numbers.as_ref().is_none_or(|all| all.iter().any(|(a, b)| (*a..=*b).contains(&number)))
    }

    /// Whether what is here counts: whether the render pass around it is chosen, and for each label whether it was asked for.
    pub fn counts<'l, L: Iterator<Item = &'l bool>>(
        &self,
        pass: Option<bool>,
        labels: impl FnOnce() -> L,
    ) -> bool {
        let anywhere = self.render_passes.is_none() && self.numbers.is_none();
        (anywhere || pass == Some(true)) && (self.labels.is_none() || labels().any(|asked| *asked))
    }
}

/// Which entry points are instrumented, and where they count; what is not said is not asked.
#[derive(Default)]
pub struct Selection {
    /// Only these stages.
    pub stages: Option<BTreeSet<Stage>>,
    /// Only these pipelines and shader objects.
    pub pipelines: Option<PipelineFilter>,
    /// Only modules whose hash begins with one of these.
    pub shaders: Option<Vec<String>>,
    /// Where only some of what they do counts.
    pub places: Option<Rc<Places>>,
}

impl Selection {
    /// Whether a stage is among them.
    pub fn stage(&self, stage: Stage) -> bool {
        self.stages.as_ref().is_none_or(|s| s.contains(&stage))
    }

    /// Whether a module is.
    pub fn shader(&self, hash: ShaderHash) -> bool {
        let digits = || hash.0.iter().map(|b| format!("{b:02x}")).collect::<String>();
        self.shaders.as_ref().is_none_or(|all| {
            let digits = digits();
            all.iter().any(|prefix| digits.starts_with(prefix.as_str()))
        })
    }
}

/// A plan: what a replay measures, and where.
pub struct Plan {
    /// The passes, and the shaders that they leave behind.
    pub variants: Arc<Variants>,
    /// Frames to measure, as ranges; without, all but the snapshot of a trimmed capture.
    pub frames: Option<Vec<(u64, u64)>>,
    /// See [`Selection`].
    pub select: Selection,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Work ids (from, to) that record into the log.
    pub window: (u32, u32),
    /// Take subgroup operations for granted in stages in which the device does not say that it has them.
    pub assume_subgroups: bool,
    /// Stages that the capture has chosen shaders of ([`super::scan`]).
    pub stages: BTreeSet<Stage>,
    /// Debug names by captured id.
    pub names: HashMap<u64, String>,
    /// Where to write modules before and after.
    pub dump: Option<PathBuf>,
    /// Every frame is measured and nothing is read back: to time what the probes cost.
    pub timing: bool,
    /// Ask compilers not to inline what probes call.
    pub keep_calls: bool,
    /// How much of the work counts, where every pass of the plan may count a sample.
    pub sampling: Sampling,
    /// Over how many replays places that count are spread.
    pub replays: u32,
    /// Count with 32-bit atomics even where there are wider ones.
    pub narrow: bool,
}

/// All work ids.
pub const EVERYTHING: (u32, u32) = (0, u32::MAX);

impl Plan {
    /// Whether a frame is measured.
    pub fn wants_frame(&self, frame: u64) -> bool {
        match &self.frames {
            None => frame > 0,
            Some(ranges) => ranges.iter().any(|(a, b)| (*a..=*b).contains(&frame)),
        }
    }

    /// Whether some pass has to do with a stage that is chosen.
    pub fn wants_stage(&self, stage: Stage) -> bool {
        self.select.stage(stage) && self.variants.wants(stage)
    }

    /// Whether a pass counts by action.
    pub fn wants_actions(&self) -> bool {
        let passes = self.variants.passes();
        passes.iter().any(|p| Stage::ALL.iter().any(|s| p.needs(*s).is_some_and(|n| n.actions)))
    }

    /// The passes that ask for launches.
    pub fn of_launches(&self) -> Vec<&'static str> {
        let asks = |p: &dyn crate::Pass| Stage::ALL.iter().any(|s| p.needs(*s).is_some_and(|n| n.launches));
        self.variants.passes().iter().filter(|p| asks(&***p)).map(|p| p.name()).collect()
    }

    /// Whether launches are told apart.
    pub fn wants_launches(&self) -> bool {
        !self.of_launches().is_empty()
    }

    /// Whether a pass has tables of launches.
    pub fn has_tables(&self) -> bool {
        self.variants.passes().iter().any(|p| p.tables().is_some())
    }

    /// Whether something is pushed before each action.
    pub fn pushes(&self) -> bool {
        self.select.places.is_some() || self.wants_actions() || self.has_tables()
    }

    /// Whether some pass has such needs in a stage that is there.
    pub fn any(&self, needs: impl Fn(&crate::Needs) -> bool) -> bool {
        let of = |p: &dyn crate::Pass| self.stages.iter().any(|s| p.needs(*s).is_some_and(|n| needs(&n)));
        self.variants.passes().iter().any(|p| of(&**p))
    }

    /// Whether a pipeline is chosen.
    pub fn wants_pipeline(&self, id: u64) -> bool {
        let name = self.names.get(&id).map(String::as_str);
        self.select.pipelines.as_ref().is_none_or(|f| f(id, name))
    }
}

/// Whose records a replay takes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first work id.
    pub from: u32,
    /// The work id behind the last.
    pub to: u32,
    /// What the first subgroup's number is.
    pub first_subgroup: u32,
}

/// What one replay does.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The frames that it measures; without, all of the plan.
    pub windows: Option<BTreeMap<u64, Window>>,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Which of the replays that places are spread over it is, from 0.
    pub replay: u32,
    /// It runs what did not fit into the log before.
    pub again: bool,
}

impl Session {
    /// The first and the last frame that it measures, where it does not measure all.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        let windows = self.windows.as_ref()?;
        Some((*windows.keys().next()?, *windows.keys().next_back()?))
    }
}

/// How many there were, and how many of them were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Render passes, and those whose name and number were asked for.
    pub render_passes: (u64, u64),
    /// Actions with probes, and those that counted.
    pub actions: (u64, u64),
    /// What render passes and labels are called.
    pub names: BTreeSet<String>,
}

/// What a pipeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Kind {
    Graphics,
    Compute,
    RayTracing,
    ShaderObject,
}

impl Kind {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Graphics => "graphics",
            Kind::Compute => "compute",
            Kind::RayTracing => "ray-tracing",
            Kind::ShaderObject => "shader-object",
        }
    }
}

/// An instrumented entry point of a pipeline.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Captured id of the pipeline or shader object.
    pub pipeline: u64,
    /// What that is.
    pub kind: Kind,
    /// Which of its stages.
    pub index: u32,
    /// Which rewritten module, counted from 0.
    pub variant_number: u32,
    /// The rewritten module.
    pub variant: Arc<Variant>,
    /// Its first probe's number.
    pub probe_base: u32,
    /// Where its counters of each action begin.
    pub action_base: u32,
}

/// What came of a plan in one replay.
#[derive(Debug, Default)]
pub struct Done {
    /// Instrumented entry points, by their number in the trace.
    pub entries: Vec<Entry>,
    /// Number and original of each rewritten module.
    pub variants: HashMap<Key, (u32, Arc<[u32]>)>,
    /// Entry points that were left as they are: why, and how many.
    pub left_alone: BTreeMap<String, u64>,
    /// Entry points that are without some pass: which and why, and how many.
    pub without: BTreeMap<(&'static str, &'static str), u64>,
    /// Entry points that count by frame where passes would count by action: why, and how many.
    pub by_frame: BTreeMap<String, u64>,
    /// Entry points for which a pass failed, in order.
    pub failed: Vec<String>,
    /// What else is to be said.
    pub notes: Vec<String>,
    /// How much was chosen, where render passes or labels were.
    pub chosen: Option<Tally>,
    /// Words that the largest log holds.
    pub log_capacity: u64,
    /// Invocations in a full subgroup.
    pub subgroup_size: u32,
}

impl Done {
    /// Counts an entry point that is left alone.
    pub fn leave(&mut self, why: &str) {
        *self.left_alone.entry(why.to_owned()).or_default() += 1;
    }

    /// The entry whose probe has this number.
    pub fn of_probe(&self, probe: u32) -> Option<usize> {
        let after = self.entries.partition_point(|e| e.probe_base <= probe);
        // Entries without probes begin where the next one does.
        let at = self.entries[..after].iter().rposition(|e| e.variant.probes > 0)?;
        let e = &self.entries[at];
        (probe - e.probe_base < e.variant.probes).then_some(at)
    }
}
