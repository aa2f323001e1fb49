//! Linked create infos of pipelines and shader objects, with modules of ours in the application's place.
//!
//! Guarantees: nothing but a stage's module and its constants changes; both live until the call was made. What cannot be
//! instrumented (code that the driver alone knows: module identifiers, pipeline binaries, binary shader objects; pipelines
//! of protected memory, which may not write elsewhere) is counted with the reason.

use super::InstrumentHook;
use super::code::Code;
use super::demands::{self, stage_of_bit};
use super::per_action::{self, Part, Shaders};
use super::plan::Kind;
use super::specialize::Specialization;
use crate::rewrite::Variant;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::error::{Error, Result};
use replay::exec::Call;
use replay::link::Linked;
use replay::vulkan::Vulkan;
use std::sync::Arc;

/// What a call's changed arguments point to.
#[derive(Default)]
pub struct Kept {
    device: u64,
    /// Where the device has actions pushed.
    action_offset: Option<u32>,
    modules: Vec<(u32, vk::ShaderModule)>,
    words: Vec<Arc<Vec<u32>>>,
    stages: Vec<Vec<vk::PipelineShaderStageCreateInfo<'static>>>,
    constants: Vec<(Specialization, Box<vk::SpecializationInfo<'static>>)>,
}

impl Kept {
    /// The captured device of the call.
    pub fn device(&self) -> u64 {
        self.device
    }

    /// The call was made.
    pub fn give_back(&mut self, vk: &Vulkan) {
        if let Ok(d) = vk.device(self.device) {
            for (_, m) in self.modules.drain(..) {
                // SAFETY: ours; a module may go once the pipeline is made.
                unsafe { d.ash.destroy_shader_module(m, None) };
            }
        }
        *self = Kept::default();
    }

    /// The module of a variant, made once a call.
    fn module(&mut self, vk: &Vulkan, number: u32, variant: &Variant) -> Result<vk::ShaderModule> {
        if let Some((_, m)) = self.modules.iter().find(|m| m.0 == number) {
            return Ok(*m);
        }
        let words = self.own_words(variant);
        let stripped = vk.without_unused(&words);
        let info = vk::ShaderModuleCreateInfo::default().code(stripped.as_deref().unwrap_or(&words));
        // SAFETY: a plain creation; the words are SPIR-V that this device can run, as the plan made sure.
        let made = unsafe { vk.device(self.device)?.ash.create_shader_module(&info, None) };
        let module = made.map_err(|e| Error::driver("vkCreateShaderModule", e))?;
        self.modules.push((number, module));
        Ok(module)
    }

    /// A variant's words for this device.
    fn own_words<'v>(&self, variant: &'v Variant) -> std::borrow::Cow<'v, [u32]> {
        match self.action_offset {
            Some(offset) if variant.action_offset.is_some() || variant.given_offset.is_some() => {
                let mut words = variant.words.clone();
                variant.set_offsets(&mut words, offset);
                words.into()
            }
            _ => variant.words.as_slice().into(),
        }
    }

    /// Words that a struct of the call will point to.
    fn words(&mut self, vk: &Vulkan, variant: &Variant) -> &[u32] {
        let own = self.own_words(variant);
        let words = vk.without_unused(&own).unwrap_or_else(|| own.into_owned());
        self.words.push(Arc::new(words));
        self.words.last().expect("just pushed")
    }

    /// # Safety
    /// `old` is null or leads to linked constants.
    unsafe fn constants(
        &mut self,
        old: *const vk::SpecializationInfo<'_>,
        variant: &Variant,
        values: super::specialize::Values,
    ) -> *const vk::SpecializationInfo<'static> {
        // SAFETY: the caller's promise; the linker checked arrays against their counts.
        let (entries, data) = unsafe {
            match old.as_ref() {
                None => (&[][..], &[][..]),
                Some(i) => (
                    slice(i.p_map_entries, i.map_entry_count as usize),
                    slice(i.p_data.cast::<u8>(), i.data_size),
                ),
            }
        };
        let merged = Specialization::merge(entries, data, &variant.constants, values);
        let info = merged.info();
        let mut own = Box::new(vk::SpecializationInfo::default());
        // (what it points to stays where it is when `merged` moves)
        (own.map_entry_count, own.p_map_entries) = (info.map_entry_count, info.p_map_entries);
        (own.data_size, own.p_data) = (info.data_size, info.p_data);
        self.constants.push((merged, own));
        &raw const *self.constants.last().expect("just pushed").1
    }
}

/// # Safety
/// `at` is null or the address of `n` `T`.
unsafe fn slice<'s, T>(at: *const T, n: usize) -> &'s [T] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(at, n) }
}

