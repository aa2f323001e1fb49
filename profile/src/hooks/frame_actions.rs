//! What frames execute, each by itself: every draw, dispatch and trace, with the labels and the render pass around it, and every render pass, as command
//! buffers are submitted. It needs no device.
//!
//! Guarantees: each execution is a row of its own, in the order of submission; draws and passes are numbered as everywhere
//! ([`super::numbering`]). What chosen ones read and write is told as it is when they are submitted. Refuses nothing; a frame that is not there has no rows.

use super::numbering::{Executed, Met, Numbering};
use super::resources::Programs;
use super::resources::names::value;
use super::resources::used::{Used, used};

use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::error::Result;
use replay::exec::{Executor, Hook, Next};
use replay::hook::Commands;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use trace::actions::{Action, Attachment, Choice};
use world::commands::{self, Command, Pass};
use world::walk::submitted;
use world::{Depth, Frame, Outcome, World};

/// Calls that submit, and those that name what is submitted.
const WANTED: [&str; 5] = [
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueSubmit2KHR",
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueEndDebugUtilsLabelEXT",
];

/// See the module's header.
pub struct FrameActionsHook {
    frames: (u64, u64),
    /// The frame and block of the last submission, and the block of the last one of frames before.
    last: (u64, u64),
    before: u64,
    numbering: Numbering,
    /// Those of which it is told what they use, and what is known of their programs.
    chosen: Option<(Choice, Programs)>,
    out: FrameWorks,
}

/// What a frame executes.
#[derive(Clone, Debug, Default)]
pub struct FrameWork {
    /// Its draws, dispatches and traces.
    pub actions: Vec<Action>,
    /// Its render passes, in the order in which they begin.
    pub passes: Vec<FramePass>,
    /// The block of the last submission before the frame: what was recorded earlier may have run in earlier frames, too.
    pub before: u64,
    /// By row, what chosen actions read and write.
    pub used: BTreeMap<usize, Vec<Used>>,
}

/// What frames execute, by their numbers, shared with who asked for it.
pub type FrameWorks = Rc<RefCell<Vec<(u64, FrameWork)>>>;

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
    /// What it draws to.
    pub attachments: Vec<Attachment>,
}

impl FrameActionsHook {
    /// For frames, the first and the last, and those of their actions whose resources are wanted; and where each that submits
    /// anything will be, by its number.
    pub fn new(frames: (u64, u64), chosen: Option<Choice>) -> (FrameActionsHook, FrameWorks) {
        let out = Rc::default();
        let chosen = chosen.map(|choice| (choice, Programs::default()));
        let numbering = Numbering::named();
        let hook =
            FrameActionsHook { frames, last: (0, 0), before: 0, numbering, chosen, out: Rc::clone(&out) };
        (hook, out)
    }
}

impl FrameWork {
    /// One of the frame's commands.
    fn add(&mut self, world: &World, at: &Executed<'_>, chosen: &mut Option<(Choice, Programs)>) {
        let (pass, pass_name) = &at.around.pass;
        match &at.recorded.command {
            Command::BeginPass(begun) if self.passes.last().is_none_or(|p| p.number < *pass) => {
                let (number, name, labels) = (*pass, pass_name.clone(), at.around.labels());
                let attachments = attached(world, number, begun);
                self.passes.push(FramePass { number, name, labels, end: at.recorded.block, attachments });
            }
            Command::EndPass => {
                let ended = self.passes.iter_mut().rfind(|p| p.number == *pass);
                ended.into_iter().for_each(|p| p.end = at.recorded.block);
            }
            Command::Invoke(invoke) => {
                let program = &invoke.bindings.program;
                let pipeline = program.called();
                self.actions.push(Action {
                    submission: at.submission,
                    position: at.position,
                    execution: at.execution,
                    index: u64::from(at.recorded.index) + 1,
                    block: at.recorded.block,
                    kind: invoke.kind().to_owned(),
                    pipeline,
                    shader_objects: program.shader_objects(),
                    pipeline_name: world.name(pipeline).to_owned(),
                    labels: at.around.labels(),
                    pass: *pass,
                    pass_name: pass_name.clone(),
                    pass_labels: self
                        .passes
                        .last()
                        .filter(|p| p.number == *pass)
                        .map_or(vec![], |p| p.labels.clone()),
                });
                let (row, action) = (self.actions.len() - 1, &self.actions[self.actions.len() - 1]);
                if let Some((choice, programs)) = chosen
                    && choice.is(at.action, action)
                {
                    self.used.insert(row, used(world, programs, invoke));
                }
            }
            _ => {}
        }
    }
}

