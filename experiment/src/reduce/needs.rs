//! What a call needs besides the objects that it names: state that commands before it set, and what is in objects.
//!
//! Without a pipeline, a descriptor, its constants, or memory behind a buffer, Vulkan leaves open what a shader does: on a GPU it may never end. So what
//! sets these goes together with what needs it. Guarantees: of two that set the same the later counts. Refuses nothing. Not known: descriptors written behind
//! the bind, dynamic state, memory that a queue binds, transform feedback's buffers, and all but the last 256 parts of one thing. What is read by address is [`super::addresses`]'.

use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Parts of one thing that are known, at most: the last.
const MOST: usize = 1 << 8;

const COMPUTE: u32 = 0x20;
const RAYS: u32 = 0x3f00;
const GRAPHICS: u32 = !(COMPUTE | RAYS);

/// Beginnings of the names of commands that run shaders, and of which stages (VkShaderStageFlags).
const ACTIONS: [(&str, u32); 5] = [
    ("vkCmdDraw", GRAPHICS),
    ("vkCmdDispatch", COMPUTE),
    ("vkCmdTraceRays", RAYS),
    ("vkCmdExecuteGeneratedCommands", !0),
    ("vkCmdSubpassShading", !0),
];

/// The stages whose state a command uses; none of one that runs no shader.
pub fn stages(command: &str) -> Option<u32> {
    ACTIONS.iter().find(|a| command.starts_with(a.0)).map(|a| a.1)
}

/// These stages may write buffers that others read by address, or as the size of work.
pub fn may_write(stages: u32) -> bool {
    stages & !(COMPUTE | RAYS) == 0
}

/// Something that is set: which of its kind (bytes of constants, sets, bindings), and for which stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    kind: &'static str,
    stages: u32,
    /// Of descriptors that are pushed, their set.
    set: u64,
    which: Range<u64>,
}

/// What is set at a time, by the blocks that did.
#[derive(Clone, Debug, Default)]
pub struct Parts(Vec<(Part, u32)>);

impl Parts {
    /// A block sets this, and counts in place of those before it.
    pub fn set(&mut self, part: Part, at: u32) {
        let whole = |p: &Part| {
            (p.kind, p.set) == (part.kind, part.set)
                && p.stages & !part.stages == 0
                && part.which.start <= p.which.start
                && p.which.end <= part.which.end
        };
        self.0.retain(|(p, _)| !whole(p));
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push((part, at));
    }

    /// The blocks that set what these stages use.
    pub fn used(&self, stages: u32) -> impl Iterator<Item = u32> {
        self.0.iter().filter(move |(p, _)| p.stages & stages != 0).map(|p| p.1)
    }
}

/// What a command sets for those behind it in its command buffer.
pub fn set_by(call: &Call) -> Vec<Part> {
    let v = View::call(&call.image);
    let of = |info: &str| v.one(info).unwrap_or(v);
    let number = |v: View<'_>, name: &str| v.u64(name).unwrap_or(0);
    let ranged = |kind, stages, first: u64, n: u64| {
        vec![Part { kind, stages, set: 0, which: first..first.saturating_add(n) }]
    };
    match call.command.canonical {
        "vkCmdBindPipeline" | "vkCmdBindPipelineShaderGroupNV" => ranged("program", points(v), 0, 1),
        "vkCmdBindShadersEXT" => {
            let one = |stage: u64| Part { kind: "program", stages: stage as u32, set: 0, which: 0..1 };
            v.u64s("pStages").into_iter().map(one).collect()
        }
        "vkCmdPushConstants" | "vkCmdPushConstants2" => {
            let v = of("pPushConstantsInfo");
            let stages = v.u32("stageFlags").unwrap_or(0);
            ranged("constants", stages, number(v, "offset"), number(v, "size"))
        }
        "vkCmdBindDescriptorSets" | "vkCmdBindDescriptorSets2" => {
            let v = of("pBindDescriptorSetsInfo");
            ranged("sets", points(v), number(v, "firstSet"), v.u64s("pDescriptorSets").len() as u64)
        }
        "vkCmdSetDescriptorBufferOffsetsEXT" | "vkCmdSetDescriptorBufferOffsets2EXT" => {
            let v = of("pSetDescriptorBufferOffsetsInfo");
            ranged("sets", points(v), number(v, "firstSet"), v.u64s("pOffsets").len() as u64)
        }
        "vkCmdBindDescriptorBufferEmbeddedSamplersEXT" | "vkCmdBindDescriptorBufferEmbeddedSamplers2EXT" => {
            let v = of("pBindDescriptorBufferEmbeddedSamplersInfo");
            ranged("sets", points(v), number(v, "set"), 1)
        }
        "vkCmdBindDescriptorBuffersEXT" => ranged("descriptor buffers", !0, 0, 1),
        "vkCmdPushDescriptorSet" | "vkCmdPushDescriptorSet2" => {
            let v = of("pPushDescriptorSetInfo");
            let (stages, set) = (points(v), number(v, "set"));
            let pushed = |w| Part { kind: "pushed descriptors", stages, set, which: written(w) };
            v.structs("pDescriptorWrites").map(pushed).collect()
        }
        "vkCmdPushDescriptorSetWithTemplate" | "vkCmdPushDescriptorSetWithTemplate2" => {
            let v = of("pPushDescriptorSetWithTemplateInfo");
            // (for which stages, its template knows)
            let (set, which) = (number(v, "set"), template(v));
            vec![Part { kind: "pushed by template", stages: !0, set, which }]
        }
        "vkCmdBindVertexBuffers" | "vkCmdBindVertexBuffers2" | "vkCmdBindVertexBuffers3KHR" => {
            ranged("vertices", GRAPHICS, number(v, "firstBinding"), number(v, "bindingCount"))
        }
        "vkCmdBindIndexBuffer" | "vkCmdBindIndexBuffer2" | "vkCmdBindIndexBuffer3KHR" => {
            ranged("indices", GRAPHICS, 0, 1)
        }
        "vkCmdSetRayTracingPipelineStackSizeKHR" => ranged("stack size", RAYS, 0, 1),
        _ => vec![],
    }
}