/// # Safety
/// `at` is null or the address of `n` `T` that nothing else refers to.
pub(in crate::hooks) unsafe fn slice_mut<'s, T>(at: *const T, n: usize) -> &'s mut [T] {
    if at.is_null() {
        return &mut [];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts_mut(at.cast_mut(), n) }
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
        format!("pipeline {}, {} shader {name}", self.pipeline, stage.name())
    }
}

pub(in crate::hooks) type Stages<'s> = &'s mut [vk::PipelineShaderStageCreateInfo<'s>];

/// One create info: its flags, its chain, its stages, its layout.
pub(in crate::hooks) struct Info<'s> {
    pub flags: vk::PipelineCreateFlags,
    pub chain: *const vk::BaseInStructure<'s>,
    pub stages: Stages<'s>,
    pub layout: &'s mut vk::PipelineLayout,
}

/// The create infos of a linked call: argument `at`, as many as argument `count` says.
///
/// # Safety
/// `linked` holds the call's arguments, `T`s there, and nothing else refers to that memory while they are used.
unsafe fn each<'s, T: 's>(
    linked: &mut Linked,
    (count, at): (usize, usize),
    of: impl FnMut(&'s mut T) -> Info<'s>,
) -> Vec<Info<'s>> {
    let n = linked.arg(count) as u32 as usize;
    // SAFETY: linked memory holds what the command's parameters say; arrays were checked against their counts.
    unsafe { slice_mut(linked.ptr::<T>(at), n) }.iter_mut().map(of).collect()
}