/// What a pass draws to.
fn attached(world: &World, number: u64, pass: &Pass) -> Vec<Attachment> {
    let one = |(index, a): (u64, &commands::Attachment)| {
        let view = world.image_views.get(&a.view)?;
        let image = world.images.get(&view.image);
        Some(Attachment {
            pass: number,
            index,
            what: a.what.words(),
            image: (view.image, world.name(view.image).to_owned()),
            format: value("VkFormat", "VK_FORMAT_", view.format),
            extent: image.map_or([0; 2], |i| [i.extent[0], i.extent[1]]),
            samples: image.map_or(0, |i| i.samples),
            ops: [
                value("VkAttachmentLoadOp", "VK_ATTACHMENT_LOAD_OP_", a.load),
                value("VkAttachmentStoreOp", "VK_ATTACHMENT_STORE_OP_", a.store),
            ],
        })
    };
    (0..).zip(&pass.attachments).filter_map(one).collect()
}

impl Hook for FrameActionsHook {
    fn name(&self) -> &'static str {
        "frame-actions"
    }

    // (what descriptor buffers hold is known where memory is followed)
    fn follows(&self) -> Depth {
        if self.chosen.is_some() { Depth::Execution } else { Depth::Commands }
    }

    fn wants(&self) -> Commands {
        Commands::named(&WANTED)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let id = call.image.u64(0);
        match call.command.canonical {
            "vkQueueBeginDebugUtilsLabelEXT" => {
                let name = View::call(&call.image).one("pLabelInfo").and_then(|l| l.text("pLabelName"));
                self.numbering.begin_label(id, name.unwrap_or_default().into_owned());
            }
            "vkQueueEndDebugUtilsLabelEXT" => self.numbering.end_label(id),
            _ => {
                let (world, mut out) = (cx.objects.world(), self.out.borrow_mut());
                if call.frame > self.last.0 {
                    self.before = self.last.1;
                }
                self.last = (call.frame, call.block);
                let (first, last) = self.frames;
                let wanted = (first..=last).contains(&call.frame);
                if wanted && out.last().is_none_or(|f| f.0 != call.frame) {
                    out.push((call.frame, FrameWork { before: self.before, ..FrameWork::default() }));
                }
                self.numbering.submit(world, id, &submitted(call), &mut |met| {
                    if let (true, Some((_, frame)), Met::Executes(at)) = (wanted, out.last_mut(), met) {
                        frame.add(world, at, &mut self.chosen);
                    }
                });
            }
        }
        next.run(cx, call)
    }

    fn frame(&mut self, _: &mut Executor, _: Frame) -> Result<()> {
        self.numbering.restart();
        Ok(())
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
        let works = works(sample, (frame, frame)).into_iter();
        works.flat_map(|f| f.1.actions).map(|a| (a.kind, a.submission)).collect()
    }

    fn works(sample: &str, frames: (u64, u64)) -> Vec<(u64, FrameWork)> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples").join(sample);
        let capture = Capture::new(std::fs::read(file).expect("a sample")).expect("a capture");
        let (hook, found) = FrameActionsHook::new(frames, None);
        let options = Options { frames: Some((0, frames.1)), ..Options::default() };
        replay(&capture, &options, On::Echo, vec![Box::new(hook)], 0, &mut ()).expect("it follows");
        found.take()
    }

    #[test]
    fn frames_followed_together_are_as_each_by_itself() {
        let all = works("rays.gfxr", (2, 4));
        let of = |(n, f): &(u64, FrameWork)| (*n, f.before, f.actions.len(), f.passes.len());
        let each: Vec<_> = (2..=4).flat_map(|n| works("rays.gfxr", (n, n))).collect();
        assert_eq!(all.iter().map(of).collect::<Vec<_>>(), each.iter().map(of).collect::<Vec<_>>());
        assert!(all.len() == 3 && all.windows(2).all(|w| w[0].1.before < w[1].1.before), "each has its own");
        assert!(all.iter().all(|f| f.1.before > 0 && !f.1.actions.is_empty()));
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