/// The stages of a bind point, or of the bind points of some stages.
fn points(v: View<'_>) -> u32 {
    match v.u32("pipelineBindPoint") {
        Some(0) => GRAPHICS,
        Some(1) => COMPUTE,
        Some(1_000_165_000) => RAYS,
        Some(_) => !0,
        None => {
            let stages = v.u32("stageFlags").unwrap_or(!0);
            [GRAPHICS, COMPUTE, RAYS].into_iter().filter(|point| stages & point != 0).sum()
        }
    }
}

/// Descriptors of a write or a copy, by binding and element.
fn written(v: View<'_>) -> Range<u64> {
    let of = |name| v.u64(name).unwrap_or(0);
    let first = (of("dstBinding") << 32) + of("dstArrayElement");
    first..first.saturating_add(of("descriptorCount"))
}

/// A template, of which each write is one.
fn template(v: View<'_>) -> Range<u64> {
    let id = v.u64("descriptorUpdateTemplate").unwrap_or(0);
    id..id.saturating_add(1)
}

/// Something that a call puts into an object, which what names the object needs from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// The object.
    pub object: u64,
    /// What part of it.
    pub part: Part,
    /// The call needs what is in it, too: an update of an acceleration structure.
    pub reads: bool,
}

/// What a call puts into objects: memory, descriptors, the contents of acceleration structures.
pub fn filled_by(call: &Call) -> Vec<Filled> {
    let (name, v) = (call.command.canonical, View::call(&call.image));
    let one = |object: Option<u64>, kind, which| {
        let part = Part { kind, stages: !0, set: 0, which };
        object.filter(|id| *id != 0).map(|object| Filled { object, part, reads: false })
    };
    match name {
        "vkUpdateDescriptorSets" => {
            let all = v.structs("pDescriptorWrites").chain(v.structs("pDescriptorCopies"));
            all.filter_map(|w| one(w.u64("dstSet"), "descriptors", written(w))).collect()
        }
        "vkUpdateDescriptorSetWithTemplate" => {
            one(v.u64("descriptorSet"), "descriptors by template", template(v)).into_iter().collect()
        }
        _ if name.starts_with("vkBind") && name.contains("Memory") => {
            let planes =
                |v: View<'_>| v.next("VkBindImagePlaneMemoryInfo").and_then(|p| p.u64("planeAspect"));
            let bound = |v: View<'_>| {
                let plane = planes(v).unwrap_or(0);
                let resource = ["buffer", "image", "accelerationStructure", "tensor"];
                one(resource.iter().find_map(|r| v.u64(r)), MEMORY, plane..plane + 1)
            };
            bound(v).into_iter().chain(v.structs("pBindInfos").filter_map(bound)).collect()
        }
        _ if name.contains("AccelerationStructure") && !name.starts_with("vkCreate") => {
            const UPDATE: u32 = 1;
            let of = |id| one(id, STRUCTURE, 0..1);
            let built = v.structs("pInfos").filter_map(|i| {
                let reads = i.u32("mode") == Some(UPDATE);
                of(i.u64("dstAccelerationStructure")).map(|f| Filled { reads, ..f })
            });
            // (of a copy to memory it is an address)
            let copied = v.one("pInfo").filter(|_| !name.contains("ToMemory")).and_then(|i| of(i.u64("dst")));
            built.chain(copied).chain(v.u64("dst").and_then(|id| of(Some(id)))).collect()
        }
        _ => vec![],
    }
}

