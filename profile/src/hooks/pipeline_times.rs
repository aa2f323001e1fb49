//! How long the driver took to make pipelines and shader objects.
//!
//! The innermost hook: wall time between the call of the driver and its return, on the thread that replays. What a driver
//! leaves for later (deferred operations, compiling at first use) is not in it; what it has in a cache is quick.

use gfxr_parse::ahead::Call;
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
}

/// See the module's header.
#[derive(Default)]
pub struct PipelineTimesHook {
    out: Rc<RefCell<PipelineTimes>>,
    began: Option<Instant>,
}

impl PipelineTimesHook {
    /// The hook, and where its results will be.
    pub fn new() -> (Self, Rc<RefCell<PipelineTimes>>) {
        let hook = Self::default();
        let out = hook.out.clone();
        (hook, out)
    }
}

impl Hook for PipelineTimesHook {
    fn name(&self) -> &'static str {
        "pipeline-times"
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(&[
            "vkCreateGraphicsPipelines",
            "vkCreateComputePipelines",
            "vkCreateRayTracingPipelinesKHR",
            "vkCreateRayTracingPipelinesNV",
            "vkCreateShadersEXT",
        ])
    }

    fn linked(&mut self, _: &mut Executor, _: &Call, _: &mut Linked) -> Result<()> {
        self.began = Some(Instant::now());
        Ok(())
    }

    fn invoked(&mut self, _: &mut Executor, _: &Call, _: &mut Linked, _: u64) -> Result<()> {
        if let Some(began) = self.began.take() {
            let mut out = self.out.borrow_mut();
            out.calls += 1;
            out.total.0 += began.elapsed().as_nanos() as u64;
        }
        Ok(())
    }
}
