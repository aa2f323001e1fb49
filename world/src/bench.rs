//! What tests record with: objects by small numbers, calls as the layer writes them. For the tests of this crate, and with
//! the feature `bench` for those of others.
#![allow(missing_docs, reason = "each is the command that it is named after")]

use crate::Outcome;
use crate::sets::Descriptor;
use crate::{At, AtSet, Command, Follow, Invocation, Observer, Submission, World};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::writer::ParamWriter;

pub const DEVICE: u64 = 1;
pub const QUEUE: u64 = 2;
pub const POOL: u64 = 3;

/// The VkStructureType of a struct.
pub fn stype(name: &str) -> u32 {
    let id = gfxr_parse::schema::struct_named(name).expect(name);
    STRUCTS[id as usize].stype.expect("it has one")
}

/// A decoded call.
pub fn call(name: &str, params: impl FnOnce(&mut ParamWriter)) -> Call {
    Call::written(name, params).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// An invocation as it was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub at: At,
    pub kind: &'static str,
    pub program: u64,
    /// By set: what is bound, in short.
    pub sets: Vec<Bound>,
    pub push: Vec<u8>,
    /// All that was pushed is known.
    pub pushed: bool,
}

/// What is bound as a set: its buffers by (binding, element) and its dynamic offsets.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    Nothing,
    Set(u64, Vec<(u32, u32, u64)>, Vec<u32>),
    Push(Vec<(u32, u32, u64)>),
    Buffer(Vec<(u32, u32, Descriptor)>),
    Embedded,
}

/// Hears everything.
#[derive(Default)]
pub struct Ear {
    pub told: Vec<Told>,
    pub commands: Vec<(At, String)>,
    pub submissions: Vec<Submission>,
}

fn buffers(contents: &crate::sets::Contents) -> Vec<(u32, u32, u64)> {
    let of = |b: &crate::layouts::Binding| {
        let binding = b.binding;
        contents.written(binding).map(move |(e, d)| match d {
            Descriptor::Buffer { buffer, .. } => (binding, e, buffer),
            Descriptor::Image { view, .. } | Descriptor::Texel { view, .. } => (binding, e, view),
            Descriptor::Structure { structure } => (binding, e, structure),
            Descriptor::Sampler { sampler } => (binding, e, sampler),
            other => panic!("{other:?}"),
        })
    };
    contents.layout.bindings.iter().flat_map(of).collect()
}

impl Observer for Ear {
    fn invocation(&mut self, world: &World, at: &At, i: &Invocation<'_>) {
        let bindings = &i.invoke.bindings;
        let n = bindings.program.layout().map_or(0, |l| l.sets.len());
        let sets = (0..n).map(|n| match world.set(i.invoke, n) {
            AtSet::Nothing => Bound::Nothing,
            AtSet::Set { set, contents, offsets } => Bound::Set(set, buffers(contents), offsets.to_vec()),
            AtSet::Push { contents } => Bound::Push(buffers(contents)),
            AtSet::Buffer { address, layout } => {
                let all = layout.bindings.iter().flat_map(|b| (0..b.slots()).map(move |e| (b.binding, e)));
                let read = |(b, e)| (b, e, world.in_descriptor_buffer(address, layout, b, e));
                Bound::Buffer(all.map(read).collect())
            }
            AtSet::Embedded { .. } => Bound::Embedded,
        });
        self.told.push(Told {
            at: *at,
            kind: i.invoke.kind(),
            program: bindings.program.id(),
            sets: sets.collect(),
            push: bindings.push.bytes.clone(),
            pushed: bindings.push.pushed.iter().all(|p| *p),
        });
    }
    fn command(&mut self, _: &World, at: &At, command: &Command) {
        let text = format!("{command:?}");
        let end = text.find([' ', '(', '{']).unwrap_or(text.len());
        self.commands.push((*at, text[..end].to_owned()));
    }
    fn submission(&mut self, _: &World, s: &Submission) {
        self.submissions.push(s.clone());
    }
}

/// Follows hand-made calls.
pub struct Bench {
    pub follow: Follow,
    pub ear: Ear,
    pub blocks: u64,
    /// Submissions and signals are followed before they are made.
    pub early: bool,
}

/// A write of buffers: set, binding, element, type, buffers.
pub type Write<'a> = (u64, u32, u32, u32, &'a [u64]);

/// The members of a VkWriteDescriptorSet.
pub fn write(w: &mut ParamWriter, &(set, binding, element, ty, buffers): &Write<'_>) {
    w.u32(35).null_struct().u64(set).u32(binding).u32(element).u32(buffers.len() as u32).u32(ty);
    w.null_structs();
    w.structures(buffers.len(), |w, i| {
        w.u64(buffers[i]).u64(0).u64(u64::MAX);
    });
    w.null_array();
}

impl Default for Bench {
    fn default() -> Self {
        Bench { follow: Follow::new(), ear: Ear::default(), blocks: 0, early: false }
    }
}

impl Bench {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn see(&mut self, name: &str, params: impl FnOnce(&mut ParamWriter)) {
        let mut c = call(name, params);
        c.block = self.blocks;
        self.blocks += 1;
        if self.early {
            self.follow.before(&c, &mut self.ear);
        }
        self.follow.call(&c, Outcome::captured(&c), &mut self.ear);
    }