/// The create infos of a linked call that makes pipelines.
///
/// # Safety
/// As [`each`]'s; `linked` is this call's.
pub(in crate::hooks) unsafe fn infos<'s>(call: &Call, linked: &mut Linked) -> Option<(Kind, Vec<Info<'s>>)> {
    // A create info with several stages.
    macro_rules! several {
        ($info:ty) => {
            |i: &'s mut $info| Info {
                flags: i.flags,
                chain: i.p_next.cast(),
                stages: slice_mut(i.p_stages, i.stage_count as usize),
                layout: &mut i.layout,
            }
        };
    }
    let one = |i: &'s mut vk::ComputePipelineCreateInfo<'s>| Info {
        flags: i.flags,
        chain: i.p_next.cast(),
        stages: std::slice::from_mut(&mut i.stage),
        layout: &mut i.layout,
    };
    // SAFETY: the caller's promise; the types are those of the commands, and so many stages are there.
    unsafe {
        Some(match call.command.name {
            "vkCreateGraphicsPipelines" => {
                (Kind::Graphics, each(linked, (2, 3), several!(vk::GraphicsPipelineCreateInfo<'s>)))
            }
            "vkCreateComputePipelines" => (Kind::Compute, each(linked, (2, 3), one)),
            "vkCreateRayTracingPipelinesKHR" => {
                (Kind::RayTracing, each(linked, (3, 4), several!(vk::RayTracingPipelineCreateInfoKHR<'s>)))
            }
            "vkCreateRayTracingPipelinesNV" => {
                (Kind::RayTracing, each(linked, (2, 3), several!(vk::RayTracingPipelineCreateInfoNV<'s>)))
            }
            _ => return None,
        })
    }
}

/// # Safety
/// `chain` begins a linked chain.
pub(in crate::hooks) unsafe fn in_chain<'s>(
    mut chain: *const vk::BaseInStructure<'s>,
    wanted: vk::StructureType,
) -> Option<*const vk::BaseInStructure<'s>> {
    // SAFETY: the caller's promise.
    while let Some(s) = unsafe { chain.as_ref() } {
        if s.s_type == wanted {
            return Some(chain);
        }
        chain = s.p_next;
    }
    None
}

impl InstrumentHook {
    /// vkCreate*Pipelines.
    pub(super) fn pipelines(&mut self, vk: &mut Vulkan, call: &Call, linked: &mut Linked) -> Result<()> {
        let v = View::call(&call.image);
        let ids = v.u64s("pPipelines");
        // SAFETY: the call's own arguments, before the driver is called.
        let Some((kind, all)) = (unsafe { infos(call, linked) }) else { return Ok(()) };
        let adds = call.command.name == "vkCreateRayTracingPipelinesKHR" && self.plan.any(|n| n.any_hits);
        let create_infos = adds.then(|| linked.ptr::<vk::RayTracingPipelineCreateInfoKHR<'static>>(4));
        self.begin(vk, call)?;
        for (i, (info, captured)) in all.into_iter().zip(v.structs("pCreateInfos")).enumerate() {
            let Some(&id) = ids.get(i).filter(|id| **id != 0) else { continue };
            if !self.plan.wants_pipeline(id) {
                self.out.borrow_mut().leave("the pipeline is not among those chosen");
                continue;
            }
            let protected = info.flags.contains(vk::PipelineCreateFlags::PROTECTED_ACCESS_ONLY_EXT);
            // SAFETY: a linked chain.
            let binaries = unsafe { in_chain(info.chain, vk::StructureType::from_raw(PIPELINE_BINARY_INFO)) };
            let stages = captured.structs("pStages").chain(captured.structs("stage"));
            let layout = captured.u64("layout").unwrap_or(0);
            let room = self.per_action.as_ref().is_none_or(|p| p.has_room(layout));
            let first = self.out.borrow().entries.len();
            for (index, (stage, then)) in info.stages.iter_mut().zip(stages).enumerate() {
                if protected {
                    self.out.borrow_mut().leave("its pipeline is for protected memory alone");
                } else if binaries.is_some() {
                    self.out.borrow_mut().leave("its pipeline is made of the driver's own binaries");
                } else {
                    self.stage(vk, stage, then, &Of { pipeline: id, kind, index: index as u32, room })?;
                }
            }
            let libraries =
                captured.next("VkPipelineLibraryCreateInfoKHR").or_else(|| captured.one("pLibraryInfo"));
            let libraries = libraries.map_or_else(Vec::new, |l| l.u64s("pLibraries"));
            let own = Of { pipeline: id, kind, index: info.stages.len() as u32, room };
            let any_hit = match create_infos {
                // SAFETY: the call's own create info, of which nothing but its stages is referred to.
                Some(at) if !protected => unsafe { self.any_hits(vk, at.add(i), captured, &own)? },
                _ => None,
            };
            self.parts(id, first, captured, room, &libraries, any_hit);
        }
        Ok(())
    }

    /// Gives hit groups of triangles without any-hit shader an empty one; which stage it is.
    ///
    /// # Safety
    /// `at` is a linked create info, and what is kept of ours lives until the call was made.
    unsafe fn any_hits(
        &mut self,
        vk: &mut Vulkan,
        at: *mut vk::RayTracingPipelineCreateInfoKHR<'static>,
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
        // SAFETY: the caller's promise; the linker checked arrays against their counts.
        unsafe {
            let info = &mut *at;
            let constants = self.kept.constants(std::ptr::null(), &variant, values);
            let mut stages = slice(info.p_stages, info.stage_count as usize).to_vec();
            let mut own = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::ANY_HIT_KHR)
                .module(module)
                .name(c"main");
            own.p_specialization_info = constants;
            stages.push(own);
            for (g, bare) in slice_mut(info.p_groups, info.group_count as usize).iter_mut().zip(bare) {
                if bare {
                    g.any_hit_shader = of.index;
                }
            }
            (info.stage_count, info.p_stages) = (stages.len() as u32, stages.as_ptr());
            // (what it points to stays where it is when it moves)
            self.kept.stages.push(stages);
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
        stage: &mut vk::PipelineShaderStageCreateInfo<'_>,
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
        // SAFETY: a linked stage; what it is given lives in `kept` until the call was made.
        unsafe {
            if module.is_some() {
                stage.module = self.kept.module(vk, number, &variant)?;
            } else if let Some(info) =
                in_chain(stage.p_next.cast(), vk::StructureType::SHADER_MODULE_CREATE_INFO)
            {
                let info = &mut *info.cast_mut().cast::<vk::ShaderModuleCreateInfo<'_>>();
                let words = self.kept.words(vk, &variant);
                (info.code_size, info.p_code) = (size_of_val(words), words.as_ptr());
            }
            stage.p_specialization_info =
                self.kept.constants(stage.p_specialization_info, &variant, values).cast();
        }
        Ok(())
    }

    /// vkCreateShadersEXT.
    pub(super) fn objects(&mut self, vk: &mut Vulkan, call: &Call, linked: &mut Linked) -> Result<()> {
        let v = View::call(&call.image);
        let ids = v.u64s("pShaders");
        self.begin(vk, call)?;
        let n = linked.arg(1) as u32 as usize;
        // SAFETY: linked memory holds as many structs as the count says.
        let all = unsafe { slice_mut(linked.ptr::<vk::ShaderCreateInfoEXT<'_>>(2), n) };
        for (i, (info, then)) in all.iter_mut().zip(v.structs("pCreateInfos")).enumerate() {
            let Some(&id) = ids.get(i).filter(|id| **id != 0) else { continue };
            // Chosen or not: all shader objects have to fit what is pushed.
            let room = match &mut self.per_action {
                Some(p) => p.object(vk, call.image.u64(0), info, then)?,
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
            // SAFETY: linked constants; what replaces them lives in `kept` until the call was made.
            info.p_specialization_info =
                unsafe { self.kept.constants(info.p_specialization_info, &variant, values) }.cast();
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
        let Some(key) = code.key(stage, name, of.room) else {
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
