//! Everything that is followed, as it is now.
//!
//! Guarantees: objects are there from the call that made them until the one that destroyed them, by captured id; an id that
//! comes again (a trimmed capture's temporary objects) replaces what it named. Refuses nothing.

use super::bytes::Bytes;
use super::commands::{BoundSet, Invoke, Push};
use super::layouts::{Classes, PipelineLayout, SetLayout};
use super::objects::*;
use super::passes::RenderPass;
use super::ranges::Ranges;
use super::recording::{CommandBuffer, Recording};
use super::sets::{Contents, Descriptor};
use super::state::State;
use crate::Ids;
use gfxr_parse::ahead::Call;
use std::collections::HashMap;
use std::rc::Rc;

/// See the module's header.
#[derive(Clone, Default)]
#[allow(missing_docs, reason = "named as what they hold, by captured id")]
pub struct World {
    /// Contents of memory.
    pub bytes: Bytes,
    /// The frame that runs: the capture's number.
    pub frame: u64,
    /// VkObjectType names that the program gave.
    pub names: Ids<Rc<str>>,
    pub gpus: Ids<Gpu>,
    pub devices: Ids<Device>,
    pub queues: Ids<Queue>,
    pub memories: Ids<Memory>,
    pub buffers: Ids<Buffer>,
    pub buffer_views: Ids<BufferView>,
    pub images: Ids<Image>,
    pub image_views: Ids<ImageView>,
    pub structures: Ids<Structure>,
    pub modules: Ids<Rc<Module>>,
    pub pipelines: Ids<Rc<Pipeline>>,
    pub shaders: Ids<Rc<Shader>>,
    pub set_layouts: Ids<Rc<SetLayout>>,
    pub pipeline_layouts: Ids<Rc<PipelineLayout>>,
    pub descriptor_pools: Ids<DescriptorPool>,
    pub sets: Ids<Set>,
    pub templates: Ids<Rc<Template>>,
    pub render_passes: Ids<Rc<RenderPass>>,
    pub generated: Ids<Rc<super::generated::Layout>>,
    pub framebuffers: Ids<Framebuffer>,
    pub swapchains: Ids<Swapchain>,
    pub syncs: Ids<Sync>,
    pub query_pools: Ids<Queries>,
    pub command_pools: Ids<CommandPool>,
    pub command_buffers: Ids<CommandBuffer>,
    /// Command buffers that are being recorded.
    pub(super) states: Ids<State>,
    /// Buffers by their device address.
    pub addresses: Ranges<()>,
    /// Descriptors by the bytes that the program was given for them (vkGetDescriptorEXT).
    pub descriptor_bytes: HashMap<Box<[u8]>, Descriptor>,
    /// Where bindings lie in a descriptor buffer: by class of the set layout and binding.
    pub binding_offsets: HashMap<(u32, u32), u64>,
    /// Bytes of a descriptor in a descriptor buffer, by VkDescriptorType, as far as the program said.
    pub descriptor_sizes: HashMap<u32, u64>,
    /// Combinations of shader objects, in the order of their numbers.
    pub combinations: Vec<Rc<Combination>>,
    /// The values that timeline semaphores have reached.
    pub reached: Ids<u64>,
    /// Pipelines made until now.
    pub pipelines_made: u64,
    pub(super) combination_of: HashMap<Vec<u64>, usize>,
    pub(super) classes: Classes,
    /// Counts up with everything that changes.
    pub(super) version: u64,
    /// Recordings so far.
    pub(super) recordings: u64,
}

/// A set at an invocation.
#[derive(Debug)]
pub enum AtSet<'w> {
    /// Nothing compatible is bound.
    Nothing,
    /// A descriptor set and its dynamic offsets.
    Set {
        /// It.
        set: u64,
        /// What it contains now.
        contents: &'w Contents,
        /// Its dynamic offsets, by binding and element.
        offsets: &'w [u32],
    },
    /// Push descriptors.
    Push {
        /// What was pushed.
        contents: &'w Contents,
    },
    /// Part of a descriptor buffer: [`World::in_descriptor_buffer`] reads it.
    Buffer {
        /// The address of its first byte.
        address: u64,
        /// What it is made of.
        layout: &'w Rc<SetLayout>,
    },
    /// Embedded immutable samplers.
    Embedded {
        /// The layout that has them.
        layout: &'w Rc<SetLayout>,
    },
}

impl World {
    /// The application's name for an object; empty if it gave none.
    pub fn name(&self, id: u64) -> &str {
        self.names.get(&id).map_or("", |n| n)
    }