    /// A set layout: (binding, type, count), immutable samplers for samplers.
    pub fn set_layout(&mut self, id: u64, flags: u32, bindings: &[(u32, u32, u32)], immutable: &[u64]) {
        self.see("vkCreateDescriptorSetLayout", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(32).null_struct().u32(flags).u32(bindings.len() as u32);
                w.structures(bindings.len(), |w, i| {
                    let (binding, ty, count) = bindings[i];
                    w.u32(binding).u32(ty).u32(count).u32(0x7FFF_FFFF);
                    if immutable.is_empty() {
                        w.null_array()
                    } else {
                        w.u64_array(immutable)
                    };
                });
            });
            w.null_struct().u64_ptr(id).i32(0);
        });
    }

    pub fn pipeline_layout(&mut self, id: u64, sets: &[u64], push: &[(u32, u32, u32)]) {
        self.see("vkCreatePipelineLayout", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(30).null_struct().u32(0).u32(sets.len() as u32).u64_array(sets);
                w.u32(push.len() as u32);
                w.structures(push.len(), |w, i| {
                    w.u32(push[i].0).u32(push[i].1).u32(push[i].2);
                });
            });
            w.null_struct().u64_ptr(id).i32(0);
        });
    }

    pub fn compute_pipeline(&mut self, id: u64, layout: u64) {
        self.see("vkCreateComputePipelines", |w| {
            w.u64(DEVICE).u64(0).u32(1);
            w.structures(1, |w, _| {
                w.u32(29).null_struct().u32(0);
                w.u32(18).null_struct().u32(0).u32(0x20).u64(77).string("main").null_struct();
                w.u64(layout).u64(0).i32(-1);
            });
            w.null_struct().u64_array(&[id]).i32(0);
        });
    }

    pub fn sets(&mut self, sets: &[u64], layouts: &[u64]) {
        self.see("vkAllocateDescriptorSets", |w| {
            w.u64(DEVICE);
            w.structure(|w| {
                w.u32(34).null_struct().u64(POOL).u32(sets.len() as u32).u64_array(layouts);
            });
            w.u64_array(sets).i32(0);
        });
    }

    pub fn write(&mut self, writes: &[Write<'_>]) {
        self.see("vkUpdateDescriptorSets", |w| {
            w.u64(DEVICE).u32(writes.len() as u32);
            w.structures(writes.len(), |w, i| write(w, &writes[i]));
            w.u32(0).null_structs();
        });
    }

    pub fn begin(&mut self, cmd: u64) {
        self.see("vkBeginCommandBuffer", |w| {
            w.u64(cmd).null_struct().i32(0);
        });
    }
    pub fn end(&mut self, cmd: u64) {
        self.see("vkEndCommandBuffer", |w| {
            w.u64(cmd).i32(0);
        });
    }
    pub fn bind(&mut self, cmd: u64, pipeline: u64) {
        self.see("vkCmdBindPipeline", |w| {
            w.u64(cmd).u32(1).u64(pipeline);
        });
    }
    pub fn bind_sets(&mut self, cmd: u64, layout: u64, first: u32, sets: &[u64], offsets: &[u32]) {
        self.see("vkCmdBindDescriptorSets", |w| {
            w.u64(cmd).u32(1).u64(layout).u32(first).u32(sets.len() as u32).u64_array(sets);
            w.u32(offsets.len() as u32).u32_array(offsets);
        });
    }
    pub fn dispatch(&mut self, cmd: u64) {
        self.see("vkCmdDispatch", |w| {
            w.u64(cmd).u32(1).u32(2).u32(3);
        });
    }

    /// Submits; waits and signals of timeline semaphores.
    pub fn submit(&mut self, cmds: &[u64], waits: &[(u64, u64)], signals: &[(u64, u64)]) {
        let semaphores = |w: &mut ParamWriter, s: &[(u64, u64)]| {
            w.u32(s.len() as u32);
            w.structures(s.len(), |w, i| {
                w.u32(stype("VkSemaphoreSubmitInfo"))
                    .null_struct()
                    .u64(s[i].0)
                    .u64(s[i].1)
                    .u64(1 << 16)
                    .u32(0);
            });
        };
        self.see("vkQueueSubmit2", |w| {
            w.u64(QUEUE).u32(1);
            w.structures(1, |w, _| {
                w.u32(stype("VkSubmitInfo2")).null_struct().u32(0);
                semaphores(w, waits);
                w.u32(cmds.len() as u32);
                w.structures(cmds.len(), |w, i| {
                    w.u32(stype("VkCommandBufferSubmitInfo")).null_struct().u64(cmds[i]).u32(0);
                });
                semaphores(w, signals);
            });
            w.u64(0).i32(0);
        });
    }

    /// A whole command buffer that binds sets and dispatches once.
    pub fn once(&mut self, cmd: u64, pipeline: u64, layout: u64, sets: &[u64]) {
        self.begin(cmd);
        self.bind(cmd, pipeline);
        self.bind_sets(cmd, layout, 0, sets, &[]);
        self.dispatch(cmd);
        self.end(cmd);
    }

    /// What was told since the last time.
    pub fn told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.ear.told)
    }

    /// The sets of the invocations told since the last time.
    pub fn told_sets(&mut self) -> Vec<Vec<Bound>> {
        self.told().into_iter().map(|t| t.sets).collect()
    }
}
