//! What one frame executes: every draw, dispatch and trace, with the labels and the render pass around it, and every render pass, as command
//! buffers are submitted. It needs no device.
//!
//! Guarantees: each execution is a row of its own, in the order of submission; render passes are numbered in the frame from 1, and one
//! that is resumed keeps its number. Places are those of command times: submission of the frame (of those with command buffers), command buffer of the submission,
//! execution of a secondary one, command as recorded. Refuses nothing; a frame that is not there has no rows.

use super::debug_names::{render_pass, rendering};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::error::Result;
use replay::exec::{Executor, Hook, Next};
use replay::hook::Commands;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use trace::what_if::Action;
use world::commands::{Command, Label, RENDERING_RESUMING};
use world::walk::{Step, submitted};
use world::{Depth, Outcome, World};

/// Calls that submit, and those that name what is submitted.
const WANTED: [&str; 5] = [
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueSubmit2KHR",
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueEndDebugUtilsLabelEXT",
];

/// What is around a command of a queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    own: Vec<String>,
    labels: Vec<String>,
    /// Number and name of the render pass that runs.
    pass: (u64, String),
    /// Of the latest.
    latest: u64,
}

/// See the module's header.
pub struct FrameActionsHook {
    frame: u64,
    /// The frame that runs.
    now: u64,
    queues: HashMap<u64, Queue>,
    submissions: u64,
    passes: u64,
    out: Rc<RefCell<FrameWork>>,
}

/// What a frame executes.
#[derive(Clone, Debug, Default)]
pub struct FrameWork {
    /// Its draws, dispatches and traces.
    pub actions: Vec<Action>,
    /// Its render passes, in the order in which they begin.
    pub passes: Vec<FramePass>,
}

/// A render pass of a frame.
#[derive(Clone, Debug, Default)]
pub struct FramePass {
    /// Its number in the frame, from 1.
    pub number: u64,
    /// Its name, as command times have it.
    pub name: String,
    /// The labels around it, from outside in.
    pub labels: Vec<String>,
    /// The block of the command that ends it (of one that is resumed, the last).
    pub end: u64,
}

impl FrameActionsHook {
    /// For a frame; and where its actions will be.
    pub fn new(frame: u64) -> (FrameActionsHook, Rc<RefCell<FrameWork>>) {
        let out = Rc::default();
        let hook = FrameActionsHook {
            frame,
            now: 0,
            queues: HashMap::new(),
            submissions: 0,
            passes: 0,
            out: Rc::clone(&out),
        };
        (hook, out)
    }

