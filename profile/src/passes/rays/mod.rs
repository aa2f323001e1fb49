//! Pass `rays`: events of rays and of the subgroups that have them (analyses.md §12; ReRay, 3.1): tables `ray_launches`,
//! `rays` and `warps`.
//!
//! Recorded in every stage of ray tracing: before and behind calls that trace, at the entry of every shader that they call,
//! before intersections are reported, ignored, or end a ray. One record holds the event of all invocations that are there
//! together: the mask of their places in the subgroup, and a few words of each, of which the first is its work id. So the
//! subgroup's event costs two or three words, and the invocations of one take room in the log at once.
//!
//! An invocation's events are in its program order. Its subgroup and its place there are those of the ray generation
//! shader's entry, where every invocation is recorded, whether it traces or not; the mask of an event is that of the
//! subgroup that runs it, which need not be the same (`sm`, `warp`). Which launch an event is of is known because launches
//! run one after the other (`hooks::instrument::launches`): what follows an entry is of its launch, until the next one's.
//!
//! Ray queries, in any stage: a begin, and what was committed where the traversal ended; what was tested on the way is the
//! shader's own affair. Outside of ray tracing an invocation names itself by where in the log its entry is: draws cannot be
//! told apart otherwise, whose invocations have no numbers. A dispatch is a launch, its invocations numbered as
//! gl_GlobalInvocationID says; the draws of one pipeline and frame are one launch, a fragment's column and row its pixel, and
//! its layer how many of that pixel came before it.
//!
//! Options, by colons: `lanes=32|64|128` (the largest subgroup a mask holds; without it, the device's), `sm=auto|yes|no`
//! (the multiprocessor, where VK_NV_shader_sm_builtins is), `clock=no|auto|device|subgroup`, `queries=most|all|no` (beside the
//! stages of ray tracing: in compute, fragment, task and mesh shaders, in all, in none).
//!
//! `probe-triangles`: hit groups of triangles without any-hit shader are given an empty one, and where a pipeline has no
//! others, its rays are traced with NoOpaque in place of Opaque, which overrides the flags of geometries and instances; so
//! every intersection with a triangle has its event, and no hit is another. Where the application has any-hit shaders, which
//! would run for its opaque geometry then, rays keep their flags, and opaque triangles leave no events; so do rays that cull
//! by opacity. Events keep the application's flags at begins; entries of shaders have those that were traced with.
//!
//! What is the same in every record of a place (flags and distances that are constants) is not recorded there. Numbers of
//! instances and geometries from 2²⁴-1 on are not known afterwards. Where subgroup operations hang any-hit shaders, each
//! invocation records by itself what any-hit and intersection shaders do (an NVIDIA H200, which has no hardware for rays, hung
//! now and then when invocations of an intersection shader shared a record); which of them ran together is then known by the clock: those that read the same
//! one at the same place of the same multiprocessor. Without a clock each is a subgroup's event of its own.

mod decode;
mod fields;
mod options;
mod put;
mod query;
mod works;

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::Shader;
use crate::{Needs, Stage};
use options::{Options, Queries};
use put::amid_traversal;

/// See the module's header.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rays {
    options: Options,
}

impl Rays {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        Ok(Rays { options: Options::read(options)? })
    }
}

impl Pass for Rays {
    fn name(&self) -> &'static str {
        "rays"
    }

    fn key(&self) -> String {
        let o = &self.options;
        let more = (o.queries, o.probe_triangles);
        format!("rays 2 {:?} {:?} {:?} {more:?}", o.lanes, o.sm, o.clock)
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        let o = &self.options;
        let most = matches!(stage, Stage::Compute | Stage::Fragment | Stage::Task | Stage::Mesh);
        let queries = o.queries == Queries::All || o.queries == Queries::Most && most;
        (stage.is_ray_tracing() || queries).then_some(Needs {
            subgroups: true,
            alone_if_need: true,
            launches: true,
            any_hits: o.probe_triangles,
            clock: o.clock == Some(Some(false)),
            own_clock: o.clock == Some(Some(true)),
            some_clock: o.clock == Some(None),
            own_clock_if_there: amid_traversal(stage),
            sm_builtins: o.sm == Some(true),
            sm_if_there: o.sm.is_none(),
            ..Needs::default()
        })
    }

    fn streams(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        Ok(match put::put(&self.options, shader).map_err(wrong)? {
            true => Change::Changed,
            false => Change::Unchanged,
        })
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        decode::decode(frame, out)
    }
}

#[cfg(test)]
mod tests;
