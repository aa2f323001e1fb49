//! Linked create infos of pipelines and shader objects, with modules of ours in the application's place.
//!
//! Guarantees: nothing but a stage's module and its constants changes; both live until the call was made. What cannot be
//! instrumented (code that the driver alone knows: module identifiers, pipeline binaries, binary shader objects; pipelines
//! of protected memory, which may not write elsewhere) is counted with the reason.

use super::code::Code;
use super::demands::{self, stage_of_bit};
use super::hook::InstrumentHook;
use super::per_action::{self, Part, Shaders};
use super::plan::Kind;
use super::specialize::Specialization;
use crate::rewrite::Variant;
use gfxr_parse::ahead::Call;
use gfxr_parse::argument;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::error::{Error, Result};
use replay::link::Linked;
use replay::vulkan::Vulkan;
use std::sync::Arc;

/// Constants of a linked stage, and a variant's own behind them: kept in the call.
fn constants(
    linked: &mut Linked,
    old: *const vk::SpecializationInfo<'static>,
    variant: &Variant,
    values: super::specialize::Values,
) -> Result<*const vk::SpecializationInfo<'static>> {
    let missing = || Error::divergence("pSpecializationInfo holds fewer entries or bytes than it says");
    let merged = match linked.one(old) {
        None => Specialization::merge(&[], &[], &variant.constants, values),
        Some(i) => {
            let entries = linked.all(i.p_map_entries, i.map_entry_count).ok_or_else(missing)?;
            let bytes = u32::try_from(i.data_size).map_err(|_| missing())?;
            let data = linked.all(i.p_data.cast::<u8>(), bytes).ok_or_else(missing)?;
            Specialization::merge(entries, data, &variant.constants, values)
        }
    };
    let info = merged.info();
    let own = vk::SpecializationInfo {
        p_map_entries: linked.keep(merged.entries()),
        p_data: linked.keep(merged.data()).cast(),
        map_entry_count: info.map_entry_count,
        data_size: info.data_size,
        ..Default::default()
    };
    Ok(linked.keep(&[own]))
}

/// Whose an entry point is.
struct Of {
    /// Captured id of the pipeline or shader object.
    pipeline: u64,
    /// What that is.
    kind: Kind,
    /// Which of its stages.
    index: u32,
    /// Whether actions can be pushed to it.
    room: bool,
}

impl Of {
    fn shader(&self, stage: crate::Stage, name: &str) -> String {
        let of = trace::names::pipeline(self.pipeline, "", self.kind == Kind::ShaderObject);
        format!("{of}, {} {name}", stage.name())
    }
}

pub(in crate::hooks) type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// One create info of a linked call: its flags, and where its chain, its stages and its layout are.
pub(in crate::hooks) struct Info {
    pub flags: vk::PipelineCreateFlags,
    pub chain: *const std::ffi::c_void,
    pub stages: (*const Stage, u32),
    pub layout: *const vk::PipelineLayout,
}

impl Info {
    /// A copy of its stages.
    pub fn stages(&self, linked: &Linked) -> Vec<Stage> {
        linked.all(self.stages.0, self.stages.1).unwrap_or_default().to_vec()
    }
    /// Puts changed ones back.
    pub fn put_back(&self, linked: &mut Linked, stages: &[Stage]) {
        if let Some(to) = linked.all_mut(self.stages.0, self.stages.1) {
            to.copy_from_slice(stages);
        }
    }
}

