//! What is run: layouts, modules, pipelines, libraries, shader objects.
//!
//! Guarantees: a pipeline keeps the modules it was made from, and a linked one those of its libraries. Shaders that the
//! capture has only as identifiers or binaries have no words. Refuses nothing.

use super::layouts::{Binding, Classes, PipelineLayout, PushRange, SetLayout};
use super::objects::*;
use super::read::{created, destroyed, gone, n32, n64, u32s};
use super::world::Handler;
use super::world::World;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::rc::Rc;

/// Calls that make and destroy what is run, by canonical name.
pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("vkCreateDescriptorSetLayout", set_layout),
    ("vkDestroyDescriptorSetLayout", |w, c| gone(w.set_layouts.remove(&destroyed(c)))),
    ("vkCreatePipelineLayout", pipeline_layout),
    ("vkDestroyPipelineLayout", |w, c| gone(w.pipeline_layouts.remove(&destroyed(c)))),
    ("vkCreateShaderModule", module),
    ("vkDestroyShaderModule", |w, c| gone(w.modules.remove(&destroyed(c)))),
    ("vkCreateGraphicsPipelines", pipelines),
    ("vkCreateComputePipelines", pipelines),
    ("vkCreateRayTracingPipelinesKHR", pipelines),
    ("vkCreateRayTracingPipelinesNV", pipelines),
    ("vkDestroyPipeline", |w, c| gone(w.pipelines.remove(&destroyed(c)))),
    ("vkCreateShadersEXT", shaders),
    ("vkDestroyShaderEXT", |w, c| gone(w.shaders.remove(&destroyed(c)))),
];

fn set_layout(w: &mut World, call: &Call) {
    let id = created(call);
    let Some(info) = View::call(&call.image).one("pCreateInfo").filter(|_| id != 0) else { return };
    let flags = info.next("VkDescriptorSetLayoutBindingFlagsCreateInfo").map(|f| u32s(f, "pBindingFlags"));
    let flags = flags.unwrap_or_default();
    let lists: Vec<Vec<u32>> = info.next("VkMutableDescriptorTypeCreateInfoEXT").map_or(vec![], |m| {
        m.structs("pMutableDescriptorTypeLists").map(|l| u32s(l, "pDescriptorTypes")).collect()
    });
    let bindings = info.structs("pBindings").enumerate().map(|(i, b)| {
        let ty = n32(b, "descriptorType");
        Binding {
            binding: n32(b, "binding"),
            ty,
            count: n32(b, "descriptorCount"),
            stages: n32(b, "stageFlags"),
            flags: flags.get(i).copied().unwrap_or(0),
            // Other types leave anything there.
            immutable: if ty <= 1 { b.u64s("pImmutableSamplers") } else { vec![] },
            mutable: lists.get(i).cloned().unwrap_or_default(),
            start: 0,
            inline_start: 0,
            dynamic_start: 0,
        }
    });
    let layout = SetLayout::new(id, n32(info, "flags"), bindings.collect());
    let layout = w.classes.set(layout);
    w.set_layouts.insert(id, layout);
}

impl PushRange {
    /// Those of a VkPipelineLayoutCreateInfo or a VkShaderCreateInfoEXT.
    pub fn all(info: View<'_>) -> Vec<Self> {
        let one = |r: View<'_>| PushRange {
            stages: n32(r, "stageFlags"),
            offset: n32(r, "offset"),
            size: n32(r, "size"),
        };
        info.structs("pPushConstantRanges").map(one).collect()
    }
}

/// The layout that a VkPipelineLayoutCreateInfo or a VkShaderCreateInfoEXT describes.
pub(super) fn pipeline_layout_of(w: &mut World, id: u64, info: View<'_>) -> Rc<PipelineLayout> {
    let sets = info.u64s("pSetLayouts").iter().map(|l| w.set_layouts.get(l).cloned()).collect();
    // Of shader objects the flags are not the layout's.
    let flags = if info.name == "VkShaderCreateInfoEXT" { 0 } else { n32(info, "flags") };
    w.classes.pipeline(id, flags, sets, PushRange::all(info))
}

