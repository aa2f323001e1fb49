//! What has to be known before any call runs: which pipeline layouts can be repartitioned, and whose sets nobody else uses.
//!
//! Guarantees: a layout that something uses which cannot be rewritten stays as it is, with the reason. Refuses nothing: a
//! call that cannot be decoded says nothing here, and is an error where it is replayed.

use super::libraries::{Part, group};
use super::partition::{Partition, Sets, sets};
use super::shaders::Places;
use gfxr_parse::ahead::Call;
use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::view::View;
use replay::hook::index_of;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use world::Follow;
use world::Outcome;

/// What the hook goes by.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The sets of each layout that is repartitioned.
    pub layouts: BTreeMap<u64, Sets>,
    /// Where their shaders look for descriptors.
    pub places: BTreeMap<u64, Places>,
    /// The layout of each pipeline, and part of one, that is made with one of ours.
    pub pipelines: HashMap<u64, u64>,
    /// Why others that the partition names are not.
    pub refused: BTreeMap<u64, String>,
    /// Classes of set layouts that only repartitioned layouts have: their sets need not exist.
    pub own: HashSet<u32>,
}

/// Calls that are followed.
pub const FOLLOWED: [&str; 13] = [
    "vkCreateDescriptorSetLayout",
    "vkCreatePipelineLayout",
    "vkCreateDescriptorPool",
    "vkDestroyDescriptorPool",
    "vkResetDescriptorPool",
    "vkAllocateDescriptorSets",
    "vkFreeDescriptorSets",
    "vkUpdateDescriptorSets",
    "vkCreateDescriptorUpdateTemplate",
    "vkCreateDescriptorUpdateTemplateKHR",
    "vkUpdateDescriptorSetWithTemplate",
    "vkUpdateDescriptorSetWithTemplateKHR",
    "vkDestroyDevice",
];

/// Calls that name a layout in a way that is not rewritten, and what they are.
const OTHERS: [(&str, &str); 6] = [
    ("vkCmdBindDescriptorBufferEmbeddedSamplersEXT", "has embedded samplers"),
    ("vkCmdBindDescriptorBufferEmbeddedSamplers2EXT", "has embedded samplers"),
    ("vkCmdSetDescriptorBufferOffsetsEXT", "is used with descriptor buffers"),
    ("vkCmdSetDescriptorBufferOffsets2EXT", "is used with descriptor buffers"),
    ("vkCreateIndirectCommandsLayoutEXT", "is used by generated commands"),
    ("vkCreateIndirectCommandsLayoutNV", "is used by generated commands"),
];

pub const PIPELINES: [&str; 3] =
    ["vkCreateGraphicsPipelines", "vkCreateComputePipelines", "vkCreateRayTracingPipelinesKHR"];

/// VK_PIPELINE_CREATE_2_DESCRIPTOR_BUFFER_BIT_EXT and VK_PIPELINE_CREATE_2_INDIRECT_BINDABLE_BIT_EXT.
const DESCRIPTOR_BUFFER: u64 = 1 << 29;
const INDIRECT_BINDABLE: u64 = 1 << 38;

