//! What is bound while a command buffer is recorded.
//!
//! Guarantees: a set that a bind disturbs (its layout is not compatible up to there) is bound no more; invocations with
//! nothing bound in between share one [`Bindings`]. Refuses nothing.

use super::commands::{Bindings, BoundSet, Inputs, Program, Push, Stream};
use super::layouts::PipelineLayout;
use super::objects::{BIND_POINTS, BindPoint, Combination};
use super::recording::Recording;
use super::sets::Contents;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Sets that are bound at a time, at most.
const MOST_SETS: usize = 1 << 10;

/// What is bound at one bind point.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    program: Program,
    /// Shader objects are bound, which of them is looked at when they are used.
    by_stage: bool,
    sets: Vec<BoundSet>,
    /// What the last invocation had, if nothing was bound since.
    bindings: Option<Rc<Bindings>>,
}

impl Point {
    /// Something is bound as a set.
    pub fn bind(&mut self, n: usize, set: BoundSet, layout: &Rc<PipelineLayout>) {
        // No device has more sets; a damaged capture may say so.
        if n >= MOST_SETS {
            return;
        }
        if self.sets.len() <= n {
            self.sets.resize(n + 1, BoundSet::Nothing);
        }
        for (i, other) in self.sets.iter_mut().enumerate().filter(|o| o.0 != n) {
            let Some(l) = other.layout() else { continue };
            // Sets below stay if they were bound with a layout like this one, sets above if theirs is like this one up to
            // here.
            if !Rc::ptr_eq(l, layout) && !l.compatible(layout, i.min(n)) {
                *other = BoundSet::Nothing;
            }
        }
        self.sets[n] = set;
        self.bindings = None;
    }

    /// The push descriptors of a set, to be written to: those that are there if they are compatible.
    pub fn pushed(
        &mut self,
        n: usize,
        layout: &Rc<PipelineLayout>,
        version: &mut u64,
    ) -> Option<&mut Contents> {
        let set_layout = layout.set(n)?;
        let kept = match self.sets.get(n) {
            Some(BoundSet::Push { contents, layout: old }) if old.compatible(layout, n) => {
                Rc::clone(contents)
            }
            _ => {
                *version += 1;
                Rc::new(Contents::new(Rc::clone(set_layout), None, *version))
            }
        };
        // Whoever else holds these contents keeps them: `make_mut` copies then.
        self.bind(n, BoundSet::Push { contents: kept, layout: Rc::clone(layout) }, layout);
        match self.sets.get_mut(n) {
            Some(BoundSet::Push { contents, .. }) => Some(Rc::make_mut(contents)),
            _ => None,
        }
    }
}

/// A command buffer that is being recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// What was recorded so far.
    pub recording: Recording,
    points: [Point; BIND_POINTS],
    /// Shader objects by stage.
    shaders: BTreeMap<u32, u64>,
    push: Push,
    shared_push: Option<Rc<Push>>,
    inputs: Inputs,
    /// Transform-feedback buffers that are bound; among the inputs while it is on.
    feedback: Vec<Option<Stream>>,
    shared_inputs: Option<Rc<Inputs>>,
    /// The addresses of bound descriptor buffers.
    pub descriptor_buffers: Vec<u64>,
}

impl State {
    /// Nothing is bound yet.
    pub fn new(recording: Recording) -> Self {
        State { recording, ..State::default() }
    }

    /// What is bound at a bind point, by set.
    pub fn bound(&self, point: BindPoint) -> &[BoundSet] {
        &self.points[point as usize].sets
    }

    /// A bind point.
    pub fn point(&mut self, point: BindPoint) -> &mut Point {
        &mut self.points[point as usize]
    }

    /// A pipeline is bound.
    pub fn bind_pipeline(&mut self, point: BindPoint, program: Program) {
        let p = self.point(point);
        (p.program, p.by_stage, p.bindings) = (program, false, None);
        // The shader objects of its stages are not bound any more.
        self.shaders.retain(|stage, _| !BindPoint::of_stages(*stage).any(|s| s == point));
    }