fn pipeline_layout(w: &mut World, call: &Call) {
    let id = created(call);
    let Some(info) = View::call(&call.image).one("pCreateInfo").filter(|_| id != 0) else { return };
    let layout = pipeline_layout_of(w, id, info);
    w.pipeline_layouts.insert(id, layout);
}

/// The module that a VkShaderModuleCreateInfo (or a shader object's info) holds.
fn words(id: u64, info: View<'_>) -> Rc<Module> {
    let bytes: Vec<u8> = match info.bytes("pCode") {
        Some(b) => b.to_vec(),
        None => vec![],
    };
    // codeSize is in bytes; what is missing at the end is nobody's.
    let used = &bytes[..bytes.len().min(n64(info, "codeSize") as usize)];
    let words = used.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes")));
    Rc::new(Module { id, words: words.collect() })
}

fn module(w: &mut World, call: &Call) {
    let id = created(call);
    if let Some(info) = View::call(&call.image).one("pCreateInfo").filter(|_| id != 0) {
        w.modules.insert(id, words(id, info));
    }
}

fn specialization(v: View<'_>) -> Option<Rc<Specialization>> {
    let info = v.one("pSpecializationInfo")?;
    let entries = info.structs("pMapEntries").map(|e| {
        let n = |name| n32(e, name);
        (n("constantID"), n("offset"), n("size"))
    });
    let data = info.bytes("pData").map_or(vec![], <[u8]>::to_vec);
    Some(Rc::new(Specialization { entries: entries.collect(), data }))
}

/// VkPipelineShaderStageCreateInfo.
fn stage(w: &World, v: View<'_>) -> Stage {
    let module = match n64(v, "module") {
        0 => v.next("VkShaderModuleCreateInfo").map(|info| words(0, info)),
        id => w.modules.get(&id).cloned(),
    };
    Stage {
        stage: n32(v, "stage"),
        module: module.unwrap_or_default(),
        entry: entry(v),
        specialization: specialization(v),
    }
}

fn entry(v: View<'_>) -> Rc<str> {
    v.text("pName").map_or("main".into(), |t| t.trim_end_matches('\0').into())
}

fn pipelines(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let bind_point = match call.command.canonical {
        "vkCreateGraphicsPipelines" => BindPoint::Graphics,
        "vkCreateComputePipelines" => BindPoint::Compute,
        _ => BindPoint::RayTracing,
    };
    let made = v.u64s("pPipelines");
    for (id, info) in made.into_iter().zip(v.structs("pCreateInfos")).filter(|p| p.0 != 0) {
        let p = pipeline(w, id, bind_point, info, call.frame);
        w.pipelines_made += 1;
        w.pipelines.insert(id, Rc::new(p));
    }
}

/// VkGraphicsPipelineLibraryFlagBitsEXT of the parts that have shaders.
const LIBRARY_PRE_RASTERIZATION: u32 = 2;
const LIBRARY_FRAGMENT: u32 = 4;
/// VK_SHADER_STAGE_FRAGMENT_BIT.
const FRAGMENT: u32 = 0x10;