    /// Command buffers of a submission.
    fn play(&mut self, world: &World, buffers: &[u64], queue: &mut Queue) {
        // (command times have none of a submission that only signals and waits)
        if buffers.is_empty() {
            return;
        }
        let wanted = self.now == self.frame;
        let mut out = self.out.borrow_mut();
        // Labels that had begun before each of the command buffers that are being executed, and which execution each is.
        let mut outer: Vec<(usize, u64)> = vec![];
        let (mut position, mut executions) = (0, 0);
        world.walk(buffers, &mut |_, step| match step {
            Step::Enters if outer.is_empty() => {
                executions = 0;
                outer.push((0, 0));
            }
            Step::Enters => {
                executions += 1;
                outer.push((queue.labels.len(), executions));
            }
            Step::Leaves => {
                let (labels, _) = outer.pop().unwrap_or_default();
                match outer.is_empty() {
                    true => position += 1,
                    false => queue.labels.truncate(labels),
                }
            }
            Step::Command(recorded) => match &recorded.command {
                Command::Label { what: Label::Begin, text } => queue.labels.push(text.to_string()),
                Command::Label { what: Label::End, .. }
                    if queue.labels.len() > outer.last().map_or(0, |o| o.0) =>
                {
                    queue.labels.pop();
                }
                Command::BeginPass(pass) => {
                    if pass.flags & RENDERING_RESUMING == 0 {
                        self.passes += 1;
                        queue.latest = self.passes;
                    }
                    let name = match pass.render_pass {
                        0 => rendering(pass.area[2] as u32, pass.area[3] as u32),
                        id => render_pass(id, Some(world.name(id))),
                    };
                    queue.pass = (queue.latest, name);
                    if wanted && out.passes.last().is_none_or(|p| p.number < queue.latest) {
                        let labels = queue.own.iter().chain(&queue.labels).cloned().collect();
                        let (number, name) = queue.pass.clone();
                        out.passes.push(FramePass { number, name, labels, end: recorded.block });
                    }
                }
                Command::EndPass => {
                    let ended = out.passes.iter_mut().rfind(|p| wanted && p.number == queue.pass.0);
                    ended.into_iter().for_each(|p| p.end = recorded.block);
                    queue.pass = Default::default();
                }
                Command::Invoke(invoke) if wanted => {
                    let pipeline = match &invoke.bindings.program {
                        world::commands::Program::Pipeline(p) => p.id,
                        _ => 0,
                    };
                    out.actions.push(Action {
                        submission: self.submissions,
                        position,
                        execution: outer.last().map_or(0, |o| o.1),
                        index: u64::from(recorded.index) + 1,
                        block: recorded.block,
                        kind: invoke.kind().to_owned(),
                        pipeline,
                        pipeline_name: world.name(pipeline).to_owned(),
                        labels: queue.own.iter().chain(&queue.labels).cloned().collect(),
                        pass: queue.pass.0,
                        pass_name: queue.pass.1.clone(),
                    });
                }
                _ => {}
            },
        });
        self.submissions += 1;
    }
}

impl Hook for FrameActionsHook {
    fn name(&self) -> &'static str {
        "frame-actions"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        Commands::named(&WANTED)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if call.frame != self.now {
            (self.now, self.submissions, self.passes) = (call.frame, 0, 0);
        }
        let id = call.image.u64(0);
        match call.command.canonical {
            "vkQueueBeginDebugUtilsLabelEXT" => {
                let name = View::call(&call.image).one("pLabelInfo").and_then(|l| l.text("pLabelName"));
                self.queues.entry(id).or_default().own.push(name.unwrap_or_default().into_owned());
            }
            "vkQueueEndDebugUtilsLabelEXT" => drop(self.queues.entry(id).or_default().own.pop()),
            _ => {
                let mut queue = self.queues.remove(&id).unwrap_or_default();
                self.play(cx.objects.world(), &submitted(call), &mut queue);
                self.queues.insert(id, queue);
            }
        }
        next.run(cx, call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::container::Capture;
    use replay::options::Options;
    use replay::session::{On, replay};
    use std::path::Path;

    /// What a frame of a sample does, as what-if follows it: commands, and the submission of the frame.
    fn of(sample: &str, frame: u64) -> Vec<(String, u64)> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples").join(sample);
        let capture = Capture::new(std::fs::read(file).expect("a sample")).expect("a capture");
        let (hook, found) = FrameActionsHook::new(frame);
        let options = Options { frames: Some((0, frame)), ..Options::default() };
        replay(&capture, &options, On::Echo, vec![Box::new(hook)], 0, &mut ()).expect("it follows");
        found.take().actions.into_iter().map(|a| (a.kind, a.submission)).collect()
    }

    #[test]
    fn every_frame_has_its_own_the_first_and_that_of_a_trimmed_capture_too() {
        for frame in 1..=3 {
            assert_eq!(of("triangle_1.gfxr", frame).len(), 1, "frame {frame}: a triangle");
        }
        assert!(of("triangle_1.gfxr", 1)[0].0.starts_with("Draw"));
        let (whole, trimmed) = (of("rays.gfxr", 4), of("rays_frames_4_5.gfxr", 4));
        assert!(!whole.is_empty());
        assert_eq!(whole, trimmed);
    }
}