/// Reads the whole capture once.
pub fn scan(capture: &Capture, partition: &Partition, most_sets: u32) -> Plan {
    let mut follow = Follow::new();
    let mut why: BTreeMap<u64, String> = BTreeMap::new();
    // By set: the layout it was made with; sets that one call names.
    let (mut layout_of, mut together) = (HashMap::new(), HashSet::new());
    // Shader objects have the sets of layouts without being of one.
    let mut of_objects: HashSet<u64> = HashSet::new();
    let (mut parts, mut order) = (BTreeMap::new(), HashMap::new());
    let (mut scratch, mut image) = (Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command) else { continue };
        let followed = FOLLOWED.contains(&c.name);
        let pipelines = PIPELINES.contains(&c.name);
        let other = OTHERS.iter().find(|o| o.0 == c.name);
        let objects = c.name == "vkCreateShadersEXT";
        if !followed && !pipelines && !objects && other.is_none() {
            continue;
        }
        let Ok(BlockKind::Call(found)) = block.kind() else { continue };
        if decode_found(c, &block, &found, &mut scratch, &mut image).is_err() {
            continue;
        }
        let v = View::call(&image);
        if let Some((_, what)) = other {
            let info = v.one("pCreateInfo");
            let info = info.or_else(|| v.one("pSetDescriptorBufferOffsetsInfo"));
            let info = info.or_else(|| v.one("pBindDescriptorBufferEmbeddedSamplersInfo")).unwrap_or(v);
            for name in ["layout", "pipelineLayout"] {
                if let Some(layout) = info.u64(name) {
                    why.entry(layout).or_insert_with(|| format!("it {what}"));
                }
            }
        }
        if objects {
            of_objects.extend(v.structs("pCreateInfos").flat_map(|i| i.u64s("pSetLayouts")));
        }
        if pipelines {
            for (id, info) in v.u64s("pPipelines").into_iter().zip(v.structs("pCreateInfos")) {
                let libraries =
                    info.next("VkPipelineLibraryCreateInfoKHR").or_else(|| info.one("pLibraryInfo"));
                let part = Part {
                    layout: info.u64("layout").unwrap_or(0),
                    libraries: libraries.map_or(vec![], |l| l.u64s("pLibraries")),
                    unfit: unfit(info),
                    layouts: order.len(),
                };
                parts.insert(id, part);
            }
        }
        if followed
            && !matches!(c.name, "vkDestroyDevice" | "vkDestroyDescriptorPool" | "vkResetDescriptorPool")
        {
            if c.name == "vkAllocateDescriptorSets"
                && let Some(info) = v.one("pAllocateInfo")
            {
                let layouts = info.u64s("pSetLayouts");
                layout_of.extend(v.u64s("pDescriptorSets").into_iter().zip(layouts.iter().copied()));
                together.insert(layouts.into_iter().collect::<BTreeSet<_>>());
                continue;
            }
            let named: Option<Vec<u64>> = match c.name {
                "vkFreeDescriptorSets" => Some(v.u64s("pDescriptorSets")),
                "vkUpdateDescriptorSets" => {
                    let writes = v.structs("pDescriptorWrites").filter_map(|w| w.u64("dstSet"));
                    let copies = v.structs("pDescriptorCopies");
                    let copies = copies.flat_map(|c| [c.u64("srcSet"), c.u64("dstSet")]).flatten();
                    Some(writes.chain(copies).collect())
                }
                _ => None,
            };
            if let Some(sets) = named {
                together.insert(sets.iter().filter_map(|s| layout_of.get(s).copied()).collect());
                continue;
            }
            if matches!(c.name, "vkUpdateDescriptorSetWithTemplate" | "vkUpdateDescriptorSetWithTemplateKHR")
            {
                continue;
            }
            if c.name == "vkCreatePipelineLayout"
                && let Some(id) = created(&image)
            {
                let made = order.len();
                order.insert(id, made);
            }
            let taken = std::mem::take(&mut image);
            let call = Call {
                command: c,
                index: index_of(c),
                image: taken,
                block: 0,
                thread: 0,
                frame: 0,
                in_state: false,
            };
            // (what it does not understand, it says where the capture is replayed)
            follow.call(&call, Outcome::captured(&call), &mut ());
            image = call.image;
        }
    }
    let mut plan = Plan::default();
    let world = follow.world();
    for (&id, moves) in &partition.0 {
        let made = match (world.pipeline_layouts.get(&id), why.remove(&id)) {
            (None, _) => Err("the capture makes no such pipeline layout".to_owned()),
            (_, Some(why)) => Err(why),
            (Some(layout), None) => sets(layout, moves, most_sets),
        };
        match made {
            Ok(sets) => drop(plan.layouts.insert(id, sets)),
            Err(why) => drop(plan.refused.insert(id, why)),
        }
    }
    let known = |l: u64| world.pipeline_layouts.get(&l).cloned();
    let found = group(&parts, &plan.layouts, &known, &order);
    plan.layouts.retain(|l, _| !found.refused.contains_key(l));
    plan.refused.extend(found.refused);
    plan.places = plan.layouts.iter().map(|(l, sets)| (*l, Places::of(sets))).collect();
    plan.pipelines = found.layouts;
    let classes = |wanted: bool| -> HashSet<u32> {
        let of = world.pipeline_layouts.values().filter(|l| plan.layouts.contains_key(&l.id) == wanted);
        of.flat_map(|l| l.sets.iter().flatten().map(|s| s.class)).collect()
    };
    plan.own = &classes(true) - &classes(false);
    // A call that names sets of both kinds has to be made, and then all of them have to exist.
    let class_of = |l: &u64| world.set_layouts.get(l).map(|s| s.class);
    let shared: HashSet<u32> = of_objects.iter().filter_map(class_of).collect();
    plan.own.retain(|c| !shared.contains(c));
    loop {
        let mixed = together.iter().find(|layouts| {
            let own = layouts.iter().filter_map(class_of).filter(|c| plan.own.contains(c)).count();
            own > 0 && own < layouts.len()
        });
        let Some(mixed) = mixed else { break };
        let classes: Vec<u32> = mixed.iter().filter_map(class_of).collect();
        plan.own.retain(|c| !classes.contains(c));
    }
    plan
}

/// The id that the capture gave to what a call made.
pub fn created(image: &Image) -> Option<u64> {
    image.handles.iter().find(|h| h.out).map(|h| image.u64(h.at))
}

/// Why a pipeline's layout has to stay.
fn unfit(info: View<'_>) -> Option<&'static str> {
    let wide = info.next("VkPipelineCreateFlags2CreateInfo").and_then(|f| f.u64("flags"));
    let flags = wide.unwrap_or(u64::from(info.u32("flags").unwrap_or(0)));
    if flags & DESCRIPTOR_BUFFER != 0 {
        return Some("it is of a pipeline with descriptor buffers");
    }
    // (in 32 bits there are none of these)
    if wide.is_some() && flags & INDIRECT_BINDABLE != 0 {
        return Some("it is of a pipeline for generated commands");
    }
    if info.next("VkPipelineBinaryInfoKHR").is_some_and(|b| !b.u64s("pPipelineBinaries").is_empty()) {
        return Some("it is of a pipeline made of binaries");
    }
    let mut stages = info.structs("pStages").chain(info.structs("stage"));
    let hidden =
        |s: View<'_>| s.u64("module").unwrap_or(0) == 0 && s.next("VkShaderModuleCreateInfo").is_none();
    stages.any(hidden).then_some("it is of a pipeline whose shaders only the driver knows")
}