/// The kinds of what is behind resources, and in acceleration structures.
const MEMORY: &str = "memory";
const STRUCTURE: &str = "acceleration structure";

impl Filled {
    /// It is an acceleration structure that is built.
    pub fn is_structure(&self) -> bool {
        self.part.kind == STRUCTURE
    }

    /// Shaders read what the call names through the object: descriptors.
    pub fn leads_on(&self) -> bool {
        !self.is_structure() && self.part.kind != MEMORY
    }
}

/// What is in objects.
#[derive(Default)]
pub struct Contents {
    /// By object.
    filled: HashMap<u64, Parts>,
    /// By the block that set or filled something: the objects that it names, and whether by their address.
    named: HashMap<u32, Vec<Named>>,
}

/// An object, and whether it is named by its address.
pub type Named = (u64, bool);

impl Contents {
    /// A block puts this into an object.
    pub fn put(&mut self, filled: Filled, at: u32) {
        self.filled.entry(filled.object).or_default().set(filled.part, at);
    }

    /// An object is made, or gone.
    pub fn empty(&mut self, object: u64) {
        self.filled.remove(&object);
    }

    /// A block that sets or fills something names these.
    pub fn names(&mut self, at: u32, objects: impl Iterator<Item = Named>) {
        let objects: BTreeSet<Named> = objects.collect();
        if !objects.is_empty() {
            self.named.insert(at, objects.into_iter().collect());
        }
    }

    /// The blocks that put something into an object.
    pub fn of(&self, object: u64) -> impl Iterator<Item = u32> {
        self.filled.get(&object).into_iter().flat_map(|parts| parts.used(!0))
    }

    /// What is named by what is in an object. (What one call puts into several is taken to be in each.)
    pub fn leads_to(&self, object: u64) -> impl Iterator<Item = Named> {
        let blocks: BTreeSet<u32> = self.of(object).collect();
        blocks.into_iter().flat_map(|by| self.named(by))
    }

    /// What a block names.
    pub fn named(&self, by: u32) -> impl Iterator<Item = Named> {
        self.named.get(&by).into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_counts() {
        let part = |stages, which: Range<u64>| Part { kind: "constants", stages, set: 0, which };
        let mut parts = Parts::default();
        parts.set(part(COMPUTE, 0..16), 1);
        parts.set(part(GRAPHICS, 0..16), 2);
        parts.set(part(COMPUTE, 0..8), 3);
        assert_eq!(parts.used(COMPUTE).collect::<Vec<_>>(), [1, 3], "its end is still the first's");
        parts.set(part(COMPUTE, 0..16), 4);
        parts.set(Part { kind: "program", ..part(!0, 0..16) }, 5);
        assert_eq!(parts.used(COMPUTE).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(parts.used(GRAPHICS).collect::<Vec<_>>(), [2, 5]);
        assert_eq!((stages("vkCmdDispatchIndirect"), stages("vkCmdCopyBuffer")), (Some(COMPUTE), None));
    }

    #[test]
    fn descriptors_of_one_set_are_none_of_another() {
        let pushed = |set| Part { kind: "pushed descriptors", stages: !0, set, which: 0..9 };
        let mut parts = Parts::default();
        (0..3).for_each(|set| parts.set(pushed(set % 2), set as u32));
        assert_eq!(parts.used(!0).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn the_last_parts_are_known() {
        let mut parts = Parts::default();
        let one = |n: u64| Part { kind: "descriptors", stages: !0, set: 0, which: n..n + 1 };
        (0..2 * MOST as u64).for_each(|n| parts.set(one(n), n as u32));
        assert_eq!(parts.used(!0).collect::<Vec<_>>(), (MOST as u32..2 * MOST as u32).collect::<Vec<_>>());
    }
}