fn pipeline(w: &mut World, id: u64, bind_point: BindPoint, info: View<'_>, frame: u64) -> Pipeline {
    let wide = info.next("VkPipelineCreateFlags2CreateInfo").map(|f| n64(f, "flags"));
    let mut p = Pipeline {
        id,
        bind_point,
        layout: w.pipeline_layouts.get(&n64(info, "layout")).cloned(),
        stages: vec![],
        flags: wide.unwrap_or_else(|| n32(info, "flags").into()),
        render_pass: n64(info, "renderPass"),
        libraries: vec![],
        frame,
    };
    // A library brings only the stages of its parts; the others are not looked at.
    let parts = info.next("VkGraphicsPipelineLibraryCreateInfoEXT").map(|l| n32(l, "flags"));
    let counts = |s: u32| match parts {
        None => true,
        Some(parts) if s == FRAGMENT => parts & LIBRARY_FRAGMENT != 0,
        Some(parts) => parts & LIBRARY_PRE_RASTERIZATION != 0,
    };
    let stages = info.structs("pStages").chain(info.one("stage"));
    p.stages.extend(stages.filter(|s| counts(n32(*s, "stage"))).map(|s| stage(w, s)));
    // Groups bring stages, too (NV's device-generated commands).
    if let Some(groups) = info.next("VkGraphicsPipelineShaderGroupsCreateInfoNV") {
        p.libraries = groups.u64s("pPipelines");
        for g in groups.structs("pGroups") {
            p.stages.extend(g.structs("pStages").map(|s| stage(w, s)));
        }
    }
    let libraries = info.next("VkPipelineLibraryCreateInfoKHR").or_else(|| info.one("pLibraryInfo"));
    p.libraries.extend(libraries.map_or(vec![], |l| l.u64s("pLibraries")));
    let own = p.layout.is_some();
    for l in p.libraries.clone() {
        let Some(library) = w.pipelines.get(&l) else { continue };
        p.stages.extend(library.stages.iter().cloned());
        p.flags |= library.flags & PIPELINE_DESCRIPTOR_BUFFER;
        if p.render_pass == 0 {
            p.render_pass = library.render_pass;
        }
        p.layout = match (p.layout.take(), &library.layout) {
            (Some(a), Some(b)) if !own => Some(united(&mut w.classes, &a, b)),
            (a, b) => a.or_else(|| b.clone()),
        };
    }
    p
}

/// What two libraries have together: each may leave out the sets that only the other uses.
fn united(classes: &mut Classes, a: &Rc<PipelineLayout>, b: &Rc<PipelineLayout>) -> Rc<PipelineLayout> {
    if a.classes == b.classes && a.push_class == b.push_class {
        return Rc::clone(a);
    }
    let count = a.sets.len().max(b.sets.len());
    let sets = (0..count).map(|n| a.set(n).or_else(|| b.set(n)).cloned()).collect();
    let mut push = a.push.clone();
    push.extend(b.push.iter().filter(|r| !a.push.contains(r)));
    classes.pipeline(a.id, a.flags | b.flags, sets, push)
}

/// VK_SHADER_CODE_TYPE_SPIRV_EXT.
const SPIRV: u32 = 1;

fn shaders(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let made = v.u64s("pShaders");
    for (id, info) in made.into_iter().zip(v.structs("pCreateInfos")).filter(|p| p.0 != 0) {
        let module = match n32(info, "codeType") {
            SPIRV => words(0, info),
            _ => Rc::default(),
        };
        let stage = Stage {
            stage: n32(info, "stage"),
            module,
            entry: entry(info),
            specialization: specialization(info),
        };
        let layout = pipeline_layout_of(w, 0, info);
        w.shaders.insert(id, Rc::new(Shader { id, stage, layout, frame: call.frame }));
    }
}

impl World {
    /// The combination of these shader objects; none if there are none.
    pub(super) fn combination(&mut self, bind_point: BindPoint, ids: Vec<u64>) -> Option<Rc<Combination>> {
        if let Some(&i) = self.combination_of.get(&ids) {
            return Some(Rc::clone(&self.combinations[i]));
        }
        let shaders: Vec<Rc<Shader>> = ids.iter().filter_map(|id| self.shaders.get(id).cloned()).collect();
        // They are to have the same layouts; one that uses fewer sets may have fewer.
        let layout =
            shaders.iter().map(|s| &s.layout).max_by_key(|l| (l.sets.len(), l.push_bytes()))?.clone();
        let stages = shaders.iter().map(|s| s.stage.clone()).collect();
        let number = self.combinations.len();
        let id = FIRST_COMBINATION + number as u64;
        let made = Rc::new(Combination { id, bind_point, shaders, layout: Some(layout), stages });
        self.combinations.push(Rc::clone(&made));
        self.combination_of.insert(ids, number);
        Some(made)
    }
}