    /// What a command buffer holds: as far as it is recorded, or since it was; none before the first time and after a reset.
    /// The number tells it from all that it held before.
    pub fn recording(&self, buffer: u64) -> Option<&Recording> {
        match self.states.get(&buffer) {
            Some(state) => Some(&state.recording),
            None => self.command_buffers.get(&buffer)?.recording.as_deref(),
        }
    }

    /// Whether a command buffer is being recorded.
    pub fn is_recording(&self, buffer: u64) -> bool {
        self.states.contains_key(&buffer)
    }

    /// What a command buffer that is being recorded has bound at a bind point now, by set.
    pub fn bound(&self, buffer: u64, point: BindPoint) -> &[BoundSet] {
        self.states.get(&buffer).map_or(&[], |s| s.bound(point))
    }

    /// The push constants that a command buffer which is being recorded has now.
    pub fn pushed(&self, buffer: u64) -> Option<&Push> {
        self.states.get(&buffer).map(State::pushed)
    }

    /// The pipeline that a command buffer which is being recorded has bound at a bind point now, or the shader objects of its
    /// stages.
    pub fn program(&self, buffer: u64, point: BindPoint) -> Vec<u64> {
        self.states.get(&buffer).map_or(vec![], |s| s.program(point))
    }

    /// What is bound for a set of an invocation's layout, as it is now: at submit time.
    pub fn set<'w>(&'w self, invoke: &'w Invoke, n: usize) -> AtSet<'w> {
        let Some(layout) = invoke.bindings.program.layout() else { return AtSet::Nothing };
        let bound = invoke.bindings.sets.get(n).unwrap_or(&BoundSet::Nothing);
        if bound.layout().is_none_or(|l| !l.compatible(layout, n)) {
            return AtSet::Nothing;
        }
        match bound {
            BoundSet::Nothing => AtSet::Nothing,
            BoundSet::Set { set, offsets, .. } => match self.sets.get(set) {
                Some(s) => AtSet::Set { set: *set, contents: &s.contents, offsets },
                None => AtSet::Nothing,
            },
            BoundSet::Push { contents, .. } => AtSet::Push { contents },
            BoundSet::Buffer { address, .. } => match layout.set(n) {
                Some(layout) => AtSet::Buffer { address: *address, layout },
                None => AtSet::Nothing,
            },
            BoundSet::Embedded { .. } => match layout.set(n) {
                Some(layout) => AtSet::Embedded { layout },
                None => AtSet::Nothing,
            },
        }
    }

    /// Adds to `found` the descriptors that an invocation finds in a binding, by element, dynamic offsets added; some elements only,
    /// or all that were written.
    pub fn bound_at(
        &self,
        invoke: &Invoke,
        set: u32,
        binding: u32,
        elements: Option<&[u32]>,
        found: &mut Vec<(u32, Descriptor)>,
    ) {
        let wanted = |e: u32| elements.is_none_or(|all| all.contains(&e));
        let all = |contents: &Contents, offsets: &[u32], found: &mut Vec<(u32, Descriptor)>| {
            let start = contents.layout.binding(binding).filter(|b| b.is_dynamic()).map(|b| b.dynamic_start);
            for (e, mut d) in contents.written(binding).filter(|d| wanted(d.0)) {
                if let (Some(start), Descriptor::Buffer { offset, range, buffer, .. }) = (start, &mut d) {
                    // (a whole rest is one from where the descriptor begins)
                    *range = self.range_of(*buffer, *offset, *range);
                    let own = offsets.get(start.saturating_add(e) as usize).copied().unwrap_or(0);
                    *offset = offset.saturating_add(own.into());
                }
                found.push((e, d));
            }
        };
        match self.set(invoke, set as usize) {
            AtSet::Set { contents, offsets, .. } => all(contents, offsets, found),
            AtSet::Push { contents } => all(contents, &[], found),
            AtSet::Buffer { address, layout } => {
                let slots = layout.binding(binding).map_or(0, |b| b.slots());
                for e in (0..slots).filter(|e| wanted(*e)) {
                    found.push((e, self.in_descriptor_buffer(address, layout, binding, e)));
                }
            }
            AtSet::Nothing | AtSet::Embedded { .. } => {}
        }
    }

    /// The buffer at an address, and the offset in it. Where buffers overlap (several in the same memory) it is one of them.
    pub fn at_address(&self, address: u64) -> Option<(u64, u64)> {
        self.addresses.at(address).map(|(buffer, offset, _, ())| (buffer, offset))
    }

    /// The bytes of a buffer's range, resolved where it says all that is left.
    pub fn range_of(&self, buffer: u64, offset: u64, range: u64) -> u64 {
        if range != u64::MAX {
            return range;
        }
        self.buffers.get(&buffer).map_or(0, |b| b.size.saturating_sub(offset))
    }
}

/// What a call does to the world.
pub(super) type Handler = fn(&mut World, &Call);