    /// A shader object, or none, is bound.
    pub fn bind_shader(&mut self, stage: u32, shader: u64) {
        for point in BindPoint::of_stages(stage) {
            let p = self.point(point);
            (p.program, p.by_stage, p.bindings) = (Program::None, true, None);
        }
        match shader {
            0 => self.shaders.remove(&stage),
            _ => self.shaders.insert(stage, shader),
        };
    }

    /// Push constants.
    pub fn pushed(&self) -> &Push {
        &self.push
    }

    /// Push constants are set.
    pub fn push(&mut self, layout: Option<&PipelineLayout>, offset: u32, data: &[u8], version: &mut u64) {
        let (from, to) = (offset as usize, offset as usize + data.len());
        // No device has more; a damaged capture may say so.
        if to > 1 << 16 {
            return;
        }
        let p = &mut self.push;
        let class = layout.map_or(0, |l| l.push_class);
        if p.bytes.len() < to {
            p.bytes.resize(to, 0);
            p.pushed.resize(to, false);
        }
        if p.bytes[from..to] == *data && !p.pushed[from..to].contains(&false) && p.class == class {
            return;
        }
        p.bytes[from..to].copy_from_slice(data);
        p.pushed[from..to].fill(true);
        p.class = class;
        *version += 1;
        p.version = *version;
        self.shared_push = None;
        for point in &mut self.points {
            point.bindings = None;
        }
    }

    /// Vertex, index and transform-feedback buffers, to be changed.
    pub fn inputs(&mut self) -> &mut Inputs {
        self.shared_inputs = None;
        &mut self.inputs
    }

    /// Transform-feedback buffers, to be changed.
    pub fn feedback(&mut self) -> &mut Vec<Option<Stream>> {
        &mut self.feedback
    }

    /// Transform feedback begins or ends.
    pub fn turn_feedback(&mut self, on: bool) {
        let bound = if on { self.feedback.clone() } else { vec![] };
        self.inputs().feedback = bound;
    }

    /// The buffers that a draw reads.
    pub fn shared_inputs(&mut self) -> Rc<Inputs> {
        Rc::clone(self.shared_inputs.get_or_insert_with(|| Rc::new(self.inputs.clone())))
    }

    /// The pipeline that is bound at a bind point, or the shader objects of its stages.
    pub fn program(&self, point: BindPoint) -> Vec<u64> {
        let p = &self.points[point as usize];
        if p.by_stage {
            let stages = self.shaders.iter().filter(|s| BindPoint::of_stages(*s.0).any(|p| p == point));
            return stages.map(|s| *s.1).collect();
        }
        Some(p.program.id()).filter(|id| *id != 0).into_iter().collect()
    }

    /// What an invocation at a bind point has; `combine` makes one program of shader objects.
    pub fn bindings(
        &mut self,
        point: BindPoint,
        version: &mut u64,
        combine: impl FnOnce(Vec<u64>) -> Option<Rc<Combination>>,
    ) -> Rc<Bindings> {
        if let Some(b) = &self.points[point as usize].bindings {
            return Rc::clone(b);
        }
        if self.points[point as usize].by_stage {
            let made = combine(self.program(point));
            self.points[point as usize].program = made.map_or(Program::None, Program::Shaders);
        }
        let push = Rc::clone(self.shared_push.get_or_insert_with(|| Rc::new(self.push.clone())));
        let p = &mut self.points[point as usize];
        *version += 1;
        let made = Rc::new(Bindings {
            program: p.program.clone(),
            sets: p.sets.clone().into(),
            push,
            number: *version,
        });
        p.bindings = Some(Rc::clone(&made));
        made
    }

    /// Everything that was bound is undefined: secondary command buffers were executed.
    pub fn forget(&mut self) {
        *self = State::new(std::mem::take(&mut self.recording));
    }
}
