//! How long the driver took to make pipelines and shader objects.
//!
//! The innermost hook: wall time between the call of the driver and its return, on the thread that replays. What a driver
//! leaves for later (deferred operations, compiling at first use) is not in it; what it has in a cache is quick. So that two
//! replays with other shaders are held against each other, [`PipelineTimesHook::cold`] has the application's pipeline caches
//! begin empty: what they were filled with knows the application's own shaders alone.

use gfxr_parse::ahead::Call;
use gfxr_parse::{member, param};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook};
use replay::link::Linked;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;
use trace::Nanos;

/// What the hook found; shared with whoever made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineTimes {
    /// Calls that make pipelines or shader objects.
    pub calls: u64,
    /// How long they took, together.
    pub total: Nanos,
    /// How long the one took that took longest.
    pub longest: Nanos,
}

/// See the module's header.
#[derive(Default)]
pub struct PipelineTimesHook {
    out: Rc<RefCell<PipelineTimes>>,
    began: Option<Instant>,
    cold: bool,
}

/// The command whose data are taken away.
const CACHE: &str = "vkCreatePipelineCache";

impl PipelineTimesHook {
    /// The hook, and where its results will be.
    pub fn new() -> (Self, Rc<RefCell<PipelineTimes>>) {
        let hook = Self::default();
        let out = hook.out.clone();
        (hook, out)
    }

    /// The same, where pipeline caches begin empty.
    pub fn cold() -> (Self, Rc<RefCell<PipelineTimes>>) {
        let (hook, out) = Self::new();
        (PipelineTimesHook { cold: true, ..hook }, out)
    }
}

impl Hook for PipelineTimesHook {
    fn name(&self) -> &'static str {
        "pipeline-times"
    }

    fn wants_linked(&self) -> Commands {
        let timed = [
            "vkCreateGraphicsPipelines",
            "vkCreateComputePipelines",
            "vkCreateRayTracingPipelinesKHR",
            "vkCreateRayTracingPipelinesNV",
            "vkCreateShadersEXT",
        ];
        Commands::named(&[&timed[..], if self.cold { &[CACHE] } else { &[] }].concat())
    }

    fn linked(&mut self, _: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        if call.command.name == CACHE {
            if let Some(info) = call.image.target(param!("vkCreatePipelineCache", "pCreateInfo")) {
                linked.set_word_at(info + member!("VkPipelineCacheCreateInfo", "initialDataSize"), 0);
            }
            return Ok(());
        }
        self.began = Some(Instant::now());
        Ok(())
    }

    fn invoked(&mut self, _: &mut Executor, _: &Call, _: &mut Linked, _: u64) -> Result<()> {
        if let Some(began) = self.began.take() {
            let mut out = self.out.borrow_mut();
            out.calls += 1;
            let took = Nanos(began.elapsed().as_nanos() as u64);
            out.total.0 += took.0;
            out.longest = out.longest.max(took);
        }
        Ok(())
    }
}