/// The create infos of a linked call that makes pipelines.
pub(in crate::hooks) fn infos(call: &Call, linked: &Linked) -> Option<(Kind, Vec<Info>)> {
    // All of them, of one command.
    macro_rules! each {
        ($command:literal, $of:expr) => {{
            const INFOS: usize = argument!($command, "pCreateInfos");
            const COUNT: usize = argument!($command, "createInfoCount");
            linked.params(INFOS, COUNT).unwrap_or_default().iter().map($of).collect()
        }};
    }
    // A create info with several stages.
    macro_rules! several {
        ($info:ty) => {
            |i: &$info| Info {
                flags: i.flags,
                chain: i.p_next,
                stages: (i.p_stages, i.stage_count),
                layout: &raw const i.layout,
            }
        };
    }
    let one = |i: &vk::ComputePipelineCreateInfo<'static>| Info {
        flags: i.flags,
        chain: i.p_next,
        stages: (&raw const i.stage, 1),
        layout: &raw const i.layout,
    };
    Some(match call.command.name {
        "vkCreateGraphicsPipelines" => (
            Kind::Graphics,
            each!("vkCreateGraphicsPipelines", several!(vk::GraphicsPipelineCreateInfo<'static>)),
        ),
        "vkCreateComputePipelines" => (Kind::Compute, each!("vkCreateComputePipelines", one)),
        "vkCreateRayTracingPipelinesKHR" => (
            Kind::RayTracing,
            each!("vkCreateRayTracingPipelinesKHR", several!(vk::RayTracingPipelineCreateInfoKHR<'static>)),
        ),
        "vkCreateRayTracingPipelinesNV" => (
            Kind::RayTracing,
            each!("vkCreateRayTracingPipelinesNV", several!(vk::RayTracingPipelineCreateInfoNV<'static>)),
        ),
        _ => return None,
    })
}

impl InstrumentHook {
    /// vkCreate*Pipelines.
    pub(super) fn pipelines(&mut self, vk: &mut Vulkan, call: &Call, linked: &mut Linked) -> Result<()> {
        let v = View::call(&call.image);
        let ids = v.u64s("pPipelines");
        let Some((kind, all)) = infos(call, linked) else { return Ok(()) };
        let adds = call.command.name == "vkCreateRayTracingPipelinesKHR" && self.plan.any(|n| n.any_hits);
        self.begin(vk, call)?;
        for (i, (info, captured)) in all.into_iter().zip(v.structs("pCreateInfos")).enumerate() {
            let Some(&id) = ids.get(i).filter(|id| **id != 0) else { continue };
            if !self.plan.wants_pipeline(id) {
                self.out.borrow_mut().leave("the pipeline is not among those chosen");
                continue;
            }
            let protected = info.flags.contains(vk::PipelineCreateFlags::PROTECTED_ACCESS_ONLY_EXT);
            let binaries = vk::StructureType::from_raw(PIPELINE_BINARY_INFO);
            let binaries = linked.chain(info.chain).any(|s| s.1 == binaries);
            let stages = captured.structs("pStages").chain(captured.structs("stage"));
            let layout = captured.u64("layout").unwrap_or(0);
            let room = self.per_action.as_ref().is_none_or(|p| p.has_room(layout));
            let first = self.out.borrow().entries.len();
            let mut own = info.stages(linked);
            for (index, (stage, then)) in own.iter_mut().zip(stages).enumerate() {
                if protected {
                    self.out.borrow_mut().leave("its pipeline is for protected memory alone");
                } else if binaries {
                    self.out.borrow_mut().leave("its pipeline is made of the driver's own binaries");
                } else {
                    let of = Of { pipeline: id, kind, index: index as u32, room };
                    self.stage(vk, linked, stage, then, &of)?;
                }
            }
            info.put_back(linked, &own);
            let libraries =
                captured.next("VkPipelineLibraryCreateInfoKHR").or_else(|| captured.one("pLibraryInfo"));
            let libraries = libraries.map_or_else(Vec::new, |l| l.u64s("pLibraries"));
            let of = Of { pipeline: id, kind, index: own.len() as u32, room };
            let any_hit = match adds && !protected {
                true => self.any_hits(vk, (linked, i), captured, &of)?,
                false => None,
            };
            self.parts(id, first, captured, room, &libraries, any_hit);
        }
        Ok(())
    }

    /// Gives hit groups of triangles without any-hit shader an empty one; which stage it is. `i`: of which create info.
    fn any_hits(
        &mut self,
        vk: &mut Vulkan,
        (linked, i): (&mut Linked, usize),
        captured: View<'_>,
        of: &Of,
    ) -> Result<Option<u32>> {
        // VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR; VK_SHADER_UNUSED_KHR.
        let bare = |g: View<'_>| g.u32("type") == Some(1) && g.u32("anyHitShader") == Some(u32::MAX);
        let bare: Vec<bool> = captured.structs("pGroups").map(bare).collect();
        if !bare.contains(&true) {
            return Ok(None);
        }
        let code = Code::new(ACCEPT);
        let Some((variant, number, values)) =
            self.entry(vk, &code, vk::ShaderStageFlags::ANY_HIT_KHR, "main", of)?
        else {
            return Ok(None);
        };
        let module = self.kept.module(vk, number, &variant)?;
        type Create = vk::RayTracingPipelineCreateInfoKHR<'static>;
        const INFOS: usize = argument!("vkCreateRayTracingPipelinesKHR", "pCreateInfos");
        const COUNT: usize = argument!("vkCreateRayTracingPipelinesKHR", "createInfoCount");
        let info = linked.params::<Create>(INFOS, COUNT).and_then(|all| all.get(i)).copied();
        let Some(info) = info else { return Ok(None) };
        let constants = constants(linked, std::ptr::null(), &variant, values)?;
        let mut stages = linked.all(info.p_stages, info.stage_count).unwrap_or_default().to_vec();
        let mut own = Stage::default().stage(vk::ShaderStageFlags::ANY_HIT_KHR).module(module).name(c"main");
        own.p_specialization_info = constants;
        stages.push(own);
        let groups = linked.all_mut(info.p_groups, info.group_count).unwrap_or_default();
        for (g, _) in groups.iter_mut().zip(bare).filter(|g| g.1) {
            g.any_hit_shader = of.index;
        }
        let at = linked.keep(&stages);
        if let Some(info) = linked.params_mut::<Create>(INFOS, COUNT).and_then(|all| all.get_mut(i)) {
            (info.stage_count, info.p_stages) = (stages.len() as u32, at);
        }
        Ok(Some(of.index))
    }

    /// A call begins.
    fn begin(&mut self, vk: &Vulkan, call: &Call) -> Result<()> {
        let device = call.image.u64(0);
        self.kept.device = device;
        self.kept.action_offset = match &self.per_action {
            Some(p) => Some(p.offset(vk, device)?),
            None => None,
        };
        Ok(())
    }

    /// Tells the counters of actions which entry points a pipeline or shader object has: those from `first` on.
    fn parts(
        &mut self,
        id: u64,
        first: usize,
        info: View<'_>,
        room: bool,
        libraries: &[u64],
        any_hit: Option<u32>,
    ) {
        if let Some(l) = &mut self.launches {
            l.made(&self.out.borrow(), &self.plan.of_launches(), id, (first, any_hit), info, libraries);
        }
        let Some(p) = &mut self.per_action else { return };
        let (group_of, groups) = per_action::groups(info);
        let out = self.out.borrow();
        let of = |(n, e): (usize, &super::Entry)| Part {
            entry: (first + n) as u32,
            base: e.action_base,
            counters: e.variant.action_counters,
            group: group_of(e.index),
        };
        let parts = out.entries[first..].iter().enumerate().map(of).collect();
        let untold = out.entries[first..].iter().any(|e| e.variant.not_by_action.is_some());
        let why = if room { untold.then_some(per_action::UNTOLD) } else { Some(per_action::NO_ROOM) };
        p.made(id, Shaders { parts, groups, why }, libraries);
    }

    /// One stage of a pipeline; `then` is it as captured.
    fn stage(
        &mut self,
        vk: &mut Vulkan,
        linked: &mut Linked,
        stage: &mut Stage,
        then: View<'_>,
        of: &Of,
    ) -> Result<()> {
        let inlined = then.next("VkShaderModuleCreateInfo");
        let module = then.u64("module").filter(|m| *m != 0);
        let code = match (module, inlined) {
            (Some(m), _) => self.modules.get(m).cloned(),
            (None, Some(info)) => code_of(info),
            (None, None) => {
                self.out.borrow_mut().leave("its code is the driver's own: it is named by an identifier");
                return Ok(());
            }
        };
        let Some(code) = code else {
            self.out.borrow_mut().leave("its module is not known");
            return Ok(());
        };
        let name = then.text("pName").unwrap_or_default();
        let Some((variant, number, values)) = self.entry(vk, &code, stage.stage, &name, of)? else {
            return Ok(());
        };
        if module.is_some() {
            stage.module = self.kept.module(vk, number, &variant)?;
        } else if let Some(info) = linked.in_chain::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) {
            // (the words live in `kept` until the call was made)
            let words = self.kept.words(vk, &variant);
            (info.code_size, info.p_code) = (size_of_val(words), words.as_ptr());
        }
        stage.p_specialization_info = constants(linked, stage.p_specialization_info, &variant, values)?;
        Ok(())
    }

    /// vkCreateShadersEXT.
    pub(super) fn objects(&mut self, vk: &mut Vulkan, call: &Call, linked: &mut Linked) -> Result<()> {
        let v = View::call(&call.image);
        let ids = v.u64s("pShaders");
        self.begin(vk, call)?;
        type Create = vk::ShaderCreateInfoEXT<'static>;
        const INFOS: usize = argument!("vkCreateShadersEXT", "pCreateInfos");
        const COUNT: usize = argument!("vkCreateShadersEXT", "createInfoCount");
        let mut all = linked.params::<Create>(INFOS, COUNT).unwrap_or_default().to_vec();
        for (i, (info, then)) in all.iter_mut().zip(v.structs("pCreateInfos")).enumerate() {
            let Some(&id) = ids.get(i).filter(|id| **id != 0) else { continue };
            // Chosen or not: all shader objects have to fit what is pushed.
            let room = match &mut self.per_action {
                Some(p) => p.object(vk, call.image.u64(0), (linked, info), then)?,
                None => true,
            };
            let first = self.out.borrow().entries.len();
            if info.code_type != vk::ShaderCodeTypeEXT::SPIRV {
                self.out.borrow_mut().leave("it is a shader object of the driver's own binary code");
                continue;
            }
            if !self.plan.wants_pipeline(id) {
                self.out.borrow_mut().leave("the shader object is not among those chosen");
                continue;
            }
            let Some(code) = code_of(then) else { continue };
            let name = then.text("pName").unwrap_or_default();
            let of = Of { pipeline: id, kind: Kind::ShaderObject, index: 0, room };
            let found = self.entry(vk, &code, info.stage, &name, &of)?;
            let Some((variant, _, values)) = found else { continue };
            self.parts(id, first, then, room, &[], None);
            let words = self.kept.words(vk, &variant);
            (info.code_size, info.p_code) = (size_of_val(words), words.as_ptr().cast());
            info.p_specialization_info = constants(linked, info.p_specialization_info, &variant, values)?;
        }
        if let Some(to) = linked.params_mut::<Create>(INFOS, COUNT) {
            to.copy_from_slice(&all);
        }
        Ok(())
    }

    /// The rewritten module of an entry point, its number, and its constants' values; `None` if it is left alone, which is
    /// then counted.
    fn entry(
        &mut self,
        vk: &mut Vulkan,
        code: &Code,
        bits: vk::ShaderStageFlags,
        name: &str,
        of: &Of,
    ) -> Result<Option<(Arc<Variant>, u32, super::specialize::Values)>> {
        let plan = self.plan.clone();
        let Some(stage) = stage_of_bit(bits) else {
            self.out.borrow_mut().leave("it is of a stage that is not known");
            return Ok(None);
        };
        if !plan.select.stage(stage) || !plan.select.shader(code.hash) {
            self.out.borrow_mut().leave("its stage or shader is not among those chosen");
            return Ok(None);
        }
        if !plan.variants.wants(stage) {
            self.out.borrow_mut().leave("no pass has to do with its stage");
            return Ok(None);
        }
        let Some(key) = code.key(stage, name, of.room, self.session.replay) else {
            self.out.borrow_mut().leave("its module has no such entry point, or could not be read");
            return Ok(None);
        };
        let leave = plan.variants.leave(&key, stage);
        let variant = match plan.variants.get(&key, &code.words) {
            Ok(Some(v)) => v,
            Ok(None) => {
                let nothing = "it has nothing that a pass measures";
                self.out.borrow_mut().leave(leave.first().map_or(nothing, |l| demands::reason(l.1)));
                return Ok(None);
            }
            Err(e) => {
                let mut out = self.out.borrow_mut();
                out.leave("a pass failed");
                out.failed.push(format!("{}: {e}", of.shader(stage, name)));
                return Ok(None);
            }
        };
        for (pass, why) in leave {
            *self.out.borrow_mut().without.entry((pass, demands::reason(why))).or_default() += 1;
        }
        for note in &variant.notes {
            let mut out = self.out.borrow_mut();
            if !out.notes.contains(note) {
                out.notes.push(note.clone());
            }
        }
        for p in &variant.left_out {
            let what = format!("{} is without pass {}: {}", of.shader(stage, name), p.pass, p.why);
            self.out.borrow_mut().failed.push(what);
        }
        if plan.variants.passes().iter().any(|p| p.needs(stage).is_some_and(|n| n.actions)) {
            let why =
                if of.room { variant.not_by_action.clone() } else { Some(per_action::NO_ROOM.to_owned()) };
            if let Some(why) = why {
                *self.out.borrow_mut().by_frame.entry(why).or_default() += 1;
            }
        }
        let number = self.number(&key, code, &variant)?;
        let values = self.memory_for(vk, of.pipeline, of.kind, of.index, number, &variant)?;
        Ok(Some((variant, number, values)))
    }
}

/// What hit groups without any-hit shader are given.
const ACCEPT: &[u8] = include_bytes!("../../probes/accept.rahit.spv");

/// VK_STRUCTURE_TYPE_PIPELINE_BINARY_INFO_KHR.
const PIPELINE_BINARY_INFO: i32 = 1_000_483_002;

/// The code of a struct with pCode and codeSize.
fn code_of(info: View<'_>) -> Option<Code> {
    let code = info.bytes("pCode")?;
    let size = usize::try_from(info.u64("codeSize")?).ok()?;
    Some(Code::new(&code[..size.min(code.len())]))
}
